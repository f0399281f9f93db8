//! `safety`: provokes the same hazards in each driver, observes what happens, and compares with the record.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::SystemTime;

use anyhow::{ensure, Result};
use clap::{Args, Parser, Subcommand};
use libtest_mimic::{Arguments, Failed, Trial};

use safety_lab::catalogue::{self, Hazard};
use safety_lab::outcome::{AtFault, DriverBuild};
use safety_lab::results::{self, Case};
use safety_lab::{builds, false_sharing};

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
    Run(Choice),
    /// List the hazards and their recorded outcomes
    List,
    /// Measure what it costs that two threads write to one cache line
    FalseSharing {
        /// Measure each distance this many times
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        rounds: u16,
    },
}

#[derive(Debug, Args)]
struct Choice {
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
}

fn main() -> ExitCode {
    let result = match Options::parse().command {
        LabCommand::Run(choice) => run(&choice),
        LabCommand::List => list(),
        LabCommand::FalseSharing { rounds } => false_sharing::measure(rounds.into())
            .map(|measured| print!("{}", false_sharing::table(&measured))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("safety: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn list() -> Result<()> {
    let mut out = std::io::stdout().lock();
    for hazard in catalogue::read()? {
        let Hazard {
            id,
            title,
            cwe,
            at_fault,
            ..
        } = &hazard;
        writeln!(out, "{id} (CWE-{cwe}, {at_fault}): {title}")?;
        for (driver, recorded) in &hazard.outcome {
            writeln!(out, "    {driver}: {recorded}")?;
        }
    }
    Ok(())
}

fn run(choice: &Choice) -> Result<()> {
    let mut hazards = catalogue::read()?;
    for id in &choice.hazard {
        ensure!(
            hazards.iter().any(|hazard| hazard.id == *id),
            "there is no hazard {id}; `safety list` lists them"
        );
    }
    hazards.retain(|hazard| {
        (choice.hazard.is_empty() || choice.hazard.contains(&hazard.id))
            && (choice.at_fault.is_empty() || choice.at_fault.contains(&hazard.at_fault))
    });
    let start = SystemTime::now();
    let results = choice.results.as_ref();
    let folder = results.map(|results| record::create_folder(results, start));
    let folder = folder.transpose()?;
    // The trials keep them until the process ends.
    let hazards: &'static [Hazard] = hazards.leak();
    let cases = try_all(choice, hazards)?;
    for case in &cases {
        if choice.json {
            println!("{}", case.json());
        } else if case.agrees() {
            println!("ok: {}", case.line());
        }
    }
    if let (Some(results), Some((id, path))) = (results, folder) {
        results::record(results, &id, start, hazards, &cases)?;
        println!("{}", results::markdown(hazards, &cases));
        println!("recorded in {}", path.display());
    }
    let other = cases.iter().filter(|case| !case.agrees()).count();
    ensure!(other == 0, "{other} outcomes differ from the recorded ones");
    Ok(())
}

/// Runs each hazard with each of the chosen drivers as a test named `HAZARD::DRIVER`.
fn try_all(choice: &Choice, hazards: &'static [Hazard]) -> Result<Vec<Case<'static>>> {
    let externs = &*Box::leak(Box::new(builds::externs(&["ixgbe"])?));
    let (sender, receiver) = mpsc::channel();
    let trials = hazards
        .iter()
        .flat_map(|hazard| hazard.outcome.keys().map(move |driver| (hazard, *driver)))
        .filter(|(_, driver)| choice.driver.is_empty() || choice.driver.contains(driver))
        .enumerate()
        .map(|(nth, (hazard, driver))| {
            let sender = sender.clone();
            Trial::test(format!("{}::{driver}", hazard.id), move || {
                let case = Case::observe(hazard, driver, externs);
                let differs = (!case.agrees()).then(|| case.line());
                sender.send((nth, case))?;
                differs.map_or(Ok(()), |line| Err(Failed::from(line)))
            })
        })
        .collect();
    let arguments = Arguments {
        test_threads: Some(choice.jobs.into()),
        logfile: choice.json.then(|| "/dev/null".to_owned()),
        ..Arguments::default()
    };
    let tried = libtest_mimic::run(&arguments, trials);
    drop(sender);
    let mut cases: Vec<_> = receiver.iter().collect();
    ensure!(
        cases.len() as u64 == tried.num_passed + tried.num_failed,
        "the lab panicked in a trial"
    );
    cases.sort_by_key(|(nth, _)| *nth);
    Ok(cases.into_iter().map(|(_, case)| case).collect())
}
