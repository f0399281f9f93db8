//! `triptych lab record` with the real drivers: `.ci/part test-lab`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;

const DRIVERS: [&str; 3] = ["c", "rust", "rust-unsafe"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn lab(arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
    command.current_dir(root()).args(["lab", "record"]);
    Ok(command.args(arguments).output()?)
}

fn record(arguments: &[&str]) -> Result<Value> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("one.json");
    let output = ["-o", file.to_str().context("the folder's name")?];
    let ended = lab(&[arguments, &output].concat())?;
    ensure!(ended.status.success(), "{ended:?}");
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

fn steps(recording: &Value) -> &[Value] {
    recording["steps"].as_array().map_or(&[], Vec::as_slice)
}

fn notes(recording: &Value) -> String {
    let notes = steps(recording)
        .iter()
        .filter_map(|step| step["note"].as_str());
    notes.collect::<Vec<_>>().join("\n")
}

#[test]
fn all_drivers_do_the_same_and_every_recording_is_exact() -> Result<()> {
    let shared = |recording: &Value| -> Vec<Value> {
        // Safe Rust takes its first packets before it has memory for the ring.
        let started = |step: &&Value| {
            step["point"]
                .as_str()
                .is_some_and(|point| point.starts_with("start."))
        };
        let mut steps: Vec<_> = steps(recording)
            .iter()
            .skip_while(started)
            .cloned()
            .collect();
        // C may write both words of a descriptor at once, so what a step changes may differ.
        let same = ["point", "text", "packet", "batch", "registers", "tour"];
        for step in steps.iter_mut().filter_map(Value::as_object_mut) {
            step.retain(|key, _| same.contains(&key.as_str()));
        }
        steps
    };
    let recordings: Result<Vec<_>> = DRIVERS
        .map(|driver| record(&["--driver", driver]))
        .into_iter()
        .collect();
    let recordings = recordings?;
    let first = shared(&recordings[0]);
    for (driver, recording) in DRIVERS.iter().zip(&recordings) {
        let differs = first
            .iter()
            .zip(shared(recording))
            .find(|(one, other)| *one != other);
        ensure!(
            differs.is_none(),
            "{driver}: {:.400}",
            format!("{differs:?}")
        );
        ensure!(first.len() == shared(recording).len(), "{driver}");
        for step in 1..=10 {
            let has = |one: &Value| one["tour"] == step;
            ensure!(
                steps(recording).iter().any(has),
                "{driver}: step {step} of the tour"
            );
        }
        ensure!(
            notes(recording).is_empty(),
            "{driver}: {}",
            notes(recording)
        );
        let lost = steps(recording)
            .iter()
            .filter_map(|step| step["owners"].as_object());
        let lost = lost
            .flat_map(|owners| owners.values())
            .filter(|owner| *owner == "none");
        ensure!(lost.count() == 0, "{driver}: a buffer has no owner");
    }
    let again = record(&["--driver", "c"])?;
    ensure!(
        steps(&again) == steps(&recordings[0]),
        "two recordings of C differ"
    );
    Ok(())
}

#[test]
fn a_length_that_lies_breaks_c_and_not_safe_rust() -> Result<()> {
    let hazard = ["--hazard", "dev-length-beyond-buffer", "--driver"];
    let sends_other_memory = |driver| -> Result<bool> {
        let recording = record(&[&hazard[..], &[driver]].concat())?;
        let evidence = &recording["evidence"];
        ensure!(
            evidence["outcome"] == evidence["recorded"],
            "{driver}: {evidence}"
        );
        ensure!(
            notes(&recording).contains("The length is a lie"),
            "{driver}"
        );
        Ok(notes(&recording).contains("bytes of other memory"))
    };
    ensure!(sends_other_memory("c")?);
    ensure!(sends_other_memory("rust-unsafe")?);
    ensure!(!sends_other_memory("rust")?);
    Ok(())
}

/// The patch of the tour gives the card a buffer that the application has.
#[test]
fn a_patch_is_recorded_with_what_it_breaks() -> Result<()> {
    let patch = "drivers/tour/break/02-old-buffer.patch";
    for driver in ["c", "rust"] {
        let recording = record(&["--driver", driver, "--patch", patch])?;
        ensure!(recording["patch"] == "02-old-buffer.patch", "{driver}");
        let note =
            "The application does not own buffer 0: it is in descriptor 0 of the receive ring.";
        ensure!(
            notes(&recording).contains(note),
            "{driver}: {}",
            notes(&recording)
        );
    }
    Ok(())
}

/// A second thread crashes at any moment, and ends the thread that is followed.
#[test]
fn a_driver_that_another_thread_ends_is_recorded() -> Result<()> {
    for _ in 0..4 {
        let recording = record(&["--driver", "c", "--hazard", "app-pool-destroyed"])?;
        ensure!(
            recording["evidence"]["outcome"] == "panic/trap",
            "{}",
            recording["evidence"]
        );
    }
    Ok(())
}

/// What students have when they begin lacks much of a driver.
#[test]
fn a_driver_with_missing_lines_is_recorded() -> Result<()> {
    for (exercise, driver) in [
        ("1-receive", "rust"),
        ("2-refill", "c"),
        ("3-transmit", "rust"),
    ] {
        let patch = format!("drivers/exercises/{exercise}/skeleton/{driver}.patch");
        let recording = record(&["--driver", driver, "--patch", &patch])?;
        ensure!(
            steps(&recording).iter().any(|step| step["tour"] == 1),
            "{exercise}"
        );
    }
    Ok(())
}

/// A driver that never ends its start has no step, and the recorder waits for it.
#[test]
fn a_recording_of_a_driver_that_hangs_can_be_interrupted() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let name = "c/src/driver/mempool.c";
    let text = fs::read_to_string(root().join(name))?;
    let hangs = text.replacen("\tpool->capacity = capacity;", "\tfor (;;) {\n\t}", 1);
    let changed = folder.path().join("mempool.c");
    fs::write(&changed, hangs)?;
    let labels = ["a", "b"].map(|side| format!("--label={side}/{name}"));
    let diff = Command::new("diff")
        .arg("-u")
        .args(labels)
        .args([root().join(name), changed])
        .output()?;
    let patch = folder.path().join("hangs.patch");
    fs::write(&patch, diff.stdout)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
    command
        .current_dir(root())
        .args(["lab", "record", "--patch"])
        .arg(&patch);
    let output = command
        .arg("-o")
        .arg(folder.path().join("x.json"))
        .stderr(Stdio::piped());
    let mut recorder = output.spawn()?;
    // It builds the driver, and starts it.
    let runs = || -> Result<bool> {
        let children = format!("/proc/{0}/task/{0}/children", recorder.id());
        let children = fs::read_to_string(children)?;
        let of = |child: &str| fs::read_link(format!("/proc/{child}/exe")).unwrap_or_default();
        Ok(children
            .split_whitespace()
            .any(|child| of(child).ends_with("recorded/c/lab")))
    };
    let started = Instant::now();
    while !runs()? && started.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&recorder), Signal::INT)?;
    let interrupted = Instant::now();
    while recorder.try_wait()?.is_none() {
        let late = interrupted.elapsed() > Duration::from_secs(20);
        if late {
            recorder.kill()?;
        }
        ensure!(!late, "it goes on");
        sleep(Duration::from_millis(20));
    }
    let ended = recorder.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(
        ended.status.code() == Some(1) && said.contains("interrupted"),
        "{said}"
    );
    Ok(())
}

#[test]
fn wrong_usage_is_refused_with_the_reason() -> Result<()> {
    let patch = "drivers/conformance/safety/patches/drv-rx-ring-wrap/c.patch";
    for (arguments, reason) in [
        (
            &["--hazard", "dev-none", "-o", "x.json"][..],
            "there is no hazard dev-none",
        ),
        (
            &["--driver", "ada", "-o", "x.json"],
            "choose one of: c, c-hardened, rust",
        ),
        (
            &["--driver", "rust", "--patch", patch, "-o", "x.json"],
            "changes nothing in rust/src/",
        ),
        (&["--patch", "none.patch", "-o", "x.json"], "none.patch"),
        (
            &["-o", "no/such/folder/x.json"],
            "no/such/folder does not exist",
        ),
        (&["--batch", "0", "-o", "x.json"], "--batch"),
    ] {
        let ended = lab(arguments)?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        ensure!(
            ended.status.code() == Some(2) && said.contains(reason),
            "{arguments:?}: {said}"
        );
    }
    Ok(())
}
