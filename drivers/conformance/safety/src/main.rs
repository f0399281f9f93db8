//! `safety`: provokes the hazards in each driver and compares the outcomes with the recorded ones.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use clap::{Parser, Subcommand};
use safety_lab::catalogue::{self, Hazard};
use safety_lab::evidence::Evidence;
use safety_lab::outcome::{AtFault, DriverBuild};
use safety_lab::paths::root;
use safety_lab::results::{markdown, CaseLine, OutcomeRow, ResultFolder};
use safety_lab::{builds, compile_fail, false_sharing, scenario};

/// Time limit for one hazard with one driver.
const LIMIT: Duration = Duration::from_secs(60);

/// Provokes hazards in each driver, observes the outcomes, and compares them with the recorded ones
/// (drivers/conformance/hazards.toml).
#[derive(Debug, Parser)]
#[command(name = "safety", version)]
struct Options {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Run hazards; the exit status is 1 if an outcome differs from the recorded one
    Run {
        /// Run only this hazard; may be given several times
        #[arg(long, value_name = "ID")]
        hazard: Vec<String>,
        /// Run only the hazards that this party causes: application, device, driver, wire
        #[arg(long, value_name = "PARTY")]
        at_fault: Vec<AtFault>,
        /// Run only this driver: c, c-hardened, rust, rust-trusted-device,
        /// rust-untrusted-device-copy, rust-unsafe
        #[arg(long = "impl", value_name = "NAME")]
        driver: Vec<DriverBuild>,
        /// Run this many hazards at once
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
        jobs: u8,
        /// Record the outcomes in a new folder inside DIR
        #[arg(long, value_name = "DIR")]
        results: Option<PathBuf>,
        /// Print each outcome as a line of JSON
        #[arg(long, conflicts_with = "results")]
        json: bool,
    },
    /// List the hazards and their recorded outcomes
    List,
    /// Measure what it costs that two threads write to one cache line
    FalseSharing {
        /// Measure each distance this many times
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        rounds: u16,
    },
    /// Run one hazard with one driver that is already built, and print the evidence as JSON
    #[command(hide = true)]
    Case { hazard: String, driver: DriverBuild },
}

