//! The backends that start processes, against stand-ins for driver and NIC.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{cell, driver, ends_when_interrupted, fixture, Remember};
use perfcounters::device::NicProgram;
use perfcounters::latency::Latency;
use perfcounters::load::Link;
use perfcounters::placement::Topology;
use perfcounters::process::find_program;
use perfcounters::valgrind::Valgrind;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Interrupt};
use record::{Implementation, Metric};

fn valgrind() -> Valgrind {
    Valgrind {
        nic: NicProgram::new(fixture("fake_nic.py")),
        packets: 3200,
        repeats: 1,
        interrupt: Interrupt::new(),
    }
}

fn wall() -> Wall {
    Wall {
        link: Link::Software(NicProgram::new(fixture("fake_nic.py"))),
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
fn valgrind_counts_the_cost_of_a_packet_without_the_waiting() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (c, rust) = (Implementation::C, Implementation::Rust);
    let cells = [
        driver(folder.path(), "once", c, &["WORK=10"]),
        driver(folder.path(), "twice", rust, &["WORK=20"]),
    ];
    let seen = Remember::measure(&mut valgrind(), &cells);
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    assert!(seen.warnings.is_empty(), "{:?}", seen.warnings);
    assert_eq!(seen.planned, 2);
    assert!(seen.samples.iter().all(|sample| sample.packets == 3200));
    let value = |implementation, metric| match seen.values(implementation, metric)[..] {
        [value] => value,
        ref values => panic!("{metric}: {values:?}"),
    };
    let once = value(c, Metric::Instructions);
    let ratio = value(rust, Metric::Instructions) / once;
    assert!(once > 30.0 && (ratio - 2.0).abs() < 0.01, "{once}, {ratio}");
    assert!(value(c, Metric::Loads) >= 10.0);
    assert!(value(c, Metric::Branches) >= 10.0);
    assert!((value(c, Metric::FullBatchRatio) - 1.0).abs() < 1e-9);
    for metric in [Metric::L2Hits, Metric::TscCycles, Metric::Ipc] {
        assert!(seen.values(c, metric).is_empty(), "{metric}");
    }

    let waiting = [driver(folder.path(), "waiting", c, &["WAITS=1"])];
    let seen = Remember::measure(&mut valgrind(), &waiting);
    let value = |metric| seen.values(c, metric)[0];
    assert!(value(Metric::FullBatchRatio) < 0.6 && seen.warnings.is_empty());
    let again = value(Metric::Instructions);
    assert!((again - once).abs() < 0.1, "{again}, {once}");

    let late = [driver(folder.path(), "late", c, &["MISS"])];
    let seen = Remember::measure(&mut valgrind(), &late);
    assert!(seen.warnings[0].contains("fell behind"), "{seen:?}");
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
    let seen = Remember::measure(&mut Valgrind { nic, ..valgrind() }, &cells);
    assert!(seen.failures.is_empty(), "{:?}", seen.failures);
    for cell in cells {
        let counted = seen.values(cell.implementation, Metric::Instructions);
        assert!(counted.len() == 1 && counted[0] > 20.0, "{counted:?}");
    }
}

#[test]
fn a_failing_driver_is_named_and_the_others_are_measured() {
    if no_valgrind() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cells = [
        ("crash", "CRASH"),
        ("malformed", "MALFORMED"),
        ("good", "WORK=1"),
    ]
    .map(|(name, define)| driver(folder.path(), name, Implementation::RustUnsafe, &[define]));
    let cells = cells.map(|mut cell| {
        cell.conditions.batch = 4;
        cell.conditions.ring_size = 64;
        cell
    });
    for backend in [&mut valgrind() as &mut dyn Backend, &mut wall()] {
        let seen = Remember::measure(backend, &cells);
        let causes: Vec<_> = seen.failures.iter().map(ToString::to_string).collect();
        assert_eq!(causes.len(), 2, "{causes:?}");
        for part in [
            "rust-unsafe/default batch 4, ring 64",
            "signal: 6",
            "about to crash: --batch 4 --ring-size 64",
        ] {
            assert!(causes[0].contains(part), "{causes:?}");
        }
        assert!(causes[1].contains("malformed"), "{causes:?}");
        assert!(!seen.samples.is_empty());
    }
}

#[test]
fn wall_takes_its_figures_from_the_report_or_after_a_warm_up_from_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let c = Implementation::C;
    let silent = [driver(folder.path(), "silent", c, &[])];
    let mut wall = wall();
    if wall.unavailable().is_some() {
        return;
    }
    let seen = Remember::measure(&mut wall, &silent);
    let samples = seen.samples.iter();
    let values: Vec<_> = samples.map(|it| (it.metric, it.value, it.repeat)).collect();
    let one = |repeat| {
        [
            (Metric::Mpps, 2.0, repeat),
            (Metric::TscCycles, 100.0, repeat),
            (Metric::FullBatchRatio, 1.0, repeat),
        ]
    };
    assert_eq!(values, [one(0), one(1)].concat());

    wall.warm_up = Duration::from_secs(2);
    wall.duration = Duration::from_secs(3);
    wall.repeats = 1;
    let lines = driver(folder.path(), "lines", c, &["LINES"]);
    let seen = Remember::measure(&mut wall, &[lines]);
    // The stand-in prints the number of the second for each device.
    assert_eq!(seen.values(c, Metric::Mpps), [8.0], "{seen:?}");
    assert_eq!(seen.samples[0].packets, 24_000_000);
    // Without lines, a warm-up cannot be left out.
    let cause = &Remember::measure(&mut wall, &silent).failures[0].cause;
    assert!(cause.contains("for 0 seconds, 5 are needed"), "{cause}");
}

