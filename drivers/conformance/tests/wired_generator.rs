//! The wall backend, as with a real card. First with a generator whose ports are wired to the forwarder's: both
//! sides run a driver on optical ports of one software card, whose lasers are off until their driver runs. Without
//! the other side, neither gets a link. Then with more frames than a driver takes.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use conformance::{at_rate, forwarder_library, forwarder_program, processors, TestNic};
use ixgbe::rooms::forwarder::{Forwarder, Ports};
use nic::{MmioMode, Module, Nic, NicConfig, Port};
use perfcounters::load::{Link, LoadGenerator, PortLink, SentLoad};
use perfcounters::placement::Topology;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Cell, Interrupt, MeasureError, Observer};
use record::{
    BackendName, Conditions, Failure, HostFacts, Implementation, Metric, RecordError, Sample,
};

use Implementation::{Rust, RustUnsafe, C};

const LINK_TIMEOUT: Duration = Duration::from_secs(10);

/// What the generator's thread shares.
#[derive(Debug, Default)]
struct Shared {
    up: AtomicBool,
    sending: AtomicBool,
    ended: AtomicBool,
    opened: AtomicU64,
    sent: AtomicU64,
}

/// A generator that drives two ports with the safe Rust driver, in a thread.
#[derive(Debug)]
struct DriverGenerator {
    devices: [String; 2],
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), String>>>,
    window: Option<(Instant, u64)>,
}

