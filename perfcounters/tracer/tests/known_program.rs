//! Traces of a small program whose steps are known, with clocks, and with ends at bad moments.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

#[path = "../../../drivers/nic/tests/support/mod.rs"]
mod card;
mod support;

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use caches::stream::{Event, Stream};
use card::{Driver, Rings};
use support::Bench;
use tracer::{trace, Counts, Launch, Plan, TraceError};

/// A card whose port is set up, and the program that drives its rings.
struct Known {
    bench: Bench,
    program: PathBuf,
    driver: Driver,
}

fn number(file: &OwnedFd) -> OsString {
    rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty()).unwrap();
    // The same number of digits in each test keeps the addresses of the arguments.
    format!("{:04}", file.as_raw_fd()).into()
}

impl Known {
    fn new() -> Self {
        let bench = Bench::start();
        let program = bench.folder.path().join("driver");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/driver.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-o"]).arg(&program).arg(source);
        assert!(compiler.status().unwrap().success());
        let rings = Rings {
            tx_thresholds: 0,
            ..Rings::default()
        };
        let driver = Driver::start(bench.nic.port(0).unwrap().socket(), rings);
        Self {
            bench,
            program,
            driver,
        }
    }

    fn launch(&self, mode: &str) -> Launch {
        let registers = self.driver.client.pages.as_ref().unwrap();
        let [memory, registers] = [&self.driver.memory.file, &registers.file].map(number);
        let command = vec![self.program.clone().into(), memory, registers, mode.into()];
        self.bench.command(&self.program, command)
    }

    /// Processes that execute the program.
    fn left(&self) -> usize {
        let running = |entry: &std::fs::DirEntry| {
            std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == self.program)
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries.filter(running).count()
    }
}

fn plan() -> Plan {
    Plan {
        native: 256,
        warm: 0,
        measured: 64,
        check: false,
    }
}

fn trace_new(mode: &str) -> Stream {
    let known = Known::new();
    let traced = trace(&known.launch(mode), &plan()).unwrap();
    assert_eq!(known.left(), 0);
    traced
}

#[test]
fn each_frame_takes_the_same_steps_and_the_card_the_same_transfers() {
    let stream = trace_new("");
    assert_eq!(stream.packets, 64);
    let counts = Counts::of(&stream);
    // Per frame: the status is loaded; two descriptors of two words and two tails are stored.
    assert_eq!(counts.loads % 64, 0);
    assert!(counts.loads >= 64, "{counts:?}");
    assert!(counts.stores >= 6 * 64, "{counts:?}");
    assert!(counts.instructions % 64 < 8, "{counts:?}");
    let transfer = |event: &Event| match event {
        Event::Device { write, bytes, .. } => Some((*write, *bytes)),
        Event::Step(_) => None,
    };
    // RDT gives the card a descriptor, which takes a frame. Then TDT sends one.
    let expected = [
        (false, 16),
        (true, 60),
        (true, 16),
        (false, 16),
        (false, 60),
        (true, 16),
    ];
    let device: Vec<_> = stream.events.iter().filter_map(transfer).collect();
    assert_eq!(device.len(), 64 * expected.len());
    assert!(device.chunks(expected.len()).all(|round| round == expected));
}

#[test]
fn clocks_do_not_make_two_traces_differ() {
    let (first, second) = (trace_new("clock"), trace_new("clock"));
    assert_eq!(Counts::of(&first), Counts::of(&second));
    assert!(first.events == second.events);
    let varied = Counts::of(&first).instructions;
    assert!(varied > 64 * 64, "the clocks move: {varied} instructions");
}

#[test]
fn instructions_do_what_the_processor_does() {
    let checked = |check| {
        // All pairs of the program's 12 values.
        let plan = Plan {
            measured: 144,
            check,
            ..plan()
        };
        trace(&Known::new().launch("arithmetic"), &plan).unwrap()
    };
    let (by_processor, by_tracer) = (checked(true), checked(false));
    assert!(by_processor.events == by_tracer.events);
}

#[test]
fn a_program_that_ends_is_named_and_leaves_nothing() {
    let known = Known::new();
    let error = trace(&known.launch("end"), &plan()).unwrap_err();
    assert!(matches!(error, TraceError::Ended { .. }), "{error}");
    assert!(error.to_string().contains("status 7"), "{error}");
    assert_eq!(known.left(), 0);
}

#[test]
fn a_program_that_hangs_is_ended_after_the_limit() {
    let known = Known::new();
    let mut launch = known.launch("hang");
    launch.limit = Duration::from_secs(2);
    let start = Instant::now();
    let error = trace(&launch, &plan()).unwrap_err();
    assert!(matches!(error, TraceError::Hung { .. }), "{error}");
    let mut launch = known.launch("sleep");
    launch.limit = Duration::from_secs(1);
    let error = trace(&launch, &plan()).unwrap_err();
    assert!(matches!(error, TraceError::Hung { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(known.left(), 0);
}

#[test]
fn a_program_that_is_killed_and_a_user_who_stops_end_the_trace() {
    let known = Known::new();
    let launch = known.launch("");
    let endless = Plan {
        native: u64::MAX,
        ..plan()
    };
    let program = known.program.clone();
    let kill = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        let mut pkill = Command::new("pkill");
        pkill.args(["-KILL", "-f"]).arg(program);
        pkill.status().unwrap()
    });
    let error = trace(&launch, &endless).unwrap_err();
    assert!(error.to_string().contains("SIGKILL"), "{error}");
    kill.join().unwrap();
    let known = Known::new();
    let launch = known.launch("");
    let interrupt = launch.interrupt.clone();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        interrupt.store(true, Ordering::Relaxed);
    });
    let error = trace(&launch, &endless).unwrap_err();
    assert!(matches!(error, TraceError::Interrupted), "{error}");
    stop.join().unwrap();
    assert_eq!(known.left(), 0);
}

#[test]
fn what_cannot_be_traced_is_named() {
    let known = Known::new();
    let mut launch = known.launch("");
    launch.command[0] = "/nonexistent/driver".into();
    let error = trace(&launch, &plan()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/driver"), "{error}");
    let mut launch = known.launch("");
    launch.driver = "/bin/true".into();
    launch.command = vec!["/bin/sh".into(), "-c".into(), "exit 3".into()];
    let error = trace(&launch, &plan()).unwrap_err().to_string();
    assert!(error.contains("status 3"), "{error}");
    let mut launch = known.launch("");
    launch.control = "/nonexistent/control".into();
    let error = trace(&launch, &plan()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/control"), "{error}");
    assert_eq!(known.left(), 0);
}
