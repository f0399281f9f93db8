//! What a run needs: its matrix, the builds, the CPUs, and the backends with the settings of the configuration.

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use caches::cpu::Cpu;
use perfcounters::burst::Burst;
use perfcounters::device::NicProgram;
use perfcounters::latency::Latency;
use perfcounters::load::{Link, LoadGenerator};
use perfcounters::lockstep::Lockstep;
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::Perf;
use perfcounters::placement::{self, Topology};
use perfcounters::trace::Trace;
use perfcounters::valgrind::Valgrind;
use perfcounters::wall::Wall;
use perfcounters::{path_of, Backend, Cell, Interrupt};
use record::{
    BackendName, Build, Conditions, CpuClock, GitFacts, HostFacts, Placement, RunPeriod, RunRecord,
};

use super::arguments::RunArguments;
use super::config::Config;
use super::generator::Pktgen;
use super::matrix::{Compared, Matrix};
use crate::build::builds::cells::{self, Builds};
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::build::peers::record::Peers;
use crate::code::data_path::with_checks;
use crate::usage::{UsageError, WorkerKind};

pub(super) struct RunSetup<'a> {
    pub(super) matrix: Matrix,
    pub(super) builds: Builds,
    pub(super) backends: Backends<'a>,
}

impl<'a> RunSetup<'a> {
    pub(super) fn new(config: &'a Config, build: &'a Path, interrupt: &Interrupt) -> Result<Self> {
        let peers = Peers::read(build).map_err(|error| UsageError(format!("{error:#}")))?;
        let matrix = Matrix::new(config, build, &peers)?;
        Ok(Self {
            builds: Builds::describe(build, &matrix.drivers(), peers),
            matrix,
            backends: Backends::new(config, build, interrupt),
        })
    }

    pub(super) fn cells(
        &self,
        backend: &dyn Backend,
        groups: &[Compared<Conditions>],
    ) -> Vec<Cell> {
        let groups = groups.iter();
        let cells =
            groups.flat_map(|(conditions, drivers)| self.builds.cells(*conditions, drivers));
        cells.flat_map(|cell| backend.cells_of(&cell)).collect()
    }

    /// The builds, with the number of checks in their machine code.
    pub(super) fn described(&self) -> Vec<Build> {
        let described = self.builds.all().into_iter().map(|build| {
            // Only the functions of the default path are counted.
            let default = path_of(&build.variant) == path_of(DEFAULT);
            if build.implementation.is_peer() || !default {
                return build;
            }
            let folder = build_folder(self.backends.build, build.implementation, &build.variant);
            with_checks(build, &folder.join("ixgbe-fwd"))
        });
        described.collect()
    }

    /// What `run.json` says before the first measurement.
    pub(super) fn record(&self, arguments: &RunArguments) -> Result<RunRecord> {
        let config = self.backends.config.to_record();
        Ok(RunRecord {
            machine: arguments.results.machine(),
            start: now(),
            command: std::env::args().collect(),
            git: GitFacts::of(Path::new(".")),
            host: HostFacts::gather(),
            builds: self.described(),
            artefacts: cells::hashes(&arguments.build_dir, &self.builds.programs()),
            peers: self.builds.peers(),
            skipped_peers: self.matrix.skipped_peers.clone(),
            plan: config.context("cannot record the configuration")?,
            placement: self.backends.placement.clone(),
            periods: vec![period(&self.backends.placement)],
            ..RunRecord::default()
        })
    }
}

pub(super) fn period(placement: &Placement) -> RunPeriod {
    RunPeriod {
        start: now(),
        end: None,
        command: std::env::args().collect(),
        clocks_before: clocks(placement),
        clocks_after: Vec::new(),
    }
}

pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

pub(super) fn clocks(placement: &Placement) -> Vec<CpuClock> {
    placement.cpus().into_iter().map(CpuClock::now).collect()
}

