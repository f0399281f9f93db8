//! DPDK's testpmd, driven by its interactive commands.
//!
//! testpmd buffers its output to a pipe by the page, so `stdbuf` makes it buffer by the line. This
//! supports DPDK 22.11 and newer, whose statistics begin with `NIC statistics for port N`.

use std::time::Duration;

use super::command::{eal, guard, joined};
use super::config::{Config, Mode};
use super::error::PktgenError;
use super::protocol::{GeneratorProtocol, PortCounters, ANSWER, LAUNCH};
use super::session::Session;

#[derive(Debug)]
pub(super) struct Testpmd;

impl GeneratorProtocol for Testpmd {
    fn script(&self, config: &Config) -> String {
        let mut words: Vec<String> = vec!["exec".into()];
        words.extend(guard(config));
        words.extend(["stdbuf".into(), "-oL".into()]);
        words.push(config.program.clone().unwrap_or("dpdk-testpmd".into()));
        words.extend(eal(config));
        words.push("--".into());
        // Links come up only when the forwarder runs, which starts later.
        words.push("--disable-link-check".into());
        words.extend(["-i".into(), "--port-topology=paired".into()]);
        words.extend(match config.mode {
            Mode::Txonly => vec![
                "--forward-mode=txonly".to_owned(),
                "--txonly-multi-flow".to_owned(),
            ],
            Mode::Flowgen => vec![
                "--forward-mode=flowgen".to_owned(),
                format!("--flowgen-flows={}", config.flows),
            ],
        });
        // One core per port, because a core divides its flows among its ports.
        words.push(format!("--nb-cores={}", config.port_count()));
        words.extend(config.options.iter().cloned());
        // Error messages must stand between the answers.
        joined(&words) + " 2>&1"
    }

    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError> {
        // It executes the commands as soon as it has started its ports.
        session.send(&frame_size(config, config.frame_size))?;
        let ports = ask_counters(session, config, LAUNCH, |_| ())?.len();
        if ports != config.port_count() {
            return Err(PktgenError::Refused(format!(
                "testpmd found {ports} ports, not {}: are they bound to vfio-pci?",
                config.port_count()
            )));
        }
        Ok(format!("testpmd, {ports} ports"))
    }

    fn links(&self, session: &mut Session, config: &Config) -> Result<Vec<bool>, PktgenError> {
        session.send("show port summary all")?;
        let mut links = Vec::new();
        session.read("links", ANSWER, |line| {
            links.extend(link(line));
            (links.len() == config.port_count()).then_some(())
        })?;
        Ok(links)
    }

    fn set_frame_size(
        &self,
        session: &mut Session,
        config: &Config,
        size: u32,
    ) -> Result<(), PktgenError> {
        session.send(&frame_size(config, size))?;
        complaint(session, config)?.map_or(Ok(()), |line| {
            Err(PktgenError::Refused(format!(
                "testpmd refused frames of {size} bytes (\"{line}\")"
            )))
        })
    }

    fn set_rate(
        &self,
        session: &mut Session,
        config: &Config,
        share: f64,
    ) -> Result<(), PktgenError> {
        // Whole Mbit/s.
        let rate = (config.line_rate_gbit * 1000.0 * share).round().max(1.0);
        for port in 0..config.port_count() {
            session.send(&format!("set port {port} queue 0 rate {rate}"))?;
        }
        complaint(session, config)?.map_or(Ok(()), |line| {
            // testpmd keeps the old limit, or none: it would send at line rate.
            let why = match line.contains("bigger than link speed") {
                true => "a port has no link, or line_rate_gbit is above the link's speed",
                false => "its ports cannot limit their rate: omit the rate or use dpdk-pktgen",
            };
            Err(PktgenError::Refused(format!(
                "testpmd refused the rate (\"{line}\"): {why}"
            )))
        })
    }

    fn start(&self, session: &mut Session) -> Result<(), PktgenError> {
        session.send("start")?;
        session.read("confirmation of the start", ANSWER, |line| {
            line.contains("packet forwarding - ports=").then_some(())
        })
    }

    fn stop(&self, session: &mut Session) -> Result<(), PktgenError> {
        session.send("stop")?;
        session.read("confirmation of the stop", ANSWER, |line| {
            line.contains("Accumulated forward statistics")
                .then_some(())
        })
    }

    fn counters(
        &self,
        session: &mut Session,
        config: &Config,
    ) -> Result<Vec<PortCounters>, PktgenError> {
        ask_counters(session, config, ANSWER, |_| ())
    }
}

/// The command that sets the size of the frames, bytes without CRC.
fn frame_size(config: &Config, size: u32) -> String {
    // In flowgen mode, the length includes the CRC.
    let length = match config.mode {
        Mode::Txonly => size,
        Mode::Flowgen => size + 4,
    };
    format!("set txpkts {length}")
}