#[test]
fn latency_comes_from_the_nics_report() {
    let folder = tempfile::tempdir().unwrap();
    let c = Implementation::C;
    let mut latency = Latency {
        nic: NicProgram::new(fixture("fake_nic.py")),
        placement: Topology::here().choose(None),
        duration: Duration::from_secs(1),
        warm_up: Duration::from_millis(500),
        repeats: 1,
        interrupt: Interrupt::new(),
    };
    if latency.unavailable().is_some() {
        return;
    }
    let mut loaded = driver(folder.path(), "driver", c, &[]);
    loaded.conditions.offered_mpps = Some(3.0);
    let idle = cell(folder.path(), "driver", Implementation::Rust);
    let seen = Remember::measure(&mut latency, &[loaded, idle]);
    for (metric, expected) in [
        (Metric::LatencyP50Us, Some(4.5)),
        (Metric::LatencyP99_9Us, Some(9.5)),
        (Metric::LatencyMaxUs, Some(12.0)),
        (Metric::LatencyP99_99Us, None),
        (Metric::LossRatio, Some(0.25)),
    ] {
        let values = seen.values(c, metric).into_iter();
        assert!(values.eq(expected), "{metric}: {seen:?}");
    }
    for sample in &seen.samples {
        let loaded = sample.conditions.offered_mpps == Some(3.0);
        assert!(sample.packets == 3000 && loaded, "{sample:?}");
    }
    for (warning, part) in seen.warnings.iter().zip([
        "25.0 % of the frames",
        "up to 75 % of the latency",
        "latency_p99_99_us, latency_p99_999_us",
    ]) {
        assert!(warning.contains(part), "{warning}");
    }
    assert_eq!(seen.warnings.len(), 3);
    assert!(seen.failures[0].cause.contains("none is given"), "{seen:?}");
}

#[test]
fn a_driver_that_hangs_is_interrupted_and_a_nic_that_does_not_start_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cells = [driver(
        folder.path(),
        "driver",
        Implementation::C,
        &["HANG"],
    )];
    let mut wall = wall();
    let interrupt = wall.interrupt.clone();
    ends_when_interrupted(&mut wall, &interrupt, &cells);

    wall.interrupt = Interrupt::new();
    let mut large = cells[0].clone();
    large.conditions.frame_size = 1510;
    let cause = &Remember::measure(&mut wall, &[large]).failures[0].cause;
    let wanted = "nic ended with exit status: 1: no frames of 1510 bytes";
    assert!(cause.contains(wanted), "{cause}");
    wall.link = Link::Software(NicProgram::new("/nonexistent/nic".into()));
    assert!(wall.unavailable().unwrap().contains("/nonexistent/nic"));
}