/// Opens both ports, waits for their links, and then sends or receives until the end.
fn drive(devices: &[String; 2], shared: &Shared) -> Result<(), String> {
    let say = |error: Box<ixgbe::error::Error>| error.to_string();
    let [a, b] = devices;
    let ports = Ports::open(a, b, 512, 0).map_err(say)?;
    let timeout = LINK_TIMEOUT.as_millis() as u32;
    let mut driver = Forwarder::start(&ports, 32, timeout).map_err(say)?;
    shared.up.store(true, Ordering::Relaxed);
    while !shared.ended.load(Ordering::Relaxed) {
        driver.receive().map_err(say)?;
        if shared.sending.load(Ordering::Relaxed) {
            let sent = driver.send().map_err(say)?;
            shared.sent.fetch_add(sent as u64, Ordering::Relaxed);
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    driver.stop().map_err(say)
}

impl LoadGenerator for DriverGenerator {
    fn describe(&self) -> String {
        "the safe Rust driver".into()
    }

    fn open(&mut self) -> Result<(), MeasureError> {
        if self.thread.is_none() {
            self.shared.opened.fetch_add(1, Ordering::Relaxed);
            let (devices, shared) = (self.devices.clone(), Arc::clone(&self.shared));
            self.thread = Some(std::thread::spawn(move || drive(&devices, &shared)));
        }
        Ok(())
    }

    fn links(&mut self) -> Result<Vec<PortLink>, MeasureError> {
        let up = self.shared.up.load(Ordering::Relaxed);
        let port = |name: &String| PortLink {
            name: name.clone(),
            up,
        };
        Ok(self.devices.iter().map(port).collect())
    }

    fn start(&mut self, _: &Conditions) -> Result<(), MeasureError> {
        self.window = Some((Instant::now(), self.shared.sent.load(Ordering::Relaxed)));
        self.shared.sending.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&mut self) -> Result<SentLoad, MeasureError> {
        self.shared.sending.store(false, Ordering::Relaxed);
        let (begin, before) = self.window.take().unwrap();
        let sent = self.shared.sent.load(Ordering::Relaxed) - before;
        Ok(sent_since(begin, sent))
    }

    fn close(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

/// The software card sends at its own rate; this generator knows how much. It needs no links.
#[derive(Debug)]
struct CardGenerator {
    ports: Vec<Port>,
    window: Option<(Instant, u64)>,
}

impl CardGenerator {
    fn generated(&self) -> u64 {
        self.ports.iter().map(|port| port.stats().generated).sum()
    }
}

impl LoadGenerator for CardGenerator {
    fn describe(&self) -> String {
        "the software card".into()
    }

    fn open(&mut self) -> Result<(), MeasureError> {
        Ok(())
    }

    fn links(&mut self) -> Result<Vec<PortLink>, MeasureError> {
        Ok(Vec::new())
    }

    fn start(&mut self, _: &Conditions) -> Result<(), MeasureError> {
        self.window = Some((Instant::now(), self.generated()));
        Ok(())
    }

    fn stop(&mut self) -> Result<SentLoad, MeasureError> {
        let (begin, before) = self.window.take().unwrap();
        Ok(sent_since(begin, self.generated() - before))
    }

    fn close(&mut self) {}
}

fn sent_since(begin: Instant, frames: u64) -> SentLoad {
    let offered_mpps = frames as f64 / begin.elapsed().as_secs_f64() / 1e6;
    SentLoad {
        wanted_mpps: offered_mpps,
        offered_mpps,
    }
}

#[derive(Debug, Default)]
struct Seen {
    samples: Vec<Sample>,
    failures: Vec<Failure>,
    warnings: Vec<String>,
    settings: BTreeMap<String, serde_json::Value>,
}

impl Observer for Seen {
    fn begin(&mut self, _: BackendName, _: u64) {}
    fn step(&mut self, _: &str) {}
    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.samples.extend_from_slice(samples);
        Ok(())
    }
    fn failure(&mut self, failure: Failure) {
        self.failures.push(failure);
    }
    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
    fn setting(&mut self, _: BackendName, name: &str, value: serde_json::Value) {
        self.settings.insert(name.to_owned(), value);
    }
}

impl Seen {
    fn values(&self, metric: Metric) -> Vec<f64> {
        let samples = self.samples.iter();
        let wanted = samples.filter(|sample| sample.metric == metric);
        wanted.map(|sample| sample.value).collect()
    }
}

/// The backend between two ports, with a generator.
fn wall(devices: [String; 2], generator: impl LoadGenerator + 'static) -> Wall {
    Wall {
        link: Link::Real {
            devices,
            generator: Some(Box::new(generator)),
            link_timeout: LINK_TIMEOUT,
        },
        placement: record::Placement {
            driver: None,
            nic: None,
            ..Topology::here().choose(None)
        },
        duration: Duration::from_secs(1),
        warm_up: Duration::ZERO,
        repeats: 1,
        interrupt: Interrupt::new(),
    }
}

fn cell(implementation: Implementation) -> Cell {
    Cell {
        implementation,
        variant: "default".into(),
        toolchain: "cc 1.0".into(),
        conditions: Conditions::default(),
        program: forwarder_program(implementation).unwrap(),
        library: forwarder_library(implementation).unwrap(),
        peer: None,
    }
}

#[test]
fn a_run_gets_links_that_need_both_sides() {
    let _processors = processors();
    let folder = tempfile::tempdir().unwrap();
    let config = NicConfig::new(folder.path(), 4)
        .with_cable(0, 2)
        .with_cable(1, 3)
        .with_each_port(|port| {
            port.module = Module::Sr;
            port.left_behind.laser_off = true;
        });
    let nic = Nic::new(config).unwrap();
    let _data_plane = nic.run_data_plane().unwrap();
    let device = |port: usize| format!("vfio-user:{}", nic.ports()[port].socket().display());
    let shared = Arc::<Shared>::default();
    let generator = DriverGenerator {
        devices: [device(2), device(3)],
        shared: Arc::clone(&shared),
        thread: None,
        window: None,
    };
    let mut wall = wall([device(0), device(1)], generator);
    let mut seen = Seen::default();
    let cells = [cell(Implementation::C), cell(Implementation::Rust)];
    wall.measure(&cells, &mut seen).unwrap();
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    let rates = seen.values(Metric::Mpps);
    let measured = rates.iter().filter(|rate| **rate > 0.0).count();
    assert_eq!((measured, rates.len()), (2, 2), "{rates:?}");
    assert_eq!(shared.opened.load(Ordering::Relaxed), 1, "links flapped");
}

/// Frames that find no descriptor are offered, but not received. Each trapped doorbell takes the driver microseconds, so
/// that the card sends much more than it takes.
#[test]
fn frames_that_a_driver_cannot_take_cost_it_no_cycles() {
    for implementation in [C, Rust, RustUnsafe] {
        let nic =
            TestNic::running(|config| at_rate(10.0)(config.with_mmio(MmioMode::Trap))).unwrap();
        let generator = CardGenerator {
            ports: nic.ports().to_vec(),
            window: None,
        };
        let mut seen = Seen::default();
        let mut cell = cell(implementation);
        cell.conditions.batch = 32;
        wall(nic.devices(), generator)
            .measure(&[cell], &mut seen)
            .unwrap();
        assert!(seen.failures.is_empty(), "{:?}", seen.failures);
        let offered = seen.settings["generator_mpps"]["highest"].as_f64();
        let cycles = seen.values(Metric::TscCycles)[0];
        let received = HostFacts::gather().cpu.tsc_mhz / cycles;
        assert!(offered > Some(2.0 * received), "{seen:?}");
        let all = |text: &String| text.contains("received all");
        assert!(!seen.warnings.iter().any(all), "{:?}", seen.warnings);
        // A TX ring that is full may cost a few, and rates have two decimals.
        let sent = seen.values(Metric::Mpps)[0];
        assert!((received - sent).abs() < 0.2 * sent + 0.05, "{seen:?}");
    }
}