/// Whether the port of a line of `show port summary all` has a link; `None` for other lines. The words
/// are number, MAC address, name, driver, status and speed.
fn link(line: &str) -> Option<bool> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first()?.parse::<u16>().ok()?;
    match *words.get(4)? {
        "up" => Some(true),
        "down" => Some(false),
        _ => None,
    }
}

/// The last complaint about the commands before this call. A successful command prints nothing, so
/// this asks for the counters to get an answer.
fn complaint(session: &mut Session, config: &Config) -> Result<Option<String>, PktgenError> {
    const COMPLAINTS: [&str; 6] = [
        "Invalid",
        "rate_limit",
        "Bad arguments",
        "failed",
        "not supported",
        "error",
    ];
    let mut complaint = None;
    ask_counters(session, config, ANSWER, |line| {
        // The statistics have lines with "errors".
        let statistics = line.contains("X-errors");
        if !statistics && COMPLAINTS.iter().any(|part| line.contains(part)) {
            complaint.get_or_insert_with(|| line.trim().to_owned());
        }
    })?;
    Ok(complaint)
}

/// Asks for the counters of all ports. Calls `also` with every line up to them.
fn ask_counters(
    session: &mut Session,
    config: &Config,
    limit: Duration,
    mut also: impl FnMut(&str),
) -> Result<Vec<PortCounters>, PktgenError> {
    session.send("show port stats all")?;
    let mut parser = Parser::default();
    let wanted = config.port_count();
    session.read("counters", limit, |line| {
        also(line);
        parser.line(line);
        (parser.ports.len() >= wanted && parser.complete).then(|| parser.ports.clone())
    })
}

/// Parses the answer to `show port stats all`.
#[derive(Debug, Default)]
struct Parser {
    ports: Vec<PortCounters>,
    /// Whether the block of the last port is complete.
    complete: bool,
}

impl Parser {
    fn line(&mut self, line: &str) {
        if line.contains("NIC statistics for port") {
            self.ports.push(PortCounters::default());
            self.complete = false;
            return;
        }
        let Some(port) = self.ports.last_mut() else {
            return;
        };
        let field = |name: &str| -> Option<u64> {
            let rest = line.split_once(name)?.1;
            rest.split_whitespace().next()?.parse().ok()
        };
        if let Some(count) = field("RX-packets:") {
            // Missed packets have arrived, too. A port that only sends never frees descriptors.
            port.received = count + field("RX-missed:").unwrap_or(0);
        }
        if let Some(count) = field("TX-packets:") {
            port.sent = count;
        }
        if let Some(rate) = field("Tx-pps:") {
            port.sent_per_second = rate;
            self.complete = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As DPDK 22.11 prints it.
    const STATISTICS: &str = "testpmd> show port stats all

  ######################## NIC statistics for port 0  ########################
  RX-packets: 511        RX-missed: 22932737   RX-bytes:  0
  RX-errors: 0
  RX-nombuf:  0         
  TX-packets: 45312352   TX-errors: 0          TX-bytes:  0

  Throughput (since last show)
  Rx-pps:            0          Rx-bps:            0
  Tx-pps:     22211520          Tx-bps:            0
  ############################################################################

  ######################## NIC statistics for port 1  ########################
  RX-packets: 0          RX-missed: 0          RX-bytes:  0
  RX-errors: 0
  RX-nombuf:  0         
  TX-packets: 7          TX-errors: 0          TX-bytes:  0

  Throughput (since last show)
  Rx-pps:            0          Rx-bps:            0
  Tx-pps:            3          Tx-bps:            0
";

    #[test]
    fn statistics_are_parsed() {
        let mut parser = Parser::default();
        for line in STATISTICS.lines() {
            parser.line(line);
        }
        assert!(parser.complete);
        assert_eq!(
            parser.ports,
            [
                PortCounters {
                    sent: 45_312_352,
                    received: 22_933_248,
                    sent_per_second: 22_211_520
                },
                PortCounters {
                    sent: 7,
                    received: 0,
                    sent_per_second: 3
                }
            ]
        );
    }

    #[test]
    fn links_are_parsed() {
        // As DPDK 22.11 prints it.
        let summary = "testpmd> show port summary all
Number of available ports: 2
Port MAC Address       Name         Driver         Status   Link
0    1A:E8:FC:A7:05:C0 0000:03:00.0 net_ixgbe      up       10 Gbps
1    86:98:F5:E2:42:CA 0000:03:00.1 net_ixgbe      down     None
";
        let links: Vec<bool> = summary.lines().filter_map(link).collect();
        assert_eq!(links, [true, false]);
    }

    #[test]
    fn a_half_printed_port_is_not_complete() {
        let mut parser = Parser::default();
        for line in STATISTICS.lines().take(16) {
            parser.line(line);
        }
        assert_eq!(parser.ports.len(), 2);
        assert!(!parser.complete);
    }
}
