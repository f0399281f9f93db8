//! `triptych verdict`: judges the drivers of the tree as it is, or with a patch. [`program`] judges any other program.
//!
//! [`Checkout`] copies the tree and applies the patch. [`site`] builds the drivers of the copy, then the conformance
//! tests and the safety lab. [`cases`] and [`hazards`] run them, each case in a process of its own with a time limit.
//! [`report`] shows what differs from the record: every test passes, and every hazard has the outcome in hazards.toml.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use perfcounters::Interrupt;
use record::Implementation;

use crate::build::checkout::Checkout;
use crate::build::stamp::{empty, lock};
use crate::progress::{rounded, Progress};
use crate::usage::{our_driver, BuildDir, Outcome};
use report::{Row, Verdict, BUILD};
use site::{Driver, Site};

mod cases;
mod hazards;
mod message;
mod program;
mod report;
mod site;

/// The estimated time of a build, and of all cases, on two processors.
const BUILDS: Duration = Duration::from_secs(60);
const LOCKSTEP: Duration = Duration::from_secs(40);
const PROGRAM: Duration = Duration::from_secs(150);
const HAZARDS_QUICK: Duration = Duration::from_secs(40);
const HAZARDS: Duration = Duration::from_secs(300);

/// Arguments of `triptych verdict`.
#[derive(Debug, Args)]
pub struct VerdictArguments {
    /// Judge a copy of the tree with this patch, as `git diff` writes it
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
    /// Judge only this driver; may be given several times [default: all]
    #[arg(long = "driver", value_name = "NAME", value_parser = our_driver())]
    pub drivers: Vec<Implementation>,
    #[command(flatten)]
    pub subject: program::ProgramArguments,
    /// Run only the data path, the register traces and a few hazards: two minutes, or half a minute with --program
    #[arg(long)]
    pub quick: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub build_dir: BuildDir,
}

/// Judges the drivers and prints the verdict: whether any case differs from the record.
pub fn run(arguments: &VerdictArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if arguments.subject.program.is_some() {
        let (subject, folder) = (&arguments.subject, &arguments.build_dir);
        let rows = subject.run(arguments.quick, folder, interrupt)?;
        return program::show(&rows, arguments.json);
    }
    let build = Site::folder(&arguments.build_dir, interrupt)?;
    let _lock = lock(&build)?;
    let tree = Checkout::of_tree(Path::new("."), &build.join("tree"), interrupt)?;
    let site = Site {
        build,
        tree,
        interrupt,
    };
    let mut verdict = Verdict {
        quick: arguments.quick,
        ..Verdict::default()
    };
    if let Some(patch) = &arguments.patch {
        verdict.patched = site.tree.apply(patch)?;
    }
    let rest = if arguments.quick {
        HAZARDS_QUICK
    } else {
        PROGRAM + HAZARDS
    };
    let estimate = BUILDS + LOCKSTEP + rest;
    let mut progress = Progress::new(estimate);
    progress.say(&format!(
        "This takes about {} on two processors, and some minutes more the first time.",
        rounded(estimate)
    ));
    let drivers = build_drivers(&arguments.drivers, &site, &mut verdict, &mut progress)?;
    if !drivers.is_empty() {
        judge(&drivers, &site, &mut verdict, progress)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&verdict)?)
    } else {
        print!("{}", verdict.text())
    }
    let worse = verdict.changed().then_some(Outcome::Worse);
    Ok(worse.unwrap_or(Outcome::Good))
}

fn build_drivers(
    chosen: &[Implementation],
    site: &Site<'_>,
    verdict: &mut Verdict,
    progress: &mut Progress,
) -> Result<Vec<Implementation>> {
    progress.begin("build", 5, BUILDS);
    progress.step("transpile");
    let transpiled = site.transpile()?;
    let mut ready = Vec::new();
    for driver in Implementation::OURS {
        // An earlier verdict may have built it.
        empty(&site.build.join(format!("bin/{driver}")))?;
        if !chosen.is_empty() && !chosen.contains(&driver) {
            continue;
        }
        progress.step(&driver.to_string());
        let is_transpiled = driver == Implementation::RustUnsafe;
        let built = if is_transpiled && transpiled != Driver::Built {
            transpiled.clone()
        } else {
            site.driver(driver)?
        };
        let mut row = |seen: &str| {
            let row = Row::new(BUILD, driver.into(), "compiles", seen);
            verdict.rows.push(row);
        };
        match built {
            Driver::Built => {
                row("compiles");
                ready.push(driver);
            }
            Driver::Refused(error) => {
                row(&format!("does not compile: {error}"));
                let not_run = format!("all other cases of {driver}: it does not compile");
                verdict.not_run.push(not_run);
                // The tests are linked with all drivers.
                site.tree.restore(&format!("{driver}/src"))?;
            }
            Driver::Skipped(reason) => verdict.not_run.push(format!("{driver}: {reason}")),
        }
    }
    if transpiled != Driver::Built {
        // The tests of the other drivers are linked with the transpiled driver, too.
        site.tree.restore("rust-unsafe/src")?;
    }
    Ok(ready)
}

fn judge(
    drivers: &[Implementation],
    site: &Site<'_>,
    verdict: &mut Verdict,
    mut progress: Progress,
) -> Result<()> {
    progress.step("tests");
    let parts = [
        ("lockstep", &cases::LOCKSTEP[..], 2, LOCKSTEP),
        ("program", &cases::PROGRAM, 1, PROGRAM),
    ];
    let (parts, time) = if verdict.quick {
        (&parts[..1], HAZARDS_QUICK)
    } else {
        (&parts[..], HAZARDS)
    };
    let files: Vec<_> = parts.iter().flat_map(|part| part.1).copied().collect();
    let programs = site.tests(&files)?;
    let lab = site.safety_lab()?;
    for (title, files, jobs, time) in parts {
        let mut chosen = Vec::new();
        for file in *files {
            chosen.extend(cases::list(file, &programs[*file], drivers)?);
        }
        progress.begin(title, chosen.len() as u64, *time);
        let rows = cases::run(&chosen, site, *jobs, &mut progress)?;
        verdict.rows.extend(rows);
    }
    progress.begin("hazards", 1, time);
    progress.step("the safety lab");
    hazards::run(&lab, drivers, site, verdict)?;
    progress.finish();
    Ok(())
}