#[derive(Debug)]
pub(crate) struct Backends<'a> {
    pub(super) config: &'a Config,
    pub(super) build: &'a Path,
    pub(crate) placement: Placement,
    interrupt: Interrupt,
}

impl<'a> Backends<'a> {
    /// The backends of a configuration, on the CPUs that suit its ports.
    pub(crate) fn new(config: &'a Config, build: &'a Path, interrupt: &Interrupt) -> Self {
        let ports = config.devices.as_ref();
        let node = ports.and_then(|[device, _]| placement::node_of_device(device));
        Self {
            config,
            build,
            placement: Topology::here().choose(node),
            interrupt: interrupt.clone(),
        }
    }

    pub(crate) fn backend(&self, name: BackendName) -> Result<Box<dyn Backend>> {
        let config = self.config;
        let nic = self.nic();
        let placement = self.placement.clone();
        let interrupt = self.interrupt.clone();
        Ok(match name {
            BackendName::Perf => Box::new(Perf {
                link: self.link()?,
                placement,
                worker: WorkerKind::Perf.command()?,
                window: Duration::from_secs_f64(config.perf.seconds),
                warm_up: Duration::from_secs_f64(config.perf.warm_up),
                repeats: config.perf.repeats,
                events: EventSet::detect(self.placement.driver),
                interrupt,
            }),
            BackendName::Trace => Box::new(Trace {
                nic,
                placement,
                cpus: {
                    let cpus = config.trace.cpus.iter().map(|name| Cpu::named(name));
                    cpus.collect::<Result<_, _>>()?
                },
                interrupt,
            }),
            BackendName::Valgrind => Box::new(Valgrind {
                nic,
                packets: config.valgrind.packets.into(),
                repeats: config.valgrind.repeats,
                interrupt,
            }),
            BackendName::Lockstep => Box::new(Lockstep {
                worker: WorkerKind::Lockstep.command()?,
                processes: config.lockstep.processes,
                rounds: config.lockstep.rounds,
                placements: config.placements.clone(),
                interrupt,
            }),
            BackendName::Burst => Box::new(Burst {
                nic,
                placement,
                placements: config.placements.clone(),
                processes: config.burst.processes,
                rounds: config.burst.rounds,
                bursts: config.burst.bursts,
                interrupt,
            }),
            BackendName::Wall => Box::new(Wall {
                link: self.link()?,
                placement,
                duration: Duration::from_secs_f64(config.wall.seconds),
                warm_up: Duration::from_secs_f64(config.wall.warm_up),
                repeats: config.wall.repeats,
                interrupt,
            }),
        })
    }

    /// Creates the backend that measures latency, or says why there is none with a real card.
    pub(super) fn latency(&self) -> Result<Box<dyn Backend>, String> {
        if self.config.devices.is_some() {
            return Err(
                "latency is measured with the software NIC's time stamps; no supported generator \
                 takes time stamps with a real card"
                    .to_owned(),
            );
        }
        let settings = &self.config.latency;
        Ok(Box::new(Latency {
            nic: self.nic(),
            placement: self.placement.clone(),
            duration: Duration::from_secs_f64(settings.seconds),
            warm_up: Duration::from_secs_f64(settings.warm_up),
            repeats: settings.repeats,
            interrupt: self.interrupt.clone(),
        }))
    }

    fn nic(&self) -> NicProgram {
        NicProgram::new(self.build.join("bin/nic"))
    }

    fn link(&self) -> Result<Link> {
        let config = self.config;
        let Some(devices) = config.devices.clone() else {
            return Ok(Link::Software(self.nic()));
        };
        let generator = Pktgen::new(config, &self.interrupt)?
            .map(|generator| Box::new(generator) as Box<dyn LoadGenerator>);
        Ok(Link::Real {
            devices,
            generator,
            link_timeout: Duration::from_secs(config.link_timeout.into()),
        })
    }
}
