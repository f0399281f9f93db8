//! The two ports that a forwarder runs between: those of the software NIC, which makes its load itself, or
//! those of a real card. The load for a real card: a generator on another machine, or on another card of this machine.
//!
//! A port has a link only while the drivers at both ends of its cable run: without a driver, the laser
//! or the PHY of a port is off. [`Link::measure`] therefore starts both sides before it waits for a link,
//! and sends only then. The generator keeps its ports between measurements, so that only the forwarder's
//! reset interrupts the links.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use record::{BackendName, Conditions, Placement};
use serde_json::json;

use crate::backend::{Cell, MeasureError, Observer};
use crate::device::{Nic, NicProgram};
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::process::Process;

/// The order in which the two sides start, for `run.json`.
pub const ORDER: [&str; 8] = [
    "generator's ports",
    "forwarder",
    "links of both",
    "load",
    "warm-up",
    "measurement",
    "no load",
    "forwarder ends",
];

/// Longest time in which a forwarder opens and resets its ports, before it waits for their links.
const SETUP: Duration = Duration::from_secs(20);
/// Time between two looks at the links.
const LOOK: Duration = Duration::from_millis(100);
/// Largest relative difference between the wanted and the sent rate without a warning.
const TOLERANCE: f64 = 0.02;
/// A driver that receives this share of the sent frames did not limit the throughput.
const ALL: f64 = 0.995;

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
                    ("order".into(), json!(ORDER)),
                    ("node".into(), json!(placement.node)),
                ]
            }
        }
    }

    /// Starts a forwarder between the ports, measures it under the load of a cell, and ends it after the load.
    /// `start` receives the devices and the longest time for their links. Returns what `end` makes of the
    /// measured value, and the rates of the generator, if there is one.
    pub(crate) fn measure<F: ForwarderProcess, T, R>(
        &mut self,
        cell: &Cell,
        place: &Place<'_>,
        start: impl FnOnce(&[String; 2], Option<Duration>) -> Result<F, MeasureError>,
        measure: impl FnOnce(&mut F) -> Result<T, MeasureError>,
        end: impl FnOnce(F, T) -> Result<R, MeasureError>,
    ) -> Result<(R, Option<SentLoad>), MeasureError> {
        let (devices, generator, link_timeout) = match self {
            Self::Software(program) => {
                let nic = Nic::start(program, cell, place, &["--traffic", "saturate"])?;
                let mut forwarder = start(&nic.devices(), None)?;
                let measured = measure(&mut forwarder)?;
                let result = end(forwarder, measured)?;
                nic.stop()?;
                return Ok((result, None));
            }
            Self::Real {
                devices,
                generator,
                link_timeout,
            } => (devices, generator, *link_timeout),
        };
        if let Some(generator) = generator {
            generator.open()?;
        }
        let mut forwarder = start(devices, Some(link_timeout))?;
        wait_for_links(generator, &mut forwarder, link_timeout, place.interrupt)?;
        if let Some(generator) = generator {
            generator.start(&cell.conditions)?;
        }
        let measured = measure(&mut forwarder);
        // The generator stops in any case; if the driver failed too, its error is reported.
        let sent = generator.as_mut().map(|it| it.stop()).transpose();
        let (measured, sent) = (measured?, sent?);
        Ok((end(forwarder, measured)?, sent))
    }

    /// Ends the generator, if there is one, and records the rates that it sent. An interrupted run
    /// records them, too.
    pub(crate) fn close(
        &mut self,
        sent: SentRange,
        backend: BackendName,
        observer: &mut dyn Observer,
    ) {
        if let Self::Real {
            generator: Some(generator),
            ..
        } = self
        {
            generator.close();
        }
        if let Some((lowest, highest)) = sent.0 {
            let range = json!({"lowest": lowest, "highest": highest});
            observer.setting(backend, "generator_mpps", range);
        }
    }
}

/// The rates of a generator from the end of its start to its stop, by the counters of its ports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentLoad {
    /// The wanted rate, Mpps, both directions together. Without a limit, the line rate.
    pub wanted_mpps: f64,
    /// The rate that it sent, Mpps.
    pub offered_mpps: f64,
}

impl SentLoad {
    /// Why the load differs from the wanted one; `None` if it does not.
    pub fn deviation(&self) -> Option<String> {
        let ratio = self.offered_mpps / self.wanted_mpps;
        (!((1.0 - TOLERANCE)..=(1.0 + TOLERANCE)).contains(&ratio)).then(|| {
            format!(
                "the generator sent {:.3} Mpps by the counters of its ports, not {:.3} Mpps",
                self.offered_mpps, self.wanted_mpps
            )
        })
    }

