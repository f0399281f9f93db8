//! The configuration of a load generator, a TOML file.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::error::PktgenError;

/// The program that sends packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// DPDK's testpmd, in Debian's package dpdk-dev.
    Testpmd,
    /// dpdk-pktgen, built from source.
    Pktgen,
    /// MoonGen, built from source.
    Moongen,
    /// Any program that speaks the line protocol of `bench/pktgen/README.md`.
    Command,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Testpmd => "testpmd",
            Self::Pktgen => "dpdk-pktgen",
            Self::Moongen => "MoonGen",
            Self::Command => "the command",
        })
    }
}

/// How testpmd sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only sends, which is fastest. It always sends 256 flows per core.
    #[default]
    Txonly,
    /// Sends the configured number of flows, and receives returning packets.
    Flowgen,
}

/// The configuration of a load generator.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The machine's name for SSH; `None` for this machine.
    pub ssh: Option<String>,
    /// The program that sends packets.
    pub tool: Tool,
    /// The program's file; `None` for `dpdk-testpmd` or `pktgen` in the machine's PATH. MoonGen and other
    /// commands have no default.
    pub program: Option<String>,
    /// Whether to run the program with `sudo -n`.
    #[serde(default)]
    pub sudo: bool,
    /// PCI addresses of its ports, each cabled to a port of the forwarder.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Its cores in the format of DPDK's option --lcores: one for the program and one for each port. A
    /// `command` chooses its cores itself.
    #[serde(default)]
    pub lcores: String,
    /// Frame size, bytes without CRC.
    #[serde(default = "frame_size")]
    pub frame_size: u32,
    /// UDP flows of each port.
    #[serde(default = "flows")]
    pub flows: u32,
    /// How testpmd sends.
    #[serde(default)]
    pub mode: Mode,
    /// Speed of a port, Gbit/s.
    #[serde(default = "line_rate")]
    pub line_rate_gbit: f64,
    /// Time for which the generator sends before a measurement, seconds.
    #[serde(default = "warm_up")]
    pub warm_up_seconds: f64,
    /// Longest time that the program may run, seconds. `timeout` then ends the program, even if the
    /// connection is lost.
    #[serde(default = "time_limit")]
    pub time_limit_seconds: u32,
    /// Further options for DPDK itself.
    #[serde(default)]
    pub eal: Vec<String>,
    /// Further options for the program.
    #[serde(default)]
    pub options: Vec<String>,
    /// Software ports of DPDK (--vdev) instead of PCI ports, for tests without a card.
    #[serde(default)]
    pub vdevs: Vec<String>,
}

