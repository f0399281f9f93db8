//! The backends that start processes, against stand-ins for driver and NIC.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{cell, ends_when_interrupted, fixture, forwarder, Remember};
use perfcounters::device::NicProgram;
use perfcounters::latency::Latency;
use perfcounters::load::Link;
use perfcounters::placement::Topology;
use perfcounters::process::find_program;
use perfcounters::valgrind::Valgrind;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Interrupt};
use record::{Conditions, Implementation, Metric, Sample};

fn valgrind() -> Valgrind {
    Valgrind {
        nic: NicProgram::new(fixture("fake_nic.sh")),
        packets: 3200,
        repeats: 1,
        interrupt: Interrupt::new(),
    }
}

fn wall() -> Wall {
    Wall {
        link: Link::Software(NicProgram::new(fixture("fake_nic.sh"))),
        placement: Topology::here().choose(None),
        duration: Duration::from_secs(1),
        warm_up: Duration::ZERO,
        repeats: 2,
        interrupt: Interrupt::new(),
    }
}

/// Whether valgrind is missing; the tests then have nothing to check. A test of the runner reports it.
fn no_valgrind() -> bool {
    find_program("valgrind").is_none()
}

#[test]
fn valgrind_counts_the_cost_of_a_packet() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("once"), &["WORK=10"]);
    forwarder(&folder.path().join("twice"), &["WORK=20"]);
    let once = cell(folder.path(), "once", Implementation::C);
    let twice = cell(folder.path(), "twice", Implementation::Rust);
    let seen = Remember::measure(&mut valgrind(), &[once.clone(), twice]);
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    assert!(seen.warnings.is_empty(), "{:?}", seen.warnings);
    assert_eq!(seen.planned, 2);
    let value = |implementation, metric| {
        let mut found = seen
            .samples
            .iter()
            .filter(|sample| sample.implementation == implementation && sample.metric == metric);
        let sample = found.next().unwrap();
        assert_eq!(sample.packets, 3200);
        assert!(found.next().is_none());
        sample.value
    };
    let (c, rust) = (
        value(Implementation::C, Metric::Instructions),
        value(Implementation::Rust, Metric::Instructions),
    );
    assert!(c > 30.0, "{c}");
    assert!((rust / c - 2.0).abs() < 0.01, "{rust} / {c}");
    assert!(value(Implementation::C, Metric::Loads) >= 10.0);
    assert!(value(Implementation::C, Metric::Branches) >= 10.0);
    assert!((value(Implementation::C, Metric::FullBatchRatio) - 1.0).abs() < 1e-9);
    assert!(!seen.samples.iter().any(|sample| matches!(
        sample.metric,
        Metric::L2Hits | Metric::TscCycles | Metric::Ipc
    )));

    // A second measurement gives the same count.
    let again = valgrind().measure_cell(&once).unwrap().per_packet;
    assert!((again.get(Metric::Instructions).unwrap() - c).abs() < 0.1);
}

/// The stand-ins are C programs. Safe Rust once died in valgrind alone, before its first packet.
#[test]
fn valgrind_counts_every_built_driver() {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/bin");
    let nic = NicProgram::new(built.join("nic"));
    if no_valgrind() || nic.unavailable().is_some() {
        return;
    }
    let cells: Vec<_> = Implementation::OURS
        .into_iter()
        .map(|driver| cell(&built, &format!("{driver}/ixgbe-fwd"), driver))
        .filter(|cell| cell.program.is_file())
        .collect();
    let mut seen = Remember::default();
    let mut backend = Valgrind { nic, ..valgrind() };
    backend.measure(&cells, &mut seen).unwrap();
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    let counted = |sample: &&Sample| sample.metric == Metric::Instructions && sample.value > 20.0;
    assert_eq!(seen.samples.iter().filter(counted).count(), cells.len());
}

