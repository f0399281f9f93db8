//! Lets `triptych run` use the load generator of `triptych pktgen`.

use std::path::PathBuf;

use perfcounters::load::{Load, LoadGenerator};
use perfcounters::{Interrupt, MeasureError};

use crate::pktgen::{self, Generator, PktgenError};

/// The load generator of `triptych pktgen`. It starts with the first load and runs until the frame
/// size changes.
#[derive(Debug)]
pub(super) struct Pktgen {
    pub(super) config: PathBuf,
    /// The machine's name for SSH, instead of the name in the file.
    pub(super) host: Option<String>,
    pub(super) interrupt: Interrupt,
    pub(super) running: Option<(u32, Generator)>,
}

impl LoadGenerator for Pktgen {
    fn describe(&self) -> String {
        match &self.host {
            None => self.config.display().to_string(),
            Some(host) => format!("{} on {host}", self.config.display()),
        }
    }

    fn start(&mut self, load: Load) -> Result<(), MeasureError> {
        let fail = |error: PktgenError| MeasureError::Other(error.to_string());
        if !matches!(&self.running, Some((size, _)) if *size == load.frame_size) {
            // The old generator must release its ports first.
            self.running = None;
            let mut config = pktgen::Config::read(&self.config).map_err(fail)?;
            config.frame_size = load.frame_size;
            if let Some(host) = &self.host {
                config.ssh = Some(host.clone());
            }
            let generator = Generator::launch(&config, &self.interrupt).map_err(fail)?;
            self.running = Some((load.frame_size, generator));
        }
        match &mut self.running {
            Some((_, generator)) => generator.start(load.mpps).map_err(fail),
            None => Ok(()),
        }
    }

    fn stop(&mut self) -> Result<(), MeasureError> {
        let Some((_, generator)) = &mut self.running else {
            return Ok(());
        };
        let stopped = generator.stop();
        if stopped.is_err() {
            // Its state is unknown, so the next measurement starts a new one.
            self.running = None;
        }
        stopped
            .map(|_| ())
            .map_err(|error| MeasureError::Other(error.to_string()))
    }
}
