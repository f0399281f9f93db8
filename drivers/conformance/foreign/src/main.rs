//! `foreign`: runs the cases, and prints a line for each and a table.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use clap::Parser;
use foreign::cases::CASES;
use foreign::outcome::Outcome;
use foreign::subject;
use foreign::table::{self, Table};
use nic::Expected;
use serde_json::json;

/// Runs the conformance cases that need only forwarding, for programs that know nothing of this
/// project.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Run this program instead of the peers: words between blanks, in which {port0} and {port1}
    /// stand for PCI addresses, or {socket0} and {socket1} for the card's vfio-user sockets
    #[arg(long, value_name = "WORDS")]
    program: Option<String>,
    /// What the program does to a frame: touch, touch@N, mac or none
    #[arg(
        long,
        value_name = "CHANGE",
        default_value = "touch",
        requires = "program"
    )]
    expect: Expected,
    /// The file that `make peers` has written
    #[arg(long, value_name = "FILE", default_value = "build/peers/peers.json")]
    peers: PathBuf,
    /// The folder of this project's programs: triptych, and the drivers to compare with
    #[arg(long, value_name = "FOLDER", default_value = "build/bin")]
    bin: PathBuf,
    /// Run only this peer or driver; may be repeated
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Run only this case; may be repeated
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Write the table into this page
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["only", "cases", "program"])]
    page: Option<PathBuf>,
    /// Print a line of JSON for each case, and no table
    #[arg(long, conflicts_with = "page")]
    json: bool,
    /// Print the cases, and run nothing
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("foreign: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let wanted = |name: &str, names: &[String]| names.is_empty() || names.iter().any(|n| n == name);
    let mut cases = CASES.to_vec();
    cases.retain(|case| wanted(case.name, &options.cases));
    ensure!(
        !cases.is_empty(),
        "no case is named {}; --list prints all",
        options.cases.join(", ")
    );
    if options.list {
        print!("{}", table::list(&cases));
        return Ok(());
    }
    // Programs run in a folder of their own, where relative paths lead elsewhere.
    let bin = std::path::absolute(&options.bin)?;
    let (mut subjects, skipped) = match &options.program {
        Some(words) => (vec![subject::of_words(words, options.expect)?], Vec::new()),
        None => {
            let (mut peers, skipped) = subject::peers(&options.peers)?;
            let mut subjects = subject::own(&bin);
            subjects.append(&mut peers);
            (subjects, skipped)
        }
    };
    subjects.retain(|subject| wanted(&subject.name, &options.only));
    ensure!(
        !subjects.is_empty(),
        "no program is named {}",
        options.only.join(", ")
    );
    let triptych = bin.join("triptych");
    let mut outcomes = Vec::new();
    for case in &cases {
        let mut row = Vec::new();
        for subject in &subjects {
            let (outcome, [received, sent, lost, wrong]) = case.run(&triptych, subject)?;
            let pass = outcome == Outcome::Pass;
            if options.json {
                let line = json!({
                    "case": case.name, "asks": case.asks, "hazard": case.hazard(), "driver": subject.name,
                    "expected": "pass", "seen": outcome.to_string(), "changed": !pass,
                    "counted": {"received": received, "sent": sent, "lost": lost, "wrong": wrong},
                    "recorded": table::recorded(case.name),
                });
                println!("{line}");
            } else {
                let mark = if pass { ' ' } else { '!' };
                println!("{mark} {:<20} {:<14} {outcome}", case.name, subject.name);
            }
            row.push(outcome);
        }
        outcomes.push(row);
    }
    let table = Table {
        cases: &cases,
        subjects: &subjects,
        skipped: &skipped,
        outcomes: &outcomes,
    };
    match &options.page {
        Some(page) => table.write_into(page),
        None if options.json => Ok(()),
        None => {
            println!("\n{}", table.markdown());
            Ok(())
        }
    }
}
