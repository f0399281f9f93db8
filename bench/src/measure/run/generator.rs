//! Lets `triptych run` use the load generator of `triptych pktgen`.

use std::time::{Duration, Instant};

use perfcounters::load::{LoadGenerator, PortLink, SentLoad};
use perfcounters::{Interrupt, MeasureError};
use record::Conditions;

use super::config as run;
use crate::machine::host::system::program;
use crate::measure::pktgen::{command_line, Config, Generator};
use crate::usage::UsageError;

/// The load generator of `triptych pktgen`. Its program runs until the backend has measured all cells,
/// so that links stay up.
#[derive(Debug)]
pub(super) struct Pktgen {
    /// The file of its configuration, and the machine if the command line names it.
    name: String,
    config: Config,
    interrupt: Interrupt,
    running: Option<(Generator, Instant)>,
}

impl Pktgen {
    /// The generator of a configuration; `None` if it has none.
    pub(super) fn new(
        run: &run::Config,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, UsageError> {
        let Some(path) = &run.pktgen else {
            return Ok(None);
        };
        let mut name = path.display().to_string();
        let mut config = Config::read(path).map_err(|error| UsageError(format!("{error:#}")))?;
        if let Some(host) = &run.pktgen_host {
            name.push_str(&format!(" on {host}"));
            config.ssh = Some(host.clone());
        }
        if let Some(host) = &config.ssh {
            // Errors may name the machine, and the record then has its alias.
            record::alias(host);
        }
        Ok(Some(Self {
            name,
            config,
            interrupt: interrupt.clone(),
            running: None,
        }))
    }

    /// Starts the generator and ends it. It sends nothing.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let place = self.config.ssh.as_deref().unwrap_or("this machine");
        eprintln!("checking the load generator on {place}");
        let running = Generator::launch(&self.config, &self.interrupt);
        let running = running.map_err(|error| {
            UsageError(format!(
                "the load generator does not answer: {error}; `{} pktgen --config FILE --check` tries \
                 it alone",
                program()
            ))
        })?;
        eprintln!("{}", running.about());
        Ok(())
    }

    pub(super) fn command_line(&self) -> String {
        command_line(&self.config)
    }

    /// Lets the running program do something. If it fails, its state is unknown, and the next
    /// measurement starts a new one.
    fn with<T>(
        &mut self,
        action: impl FnOnce(&mut Generator) -> Result<T, MeasureError>,
    ) -> Result<T, MeasureError> {
        let Some((generator, _)) = &mut self.running else {
            let why = "the load generator is not running";
            return Err(MeasureError::Other(why.to_owned()));
        };
        let done = action(generator);
        if done.is_err() {
            self.running = None;
        }
        done
    }
}

impl LoadGenerator for Pktgen {
    fn describe(&self) -> String {
        self.name.clone()
    }

    fn open(&mut self) -> Result<(), MeasureError> {
        // `timeout` would end an old program soon.
        let lifetime = Duration::from_secs(self.config.time_limit_seconds.into()) / 2;
        let usable = self.running.as_mut().is_some_and(|(generator, since)| {
            since.elapsed() < lifetime && generator.links().is_ok()
        });
        if !usable {
            // The old program must release its ports first.
            self.running = None;
            let generator = Generator::launch(&self.config, &self.interrupt)?;
            self.running = Some((generator, Instant::now()));
        }
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
