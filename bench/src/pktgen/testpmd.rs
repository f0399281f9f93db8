//! DPDK's testpmd, driven by its interactive commands.
//!
//! testpmd buffers its output to a pipe by the page, so `stdbuf` makes it buffer by the line. This
//! supports DPDK 22.11 and newer, whose statistics begin with `NIC statistics for port N`.

use super::config::{Config, Mode};
use super::error::PktgenError;
use super::protocol::{GeneratorProtocol, PortCounters, ANSWER, LAUNCH};
use super::session::{quote, Session};

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
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        // Error messages must stand between the answers.
        words.join(" ") + " 2>&1"
    }

    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError> {
        session.read("ready message", LAUNCH, |line| {
            line.contains("Checking link statuses").then_some(())
        })?;
        // In flowgen mode, the length includes the CRC.
        let length = match config.mode {
            Mode::Txonly => config.frame_size,
            Mode::Flowgen => config.frame_size + 4,
        };
        session.send(&format!("set txpkts {length}"))?;
        let ports = self.counters(session, config)?.len();
        if ports != config.port_count() {
            return Err(PktgenError::Refused(format!(
                "testpmd found {ports} ports, not {}: are they bound to vfio-pci?",
                config.port_count()
            )));
        }
        Ok(format!("testpmd, {} ports", ports))
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
        // A successful command prints nothing, so ask for the counters to get an answer.
        let mut complaint = None;
        ask_counters(session, config, |line| {
            if line.contains("rate_limit") || line.contains("Bad arguments") {
                complaint = Some(line.trim().to_owned());
            }
        })?;
        match complaint {
            None => Ok(()),
            Some(line) => Err(PktgenError::Refused(format!(
                "its ports cannot limit their rate (\"{line}\"): omit the rate or use dpdk-pktgen"
            ))),
        }
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
        ask_counters(session, config, |_| ())
    }
}

/// The start of the command line: `sudo` if the configuration asks for it, and a `timeout` that
/// ends the program even if this process cannot.
pub(super) fn guard(config: &Config) -> Vec<String> {
    let mut words = Vec::new();
    if config.sudo {
        words.extend(["sudo".to_owned(), "-n".to_owned()]);
    }
    words.extend(["timeout", "-k", "5"].map(str::to_owned));
    words.push(config.time_limit_seconds.to_string());
    words
}

/// The options of DPDK itself.
pub(super) fn eal(config: &Config) -> Vec<String> {
    let mut words = vec!["--lcores".to_owned(), config.lcores.clone()];
    // A file prefix of its own keeps it apart from other DPDK programs.
    words.extend(["--file-prefix".to_owned(), "triptych".to_owned()]);
    words.push("--no-telemetry".to_owned());
    for port in &config.ports {
        words.extend(["-a".to_owned(), port.clone()]);
    }
    for vdev in &config.vdevs {
        words.extend(["--vdev".to_owned(), vdev.clone()]);
    }
    words.extend(config.eal.iter().cloned());
    words
}

/// Asks for the counters of all ports. Calls `also` with every line up to them.
fn ask_counters(
    session: &mut Session,
    config: &Config,
    mut also: impl FnMut(&str),
) -> Result<Vec<PortCounters>, PktgenError> {
    session.send("show port stats all")?;
    let mut parser = Parser::default();
    let wanted = config.port_count();
    session.read("counters", ANSWER, |line| {
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
    fn a_half_printed_port_is_not_complete() {
        let mut parser = Parser::default();
        for line in STATISTICS.lines().take(16) {
            parser.line(line);
        }
        assert_eq!(parser.ports.len(), 2);
        assert!(!parser.complete);
    }
}
