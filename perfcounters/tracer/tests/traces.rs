//! Traces of a small program whose steps are known, with clocks, and with ends at bad moments. Traces of the project's
//! own C driver, if it is built.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

#[path = "../../../drivers/nic/tests/support/mod.rs"]
mod card;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use caches::stream::{Event, Stream};
use card::{Driver, Rings};
use nic::{ControlSocket, Nic, NicConfig, Traffic};
use tracer::{trace, Counts, Launch, Plan, TraceError};

/// A card in turns.
struct Bench {
    folder: tempfile::TempDir,
    _serving: ControlSocket,
    nic: Nic,
}

impl Bench {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = NicConfig::new(folder.path(), 2).with_each_port(|port| {
            port.traffic = Traffic::Saturate;
        });
        let nic = Nic::new(config).unwrap();
        let serving = nic.serve_turns(&folder.path().join("control")).unwrap();
        Self {
            folder,
            nic,
            _serving: serving,
        }
    }

    fn launch(&self, driver: &Path, arguments: impl IntoIterator<Item = OsString>) -> Launch {
        Launch {
            command: std::iter::once(driver.into()).chain(arguments).collect(),
            driver: driver.to_owned(),
            environment: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            folder: self.folder.path().to_owned(),
            control: self.folder.path().join("control"),
            cpu: None,
            limit: Duration::from_secs(60),
            interrupt: Arc::default(),
        }
    }
}

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
        self.bench
            .launch(&self.program, [memory, registers, mode.into()])
    }

    /// The error of a trace that fails, and leaves no process behind.
    fn error(&self, launch: &Launch, plan: &Plan) -> TraceError {
        let error = trace(launch, plan).unwrap_err();
        assert_eq!(self.left(), 0);
        error
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

const PLAN: Plan = Plan {
    native: 256,
    warm: 0,
    measured: 64,
    emulate: true,
};

fn trace_new(mode: &str, plan: &Plan) -> Stream {
    let known = Known::new();
    let traced = trace(&known.launch(mode), plan).unwrap();
    assert_eq!(known.left(), 0);
    traced
}

#[test]
fn each_frame_takes_the_same_steps_and_the_card_the_same_transfers() {
    let stream = trace_new("", &PLAN);
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
    let [first, second] = ["clock"; 2].map(|mode| trace_new(mode, &PLAN));
    assert!(first.events == second.events);
    let varied = Counts::of(&first).instructions;
    assert!(varied > 64 * 64, "the clocks move: {varied} instructions");
}

#[test]
fn instructions_do_what_the_processor_does() {
    let [by_processor, by_tracer] = [false, true].map(|emulate| {
        // All pairs of the program's 12 values.
        let measured = 144;
        let plan = Plan {
            measured,
            emulate,
            ..PLAN
        };
        trace_new("arithmetic", &plan)
    });
    assert!(by_processor.events == by_tracer.events);
}

#[test]
fn two_traces_of_our_driver_are_the_same() {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/bin/c/ixgbe-fwd");
    let Ok(driver) = driver.canonicalize() else {
        eprintln!("skipped: {} is not built; run `make`", driver.display());
        return;
    };
    let [first, second] = [false, true].map(|emulate| {
        let bench = Bench::start();
        let names = bench
            .nic
            .ports()
            .iter()
            .map(|port| port.device_name().into());
        let launch = bench.launch(&driver, names);
        let plan = Plan {
            warm: 0,
            emulate,
            ..Plan::default()
        };
        trace(&launch, &plan).unwrap()
    });
    assert_eq!(Counts::of(&first), Counts::of(&second));
    assert!(first.events == second.events);
    assert!(first.packets >= 1_024);
}

#[test]
fn a_program_that_hangs_is_ended_after_the_limit() {
    let known = Known::new();
    for mode in ["hang", "sleep"] {
        let mut launch = known.launch(mode);
        launch.limit = Duration::from_secs(2);
        let start = Instant::now();
        let error = known.error(&launch, &PLAN);
        assert!(matches!(error, TraceError::Hung { .. }), "{error}");
        assert!(start.elapsed() < Duration::from_secs(12));
    }
}

#[test]
fn a_user_who_stops_ends_the_trace() {
    let known = Known::new();
    let launch = known.launch("");
    let endless = Plan {
        native: u64::MAX,
        ..PLAN
    };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            launch.interrupt.store(true, Ordering::Relaxed);
        });
        known.error(&launch, &endless)
    });
    assert!(matches!(error, TraceError::Interrupted), "{error}");
}

#[test]
fn ends_of_programs_and_what_cannot_be_traced_are_named() {
    let known = Known::new();
    type Case = (fn(&mut Launch), &'static str);
    let cases: [Case; 4] = [
        (
            |launch| launch.command[3] = "end".into(),
            "the program was ended by SIGKILL",
        ),
        (
            |launch| launch.command[0] = "/nonexistent/driver".into(),
            "/nonexistent/driver",
        ),
        (
            |launch| launch.command = ["/bin/sh", "-c", "exit 3"].map(OsString::from).into(),
            "status 3",
        ),
        (
            |launch| launch.control = "/nonexistent/control".into(),
            "/nonexistent/control",
        ),
    ];
    for (change, named) in cases {
        let mut launch = known.launch("");
        change(&mut launch);
        let error = known.error(&launch, &PLAN).to_string();
        assert!(error.contains(named), "{error}");
    }
}
