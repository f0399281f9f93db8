//! Tests the program: its exit codes, its messages, and the results folder. Drivers and NIC are
//! stand-ins.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{first_sample, text, wait_until, works_here, Build};
use record::{BackendName, Implementation, Metric};

#[test]
fn a_wrong_command_line_ends_with_2_and_names_the_subcommand() {
    let build = Build::new();
    for (wrong, usage) in [
        (&["run", "--impl", "fortran"][..], "invalid value 'fortran'"),
        (
            &["run", "--impl=c", "--variant=overflow-checks"],
            "triptych run",
        ),
        (&["run", "--variant", "no-such-variant"], "triptych run"),
        (
            &["run", "--batch", "512", "--ring-size", "64"],
            "triptych run",
        ),
        (&["run", "--config", "/nonexistent.toml"], "triptych run"),
        (&["run", "--no-such-thing"], "triptych run"),
        (
            &["compare", "--config", "/nonexistent.toml"],
            "triptych compare",
        ),
        (&["fly"], "triptych"),
    ] {
        let output = build.run(wrong);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {said}");
        assert!(said.contains(usage), "{wrong:?}: {said}");
    }
    assert!(!build.path().join("results").exists());
}

#[test]
fn a_run_records_everything() {
    let build = Build::new();
    // The tracer follows real drivers only.
    let backends = "--backend=perf,valgrind,lockstep,wall";
    let output = build.run(&["run", "--quick", backends]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let latest = build.path().join("results/latest");
    let run = record::read_run(&latest).unwrap();
    assert!(run.end.is_some() && run.complete);
    assert_eq!(run.periods.len(), 1);
    assert!(run.artefacts.contains_key("bin/c/ixgbe-fwd"), "{run:?}");
    assert!(run.failures.is_empty());
    assert_eq!(run.builds.len(), 4);
    assert_eq!(run.builds[0].toolchain, "gcc 12.2.0");
    assert!(run.not_measurable.contains_key(&BackendName::Perf));
    let samples = record::read_samples(&latest.join(record::SAMPLES_FILE)).unwrap();
    let found = |implementation, variant: &str, batch, backend, metric| {
        samples.iter().any(|sample| {
            sample.implementation == implementation
                && sample.variant == variant
                && sample.conditions.batch == batch
                && sample.backend == backend
                && sample.metric == metric
        })
    };
    for (implementation, variant) in [
        (Implementation::C, "default"),
        (Implementation::Rust, "default"),
        (Implementation::Rust, "overflow-checks"),
        (Implementation::RustUnsafe, "default"),
    ] {
        for batch in [32, 8] {
            if works_here("valgrind") {
                assert!(found(
                    implementation,
                    variant,
                    batch,
                    BackendName::Valgrind,
                    Metric::Instructions
                ));
            }
            if works_here("wall") {
                assert!(found(
                    implementation,
                    variant,
                    batch,
                    BackendName::Wall,
                    Metric::Mpps
                ));
            }
        }
    }
    // Without a terminal there is no progress bar.
    assert!(!text(&output).contains('\u{1b}'), "{}", text(&output));
}

#[test]
fn a_failing_driver_is_named_and_the_others_are_recorded() {
    let build = Build::new();
    build.driver("bin/rust-unsafe", &["CRASH"]);
    fs::remove_file(build.path().join("variants/overflow-checks/rust/ixgbe-fwd")).unwrap();
    for backend in ["valgrind", "wall"] {
        if !works_here(backend) {
            continue;
        }
        let output = build.run(&["run", "--quick", "--batch", "32", "--backend", backend]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("rust-unsafe/default batch 32, {backend}:")),
            "{said}"
        );
        assert!(said.contains("about to crash"), "{said}");
        assert!(
            said.contains(&format!("rust/overflow-checks batch 32, {backend}:")),
            "{said}"
        );
        assert!(
            said.contains("build it with `make build variants`"),
            "{said}"
        );
        let latest = build.path().join("results/latest");
        assert_eq!(record::read_run(&latest).unwrap().failures.len(), 2);
        let samples = record::read_samples(&latest.join(record::SAMPLES_FILE)).unwrap();
        for implementation in [Implementation::C, Implementation::Rust] {
            assert!(samples
                .iter()
                .any(|sample| sample.implementation == implementation));
        }
    }
}

#[test]
fn a_crash_in_lockstep_does_not_affect_other_drivers() {
    let build = Build::new();
    build.driver("bin/rust", &["CRASH"]);
    build.driver("bin/rust-unsafe", &["REFUSE"]);
    let output = build.run(&["run", "--quick", "--batch", "32", "--backend", "lockstep"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains(
            "rust/default batch 32, memory, lockstep: lockstep worker ended with signal: 6"
        ),
        "{said}"
    );
    assert!(
        said.contains("rust-unsafe/default batch 32, memory, lockstep: no link"),
        "{said}"
    );
    let latest = build.path().join("results/latest");
    let samples = record::read_samples(&latest.join(record::SAMPLES_FILE)).unwrap();
    let measured = |implementation, variant: &str| {
        let cycles = samples.iter().filter(|sample| {
            sample.implementation == implementation
                && sample.variant == variant
                && sample.metric == Metric::TscCycles
        });
        cycles.count()
    };
    // Two processes with 30 rounds each, at two placements.
    assert_eq!(measured(Implementation::C, "default"), 120);
    assert_eq!(measured(Implementation::Rust, "overflow-checks"), 120);
    assert_eq!(measured(Implementation::Rust, "default"), 0);
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
fn a_results_folder_that_cannot_be_written_is_an_error() {
    let build = Build::new();
    let output = build.run(&["run", "--quick", "--results", "/proc/results"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/proc/results"), "{said}");
    // The cause is reported once.
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_its_samples() {
    if !works_here("wall") {
        return;
    }
    let build = Build::new();
    build.driver("bin/rust", &["HANG"]);
    let mut child = build
        .triptych(&[
            "run",
            "--impl",
            "c,rust",
            "--variant",
            "default",
            "--backend",
            "wall",
        ])
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
    assert_eq!(record::unfinished_runs(&results), [run.id]);
}

/// Runs `triptych run --budget` in the repository, with a budget for the C driver.
fn budget(per_packet: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget.toml");
    fs::write(
        &path,
        format!(
            "tolerance = 0.02\ntolerance_other_compiler = 0.1\n\
             [[instructions]]\nimpl = \"c\"\nbatch = 32\nper_packet = {per_packet}\n"
        ),
    )
    .unwrap();
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
    let output = budget("100000.0");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("fewer"), "{}", text(&output));
}

#[test]
fn a_budget_that_cannot_be_read_is_an_error() {
    let build = Build::new();
    let output = build.run(&["run", "--budget", "/nonexistent/budget.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("/nonexistent/budget.toml"));
    let output = budget("\"many\"");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("is not a budget"),
        "{}",
        text(&output)
    );
}
