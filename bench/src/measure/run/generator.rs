//! Lets `triptych run` use the load generator of `triptych pktgen`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use perfcounters::load::{LoadGenerator, PortLink, SentLoad};
use perfcounters::{Interrupt, MeasureError};
use record::Conditions;

use crate::measure::pktgen::{Config, Generator, PktgenError};

/// The load generator of `triptych pktgen`. Its program runs until the backend has measured all cells,
/// so that links stay up.
#[derive(Debug)]
pub(super) struct Pktgen {
    config: PathBuf,
    /// The machine's name for SSH, instead of the name in the file.
    host: Option<String>,
    interrupt: Interrupt,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    generator: Generator,
    since: Instant,
    /// The age at which a new program replaces it, because `timeout` would end it soon.
    lifetime: Duration,
}

impl Pktgen {
    pub(super) fn new(config: PathBuf, host: Option<String>, interrupt: Interrupt) -> Self {
        Self {
            config,
            host,
            interrupt,
            running: None,
        }
    }

    /// Lets the running program do something. If it fails, its state is unknown, and the next
    /// measurement starts a new one.
    fn with<T>(
        &mut self,
        action: impl FnOnce(&mut Generator) -> Result<T, PktgenError>,
    ) -> Result<T, MeasureError> {
        let Some(running) = &mut self.running else {
            return Err(MeasureError::Other(
                "the load generator is not running".to_owned(),
            ));
        };
        action(&mut running.generator).map_err(|error| {
            self.running = None;
            failure(error)
        })
    }
}

fn failure(error: PktgenError) -> MeasureError {
    match error {
        PktgenError::Interrupted => MeasureError::Interrupted,
        PktgenError::NoLink { .. } => MeasureError::Link(error.to_string()),
        other => MeasureError::Other(other.to_string()),
    }
}

impl LoadGenerator for Pktgen {
    fn describe(&self) -> String {
        match &self.host {
            None => self.config.display().to_string(),
            Some(host) => format!("{} on {host}", self.config.display()),
        }
    }

    fn open(&mut self) -> Result<(), MeasureError> {
        let usable = self.running.as_mut().is_some_and(|running| {
            running.since.elapsed() < running.lifetime && running.generator.links().is_ok()
        });
        if usable {
            return Ok(());
        }
        // The old program must release its ports first.
        self.running = None;
        let mut config = Config::read(&self.config).map_err(failure)?;
        if let Some(host) = &self.host {
            config.ssh = Some(host.clone());
        }
        let generator = Generator::launch(&config, &self.interrupt).map_err(failure)?;
        self.running = Some(Running {
            generator,
            since: Instant::now(),
            lifetime: Duration::from_secs(config.time_limit_seconds.into()) / 2,
        });
        Ok(())
    }

    fn links(&mut self) -> Result<Vec<PortLink>, MeasureError> {
        self.with(Generator::links)
    }

    fn start(&mut self, conditions: &Conditions) -> Result<(), MeasureError> {
        self.with(|generator| {
            generator.set_frame_size(conditions.frame_size)?;
            generator.start(conditions.offered_mpps)
        })
    }

    fn stop(&mut self) -> Result<SentLoad, MeasureError> {
        self.with(Generator::stop).map(|report| report.load())
    }

    fn close(&mut self) {
        self.running = None;
    }
}
