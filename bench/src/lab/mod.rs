//! `triptych lab`: records what a driver and its card do, step by step, and makes the page that plays the recordings.
//!
//! [`recorder`] follows a driver in the testbed of the safety lab. [`tour`] and [`hazard`] say what happens there.
//! [`format`] is what the page reads.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use perfcounters::Interrupt;
use safety_lab::builds::{build_with, externs, toolchain, Externs};
use safety_lab::catalogue::{self, Hazard};
use safety_lab::outcome::DriverBuild;

use crate::usage::{Outcome, UsageError};
use format::{Recording, FORMAT, VERSION};
use model::BUFFER;

mod card;
mod driver;
mod format;
mod hazard;
mod model;
mod page;
mod recorder;
mod source;
mod stack;
mod tour;

/// Descriptors of a ring in the programs of the safety lab.
const RING_SIZE: usize = 64;
/// Packets of a batch in those programs.
const BATCH: u32 = 32;

/// The packages whose libraries the programs of the lab need.
const PACKAGES: &[&str] = &["ixgbe"];

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

/// The builds that have recordings.
const DRIVERS: [DriverBuild; 4] = [
    DriverBuild::C,
    DriverBuild::CHardened,
    DriverBuild::Rust,
    DriverBuild::RustUnsafe,
];

fn recorded_driver(name: &str) -> Result<DriverBuild, String> {
    let known = DRIVERS
        .into_iter()
        .find(|driver| driver.to_string() == name);
    known.ok_or_else(|| "choose one of: c, c-hardened, rust, rust-unsafe".to_owned())
}

/// Runs the command.
pub fn run(arguments: &LabArguments, interrupt: &Interrupt) -> Result<Outcome> {
    match &arguments.command {
        LabCommand::Record(arguments) => record(arguments)?,
        LabCommand::Page(arguments) => page::run(arguments, interrupt)?,
    }
    Ok(Outcome::Good)
}

fn record(arguments: &RecordArguments) -> Result<()> {
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
    let recording = match &arguments.hazard {
        Some(id) => hazard::record(find(&hazards, id)?, driver, &externs(PACKAGES)?)?,
        None => {
            let patch = arguments.patch.as_deref();
            patch.map_or(Ok(()), |patch| check_patch(patch, driver))?;
            let mut recording = ordinary(driver, patch, arguments.batch, &externs(PACKAGES)?)?;
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

fn find<'h>(hazards: &'h [Hazard], id: &str) -> Result<&'h Hazard, UsageError> {
    let found = hazards.iter().find(|hazard| hazard.id == id);
    found.ok_or_else(|| {
        let ids: Vec<_> = hazards.iter().map(|hazard| hazard.id.as_str()).collect();
        UsageError(format!(
            "there is no hazard {id}; choose one of: {}",
            ids.join(", ")
        ))
    })
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

/// A driver in words.
fn words(driver: DriverBuild) -> &'static str {
    match driver {
        DriverBuild::C => "C",
        DriverBuild::CHardened => "C with sanitizers",
        DriverBuild::RustUnsafe => "unsafe Rust",
        _ => "safe Rust",
    }
}

/// What all recordings have in common.
fn empty(driver: DriverBuild) -> Result<Recording> {
    Ok(Recording {
        format: FORMAT,
        version: VERSION,
        driver: driver.to_string(),
        build: toolchain(driver)?,
        ring_size: RING_SIZE,
        batch: BATCH,
        buffer_bytes: BUFFER,
        ..Recording::default()
    })
}

/// Records ordinary traffic: the tour, or a driver of one's own.
fn ordinary(
    driver: DriverBuild,
    patch: Option<&Path>,
    batch: u32,
    externs: &Externs,
) -> Result<Recording> {
    let name = if patch.is_some() {
        "recorded"
    } else {
        "unpatched"
    };
    let absolute = patch.map(Path::canonicalize).transpose()?;
    let program = build_with(driver, name, absolute, externs)?;
    let (steps, recorder) = tour::record(&program, batch)?;
    let file = patch.and_then(Path::file_name);
    let file = file.map(|file| file.to_string_lossy().into_owned());
    let title = match &file {
        Some(file) => format!("The driver in {} with {file}", words(driver)),
        None => format!("A packet's way through the driver in {}", words(driver)),
    };
    let seen = recorder.seen();
    Ok(Recording {
        id: format!("tour-{driver}"),
        title,
        kind: if patch.is_some() { "own" } else { "tour" },
        patch: file,
        batch,
        code: seen.code(),
        points: seen.points.clone(),
        steps,
        ..empty(driver)?
    })
}

fn write(recording: &Recording, path: &Path) -> Result<()> {
    let json = serde_json::to_string(recording)?;
    let script = path.extension().is_some_and(|end| end == "js");
    let text = if script {
        format!("labRecording({json});\n")
    } else {
        json + "\n"
    };
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
