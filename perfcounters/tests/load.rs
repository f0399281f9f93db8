//! The wall backend with a generator. The stand-ins for forwarder and generator are wired: each has a link
//! only while the other runs.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/generator.rs"]
mod generator;

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{driver, ends_when_interrupted, Remember};
use generator::WiredGenerator;
use perfcounters::load::Link;
use perfcounters::load::{LoadGenerator, SentLoad};
use perfcounters::placement::Topology;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Implementation, Metric};

/// A folder with a cable, and with files in place of the forwarder's devices.
struct Rack {
    folder: tempfile::TempDir,
    cable: PathBuf,
}

impl Rack {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cable = folder.path().join("cable");
        std::fs::create_dir(&cable).unwrap();
        for device in ["a", "b"] {
            std::fs::write(folder.path().join(device), "").unwrap();
        }
        Self { folder, cable }
    }

    fn generator(&self) -> WiredGenerator {
        WiredGenerator::new(self.cable.clone())
    }

    /// A cell whose forwarder is wired to the generator.
    fn cell(&self, name: &str, implementation: Implementation, more: &[&str]) -> Cell {
        let cable = format!("CABLE=\"{}\"", self.cable.display());
        let mut defines = vec![cable.as_str()];
        defines.extend(more);
        driver(self.path(), name, implementation, &defines)
    }

    fn wall(&self, generator: Option<WiredGenerator>, link_timeout: Duration) -> Wall {
        Wall {
            link: Link::Real {
                // The stand-in for the driver checks that the file exists.
                devices: ["a", "b"]
                    .map(|name| format!("vfio-user:{}", self.path().join(name).display())),
                generator: generator.map(|it| Box::new(it) as Box<dyn LoadGenerator>),
                link_timeout,
            },
            placement: Topology::here().choose(None),
            duration: Duration::from_secs(1),
            warm_up: Duration::ZERO,
            repeats: 1,
            interrupt: Interrupt::new(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_load_that_differs_or_does_not_saturate_is_reported() {
    let small = SentLoad {
        wanted_mpps: 10.0,
        offered_mpps: 10.0,
    };
    assert_eq!(small.deviation(), None);
    let why = small.too_small_for(9.99).unwrap();
    assert!(why.contains("all of the 10.000 Mpps"), "{why}");
    assert_eq!(small.too_small_for(9.0), None);
    let nothing = SentLoad {
        offered_mpps: 0.0,
        ..small
    };
    assert!(nothing.deviation().is_some());
}

#[test]
fn a_side_without_link_is_named() {
    let rack = Rack::new();
    let cells = [rack.cell("c", Implementation::C, &[])];
    let measure = |generator: Option<WiredGenerator>| {
        let mut wall = rack.wall(generator, Duration::from_millis(300));
        let mut seen = Remember::measure(&mut wall, &cells);
        assert!(seen.samples.is_empty());
        seen.failures.remove(0).cause
    };
    // A generator whose second port has no cable.
    let broken = WiredGenerator {
        broken: true,
        ..rack.generator()
    };
    let cause = measure(Some(broken));
    for part in [
        "The forwarder's ports have a link",
        "port g0 has a link, port g1 has no link",
        "Check cables",
    ] {
        assert!(cause.contains(part), "{cause}");
    }
    // No generator runs, so that the forwarder has no link.
    let cause = measure(None);
    for part in ["no link within 0.3 s", "start its ports", "Check cables"] {
        assert!(cause.contains(part), "{cause}");
    }
    // The generator's cable leads to another machine.
    let elsewhere = Rack::new();
    let cause = measure(Some(elsewhere.generator()));
    assert!(
        cause.contains("no link within 0.3 s") && cause.contains("port g0 has no link"),
        "{cause}"
    );
}

#[test]
fn a_link_that_fails_twice_costs_no_cell() {
    for (flaps, failures) in [("xx", 0), ("xxx", 1)] {
        let rack = Rack::new();
        let cells = [rack.cell("c", Implementation::C, &[])];
        std::fs::write(rack.cable.join("flaps"), flaps).unwrap();
        let seen = Remember::measure(&mut rack.wall(Some(rack.generator()), SOON), &cells);
        assert_eq!(seen.failures.len(), failures, "{:?}", seen.failures);
        assert_eq!(seen.samples.is_empty(), failures > 0);
        let warnings = seen.warnings.iter();
        let retries = warnings.filter(|warning| warning.contains("tried again"));
        assert_eq!(retries.count(), 2, "{:?}", seen.warnings);
    }
}

#[test]
fn one_program_sends_to_all_forwarders_but_not_to_one_that_crashes() {
    let rack = Rack::new();
    let cells = [
        rack.cell("crash", Implementation::C, &["CRASH"]),
        rack.cell("good", Implementation::Rust, &[]),
    ];
    let generator = rack.generator();
    let calls = generator.calls.clone();
    let mut wall = rack.wall(Some(generator), SOON);
    wall.repeats = 2;
    assert_eq!(wall.unavailable(), None);
    let seen = Remember::measure(&mut wall, &cells);
    let cause = &seen.failures[0].cause;
    assert!(
        cause.contains("about to crash") && !cause.contains("Check cables"),
        "{cause}"
    );
    let metrics = seen.samples.iter().map(|sample| sample.metric);
    assert!(metrics.eq([Metric::Mpps, Metric::TscCycles].repeat(2)));
    // The stand-in prints the number of the second for each port, and 0 before the load begins.
    let mpps = seen.values(Implementation::Rust, Metric::Mpps);
    assert!(mpps.iter().all(|value| *value >= 6.0), "{mpps:?}");
    let twice = ["start 60 None", "stop"].repeat(2);
    let wanted = [&["open"][..], &twice, &["close"]].concat();
    assert_eq!(*calls.lock().unwrap(), wanted);
    assert!(!rack.cable.join("generator").exists(), "it was left behind");
}

#[test]
fn an_interrupt_ends_the_wait_for_a_link_and_the_generator() {
    let rack = Rack::new();
    let cells = [rack.cell("c", Implementation::C, &[])];
    let broken = WiredGenerator {
        broken: true,
        ..rack.generator()
    };
    let mut wall = rack.wall(Some(broken), Duration::from_secs(100));
    let interrupt = wall.interrupt.clone();
    ends_when_interrupted(&mut wall, &interrupt, &cells);
    assert!(!rack.cable.join("generator").exists(), "it was left behind");
}
