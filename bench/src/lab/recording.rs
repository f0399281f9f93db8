//! A whole recording: of ordinary traffic, and what all have in common.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use safety_lab::builds::{build_with, toolchain, Externs};
use safety_lab::canaries::BUFFER;
use safety_lab::outcome::DriverBuild;

use super::format::{Recording, FORMAT, VERSION};
use super::model::RING_SIZE;
use super::tour;

/// Packets of a batch in the programs of the safety lab.
pub const BATCH: u32 = 32;
/// The packages whose libraries the programs of the lab need.
pub const PACKAGES: &[&str] = &["ixgbe"];
/// The builds that have recordings.
pub const DRIVERS: [DriverBuild; 4] = [
    DriverBuild::C,
    DriverBuild::CHardened,
    DriverBuild::Rust,
    DriverBuild::RustUnsafe,
];

/// A driver in words.
pub fn words(driver: DriverBuild) -> &'static str {
    match driver {
        DriverBuild::C => "C",
        DriverBuild::CHardened => "C with sanitizers",
        DriverBuild::RustUnsafe => "unsafe Rust",
        _ => "safe Rust",
    }
}

/// What all recordings have in common.
pub fn empty(driver: DriverBuild) -> Result<Recording> {
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
pub fn ordinary(
    driver: DriverBuild,
    patch: Option<&Path>,
    batch: u32,
    externs: &Externs,
    interrupt: &Interrupt,
) -> Result<Recording> {
    let name = if patch.is_some() {
        "recorded"
    } else {
        "unpatched"
    };
    let absolute = patch.map(Path::canonicalize).transpose()?;
    let program = build_with(driver, name, absolute, externs)?;
    let (steps, recorder) = tour::record(&program, batch, interrupt)?;
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

pub fn write(recording: &Recording, path: &Path) -> Result<()> {
    let json = serde_json::to_string(recording)?;
    let script = path.extension().is_some_and(|end| end == "js");
    let text = if script {
        format!("labRecording({json});\n")
    } else {
        json + "\n"
    };
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
