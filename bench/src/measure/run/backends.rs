//! Creates the backends with the settings of the configuration.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use perfcounters::burst::Burst;
use perfcounters::device::NicProgram;
use perfcounters::latency::Latency;
use perfcounters::load::Link;
use perfcounters::load::LoadGenerator;
use perfcounters::lockstep::Lockstep;
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::Perf;
use perfcounters::trace::Trace;
use perfcounters::valgrind::Valgrind;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Interrupt};
use record::{BackendName, Placement};

use super::config::Config;
use super::generator::Pktgen;
use crate::usage::WorkerKind;

/// Creates backends.
#[derive(Debug)]
pub struct BackendFactory<'a> {
    /// The configuration of the run.
    pub config: &'a Config,
    /// The folder with the built drivers and the software NIC.
    pub build: &'a Path,
    /// The CPUs to run on.
    pub placement: &'a Placement,
    /// Stops a measurement.
    pub interrupt: &'a Interrupt,
}

impl BackendFactory<'_> {
    /// The software NIC.
    pub fn nic(&self) -> NicProgram {
        NicProgram::new(self.build.join("bin/nic"))
    }

    /// Creates a backend.
    ///
    /// # Errors
    /// If this program cannot find its own file.
    pub fn backend(&self, choice: BackendName) -> Result<Box<dyn Backend>> {
        let config = self.config;
        Ok(match choice {
            BackendName::Perf => Box::new(Perf {
                link: self.link(),
                placement: self.placement.clone(),
                worker: WorkerKind::Perf.command()?,
                window: config.perf.seconds.duration(),
                warm_up: config.perf.warm_up.duration(),
                repeats: config.perf.repeats.0,
                events: EventSet::detect(self.placement.driver),
                interrupt: self.interrupt.clone(),
            }),
            BackendName::Trace => Box::new(Trace {
                nic: self.nic(),
                placement: self.placement.clone(),
                cpus: config.trace.cpus.iter().map(|cpu| cpu.0.clone()).collect(),
                interrupt: self.interrupt.clone(),
            }),
            BackendName::Valgrind => Box::new(Valgrind {
                nic: self.nic(),
                packets: config.valgrind.packets.0.into(),
                repeats: config.valgrind.repeats.0,
                interrupt: self.interrupt.clone(),
            }),
            BackendName::Lockstep => Box::new(Lockstep {
                worker: WorkerKind::Lockstep.command()?,
                processes: config.lockstep.processes.0,
                rounds: config.lockstep.rounds.0,
                placements: config.placements.clone(),
                interrupt: self.interrupt.clone(),
            }),
            BackendName::Burst => Box::new(Burst {
                nic: self.nic(),
                placement: self.placement.clone(),
                placements: config.placements.clone(),
                processes: config.burst.processes.0,
                rounds: config.burst.rounds.0,
                bursts: config.burst.bursts.0,
                interrupt: self.interrupt.clone(),
            }),
            BackendName::Wall => Box::new(Wall {
                link: self.link(),
                placement: self.placement.clone(),
                duration: config.wall.seconds.duration(),
                warm_up: config.wall.warm_up.duration(),
                repeats: config.wall.repeats.0,
                interrupt: self.interrupt.clone(),
            }),
        })
    }

    /// Creates the backend that measures latency.
    ///
    /// # Errors
    /// With a real card: why latency cannot be measured.
    pub fn latency(&self) -> Result<Latency, String> {
        if self.config.devices.is_some() {
            return Err(
                "latency is measured with the software NIC's time stamps; no supported generator \
                 takes time stamps with a real card"
                    .to_owned(),
            );
        }
        let settings = &self.config.latency;
        Ok(Latency {
            nic: self.nic(),
            placement: self.placement.clone(),
            duration: settings.seconds.duration(),
            warm_up: settings.warm_up.duration(),
            repeats: settings.repeats.0,
            interrupt: self.interrupt.clone(),
        })
    }

    fn link(&self) -> Link {
        let config = self.config;
        match &config.devices {
            None => Link::Software(self.nic()),
            Some(devices) => Link::Real {
                devices: devices.clone(),
                generator: config.pktgen.as_ref().map(|path| {
                    let generator = Pktgen::new(
                        path.clone(),
                        config.pktgen_host.clone(),
                        self.interrupt.clone(),
                    );
                    Box::new(generator) as Box<dyn LoadGenerator>
                }),
                link_timeout: Duration::from_secs(config.link_timeout.0.into()),
            },
        }
    }
}