    /// Why the load did not saturate a driver that received `rx_mpps`; `None` if it did.
    pub fn too_small_for(&self, rx_mpps: f64) -> Option<String> {
        (rx_mpps >= ALL * self.offered_mpps).then(|| {
            format!(
                "the driver received all of the {:.3} Mpps that the generator sent, so the load \
                 limited the throughput, and the cycles include waiting",
                self.offered_mpps
            )
        })
    }
}

/// The link of a generator's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortLink {
    /// The port's name, usually its PCI address.
    pub name: String,
    /// Whether it has a link.
    pub up: bool,
}

impl fmt::Display for PortLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = if self.up { "a" } else { "no" };
        write!(f, "port {} has {a} link", self.name)
    }
}

/// A program that sends frames to both ports of the forwarder.
pub trait LoadGenerator: fmt::Debug {
    /// Description for `run.json`.
    fn describe(&self) -> String;

    /// Starts the program and its ports, and sends nothing. Keeps a program that runs already.
    fn open(&mut self) -> Result<(), MeasureError>;

    /// The links of its ports at this moment.
    fn links(&mut self) -> Result<Vec<PortLink>, MeasureError>;

    /// Begins to send frames of the size and at the load of a cell, and returns as soon as the rate is
    /// reached. All ports have a link.
    fn start(&mut self, conditions: &Conditions) -> Result<(), MeasureError>;

    /// Stops sending, and keeps the ports running.
    /// After an error, the values measured under its load are invalid.
    fn stop(&mut self) -> Result<SentLoad, MeasureError>;

    /// Ends the program.
    fn close(&mut self);
}

/// A forwarder that was started, and whose ports get a link at some time.
pub(crate) trait ForwarderProcess {
    /// Its process.
    fn process(&mut self) -> &mut Process;
    /// Whether its ports have a link.
    fn has_link(&self) -> bool;
}

/// Waits until all ports of both sides have a link. The forwarder gives up by itself after the time-out
/// of each of its ports; the limit here is for a forwarder that hangs.
fn wait_for_links(
    generator: &mut Option<Box<dyn LoadGenerator>>,
    forwarder: &mut impl ForwarderProcess,
    link_timeout: Duration,
    interrupt: &Interrupt,
) -> Result<(), MeasureError> {
    let start = Instant::now();
    let limit = 2 * link_timeout + SETUP;
    let mut forwarder_up = None;
    loop {
        if interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        let ended = forwarder.process().check_running();
        if forwarder.has_link() {
            forwarder_up.get_or_insert_with(Instant::now);
        }
        let ports = match generator {
            Some(generator) => generator.links()?,
            None => Vec::new(),
        };
        if let Err(cause) = ended {
            let cause = cause.to_string();
            return Err(match cause.contains("link") {
                true => without_link(&cause, &ports),
                false => cause.into(),
            });
        }
        if forwarder_up.is_some() && ports.iter().all(|port| port.up) {
            return Ok(());
        }
        let (since, limit, has) = match forwarder_up {
            Some(since) => (since, link_timeout, "The forwarder's ports have a link"),
            None => (start, limit, "A port of the forwarder has no link"),
        };
        if since.elapsed() > limit {
            let seconds = start.elapsed().as_secs_f64();
            let why = format!("no link within {seconds:.1} s. {has}");
            return Err(without_link(&why, &ports));
        }
        thread::sleep(LOOK);
    }
}

/// The error of a missing link. `generator` has the links of the generator's ports at that time; none
/// without a generator.
fn without_link(why: &str, generator: &[PortLink]) -> MeasureError {
    let ports = match generator {
        [] => "No generator is configured: start its ports before the run".to_owned(),
        ports => {
            let ports: Vec<_> = ports.iter().map(ToString::to_string).collect();
            format!("Generator: {}", ports.join(", "))
        }
    };
    MeasureError::Link(format!(
        "{why}. {ports}. Check cables and SFP+ modules, that each port of the generator is wired to a port \
         of the forwarder, and that both sides have the same speed. Copper links may need a longer \
         `link_timeout`"
    ))
}

/// The lowest and the highest rate that the generator sent in a run, Mpps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct SentRange(Option<(f64, f64)>);

impl SentRange {
    /// Takes one more measurement into account.
    pub(crate) fn add(&mut self, sent: &SentLoad) {
        let (low, high) = self.0.unwrap_or((f64::INFINITY, 0.0));
        self.0 = Some((low.min(sent.offered_mpps), high.max(sent.offered_mpps)));
    }
}