#[test]
fn waiting_is_not_counted() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("ahead"), &[]);
    forwarder(&folder.path().join("behind"), &["WAITS=1"]);
    let measure = |name| {
        valgrind()
            .measure_cell(&cell(folder.path(), name, Implementation::C))
            .unwrap()
    };
    let (ahead, behind) = (measure("ahead"), measure("behind"));
    assert!(behind.full_batch_ratio < 0.6);
    assert!(behind.undisturbed);
    let instructions = |measurement: &perfcounters::valgrind::Measurement| {
        measurement.per_packet.get(Metric::Instructions).unwrap()
    };
    assert!((instructions(&ahead) - instructions(&behind)).abs() < 0.1);
}

#[test]
fn a_failing_driver_is_named_and_the_others_are_measured() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut cells = Vec::new();
    for (name, define) in [
        ("crash", "CRASH"),
        ("malformed", "MALFORMED"),
        ("good", "WORK=1"),
    ] {
        forwarder(&folder.path().join(name), &[define]);
        cells.push(cell(folder.path(), name, Implementation::RustUnsafe));
    }
    for backend in [&mut valgrind() as &mut dyn Backend, &mut wall()] {
        let seen = Remember::measure(backend, &cells);
        let causes: Vec<_> = seen.failures.iter().map(ToString::to_string).collect();
        assert_eq!(causes.len(), 2, "{causes:?}");
        assert!(
            causes[0].starts_with("rust-unsafe/default batch 32"),
            "{causes:?}"
        );
        assert!(
            causes[0].contains("signal 6") && causes[0].contains("about to crash"),
            "{causes:?}"
        );
        assert!(causes[1].contains("malformed"), "{causes:?}");
        assert!(!seen.samples.is_empty());
    }
}

#[test]
fn a_nic_that_falls_behind_gives_a_warning() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &["MISS"]);
    let cells = [cell(folder.path(), "driver", Implementation::C)];
    let seen = Remember::measure(&mut valgrind(), &cells);
    assert!(
        seen.warnings[0].contains("fell behind"),
        "{:?}",
        seen.warnings
    );
}

#[test]
fn wall_takes_its_figures_from_the_report() {
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &[]);
    let cells = [cell(folder.path(), "driver", Implementation::C)];
    let mut wall = wall();
    if wall.unavailable().is_some() {
        return;
    }
    let seen = Remember::measure(&mut wall, &cells);
    let values: Vec<_> = seen
        .samples
        .iter()
        .map(|sample| (sample.metric, sample.value, sample.repeat))
        .collect();
    let one = |repeat| {
        [
            (Metric::Mpps, 2.0, repeat),
            (Metric::TscCycles, 100.0, repeat),
            (Metric::FullBatchRatio, 1.0, repeat),
        ]
    };
    assert_eq!(values, [one(0), one(1)].concat());
}

#[test]
fn wall_leaves_out_the_warm_up() {
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &["LINES"]);
    let cells = [cell(folder.path(), "driver", Implementation::C)];
    let mut wall = Wall {
        warm_up: Duration::from_secs(2),
        duration: Duration::from_secs(3),
        repeats: 1,
        ..wall()
    };
    if wall.unavailable().is_some() {
        return;
    }
    let seen = Remember::measure(&mut wall, &cells);
    // The stand-in prints the number of the second for each device.
    let mpps = &seen.samples[0];
    assert_eq!((mpps.metric, mpps.value), (Metric::Mpps, 8.0), "{seen:?}");
    assert_eq!(mpps.packets, 24_000_000);
    // Without lines, a warm-up cannot be left out.
    forwarder(&folder.path().join("driver"), &[]);
    let seen = Remember::measure(&mut wall, &cells);
    assert!(seen.failures[0]
        .cause
        .contains("for 0 seconds, 5 are needed"));
}