fn frame_size() -> u32 {
    60
}
fn flows() -> u32 {
    1024
}
fn line_rate() -> f64 {
    10.0
}
fn warm_up() -> f64 {
    1.0
}
fn time_limit() -> u32 {
    3600
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    pub fn read(path: &Path) -> Result<Self, PktgenError> {
        let text = std::fs::read_to_string(path).map_err(|cause| PktgenError::Read {
            path: path.to_owned(),
            cause,
        })?;
        let wrong = |why: String| PktgenError::Config {
            path: path.to_owned(),
            why,
        };
        let config: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        config.check().map_err(wrong)?;
        Ok(config)
    }

    /// The number of ports.
    pub fn port_count(&self) -> usize {
        self.ports.len() + self.vdevs.len()
    }

    /// The number of flows that each port really sends.
    pub fn real_flows(&self) -> u32 {
        match (self.tool, self.mode) {
            (Tool::Testpmd, Mode::Txonly) => 256,
            _ => self.flows,
        }
    }

    /// The highest rate of one port, Mpps. On the wire, a frame takes 24 more bytes for CRC, preamble
    /// and the gap to the next frame.
    pub fn line_rate_mpps(&self) -> f64 {
        self.line_rate_gbit * 1000.0 / (f64::from(self.frame_size + 24) * 8.0)
    }

    fn check(&self) -> Result<(), String> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let name = |text: &str| !text.is_empty() && !text.starts_with('-');
        for port in &self.ports {
            if let Err(error) = port.parse::<crate::machine::host::address::PciAddress>() {
                return Err(format!("ports: {error}"));
            }
        }
        let checks = [
            (
                self.ssh.as_deref().is_none_or(name),
                "ssh: not the name of a machine",
            ),
            (
                self.program.as_deref().is_none_or(name),
                "program: not a program",
            ),
            (
                (1..=16).contains(&self.port_count()),
                "ports: name the PCI addresses of 1 to 16 ports, such as [\"0000:03:00.0\", \
                 \"0000:03:00.1\"]",
            ),
            (
                self.ports.is_empty() || self.vdevs.is_empty(),
                "vdevs: use either ports or vdevs, not both",
            ),
            (
                name(&self.lcores) || self.tool == Tool::Command,
                "lcores: name cores, such as \"0-2\"",
            ),
            (
                self.program.is_some() || self.tool != Tool::Command,
                "program: name the command",
            ),
            (
                self.tool != Tool::Moongen
                    || self.program.as_ref().is_some_and(|program| {
                        program.starts_with('/') && program.contains("/build/")
                    }),
                "program: name the whole path of MoonGen, such as \"/opt/MoonGen/build/MoonGen\"",
            ),
            (
                (60..=1514).contains(&self.frame_size),
                "frame_size: 60 to 1514 bytes, without CRC",
            ),
            ((1..=16_384).contains(&self.flows), "flows: 1 to 16384"),
            (
                positive(self.line_rate_gbit),
                "line_rate_gbit: a number above 0",
            ),
            (
                self.warm_up_seconds.is_finite() && (0.0..=60.0).contains(&self.warm_up_seconds),
                "warm_up_seconds: 0 to 60",
            ),
            (
                (10..=86_400).contains(&self.time_limit_seconds),
                "time_limit_seconds: 10 to 86400",
            ),
        ];
        match checks.iter().find(|(fine, _)| !fine) {
            Some((_, why)) => Err((*why).to_owned()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("generator.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).map_err(|error| error.to_string())
    }

    const SMALLEST: &str = "tool = 'testpmd'\nlcores = '0-2'\nports = ['03:00.0', '03:00.1']\n";

    #[test]
    fn the_defaults_are_the_published_load() {
        let config = parse(SMALLEST).unwrap();
        assert_eq!((config.frame_size, config.flows), (60, 1024));
        assert_eq!(config.mode, Mode::Txonly);
        assert!((config.line_rate_mpps() - 14.88).abs() < 0.01);
    }

    #[test]
    fn the_examples_are_valid() {
        for name in [
            "testpmd.toml",
            "pktgen.toml",
            "moongen.toml",
            "software.toml",
        ] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("pktgen")
                .join(name);
            Config::read(&path).unwrap();
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (more, part) in [
            ("frame_size = 64000\n", "frame_size"),
            ("flows = 0\n", "flows"),
            ("ssh = '-oProxyCommand=x'\n", "ssh"),
            ("speed = 1\n", "speed"),
            ("vdevs = ['net_null0']\n", "vdevs"),
            ("mode = 'fast'\n", "fast"),
            ("warm_up_seconds = nan\n", "warm_up_seconds"),
        ] {
            let error = parse(&format!("{SMALLEST}{more}")).unwrap_err();
            assert!(
                error.contains(part) && error.contains("generator.toml"),
                "{error}"
            );
        }
        for (text, part) in [
            ("tool = 'moongen'\nlcores = '0-2'\n", "/opt/MoonGen"),
            ("tool = 'command'\n", "name the command"),
            ("tool = 'pktgen'\n", "lcores"),
        ] {
            let error = parse(&format!("{text}ports = ['03:00.0']\n")).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(parse("tool = 'testpmd'\nlcores = '0'\nports = ['eth0']")
            .unwrap_err()
            .contains("eth0"));
        assert!(parse("tool = 'trex'\nlcores = '0'")
            .unwrap_err()
            .contains("trex"));
    }
}
