//! The ring diagrams of the guided tour. Each comes from a run: a driver on the software card.
//!
//! `drivers/tour/rings.txt` shows the states of all rings in a terminal, and `step-N.svg` is the picture
//! of a step. `make tour` writes them all.

mod record;
mod ring;
mod svg;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use conformance::Implementation;

use crate::record::record;
use crate::ring::Moment;

/// If this variable is 1, the test first writes the files.
const UPDATE: &str = "TRIPTYCH_UPDATE";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tour")
}

/// The files that follow from the moments, by name.
fn files(moments: &[Moment]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    files.insert("rings.txt".to_owned(), text::draw(moments));
    let mut steps: BTreeMap<usize, Vec<&Moment>> = BTreeMap::new();
    for moment in moments {
        steps.entry(moment.step).or_default().push(moment);
    }
    for (step, moments) in steps {
        files.insert(format!("step-{step}.svg"), svg::draw(&moments));
    }
    files
}

#[test]
fn the_diagrams_show_what_a_run_gives() -> Result<()> {
    let files = files(&record(Implementation::C)?);
    let update = std::env::var(UPDATE).is_ok_and(|value| value == "1");
    for (name, text) in &files {
        let path = folder().join(name);
        if update {
            fs::write(&path, text)?;
        }
        let archived = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        ensure!(
            archived == *text,
            "drivers/tour/{name} is not what a run of the C driver gives: run `make tour`"
        );
    }
    for entry in fs::read_dir(folder())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        ensure!(
            !name.ends_with(".svg") || files.contains_key(&name),
            "drivers/tour/{name} belongs to no step"
        );
    }
    Ok(())
}

/// Every driver gives the same pictures.
#[test]
fn all_drivers_give_the_same_rings() -> Result<()> {
    let in_c = record(Implementation::C)?;
    for implementation in [Implementation::Rust, Implementation::RustUnsafe] {
        let moments = record(implementation)?;
        ensure!(moments.len() == in_c.len());
        for (seen, expected) in moments.iter().zip(&in_c) {
            ensure!(
                seen == expected,
                "{implementation}, step {}, {:?}:\n{}\nin C:\n{}",
                seen.step,
                seen.title,
                text::draw(std::slice::from_ref(seen)),
                text::draw(std::slice::from_ref(expected))
            );
        }
    }
    Ok(())
}

/// The tour shows every picture at its step.
#[test]
fn the_tour_shows_every_picture_at_its_step() -> Result<()> {
    let tour = fs::read_to_string(folder().join("../TOUR.md"))?;
    for entry in fs::read_dir(folder())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(step) = name
            .strip_prefix("step-")
            .and_then(|name| name.strip_suffix(".svg"))
        else {
            continue;
        };
        let (_, rest) = tour
            .split_once(&format!("\n## {step}. "))
            .with_context(|| format!("no step {step}"))?;
        let text = rest.split("\n## ").next().unwrap_or_default();
        ensure!(
            text.contains(&format!("](tour/{name})")),
            "drivers/TOUR.md: step {step} does not show {name}"
        );
    }
    Ok(())
}
