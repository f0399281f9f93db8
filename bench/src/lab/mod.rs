//! `triptych lab`: records what a driver and its card do, step by step, and makes the page that plays the recordings.
//!
//! [`recorder`] follows a driver in the testbed of the safety lab. [`tour`] and [`hazard`] say what happens there.
//! [`format`] is what the page reads.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use perfcounters::Interrupt;
use safety_lab::builds::externs;
use safety_lab::catalogue;
use safety_lab::outcome::DriverBuild;

use crate::usage::{Outcome, UsageError};
use recording::{ordinary, write, BATCH, DRIVERS, PACKAGES};

mod card;
mod driver;
mod format;
mod hazard;
mod model;
mod page;
mod recorder;
mod recording;
mod source;
mod stack;
mod tour;

/// Arguments of `triptych lab`.
#[derive(Debug, Args)]
pub struct LabArguments {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Record a driver on the software card, step by step, for the page of the lab
    Record(RecordArguments),
    /// Write the page with the recordings of the tour and of all hazards
    Page(page::PageArguments),
}

#[derive(Debug, Args)]
struct RecordArguments {
    /// The driver: c, c-hardened (with sanitizers), rust, rust-unsafe
    #[arg(long, value_name = "NAME", default_value = "c", value_parser = recorded_driver)]
    driver: DriverBuild,
    /// Record the driver with this patch, as `git diff` writes it
    #[arg(long, value_name = "FILE", conflicts_with = "hazard")]
    patch: Option<PathBuf>,
    /// Record this hazard of drivers/conformance/hazards.toml
    #[arg(long, value_name = "ID")]
    hazard: Option<String>,
    /// Frames that arrive at once
    #[arg(long, value_name = "N", default_value_t = BATCH, conflicts_with = "hazard",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(BATCH)))]
    batch: u32,
    /// The file: JSON, or a script for the folder of the page if its name ends in .js
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

fn recorded_driver(name: &str) -> Result<DriverBuild, String> {
    let known = DRIVERS
        .into_iter()
        .find(|driver| driver.to_string() == name);
    known.ok_or_else(|| "choose one of: c, c-hardened, rust, rust-unsafe".to_owned())
}

/// Runs the command.
pub fn run(arguments: &LabArguments, interrupt: &Interrupt) -> Result<Outcome> {
    match &arguments.command {
        LabCommand::Record(arguments) => record(arguments, interrupt)?,
        LabCommand::Page(arguments) => page::run(arguments, interrupt)?,
    }
    Ok(Outcome::Good)
}

fn record(arguments: &RecordArguments, interrupt: &Interrupt) -> Result<()> {
    let (driver, output) = (arguments.driver, &arguments.output);
    let parent = output
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        let text = format!(
            "the folder {} does not exist; create it first",
            parent.display()
        );
        return Err(UsageError(text).into());
    }
    let hazards = catalogue::read()?;
    let externs = || externs(PACKAGES);
    let recording = match &arguments.hazard {
        Some(id) => hazard::record(hazard::find(&hazards, id)?, driver, &externs()?, interrupt)?,
        None => {
            let patch = arguments.patch.as_deref();
            patch.map_or(Ok(()), |patch| check_patch(patch, driver))?;
            let batch = arguments.batch;
            let mut recording = ordinary(driver, patch, batch, &externs()?, interrupt)?;
            let name = output.file_stem().unwrap_or_default();
            recording.id = name.to_string_lossy().into_owned();
            recording
        }
    };
    write(&recording, output)?;
    println!(
        "{}: {} steps. Open it in the page of the lab: make lab",
        output.display(),
        recording.steps.len()
    );
    Ok(())
}

/// A patch must change the driver that is recorded.
fn check_patch(patch: &Path, driver: DriverBuild) -> Result<()> {
    let refused = |text: String| UsageError(format!("{}: {text}", patch.display()));
    let text = fs::read_to_string(patch).map_err(|error| refused(error.to_string()))?;
    let folder = format!("{}/src/", driver.driver());
    let changes = text
        .lines()
        .any(|line| line.starts_with("+++ b/") && line[6..].starts_with(&folder));
    if !changes {
        return Err(refused(format!(
            "it changes nothing in {folder}; choose another --driver"
        ))
        .into());
    }
    Ok(())
}