#[test]
fn ring_and_frame_sizes_reach_driver_and_nic() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = folder.path().join("arguments");
    let script = |name: &str, rest: &str| {
        let path = folder.path().join(name);
        let text = format!("#!/bin/sh\necho \"$@\" >> {}\n{rest}", arguments.display());
        std::fs::write(&path, text).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let nic = script(
        "nic.sh",
        &format!("exec {} \"$@\"", fixture("fake_nic.sh").display()),
    );
    script("driver", "exit 1");
    let mut odd = cell(folder.path(), "driver", Implementation::C);
    odd.conditions = Conditions {
        batch: 4,
        ring_size: 64,
        frame_size: 1514,
        ..odd.conditions
    };
    let mut wall = Wall {
        link: Link::Software(NicProgram::new(nic)),
        ..wall()
    };
    if wall.unavailable().is_some() {
        return;
    }
    Remember::measure(&mut wall, &[odd]);
    let arguments = std::fs::read_to_string(arguments).unwrap();
    for expected in [
        "--traffic saturate --size 1514",
        "--batch 4 --ring-size 64 ",
    ] {
        assert!(arguments.contains(expected), "{arguments}");
    }
}

#[test]
fn latency_comes_from_the_nics_report() {
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &[]);
    let mut latency = Latency {
        nic: NicProgram::new(fixture("fake_nic.sh")),
        placement: Topology::here().choose(None),
        duration: Duration::from_secs(1),
        warm_up: Duration::from_millis(500),
        repeats: 1,
        interrupt: Interrupt::new(),
    };
    if latency.unavailable().is_some() {
        return;
    }
    let mut loaded = cell(folder.path(), "driver", Implementation::C);
    loaded.conditions.offered_mpps = Some(3.0);
    let idle = cell(folder.path(), "driver", Implementation::Rust);
    let seen = Remember::measure(&mut latency, &[loaded, idle]);
    let value = |metric| {
        seen.samples
            .iter()
            .find(|sample| sample.metric == metric)
            .map(|sample| sample.value)
    };
    assert_eq!(value(Metric::LatencyP50Us), Some(4.5));
    assert_eq!(value(Metric::LatencyP99_9Us), Some(9.5));
    assert_eq!(value(Metric::LatencyMaxUs), Some(12.0));
    assert_eq!(value(Metric::LatencyP99_99Us), None);
    assert_eq!(value(Metric::LossRatio), Some(0.25));
    assert!(seen
        .samples
        .iter()
        .all(|sample| sample.packets == 3000 && sample.conditions.offered_mpps == Some(3.0)));
    assert!(
        seen.warnings[0].contains("25.0 % of the frames"),
        "{seen:?}"
    );
    assert!(
        seen.warnings[1].contains("up to 75 % of the latency"),
        "{seen:?}"
    );
    assert!(
        seen.warnings[2].contains("latency_p99_99_us, latency_p99_999_us"),
        "{seen:?}"
    );
    assert!(seen.failures[0].cause.contains("none is given"), "{seen:?}");
}

#[test]
fn an_interrupt_ends_a_measurement_soon() {
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &["HANG"]);
    let cells = [cell(folder.path(), "driver", Implementation::C)];
    let mut wall = wall();
    let interrupt = wall.interrupt.clone();
    ends_when_interrupted(&mut wall, &interrupt, &cells);
}

#[test]
fn a_nic_that_does_not_start_fails_the_cell() {
    let folder = tempfile::tempdir().unwrap();
    forwarder(&folder.path().join("driver"), &[]);
    let cells = [cell(folder.path(), "driver", Implementation::C)];
    let mut wall = Wall {
        link: Link::Software(NicProgram::new("/bin/false".into())),
        ..wall()
    };
    let seen = Remember::measure(&mut wall, &cells);
    assert!(
        seen.failures[0]
            .cause
            .contains("nic ended with exit code 1"),
        "{seen:?}"
    );
    wall.link = Link::Software(NicProgram::new("/nonexistent/nic".into()));
    assert!(wall.unavailable().unwrap().contains("/nonexistent/nic"));
}
