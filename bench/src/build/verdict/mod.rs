//! `triptych verdict`: judges the drivers of the tree as it is, or with a patch.
//!
//! [`tree`] copies the tree and applies the patch. [`build`] builds the drivers of the copy, then the
//! conformance tests and the safety lab. [`cases`] and [`hazards`] run them, each case in a process of
//! its own with a time limit. [`report`] shows what differs from the record: every test passes, and
//! every hazard has the outcome in hazards.toml.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;
use rustix::fs::{flock, FlockOperation};

use crate::progress::{rounded, Progress};
use crate::usage::Outcome;
use arguments::VerdictArguments;
use build::{Driver, Folders};
use report::{build_row, Verdict};
use tree::Tree;

pub mod arguments;
mod build;
mod cases;
mod child;
mod hazards;
mod message;
mod report;
mod tree;

/// The estimated time of a build, and of all cases, on two processors.
const BUILDS: Duration = Duration::from_secs(60);
const LOCKSTEP: Duration = Duration::from_secs(40);
const PROGRAM: Duration = Duration::from_secs(150);
const HAZARDS_QUICK: Duration = Duration::from_secs(40);
const HAZARDS: Duration = Duration::from_secs(300);

/// Judges the drivers and prints the verdict. Returns whether any case differs from the record.
///
/// # Errors
/// If the tree cannot be copied, patched or tested, or the user asks to stop.
pub fn run(arguments: &VerdictArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let folders = Folders::make(&arguments.build_dir)?;
    let _lock = lock(&folders)?;
    let tree = Tree::copy(Path::new("."), &folders.build.join("tree"))?;
    let mut verdict = Verdict {
        quick: arguments.quick,
        ..Verdict::default()
    };
    if let Some(patch) = &arguments.patch {
        verdict.patched = tree.apply(patch)?;
    }
    let mut progress = Progress::new(estimate(arguments.quick));
    progress.say(&format!(
        "This takes about {} on two processors, and some minutes more the first time.",
        rounded(estimate(arguments.quick))
    ));
    let drivers = build_drivers(
        arguments,
        &tree,
        &folders,
        &mut verdict,
        &mut progress,
        interrupt,
    )?;
    if !drivers.is_empty() {
        judge(&drivers, &tree, &folders, &mut verdict, progress, interrupt)?;
    }
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&verdict)?),
        false => print!("{}", verdict.text()),
    }
    Ok(match verdict.changed() {
        true => Outcome::Worse,
        false => Outcome::Good,
    })
}

fn estimate(quick: bool) -> Duration {
    match quick {
        true => BUILDS + LOCKSTEP + HAZARDS_QUICK,
        false => BUILDS + LOCKSTEP + PROGRAM + HAZARDS,
    }
}

/// Only one verdict at a time may use the folder.
fn lock(folders: &Folders) -> Result<File> {
    let path = folders.build.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => bail!(
            "another verdict uses {}: wait for its end, or choose another --build-dir",
            folders.build.display()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

/// Builds the chosen drivers. Returns those that can be run.
fn build_drivers(
    arguments: &VerdictArguments,
    tree: &Tree,
    folders: &Folders,
    verdict: &mut Verdict,
    progress: &mut Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Implementation>> {
    progress.begin("build", 5, BUILDS);
    progress.step("transpile");
    let transpiled = build::transpile(tree, folders, interrupt)?;
    let mut ready = Vec::new();
    for driver in Implementation::OURS {
        build::remove_driver(driver, folders)?;
        if !arguments.drivers.is_empty() && !arguments.drivers.contains(&driver) {
            continue;
        }
        progress.step(&driver.to_string());
        let built = match &transpiled {
            Driver::Refused(_) | Driver::Skipped(_) if driver == Implementation::RustUnsafe => {
                transpiled.clone()
            }
            _ => build::driver(driver, tree, folders, interrupt)?,
        };
        match built {
            Driver::Built => {
                verdict.rows.push(build_row(driver.to_string(), None));
                ready.push(driver);
            }
            Driver::Refused(error) => {
                verdict
                    .rows
                    .push(build_row(driver.to_string(), Some(&error)));
                verdict
                    .not_run
                    .push(format!("all other cases of {driver}: it does not compile"));
                tree.restore(driver)?;
            }
            Driver::Skipped(reason) => verdict.not_run.push(format!("{driver}: {reason}")),
        }
    }
    if transpiled != Driver::Built {
        // The tests are linked with the transpiled driver, also those of the other drivers.
        tree.restore(Implementation::RustUnsafe)?;
    }
    Ok(ready)
}

/// Builds the tests and the lab, runs them, and adds their rows to the verdict.
fn judge(
    drivers: &[Implementation],
    tree: &Tree,
    folders: &Folders,
    verdict: &mut Verdict,
    mut progress: Progress,
    interrupt: &Interrupt,
) -> Result<()> {
    let quick = verdict.quick;
    progress.step("tests");
    let files: Vec<&str> = match quick {
        true => cases::LOCKSTEP.to_vec(),
        false => [&cases::LOCKSTEP[..], &cases::PROGRAM].concat(),
    };
    let programs = build::tests(&files, tree, folders, interrupt)?;
    let lab = build::safety_lab(tree, folders, interrupt)?;
    run_tests(
        drivers,
        &programs,
        folders,
        verdict,
        &mut progress,
        interrupt,
    )?;
    let time = if quick { HAZARDS_QUICK } else { HAZARDS };
    progress.begin("hazards", 1, time);
    progress.step("the safety lab");
    let outcomes = hazards::run(&lab, drivers, quick, folders, interrupt)?;
    verdict.rows.extend(outcomes.rows);
    verdict.not_run.extend(outcomes.not_run);
    progress.finish();
    Ok(())
}

/// Runs the conformance tests and adds their rows to the verdict.
fn run_tests(
    drivers: &[Implementation],
    programs: &BTreeMap<String, PathBuf>,
    folders: &Folders,
    verdict: &mut Verdict,
    progress: &mut Progress,
    interrupt: &Interrupt,
) -> Result<()> {
    let parts = [
        ("lockstep", &cases::LOCKSTEP[..], 2, LOCKSTEP),
        ("program", &cases::PROGRAM, 1, PROGRAM),
    ];
    for (title, files, jobs, time) in parts {
        let mut chosen = Vec::new();
        for file in files.iter().filter(|file| programs.contains_key(**file)) {
            let listed = cases::list(file, &programs[*file])?;
            chosen.extend(cases::of_drivers(listed, drivers));
        }
        progress.begin(title, chosen.len() as u64, time);
        let shown = Mutex::new(&mut *progress);
        let step = |name: &str| {
            if let Ok(mut progress) = shown.lock() {
                progress.step(name);
            }
        };
        let rows = cases::run(&chosen, programs, folders, jobs, interrupt, step)?;
        verdict.rows.extend(rows);
    }
    Ok(())
}
