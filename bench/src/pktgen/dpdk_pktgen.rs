//! dpdk-pktgen, driven by a Lua script that it runs: `bench/pktgen/generator.lua`.

use super::config::Config;
use super::error::PktgenError;
use super::protocol::{GeneratorProtocol, PortCounters, ANSWER, LAUNCH};
use super::session::{quote, Session};
use super::testpmd::{eal, guard};

const SCRIPT: &str = include_str!("../../pktgen/generator.lua");
/// The start of the script's lines, which tells them apart from dpdk-pktgen's screen.
const MARK: &str = "triptych: ";

#[derive(Debug)]
pub(super) struct DpdkPktgen;

impl GeneratorProtocol for DpdkPktgen {
    fn script(&self, config: &Config) -> String {
        let mut words = guard(config);
        words.push(config.program.clone().unwrap_or("pktgen".into()));
        words.extend(eal(config));
        words.extend(["--".into(), "-P".into(), "-m".into(), mapping(config)]);
        words.extend(config.options.iter().cloned());
        let command: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let settings = format!(
            "TRIPTYCH = {{ frame_size = {}, flows = {}, ports = {} }}\n",
            config.frame_size,
            config.flows,
            config.port_count()
        );
        // dpdk-pktgen reads its script only from a file. The file is removed when the program ends.
        format!(
            "f=$(mktemp /tmp/triptych-XXXXXX.lua) && trap 'rm -f \"$f\"' EXIT && \
             printf %s {} >\"$f\" && {} -f \"$f\"",
            quote(&(settings + SCRIPT)),
            command.join(" ")
        )
    }

    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError> {
        let answer = answer(session, "ready message", LAUNCH, "ready")?;
        let ports: usize = word(&answer, 0)?;
        if ports != config.port_count() {
            return Err(PktgenError::Refused(format!(
                "dpdk-pktgen found {ports} ports, not {}: are they bound to vfio-pci?",
                config.port_count()
            )));
        }
        let version = answer.split_whitespace().nth(1).unwrap_or("?");
        Ok(format!("dpdk-pktgen {version}, {ports} ports"))
    }

    fn set_rate(
        &self,
        session: &mut Session,
        _config: &Config,
        share: f64,
    ) -> Result<(), PktgenError> {
        session.send(&format!("rate {:.6}", share * 100.0))?;
        answer(session, "confirmation of the rate", ANSWER, "rate").map(drop)
    }

    fn start(&self, session: &mut Session) -> Result<(), PktgenError> {
        session.send("start")?;
        answer(session, "confirmation of the start", ANSWER, "started").map(drop)
    }

    fn stop(&self, session: &mut Session) -> Result<(), PktgenError> {
        session.send("stop")?;
        answer(session, "confirmation of the stop", ANSWER, "stopped").map(drop)
    }

    fn counters(
        &self,
        session: &mut Session,
        config: &Config,
    ) -> Result<Vec<PortCounters>, PktgenError> {
        session.send("counters")?;
        let answer = answer(session, "counters", ANSWER, "counters")?;
        (0..config.port_count())
            .map(|port| {
                Ok(PortCounters {
                    sent: word(&answer, port * 2)?,
                    received: word(&answer, port * 2 + 1)?,
                    // Its rates refer to whole seconds of its own clock.
                    sent_per_second: 0,
                })
            })
            .collect()
    }
}

/// The core of each port. The program itself uses the first core of the list.
fn mapping(config: &Config) -> String {
    let cores = crate::host::system::parse_list(&config.lcores);
    let parts: Vec<String> = (0..config.port_count())
        .map(|port| {
            let core = cores.get(port + 1).copied().unwrap_or(port as u32 + 1);
            format!("{core}.{port}")
        })
        .collect();
    parts.join(",")
}

/// Waits for a line of the script that begins with `name`. Returns the rest of the line.
fn answer(
    session: &mut Session,
    what: &str,
    limit: std::time::Duration,
    name: &str,
) -> Result<String, PktgenError> {
    session.read(what, limit, |line| {
        let said = line.split_once(MARK)?.1;
        if let Some(error) = said.strip_prefix("error ") {
            return Some(Err(PktgenError::Refused(error.to_owned())));
        }
        let rest = said.strip_prefix(name)?;
        Some(Ok(rest.trim().to_owned()))
    })?
}

fn word<T: std::str::FromStr>(answer: &str, index: usize) -> Result<T, PktgenError> {
    let word = answer.split_whitespace().nth(index);
    word.and_then(|word| word.parse().ok()).ok_or_else(|| {
        PktgenError::Refused(format!("dpdk-pktgen sent an unexpected answer: {answer:?}"))
    })
}