fn main() -> ExitCode {
    let result = match Options::parse().command {
        LabCommand::Run {
            hazard,
            at_fault,
            driver,
            jobs,
            results,
            json,
        } => run(&hazard, &at_fault, &driver, jobs, results, json),
        LabCommand::List => list(),
        LabCommand::FalseSharing { rounds } => measure_false_sharing(rounds.into()),
        LabCommand::Case { hazard, driver } => case(&hazard, driver),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("safety: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn list() -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for hazard in catalogue::read(&catalogue::path())? {
        writeln!(
            out,
            "{} (CWE-{}, {}): {}",
            hazard.id, hazard.cwe, hazard.at_fault, hazard.title
        )?;
        for (driver, recorded) in &hazard.outcome {
            writeln!(out, "    {driver}: {}", recorded.describe())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_false_sharing(rounds: usize) -> Result<ExitCode> {
    print!("{}", false_sharing::table(&false_sharing::measure(rounds)?));
    Ok(ExitCode::SUCCESS)
}

fn case(hazard: &str, driver: DriverBuild) -> Result<ExitCode> {
    let scenario = scenario::scenario(hazard)?;
    let program = builds::program(driver, scenario.patched.then_some(hazard));
    let evidence = scenario::run(&program, &scenario)?;
    println!("{}", serde_json::to_string(&evidence)?);
    Ok(ExitCode::SUCCESS)
}

fn chosen(ids: &[String], at_fault: &[AtFault]) -> Result<Vec<Hazard>> {
    let mut hazards = catalogue::read(&catalogue::path())?;
    for id in ids {
        ensure!(
            hazards.iter().any(|hazard| hazard.id == *id),
            "there is no hazard {id}; `safety list` lists them"
        );
    }
    hazards.retain(|hazard| {
        (ids.is_empty() || ids.contains(&hazard.id))
            && (at_fault.is_empty() || at_fault.contains(&hazard.at_fault))
    });
    Ok(hazards)
}

fn run(
    ids: &[String],
    at_fault: &[AtFault],
    drivers: &[DriverBuild],
    jobs: u8,
    results: Option<PathBuf>,
    json: bool,
) -> Result<ExitCode> {
    let hazards = chosen(ids, at_fault)?;
    let mut folder = results
        .map(|path| ResultFolder::create(&path))
        .transpose()?;
    let externs = builds::externs()?;
    let cases: Vec<_> = hazards
        .iter()
        .flat_map(|hazard| hazard.outcome.keys().map(move |driver| (hazard, *driver)))
        .filter(|(_, driver)| drivers.is_empty() || drivers.contains(driver))
        .collect();
    build_all(&cases, jobs, &externs);
    let observed = in_parallel(&cases, jobs, |(hazard, driver)| {
        let started = Instant::now();
        let evidence = observe(hazard, *driver, &externs);
        (evidence, started.elapsed().as_secs_f64())
    });
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    if json {
        return print_lines(&cases, observed);
    }
    for ((hazard, driver), (evidence, seconds)) in cases.iter().zip(observed) {
        match evidence {
            Ok(evidence) => {
                let row = outcome_row(hazard, *driver, &evidence, seconds);
                failures.extend(compare(hazard, &row));
                if let Some(folder) = &mut folder {
                    folder.write(&row)?;
                }
                rows.push(row);
            }
            Err(error) => failures.push(format!("{}, {driver}: {error:#}", hazard.id)),
        }
    }
    if let Some(folder) = &mut folder {
        let command: Vec<_> = std::env::args().collect();
        folder.finish(&hazards, &command, &failures)?;
        println!("{}", markdown(&hazards, &rows));
        println!("recorded in {}", folder.path().display());
    }
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    println!(
        "{} passed, {} failed",
        cases.len() - failures.len(),
        failures.len()
    );
    Ok(status(failures.is_empty()))
}

fn status(good: bool) -> ExitCode {
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Prints a line of JSON for each case.
fn print_lines(
    cases: &[(&Hazard, DriverBuild)],
    observed: Vec<(Result<Evidence>, f64)>,
) -> Result<ExitCode> {
    let mut agree = true;
    for ((hazard, driver), (evidence, _)) in cases.iter().zip(observed) {
        let line = CaseLine::of(hazard, *driver, &evidence);
        println!("{}", serde_json::to_string(&line)?);
        agree &= line.agrees;
    }
    Ok(status(agree))
}

fn outcome_row(
    hazard: &Hazard,
    driver: DriverBuild,
    evidence: &Evidence,
    seconds: f64,
) -> OutcomeRow {
    let (outcome, evidence) = evidence.outcome();
    OutcomeRow {
        hazard: hazard.id.clone(),
        class: format!("CWE-{}", hazard.cwe),
        at_fault: hazard.at_fault,
        driver,
        outcome,
        evidence,
        seconds: (seconds * 1000.0).round() / 1000.0,
    }
}

/// Prints an outcome that agrees with the recorded one, and returns a message for another.
fn compare(hazard: &Hazard, row: &OutcomeRow) -> Option<String> {
    let recorded = &hazard.outcome[&row.driver];
    let OutcomeRow {
        driver,
        outcome,
        evidence,
        ..
    } = row;
    let line = format!("{}, {driver}: {outcome} ({evidence})", hazard.id);
    if recorded.allows(*outcome) {
        println!("ok: {line}");
        return None;
    }
    Some(format!("{line}; recorded: {}", recorded.describe()))
}

/// Builds all programs in advance. [`observe`] reports a program that cannot be built.
fn build_all(cases: &[(&Hazard, DriverBuild)], jobs: u8, externs: &builds::Externs) {
    let programs: BTreeSet<_> = cases
        .iter()
        .filter(|(hazard, driver)| {
            *driver != DriverBuild::Rust
                || !matches!(compile_fail::mistake(&hazard.id), Ok(Some(_)))
        })
        .map(|(hazard, driver)| (patch_of(hazard), *driver))
        .collect();
    let programs: Vec<_> = programs.into_iter().collect();
    in_parallel(&programs, jobs, |(patch, driver)| {
        builds::build(*driver, *patch, externs).is_ok()
    });
}

/// The name of the hazard's patch, if it has one.
fn patch_of(hazard: &Hazard) -> Option<&str> {
    let patched = scenario::scenario(&hazard.id).is_ok_and(|scenario| scenario.patched);
    patched.then_some(hazard.id.as_str())
}

/// Applies `act` to each item, `jobs` at a time, and returns the results in order.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: u8, act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return };
                let result = act(item);
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                results.push((index, result));
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs a hazard with a driver in a process of its own and returns the evidence.
fn observe(hazard: &Hazard, driver: DriverBuild, externs: &builds::Externs) -> Result<Evidence> {
    if driver == DriverBuild::Rust {
        if let Some(mistake) = compile_fail::mistake(&hazard.id)? {
            return compile_fail::run(&compile_fail::source(), &mistake, externs);
        }
    }
    builds::build(driver, patch_of(hazard), externs)?;
    let output = tempfile::tempfile()?;
    let errors = tempfile::tempfile()?;
    let mut child = Command::new(std::env::current_exe()?)
        .current_dir(root())
        .args(["case", &hazard.id, &driver.to_string()])
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?)
        .spawn()?;
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            bail!("the lab took longer than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |file: std::fs::File| -> Result<String> {
        use std::io::{Read, Seek};
        let mut file = file;
        let mut text = String::new();
        file.rewind()?;
        file.read_to_string(&mut text)?;
        Ok(text)
    };
    ensure!(status.success(), "{status}: {}", read(errors)?);
    serde_json::from_str(&read(output)?).context("evidence")
}
