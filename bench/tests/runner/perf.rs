//! Tests the perf backend through its worker process, with events that every kernel counts: task time
//! in ns stands for cycles, page faults for stores. Drivers and NIC are stand-ins.

#[path = "../../../perfcounters/tests/common/generator.rs"]
mod generator;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::common::{cell, ends_when_interrupted, fixture, library, Remember};
use generator::WiredGenerator;
use perfcounters::device::{two_cpus, NicProgram};
use perfcounters::load::Link;
use perfcounters::perf::kernel::{Kernel, Refusal};
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::{Event, Perf};
use perfcounters::placement::Topology;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Implementation, Metric};

fn software(metric: Metric, name: &str, config: u64) -> Event {
    Event {
        metric: Some(metric),
        name: name.into(),
        kind: 1,
        config,
        unit: Some("events/packet".into()),
    }
}

fn perf(repeats: u32) -> Perf {
    Perf {
        link: Link::Software(NicProgram::new(fixture("fake_nic.py"))),
        placement: Topology::here().choose(None),
        worker: (
            env!("CARGO_BIN_EXE_triptych").into(),
            vec!["worker".into(), "perf".into()],
        ),
        window: Duration::from_millis(50),
        warm_up: Duration::from_millis(10),
        repeats,
        events: Ok(EventSet {
            events: vec![
                software(Metric::CoreCycles, "task-clock", 1),
                software(Metric::Stores, "page-faults", 2),
                software(Metric::L3Misses, "nothing like it", 999_999),
            ],
            absent: BTreeMap::from([(Metric::L1Hits, "there is no such event".into())]),
            facts: BTreeMap::new(),
            warnings: Vec::new(),
        }),
        interrupt: Interrupt::new(),
    }
}

/// Whether this machine cannot count: it has one CPU, or a sandbox forbids it. Other tests check the
/// messages for that.
fn cannot_count() -> bool {
    let refused = Kernel.try_event(&software(Metric::CoreCycles, "task-clock", 1));
    two_cpus().0.is_none() || matches!(refused, Err(Refusal::Forbidden(_)))
}

fn driver(folder: &Path, name: &str, implementation: Implementation, define: &str) -> Cell {
    library(&folder.join(format!("{name}.so")), &[define]);
    cell(folder, name, implementation)
}

#[test]
fn counts_belong_to_the_packets_of_their_window() {
    if cannot_count() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cells = [
        driver(folder.path(), "once", Implementation::C, "WORK=20"),
        driver(folder.path(), "thrice", Implementation::Rust, "WORK=60"),
    ];
    let seen = Remember::measure(&mut perf(3), &cells);
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    assert_eq!(seen.planned, 6);
    let order: Vec<_> = seen.steps.iter().map(|step| &step[..1]).collect();
    assert_eq!(order, ["c", "r", "c", "r", "c", "r"], "in turn");

    let median = |implementation| {
        let mut values = seen.values(implementation, Metric::CoreCycles);
        assert_eq!(values.len(), 3);
        values.sort_by(f64::total_cmp);
        values[1]
    };
    let ratio = median(Implementation::Rust) / median(Implementation::C);
    assert!(
        (2.0..4.5).contains(&ratio),
        "three times the work, {ratio} times the time"
    );
    for sample in &seen.samples {
        // The worker reads the clock every 64 turns of 64 packets.
        assert_eq!(sample.packets % (64 * 64), 0, "{sample:?}");
        assert_eq!(sample.note, "");
    }
    let full = seen.values(Implementation::C, Metric::FullBatchRatio);
    assert_eq!(full, [1.0; 3]);
    let time = &seen.samples[0];
    assert_eq!((time.repeat, time.unit.as_str()), (0, "events/packet"));

    // An event that the kernel refuses is absent, with one warning for all cells and repeats.
    assert!(seen.values(Implementation::C, Metric::L3Misses).is_empty());
    assert_eq!(seen.warnings.len(), 1, "{:?}", seen.warnings);
    assert!(seen.warnings[0].contains("no l3_misses"), "{seen:?}");
    let absent = &seen.settings["not_measurable_metrics"];
    assert_eq!(absent["l1_hits"], "there is no such event");
    assert!(absent["l3_misses"].is_string());
    let clock = &seen.settings["core_clock"];
    assert!(clock["tsc_mhz"]["median"].as_f64() > Some(100.0), "{clock}");
    let against = clock["counted_against"].as_str().unwrap();
    assert!(against.contains("time-stamp"), "{against}");
}

#[test]
fn a_failing_driver_is_named_and_the_others_are_measured() {
    if cannot_count() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cells = [
        driver(folder.path(), "crash", Implementation::C, "CRASH"),
        driver(folder.path(), "refuse", Implementation::C, "REFUSE"),
        driver(folder.path(), "close", Implementation::RustUnsafe, "CLOSE"),
        cell(folder.path(), "gone", Implementation::C),
        driver(folder.path(), "good", Implementation::Rust, "WORK=2"),
    ];
    let seen = Remember::measure(&mut perf(2), &cells);
    let causes: Vec<_> = seen.failures.iter().map(ToString::to_string).collect();
    assert_eq!(causes.len(), 4, "once each: {causes:?}");
    let expected = ["signal: 6", "no link", "would not drain", "gone.so"];
    for (cause, expected) in causes.iter().zip(expected) {
        assert!(cause.contains(expected), "{cause}");
    }
    let values = |implementation| seen.values(implementation, Metric::CoreCycles);
    assert_eq!(values(Implementation::Rust).len(), 2);
    assert!(values(Implementation::C).is_empty());
}

#[test]
fn an_interrupt_ends_a_measurement_soon() {
    if cannot_count() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cells = [driver(folder.path(), "hang", Implementation::C, "HANG")];
    let mut perf = perf(1);
    let interrupt = perf.interrupt.clone();
    ends_when_interrupted(&mut perf, &interrupt, &cells);
}

#[test]
fn the_load_begins_only_when_both_sides_have_a_link() {
    if cannot_count() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cable = folder.path().join("cable");
    fs::create_dir(&cable).unwrap();
    let define = format!("CABLE=\"{}\"", cable.display());
    let generator = WiredGenerator::new(cable.clone());
    let calls = generator.calls.clone();
    let mut perf = perf(1);
    perf.link = Link::Real {
        devices: ["0000:03:00.0".into(), "0000:03:00.1".into()],
        generator: Some(Box::new(generator)),
        link_timeout: Duration::from_secs(2),
    };
    let cells = [
        driver(folder.path(), "c", Implementation::C, &define),
        driver(folder.path(), "rust", Implementation::Rust, &define),
    ];
    assert_eq!(perf.unavailable(), None, "a card needs no software NIC");
    let seen = Remember::measure(&mut perf, &cells);
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    let values = seen.values(Implementation::Rust, Metric::CoreCycles);
    assert!(!values.is_empty());
    let expected = "open, start 60 None, stop, start 60 None, stop, close";
    assert_eq!(calls.lock().unwrap().join(", "), expected);
    assert_eq!(seen.settings["generator_mpps"]["lowest"], 1000.0);
    assert_eq!(perf.settings()["order"][2], "links of both");
    assert_eq!(perf.settings()["devices"][1], "0000:03:00.1");
}
