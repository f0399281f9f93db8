//! The folder of the page: what `paper/lab` has, and the recordings.

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use clap::Args;
use perfcounters::Interrupt;
use safety_lab::builds::{externs, root};
use safety_lab::catalogue::{self, Hazard};
use safety_lab::outcome::DriverBuild;
use serde_json::{json, Value};

use super::format::Recording;
use super::hazard;
use super::recording::{ordinary, write, BATCH, DRIVERS, PACKAGES};
use crate::progress::Progress;

/// The page's files. Its tests stay where they are.
const PAGE: &str = "paper/lab";
const FILES: [&str; 3] = ["html", "css", "js"];
/// Recordings at once. Each waits more than it works.
const JOBS: usize = 3;
/// The estimated time of all recordings, on two processors.
const ESTIMATE: Duration = Duration::from_secs(160);

#[derive(Debug, Args)]
pub struct PageArguments {
    /// The folder for the page
    #[arg(short, long, value_name = "DIR", default_value = "build/lab")]
    output: PathBuf,
    /// Record only this hazard beside the tour, or none; may be given several times [default: all]
    #[arg(long, value_name = "ID|none")]
    hazard: Vec<String>,
}

pub fn run(arguments: &PageArguments, interrupt: &Interrupt) -> Result<()> {
    let mut hazards = catalogue::read()?;
    for id in arguments.hazard.iter().filter(|id| *id != "none") {
        hazard::find(&hazards, id)?;
    }
    hazards.retain(|hazard| arguments.hazard.is_empty() || arguments.hazard.contains(&hazard.id));
    let recordings = arguments.output.join("recordings");
    fs::create_dir_all(&recordings).with_context(|| recordings.display().to_string())?;
    copy_page(&arguments.output)?;
    let externs = externs(PACKAGES)?;
    let tours = DRIVERS
        .into_iter()
        .filter(|driver| *driver != DriverBuild::CHardened);
    let tours = tours.map(|driver| (None, driver));
    let of_hazard = |hazard| {
        DRIVERS
            .into_iter()
            .map(move |driver| (Some(hazard), driver))
    };
    let work: Vec<_> = tours.chain(hazards.iter().flat_map(of_hazard)).collect();
    let mut progress = Progress::new(ESTIMATE);
    progress.begin("record", work.len() as u64, ESTIMATE);
    let shown = Mutex::new(progress);
    // A recorder follows its driver from one thread.
    let share = |first: usize| -> Result<Vec<(usize, Value)>> {
        let mine = work.iter().enumerate().skip(first).step_by(JOBS);
        let keep = mine.map(|(nth, (hazard, driver))| {
            ensure!(!interrupt.is_set(), "interrupted");
            let name = hazard.map_or("tour", |hazard: &Hazard| &hazard.id);
            let mut progress = shown.lock().unwrap_or_else(PoisonError::into_inner);
            progress.step(&format!("{name}, {driver}"));
            drop(progress);
            let recording = match hazard {
                None => ordinary(*driver, None, BATCH, &externs, interrupt)?,
                Some(hazard) => hazard::record(hazard, *driver, &externs, interrupt)?,
            };
            write(&recording, &recordings.join(format!("{}.js", recording.id)))?;
            Ok((nth, entry(&recording)))
        });
        keep.collect()
    };
    let done: Result<Vec<_>> = thread::scope(|scope| {
        let share = &share;
        let jobs: Vec<_> = (0..JOBS)
            .map(|first| scope.spawn(move || share(first)))
            .collect();
        let ended = jobs
            .into_iter()
            .map(|job| job.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.collect()
    });
    let mut index: Vec<_> = done?.into_iter().flatten().collect();
    index.sort_by_key(|(nth, _)| *nth);
    let index: Vec<_> = index.into_iter().map(|(_, entry)| entry).collect();
    let mut progress = shown.into_inner().unwrap_or_else(PoisonError::into_inner);
    progress.finish();
    for entry in index.iter().filter(|entry| entry["agrees"] == false) {
        eprintln!(
            "lab: {}: another outcome than hazards.toml has",
            entry["id"]
        );
    }
    let list = serde_json::to_string(&index)?;
    fs::write(recordings.join("index.js"), format!("labIndex({list});\n"))?;
    println!("{}", arguments.output.join("index.html").display());
    Ok(())
}

/// The line of the index.
fn entry(recording: &Recording) -> Value {
    let evidence = recording.evidence.as_ref();
    json!({
        "id": recording.id,
        "title": recording.title,
        "kind": recording.kind,
        "driver": recording.driver,
        "hazard": recording.hazard,
        "patch": recording.patch,
        "agrees": evidence.map(|evidence| evidence.agrees),
        "outcome": evidence.map(|evidence| &evidence.outcome),
        "hazard_title": evidence.map(|evidence| &evidence.title),
    })
}

fn copy_page(to: &Path) -> Result<()> {
    let from = root().join(PAGE);
    for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
        let path = entry?.path();
        let end = path.extension().unwrap_or_default();
        if let (true, Some(name)) = (FILES.iter().any(|known| end == *known), path.file_name()) {
            fs::copy(&path, to.join(name)).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
