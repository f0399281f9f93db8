//! Throughput of whole processes: the forwarder runs on one CPU. The software NIC runs on another, or
//! a real card gets its load from outside.
//!
//! Against the software NIC, cache lines that move between two cores dominate the throughput. It
//! shows whether the driver was the bottleneck, but not what the driver's code costs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{BackendName, Metric, Placement, Sample, Waiting, DEFAULT_QUEUES};
use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::device::{Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::load::{self, ForwarderProcess, Load, LoadGenerator, SentLoad, SentRange, Sides};
use crate::peer::throughput::{self, Window};
use crate::placement::Pinning;
use crate::process::Process;
use crate::report::{ForwarderReport, Rates};

/// Above this share of dropped packets, a warning says so.
const DROPPED: f64 = 0.01;
/// Time for starting and stopping, for estimates.
const AROUND: Duration = Duration::from_millis(500);
/// Without this, the forwarder may end before it prints the line of the last second.
const LAST_LINE: Duration = Duration::from_millis(500);
/// Time that a forwarder may take beyond its duration: it sets devices up and waits for the link.
const PATIENCE: Duration = Duration::from_secs(20);

/// The two ports that the forwarder runs between.
#[derive(Debug)]
pub enum Link {
    /// Two ports of the software NIC.
    Software(NicProgram),
    /// Two ports of a real card.
    Real {
        /// Their PCI addresses.
        devices: [String; 2],
        /// The generator that sends to them; `None` if the user starts one.
        generator: Option<Box<dyn LoadGenerator>>,
        /// Longest time for the link of each port to come up.
        link_timeout: Duration,
    },
}

impl Link {
    /// The reason why a driver cannot run between the ports; `None` if it can.
    pub fn unavailable(&self, placement: &Placement) -> Option<String> {
        match self {
            Self::Real { .. } => None,
            Self::Software(nic) => nic.unavailable_beside_driver(placement),
        }
    }

    /// The settings of the link, for `run.json`.
    pub(crate) fn settings(&self, placement: &Placement) -> Vec<(String, serde_json::Value)> {
        match self {
            Self::Software(_) => vec![("nic_cpu".into(), json!(placement.nic))],
            Self::Real {
                devices,
                generator,
                link_timeout,
            } => {
                let generator = generator.as_ref().map(|generator| generator.describe());
                vec![
                    ("devices".into(), json!(devices)),
                    ("generator".into(), json!(generator)),
                    ("link_timeout".into(), json!(link_timeout.as_secs_f64())),
                    ("order".into(), json!(load::ORDER)),
                    ("node".into(), json!(placement.node)),
                ]
            }
        }
    }

    /// Ends the generator, if there is one.
    pub(crate) fn close(&mut self) {
        if let Self::Real {
            generator: Some(generator),
            ..
        } = self
        {
            generator.close();
        }
    }
}

/// The wall backend and its settings.
#[derive(Debug)]
pub struct Wall {
    /// The two ports that the forwarder runs between.
    pub link: Link,
    /// CPUs of driver and NIC.
    pub placement: Placement,
    /// Duration of each measurement.
    pub duration: Duration,
    /// Time that the forwarder runs before that. With a warm-up, throughput comes from the line that
    /// the forwarder prints every second; without a warm-up, from its totals.
    pub warm_up: Duration,
    /// Number of measurements of each cell, at least 1.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

/// A forwarder to start.
pub(crate) struct ForwarderRun<'a> {
    pub cell: &'a Cell,
    pub devices: &'a [String; 2],
    pub duration: Duration,
    pub placement: &'a Placement,
    pub pinning: Pinning,
    /// Longest time for the link of each port; `None` for the forwarder's default.
    pub link_timeout: Option<Duration>,
    pub interrupt: &'a Interrupt,
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> MeasureError {
    let path = path.to_owned();
    move |cause| MeasureError::File { path, cause }
}

/// A running forwarder.
struct Running {
    process: Process,
    report: PathBuf,
    printed: PathBuf,
}

impl ForwarderProcess for Running {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// It prints rates only while its ports have a link.
    fn has_link(&self) -> bool {
        Rates::seconds(&fs::read_to_string(&self.printed).unwrap_or_default()) > 0
    }
}

impl Running {
    /// The text that it has printed so far.
    fn printed(&self) -> Result<String, MeasureError> {
        fs::read_to_string(&self.printed).map_err(file_error(&self.printed))
    }

    /// Waits until it has printed rates for `seconds` seconds more than `before`.
    fn wait_for_seconds(
        &mut self,
        before: usize,
        seconds: usize,
        interrupt: &Interrupt,
    ) -> Result<(), MeasureError> {
        let limit = Duration::from_secs(seconds as u64) + PATIENCE;
        let printed = self.printed.clone();
        Ok(self.process.wait_until(limit, interrupt, || {
            let text = fs::read_to_string(&printed).unwrap_or_default();
            Rates::seconds(&text) >= before + seconds
        })?)
    }

    /// Ends it, and returns its totals.
    fn stop(self) -> Result<ForwarderReport, MeasureError> {
        self.process.stop(PATIENCE)?;
        Ok(ForwarderReport::read(&self.report)?.with_packets()?)
    }
}

impl ForwarderRun<'_> {
    /// Runs it for its duration. Returns its totals, and the text that it printed.
    pub(crate) fn run(&self, folder: &Path) -> Result<(ForwarderReport, String), MeasureError> {
        let running = self.start(folder, Some(self.duration))?;
        let limit = self.duration + PATIENCE;
        let Running {
            process,
            report,
            printed,
        } = running;
        process.wait(limit, self.interrupt)?;
        let report = ForwarderReport::read(&report)?.with_packets()?;
        let printed = fs::read_to_string(&printed).map_err(file_error(&printed))?;
        Ok((report, printed))
    }

    /// Starts it, for a duration or until it is stopped.
    fn start(&self, folder: &Path, duration: Option<Duration>) -> Result<Running, MeasureError> {
        let (report, printed) = (folder.join("report.json"), folder.join("ixgbe-fwd.stdout"));
        let mut command = self.pinning.command(&self.cell.program, self.placement);
        command
            .args(["--batch", &self.cell.conditions.batch.to_string()])
            .args(["--ring-size", &self.cell.conditions.ring_size.to_string()])
            .arg("--json")
            .arg(&report);
        if self.cell.conditions.waiting == Waiting::Interrupts {
            command.arg("--interrupts");
        }
        let queues = self.cell.conditions.queues;
        if queues > DEFAULT_QUEUES {
            command.args(["--queues", &queues.to_string()]);
        }
        if let Some(duration) = duration {
            command.args(["--duration", &duration.as_secs_f64().to_string()]);
        }
        if let Some(link_timeout) = self.link_timeout {
            command.args(["--link-timeout", &link_timeout.as_secs_f64().to_string()]);
        }
        command.args(self.devices);
        let (cpu, node) = match self.pinning {
            // The threads of several queues need a processor each, so the scheduler places them.
            Pinning::SystemCalls if queues > DEFAULT_QUEUES => (None, self.placement.node),
            Pinning::SystemCalls => (self.placement.driver, self.placement.node),
            Pinning::Numactl => (None, None),
        };
        let stdout = File::create(&printed).map_err(file_error(&printed))?;
        let process =
            Process::start_on_node("ixgbe-fwd", command, cpu, node, folder, stdout.into())?;
        Ok(Running {
            process,
            report,
            printed,
        })
    }
}

/// What one run of a forwarder gave.
struct Measured {
    report: ForwarderReport,
    rates: Rates,
    /// The rates of the generator, if there is one.
    sent: Option<SentLoad>,
}

impl Wall {
    fn run(&mut self, cell: &Cell) -> Result<Measured, MeasureError> {
        let folder = crate::temporary::TemporaryFolder::create()?;
        let mut run = ForwarderRun {
            cell,
            devices: &[String::new(), String::new()],
            duration: self.warm_up + self.duration,
            placement: &self.placement,
            pinning: Pinning::SystemCalls,
            link_timeout: None,
            interrupt: &self.interrupt,
        };
        let (skip, take) = Rates::whole_seconds(self.warm_up, self.duration);
        match &mut self.link {
            Link::Software(program) => {
                let setup = NicSetup {
                    frame_size: cell.conditions.frame_size,
                    ..NicSetup::new(Traffic::Saturate, self.placement.nic)
                };
                let nic = Nic::start(program, &setup, folder.path(), &self.interrupt)?;
                run.devices = nic.devices();
                if !self.warm_up.is_zero() {
                    run.duration += LAST_LINE;
                }
                let (report, printed) = run.run(folder.path())?;
                nic.stop()?;
                let rates = match self.warm_up.is_zero() {
                    true => report.rates(),
                    false => Rates::from_lines(&printed, skip, take)?,
                };
                Ok(Measured {
                    report,
                    rates,
                    sent: None,
                })
            }
            Link::Real {
                devices,
                generator,
                link_timeout,
            } => {
                run.devices = devices;
                run.pinning = Pinning::available(&self.placement);
                run.link_timeout = Some(*link_timeout);
                let sides = Sides {
                    generator: generator.as_deref_mut(),
                    link_timeout: *link_timeout,
                    interrupt: &self.interrupt,
                };
                let (forwarder, rates, sent) = load::under_load(
                    sides,
                    Load::of(cell),
                    || run.start(folder.path(), None),
                    |forwarder| {
                        // The second in which the load began is skipped.
                        let before = Rates::seconds(&forwarder.printed()?) + 1;
                        forwarder.wait_for_seconds(before, skip + take, &self.interrupt)?;
                        Ok(Rates::from_lines(
                            &forwarder.printed()?,
                            before + skip,
                            take,
                        )?)
                    },
                )?;
                let report = forwarder.stop()?;
                Ok(Measured {
                    report,
                    rates,
                    sent,
                })
            }
        }
    }

    /// Measures a peer, whose packets the card counts.
    fn measure_peer(
        &self,
        cell: &Cell,
        repeat: u32,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        let Link::Software(nic) = &self.link else {
            let why = self.unavailable_for_peers().unwrap_or_default();
            return Err(MeasureError::Other(why));
        };
        let window = Window {
            warm_up: self.warm_up,
            duration: self.duration,
        };
        let found = throughput::measure(cell, nic, &self.placement, window, &self.interrupt)?;
        warn_of_drops(cell, found.dropped_ratio(), observer);
        let values = [
            (Metric::Mpps, found.tx_mpps()),
            (Metric::TscCycles, found.tsc_cycles_per_packet()),
        ];
        let name = BackendName::Wall;
        let sample = |(metric, value)| cell.sample(name, metric, value, found.received, repeat);
        Ok(values.map(sample).to_vec())
    }

    fn measure_cell(
        &mut self,
        cell: &Cell,
        repeat: u32,
        range: &mut SentRange,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        if cell.peer.is_some() {
            return self.measure_peer(cell, repeat, observer);
        }
        let Measured {
            report,
            rates,
            sent,
        } = self.run(cell)?;
        if let Some(sent) = sent {
            range.add(&sent);
            for why in [sent.deviation(), sent.too_small_for(rates.rx_mpps)]
                .into_iter()
                .flatten()
            {
                observer.warning(&format!("{cell}, wall: {why}"));
            }
        }
        warn_of_drops(cell, report.dropped_ratio(), observer);
        let tsc_mhz = report.tsc_cycles as f64 / report.seconds / 1e6;
        let packets = (rates.rx_mpps * rates.seconds * 1e6).round().max(1.0) as u64;
        let mut values = vec![
            (Metric::Mpps, rates.tx_mpps),
            (Metric::TscCycles, tsc_mhz / rates.rx_mpps),
        ];
        // With a real card, the forwarder runs before the load begins, so its totals include calls
        // that do not belong to the measurement.
        if matches!(self.link, Link::Software(_)) {
            values.push((Metric::FullBatchRatio, report.full_batch_ratio()));
        }
        Ok(values
            .into_iter()
            .map(|(metric, value)| cell.sample(BackendName::Wall, metric, value, packets, repeat))
            .collect())
    }
}

fn warn_of_drops(cell: &Cell, ratio: f64, observer: &mut dyn Observer) {
    if ratio > DROPPED {
        observer.warning(&format!(
            "{cell}, wall: the driver dropped {:.1} % of the packets, because the NIC did not take them \
             in time; a drop costs less than a send",
            100.0 * ratio
        ));
    }
}

impl Backend for Wall {
    fn name(&self) -> BackendName {
        BackendName::Wall
    }

    fn unavailable(&self) -> Option<String> {
        self.link.unavailable(&self.placement)
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        match self.link {
            Link::Software(_) => None,
            Link::Real { .. } => Some(
                "the software card counts a peer's packets, and this run uses a real card"
                    .to_owned(),
            ),
        }
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, cell: &Cell) -> Duration {
        let start = match cell.peer {
            None => Duration::ZERO,
            Some(_) => throughput::START,
        };
        self.warm_up + self.duration + AROUND + start
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut settings = BTreeMap::from([
            ("seconds".into(), json!(self.duration.as_secs_f64())),
            ("warm_up".into(), json!(self.warm_up.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(self.placement.driver)),
        ]);
        settings.extend(self.link.settings(&self.placement));
        if matches!(self.link, Link::Real { .. }) {
            let pinning = Pinning::available(&self.placement);
            settings.insert("pinning".into(), json!(pinning));
        }
        settings
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let (name, repeats) = (self.name(), self.repeats);
        let mut range = SentRange::default();
        let outcome = measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            self.measure_cell(cell, repeat, &mut range, observer)
        });
        self.link.close();
        // An interrupted run records this, too.
        if let Some(range) = range.json() {
            observer.setting(name, "generator_mpps", range);
        }
        outcome
    }
}
