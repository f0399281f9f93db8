//! Load generators that read commands from standard input, one per line, and answer each with a line.
//! `bench/pktgen/README.md` lists the commands and answers.

use std::str::FromStr;
use std::time::Duration;

use super::config::{Config, Tool};
use super::error::PktgenError;
use super::protocol::{GeneratorProtocol, PortCounters, ANSWER, LAUNCH};
use super::session::Session;
use super::{command, dpdk_pktgen, moongen};

/// The start of an answer, which tells it apart from everything else that the program prints.
const MARK: &str = "triptych: ";

/// dpdk-pktgen or MoonGen with a script of this project, or any other program with these commands.
#[derive(Debug)]
pub(super) struct LineProtocol;

impl GeneratorProtocol for LineProtocol {
    fn script(&self, config: &Config) -> String {
        match config.tool {
            Tool::Pktgen => dpdk_pktgen::script(config),
            Tool::Moongen => moongen::script(config),
            Tool::Command | Tool::Testpmd => command::script(config),
        }
    }

    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError> {
        let answer = answer(session, "ready message", LAUNCH, "ready")?;
        let ports: usize = word(&answer, 0)?;
        if ports != config.port_count() {
            return Err(PktgenError::Refused(format!(
                "{} found {ports} ports, not {}: are they bound to vfio-pci?",
                config.tool,
                config.port_count()
            )));
        }
        let version = answer.split_whitespace().nth(1).unwrap_or("?");
        self.set_frame_size(session, config, config.frame_size)?;
        Ok(format!("{} {version}, {ports} ports", config.tool))
    }

    fn links(&self, session: &mut Session, config: &Config) -> Result<Vec<bool>, PktgenError> {
        session.send("links")?;
        let answer = answer(session, "links", ANSWER, "links")?;
        (0..config.port_count())
            .map(|port| Ok(word::<String>(&answer, port)? == "up"))
            .collect()
    }

    fn set_frame_size(
        &self,
        session: &mut Session,
        _config: &Config,
        frame_size: u32,
    ) -> Result<(), PktgenError> {
        session.send(&format!("size {frame_size}"))?;
        answer(session, "confirmation of the frame size", ANSWER, "size").map(drop)
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
                    // Their rates refer to whole seconds of their own clocks.
                    sent_per_second: 0,
                })
            })
            .collect()
    }
}

/// Waits for an answer that begins with `name`. Returns the rest of the line.
fn answer(
    session: &mut Session,
    what: &str,
    limit: Duration,
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

fn word<T: FromStr>(answer: &str, index: usize) -> Result<T, PktgenError> {
    let word = answer.split_whitespace().nth(index);
    word.and_then(|word| word.parse().ok())
        .ok_or_else(|| PktgenError::Refused(format!("it sent an unexpected answer: {answer:?}")))
}
