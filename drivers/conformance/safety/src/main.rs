//! `safety`: runs the hazards against the drivers, and compares with what is recorded.

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
use safety_lab::outcome::{AtFault, Subject};
use safety_lab::record::{markdown, Folder, Row};
use safety_lab::{builds, compile, root, scenario, stage};
use strum::IntoEnumIterator;

/// For one hazard and one driver, with everything.
const LIMIT: Duration = Duration::from_secs(60);

/// The same hazards against each driver: what happens is observed, recorded, and compared with
/// drivers/conformance/hazards.toml.
#[derive(Debug, Parser)]
#[command(name = "safety")]
struct Options {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Runs hazards; exit status 1 if an outcome is not the recorded one
    Run {
        /// Only this hazard; may be given several times
        #[arg(long, value_name = "ID")]
        hazard: Vec<String>,
        /// Only hazards that these are to blame for: application, device, driver, wire
        #[arg(long, value_name = "WHO")]
        at_fault: Vec<AtFault>,
        /// Only this driver: c, c-hardened, rust, rust-unsafe
        #[arg(long = "impl", value_name = "NAME")]
        subject: Vec<Subject>,
        /// So many at once
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
        jobs: u8,
        /// Record in a new folder of this one
        #[arg(long, value_name = "DIR")]
        results: Option<PathBuf>,
    },
    /// Lists the hazards and what is recorded
    List,
    /// Runs one hazard against one built driver, and prints the evidence as JSON
    #[command(hide = true)]
    Case { hazard: String, subject: Subject },
}

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Task::Run {
            hazard,
            at_fault,
            subject,
            jobs,
            results,
        } => run(&hazard, &at_fault, &subject, jobs, results),
        Task::List => list(),
        Task::Case { hazard, subject } => case(&hazard, subject),
    };
    match done {
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
        for (subject, recorded) in &hazard.outcome {
            writeln!(out, "    {subject}: {}", recorded.describe())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn case(hazard: &str, subject: Subject) -> Result<ExitCode> {
    let scenario = scenario::scenario(hazard)?;
    let program = builds::program(subject, scenario.patched.then_some(hazard));
    let evidence = stage::run(&program, scenario)?;
    println!("{}", serde_json::to_string(&evidence)?);
    Ok(ExitCode::SUCCESS)
}

fn chosen(ids: &[String], at_fault: &[AtFault]) -> Result<Vec<Hazard>> {
    let mut hazards = catalogue::read(&catalogue::path())?;
    for id in ids {
        ensure!(
            hazards.iter().any(|hazard| hazard.id == *id),
            "no hazard is called {id}; `safety list` names them"
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
    subjects: &[Subject],
    jobs: u8,
    results: Option<PathBuf>,
) -> Result<ExitCode> {
    let hazards = chosen(ids, at_fault)?;
    let mut folder = results.map(|path| Folder::create(&path)).transpose()?;
    let externs = builds::externs()?;
    let wanted: Vec<_> = hazards
        .iter()
        .flat_map(|hazard| Subject::iter().map(move |subject| (hazard, subject)))
        .filter(|(_, subject)| subjects.is_empty() || subjects.contains(subject))
        .collect();
    build_all(&wanted, jobs, &externs);
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    let observed = in_parallel(&wanted, jobs, |(hazard, subject)| {
        let started = Instant::now();
        let observed = observe(hazard, *subject, &externs);
        (observed, started.elapsed().as_secs_f64())
    });
    for ((hazard, subject), (observed, seconds)) in wanted.iter().zip(observed) {
        let name = format!("{}, {subject}", hazard.id);
        let (outcome, evidence) = match observed {
            Ok(evidence) => evidence.outcome(),
            Err(error) => {
                failures.push(format!("{name}: {error:#}"));
                continue;
            }
        };
        let recorded = &hazard.outcome[subject];
        if recorded.allows(outcome) {
            println!("ok: {name}: {outcome} ({evidence})");
        } else {
            failures.push(format!(
                "{name}: {outcome} ({evidence}), but recorded is: {}",
                recorded.describe()
            ));
        }
        rows.push(Row {
            hazard: hazard.id.clone(),
            class: format!("CWE-{}", hazard.cwe),
            at_fault: hazard.at_fault,
            subject: *subject,
            outcome,
            evidence,
            seconds: (seconds * 1000.0).round() / 1000.0,
        });
        if let (Some(folder), Some(row)) = (&mut folder, rows.last()) {
            folder.write(row)?;
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
        wanted.len() - failures.len(),
        failures.len()
    );
    Ok(if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Builds what will be run. What cannot be built is told when it is wanted.
fn build_all(wanted: &[(&Hazard, Subject)], jobs: u8, externs: &builds::Externs) {
    let programs: BTreeSet<_> = wanted
        .iter()
        .filter(|(hazard, subject)| {
            *subject != Subject::Rust || compile::case(&hazard.id).is_none()
        })
        .map(|(hazard, subject)| (patch_of(hazard), *subject))
        .collect();
    let programs: Vec<_> = programs.into_iter().collect();
    in_parallel(&programs, jobs, |(patch, subject)| {
        builds::build(*subject, *patch, externs).is_ok()
    });
}

/// The patch that a hazard's programs are built with, if any.
fn patch_of(hazard: &Hazard) -> Option<&str> {
    let patched = scenario::scenario(&hazard.id).is_ok_and(|scenario| scenario.patched);
    patched.then_some(hazard.id.as_str())
}

/// Does something with each, `jobs` at a time; the results in order.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: u8, act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(place) else { return };
                let result = act(item);
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                results.push((place, result));
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

/// What is seen of a hazard with a driver, in a process of its own.
fn observe(hazard: &Hazard, subject: Subject, externs: &builds::Externs) -> Result<Evidence> {
    if subject == Subject::Rust {
        if let Some(case) = compile::case(&hazard.id) {
            return compile::run(&case, externs);
        }
    }
    builds::build(subject, patch_of(hazard), externs)?;
    let output = tempfile::tempfile()?;
    let errors = tempfile::tempfile()?;
    let mut child = Command::new(std::env::current_exe()?)
        .current_dir(root())
        .args(["case", &hazard.id, &subject.to_string()])
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
            bail!("the lab itself took longer than {LIMIT:?}");
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
