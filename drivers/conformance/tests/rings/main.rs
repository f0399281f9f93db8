//! The ring diagrams of the guided tour. Each comes from a run: a driver on the software card.
//!
//! `drivers/tour/rings.txt` shows the states of the rings in a terminal, and `step-N.svg` is the picture of a step.
//! `make tour` writes them all.

mod record;
mod ring;
mod svg;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use conformance::Implementation;

use crate::record::record;

/// If this variable is 1, the test first writes the files.
const UPDATE: &str = "TRIPTYCH_UPDATE";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tour")
}

/// The files that follow from a driver's run, by name.
fn files(driver: Implementation) -> Result<BTreeMap<String, String>> {
    let moments = record(driver)?;
    let texts: Vec<_> = moments.iter().map(ring::Moment::text).collect();
    let mut files = BTreeMap::from([("rings.txt".to_owned(), texts.join("\n"))]);
    for moments in moments.chunk_by(|one, other| one.step == other.step) {
        files.insert(format!("step-{}.svg", moments[0].step), svg::draw(moments));
    }
    Ok(files)
}

/// The files of the folder that are pictures, by name.
fn pictures() -> Result<Vec<String>> {
    let names = fs::read_dir(folder())?;
    let names = names.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.retain(|name| name.ends_with(".svg"));
    Ok(names)
}

/// Every driver gives the same pictures, and the tour shows each at its step.
#[test]
fn the_diagrams_show_what_a_run_gives() -> Result<()> {
    let update = std::env::var(UPDATE).is_ok_and(|value| value == "1");
    for driver in Implementation::OURS {
        let files = files(driver).with_context(|| driver.to_string())?;
        for (name, text) in &files {
            let path = folder().join(name);
            if update && driver == Implementation::C {
                fs::write(&path, text)?;
            }
            let archived = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let different = archived
                .lines()
                .zip(text.lines())
                .find(|(one, other)| one != other);
            ensure!(
                archived == *text,
                "drivers/tour/{name} is not what a run of {driver} gives, as {different:?} shows: run `make tour`"
            );
        }
        for name in pictures()? {
            ensure!(
                files.contains_key(&name),
                "drivers/tour/{name} belongs to no step"
            );
        }
    }
    let tour = fs::read_to_string(folder().join("../TOUR.md"))?;
    for name in pictures()? {
        let step = name.trim_start_matches("step-").trim_end_matches(".svg");
        let from_step = tour.split_once(&format!("\n## {step}. "));
        let text = from_step.and_then(|(_, rest)| rest.split("\n## ").next());
        let shown = text.is_some_and(|text| text.contains(&format!("](tour/{name})")));
        ensure!(shown, "drivers/TOUR.md: step {step} does not show {name}");
    }
    Ok(())
}
