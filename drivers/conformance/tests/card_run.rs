//! A run as `make reproduce DEVICES=` starts it, with two sockets of a card that differs from the model as ports.

use std::fs;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{build_folder, Program, TestNic};
use nic::Traffic;

/// All drivers once, as short as `wall` allows.
const MATRIX: &str = "\
wall = { warm_up = 0.2, seconds = 0.5, repeats = 1 }
[[block]]
backends = [\"wall\"]
impl = [\"c\", \"rust\", \"rust-unsafe\"]
batch = [32]
";

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn every_cell_of_a_run_is_measured_on_a_card_that_differs() -> Result<()> {
    let differs = "differs".parse()?;
    let nic = TestNic::running(|config| {
        config.with_each_port(|port| {
            port.traffic = Traffic::Saturate;
            port.hardware = differs;
        })
    })?;
    let (matrix, results) = (nic.path("matrix.toml"), nic.path("results"));
    fs::write(&matrix, MATRIX)?;
    let run = || {
        let program = Program::built("bin/triptych")?
            .arg("run")
            .arg("--config")
            .arg(&matrix);
        let program = program.args(["--devices", &nic.devices().join(",")]);
        let program = program.args(["--generator", "none", "--keep-clock"]);
        let program = program.arg("--build-dir").arg(build_folder());
        Ok::<_, anyhow::Error>(program.arg("--results").arg(&results))
    };
    let plan = run()?.arg("--dry-run").run_within(LIMIT)?;
    plan.expect_exit(0)?;
    ensure!(!results.exists(), "the dry run has measured: {plan}");
    let output = run()?.run_within(LIMIT)?;
    output.expect_exit(0)?;
    let folder = fs::read_dir(&results)?.next().context("no results")??;
    let samples = fs::read_to_string(folder.path().join("samples.csv"))?;
    for driver in ["c", "rust", "rust-unsafe"] {
        let measured = |line: &&str| line.split(',').any(|field| field == driver);
        ensure!(
            samples.lines().any(|line| measured(&line)),
            "{driver}: {samples}\n{output}"
        );
    }
    for session in nic.sessions()? {
        ensure!(session.notes.is_empty(), "{session:#?}");
    }
    Ok(())
}
