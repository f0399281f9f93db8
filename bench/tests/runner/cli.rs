//! Tests the program: its exit codes, its messages, and the results folder. Drivers and NIC are
//! stand-ins.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use perfcounters::device::two_cpus;

use crate::support::{first_sample, text, wait_until, works_here, Build};
use record::{BackendName, Implementation, LinePlacement, Metric, Sample};

#[test]
fn a_wrong_command_line_ends_with_2_and_names_the_subcommand() {
    let build = Build::new();
    for (wrong, usage) in [
        ("run --impl fortran", "invalid value 'fortran'"),
        ("run --impl=c --variant=overflow-checks", "triptych run"),
        ("run --variant no-such-variant", "triptych run"),
        ("run --batch 512 --ring-size 64", "triptych run"),
        ("run --config /nonexistent.toml", "triptych run"),
        ("run --no-such-thing", "triptych run"),
        ("compare --config /nonexistent.toml", "triptych compare"),
        ("fly", "triptych"),
    ] {
        let words: Vec<_> = wrong.split(' ').collect();
        let output = build.run(&words);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {said}");
        assert!(said.contains(usage), "{wrong}: {said}");
    }
    assert!(!build.path().join("results").exists());
}

fn samples(build: &Build) -> Vec<Sample> {
    let file = Path::new("results/latest").join(record::SAMPLES_FILE);
    record::read_samples(&build.path().join(file)).unwrap()
}

#[test]
fn a_run_records_everything() {
    let build = Build::new();
    // The tracer follows real drivers only.
    let backends = "--backend=perf,valgrind,lockstep,wall";
    let output = build.run(&["run", "--quick", backends]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = record::read_run(&build.path().join("results/latest")).unwrap();
    assert!(run.end.is_some() && run.complete && run.failures.is_empty());
    assert_eq!(run.periods.len(), 1);
    assert!(run.artefacts.contains_key("bin/c/ixgbe-fwd"), "{run:?}");
    assert_eq!(run.builds.len(), 4);
    assert_eq!(run.builds[0].toolchain, "gcc 12.2.0");
    assert!(run.not_measurable.contains_key(&BackendName::Perf));
    let samples = samples(&build);
    for (backend, metric) in [
        (BackendName::Valgrind, Metric::Instructions),
        (BackendName::Wall, Metric::Mpps),
    ] {
        let found = samples
            .iter()
            .filter(|sample| (sample.backend, sample.metric) == (backend, metric))
            .map(|sample| {
                (
                    sample.implementation,
                    &sample.variant,
                    sample.conditions.batch,
                )
            });
        let found: BTreeSet<_> = found.collect();
        // Each of the four builds at two batch sizes.
        let expected = if works_here(&backend.to_string()) {
            8
        } else {
            0
        };
        assert_eq!(found.len(), expected, "{found:?}");
    }
    // Without a terminal there is no progress bar.
    assert!(!text(&output).contains('\u{1b}'), "{}", text(&output));
}

#[test]
fn a_failing_driver_is_named_and_the_others_are_recorded() {
    let build = Build::new();
    build.driver("bin/rust-unsafe", &["CRASH"]);
    let absent = build.path().join("variants/overflow-checks/rust");
    fs::remove_dir_all(absent).unwrap();
    for (backend, place, cause) in [
        ("wall", "", "about to crash"),
        (
            "lockstep",
            ", memory",
            "lockstep worker ended with signal: 6",
        ),
    ] {
        if !works_here(backend) {
            continue;
        }
        let output = build.run(&["run", "--quick", "--batch", "32", "--backend", backend]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in [
            &format!("rust-unsafe/default batch 32{place}, {backend}:"),
            cause,
            &format!("rust/overflow-checks batch 32{place}, {backend}:"),
            "build it with `make build variants`",
        ] {
            assert!(said.contains(part), "{part} is missing:\n{said}");
        }
        let measured = samples(&build).into_iter();
        let measured: BTreeSet<_> = measured.map(|sample| sample.implementation).collect();
        assert!(measured
            .iter()
            .eq(&[Implementation::C, Implementation::Rust]));
    }
}

#[test]
fn a_run_that_can_measure_nothing_fails_with_the_reason() {
    let build = Build::new();
    let output = build
        .triptych(&["run", "--quick", "--backend", "valgrind"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("nothing could be measured here:\n  valgrind: valgrind is not installed"),
        "{said}"
    );
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_its_samples() {
    if !works_here("wall") {
        return;
    }
    let build = Build::new();
    build.driver("bin/rust", &["HANG"]);
    let mut child = build
        .triptych(&["run", "--impl=c,rust", "--backend=wall"])
        .arg("--variant=default")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let results = build.path().join("results");
    first_sample(&results);
    // Small systems lack the program `kill`.
    let child_id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(child_id, rustix::process::Signal::INT).unwrap();
    wait_until("it does not end", || child.try_wait().unwrap().is_some());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    let run = record::read_run(&results.join("latest")).unwrap();
    assert!(run.end.is_some() && !run.complete);
    let name = format!("{}/{}", run.machine, run.id);
    assert_eq!(record::unfinished_runs(&results), [name]);
}

/// Runs `triptych run --budget` in the repository, with a budget for the C driver.
fn budget(per_packet: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget.toml");
    let text = "tolerance = 0.02\ntolerance_other_compiler = 0.1\n[[instructions]]\nimpl = \"c\"\nbatch = 32";
    fs::write(&path, format!("{text}\nper_packet = {per_packet}\n")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(["run", "--budget"])
        .arg(&path)
        .output()
        .unwrap()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn an_exceeded_budget_fails() {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/bin/c/ixgbe-fwd");
    if !driver.is_file() {
        println!("skipped: `make build` has not built the drivers");
        return;
    }
    let output = budget("1.0");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("c/default batch 32"), "{said}");
    let measured = said
        .split("record `per_packet = ")
        .nth(1)
        .and_then(|rest| rest.split('`').next())
        .unwrap();
    let output = budget(measured);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// Reads the builds of `make build`, and checks nothing without them.
#[test]
fn bursts_through_the_c_driver_give_cycles_at_each_placement() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = ["build/bin/c/ixgbe-fwd", "build/bin/nic"];
    let built = files.iter().all(|file| sources.join(file).exists());
    if !built || two_cpus().1.is_none() {
        eprintln!("the C driver or the NIC is not built, or there is one CPU: nothing is checked");
        return;
    }
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(["run", "--quick", "--backend=burst", "--impl=c"])
        .args(["--batch=32", "--results"])
        .arg(results.path())
        .current_dir(&sources)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let run = results.path().join("latest");
    let samples = record::read_samples(&run.join("samples.csv")).unwrap();
    for placement in [LinePlacement::Memory, LinePlacement::Warm] {
        let here = |sample: &&Sample| sample.conditions.placement == Some(placement);
        let rounds: Vec<_> = samples.iter().filter(here).collect();
        // On a busy machine the card drops nearly all bursts of a round, which then has no value.
        assert!((1..=2).contains(&rounds.len()), "{errors}");
        for sample in rounds {
            assert_eq!(
                (sample.backend, sample.metric),
                (BackendName::Burst, Metric::TscCycles)
            );
            assert!((1.0..10_000.0).contains(&sample.value), "{sample:?}");
            assert!(sample.packets > 10_000, "{sample:?}");
        }
    }
    let record = std::fs::read_to_string(run.join("run.json")).unwrap();
    assert!(record.contains("round_trip_between_cpus"), "{record}");
}
