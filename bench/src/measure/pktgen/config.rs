//! The configuration of a load generator, a TOML file.

use std::path::Path;

use anyhow::{ensure, Context};
use serde::Deserialize;

use crate::machine::host::address::PciAddress;

/// The program that sends packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Tool {
    /// dpdk-pktgen, built from source.
    #[strum(to_string = "dpdk-pktgen")]
    Pktgen,
    /// DPDK's testpmd, in Debian's package dpdk-dev.
    Testpmd,
    /// MoonGen, built from source.
    #[strum(to_string = "MoonGen")]
    Moongen,
    /// Any program that speaks the line protocol of `bench/pktgen/README.md`.
    #[strum(to_string = "the command")]
    Command,
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
    /// PCI addresses of its ports, each cabled to a port of the forwarder.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Its cores in the format of DPDK's option --lcores: one for the program and one for each port. A
    /// `command` chooses its cores itself.
    #[serde(default)]
    pub lcores: String,
    /// Frame size, bytes without CRC.
    #[serde(default = "defaults::frame_size")]
    pub frame_size: u32,
    /// UDP flows of each port.
    #[serde(default = "defaults::flows")]
    pub flows: u32,
    /// How testpmd sends.
    #[serde(default)]
    pub mode: Mode,
    /// Speed of a port, Gbit/s.
    #[serde(default = "defaults::line_rate_gbit")]
    pub line_rate_gbit: f64,
    /// Time for which the generator sends before a measurement, seconds.
    #[serde(default = "defaults::warm_up_seconds")]
    pub warm_up_seconds: f64,
    /// Longest time that the program may run, seconds. `timeout` then ends the program, even if the
    /// connection is lost.
    #[serde(default = "defaults::time_limit_seconds")]
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

#[rustfmt::skip]
mod defaults {
    pub(super) fn frame_size() -> u32 { 60 }
    pub(super) fn flows() -> u32 { 1024 }
    pub(super) fn line_rate_gbit() -> f64 { 10.0 }
    pub(super) fn warm_up_seconds() -> f64 { 1.0 }
    pub(super) fn time_limit_seconds() -> u32 { 3600 }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let config: Self = toml::from_str(&text).context(name.clone())?;
        config.check().context(name)?;
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

    /// The size of a frame for testpmd. In mode flowgen, it includes the CRC.
    pub(super) fn testpmd_length(&self) -> u32 {
        match self.mode {
            Mode::Txonly => self.frame_size,
            Mode::Flowgen => self.frame_size + 4,
        }
    }

    /// The highest rate of one port, Mpps. On the wire, a frame takes 24 more bytes for CRC, preamble
    /// and the gap to the next frame.
    pub fn line_rate_mpps(&self) -> f64 {
        self.line_rate_gbit * 1000.0 / (f64::from(self.frame_size + 24) * 8.0)
    }

    fn check(&self) -> anyhow::Result<()> {
        let is_name = |text: &str| !text.is_empty() && !text.starts_with('-');
        let is_built = |path: &str| path.starts_with('/') && path.contains("/build/");
        for port in &self.ports {
            port.parse::<PciAddress>().context("ports")?;
        }
        let (ssh, program) = (self.ssh.as_deref(), self.program.as_deref());
        let (tool, rate, warm_up) = (self.tool, self.line_rate_gbit, self.warm_up_seconds);
        ensure!(ssh.is_none_or(is_name), "ssh: not the name of a machine");
        ensure!(program.is_none_or(is_name), "program: not a program");
        ensure!(
            (1..=16).contains(&self.port_count()),
            "ports: name the PCI addresses of 1 to 16 ports, such as [\"0000:03:00.0\", \"0000:03:00.1\"]"
        );
        let one_kind = self.ports.is_empty() || self.vdevs.is_empty();
        ensure!(one_kind, "vdevs: use either ports or vdevs, not both");
        let has_cores = is_name(&self.lcores) || tool == Tool::Command;
        ensure!(has_cores, "lcores: name cores, such as \"0-2\"");
        let has_command = program.is_some() || tool != Tool::Command;
        ensure!(has_command, "program: name the command");
        ensure!(
            program.is_some_and(is_built) || tool != Tool::Moongen,
            "program: name the whole path of MoonGen, such as \"/opt/MoonGen/build/MoonGen\""
        );
        let fits = (60..=1514).contains(&self.frame_size);
        ensure!(fits, "frame_size: 60 to 1514 bytes, without CRC");
        ensure!((1..=16_384).contains(&self.flows), "flows: 1 to 16384");
        let is_rate = rate.is_finite() && rate > 0.0;
        ensure!(is_rate, "line_rate_gbit: a number above 0");
        ensure!((0.0..=60.0).contains(&warm_up), "warm_up_seconds: 0 to 60");
        let limit = (10..=86_400).contains(&self.time_limit_seconds);
        ensure!(limit, "time_limit_seconds: 10 to 86400");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_valid_and_send_the_published_load() {
        for name in ["testpmd", "pktgen", "moongen"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pktgen");
            let config = Config::read(&folder.join(name).with_extension("toml")).unwrap();
            assert_eq!((config.frame_size, config.mode), (60, Mode::Txonly));
            assert!((config.line_rate_mpps() - 14.88).abs() < 0.01);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("generator.toml");
        let smallest = "tool = 'testpmd'\nlcores = '0-2'\nports = ['03:00.0', '03:00.1']\n";
        for (from, to, part) in [
            ("tool", "frame_size = 64000\ntool", "toml: frame_size"),
            ("tool", "flows = 0\ntool", "toml: flows"),
            ("tool", "ssh = '-oProxyCommand=x'\ntool", "toml: ssh"),
            ("tool", "speed = 1\ntool", "speed"),
            ("tool", "vdevs = ['net_null0']\ntool", "toml: vdevs"),
            ("tool", "warm_up_seconds = nan\ntool", "toml: warm_up"),
            ("testpmd", "moongen", "/opt/MoonGen"),
            ("testpmd", "command", "name the command"),
            ("testpmd", "trex", "trex"),
            ("'0-2'", "''", "toml: lcores"),
            ("03:00.1", "eth0", "eth0"),
        ] {
            std::fs::write(&path, smallest.replace(from, to)).unwrap();
            let error = format!("{:#}", Config::read(&path).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
    }
}
