//! The tables of hazards at the steps: rows of `hazards.toml`.

use std::collections::BTreeMap;

use anyhow::{ensure, Context, Result};
use toml::{Table, Value};

use crate::patches::files_of;
use crate::reference::references;
use crate::{read, root, steps, title, updated, TOUR};

/// The builds in the order of the columns.
const BUILDS: [&str; 4] = ["c", "c-hardened", "rust", "rust-unsafe"];

/// The folder of the patches that make a driver's mistakes.
const PATCHES: &str = "drivers/conformance/safety/patches";

/// The row of each hazard in the catalogue, by id.
fn catalogue() -> Result<BTreeMap<String, String>> {
    let catalogue: Table = read("drivers/conformance/hazards.toml")?.parse()?;
    let hazards = catalogue["hazard"].as_array().context("no hazards")?;
    hazards
        .iter()
        .map(|hazard| {
            let text = |key: &str| hazard.get(key).and_then(Value::as_str);
            let id = text("id").context("a hazard without an id")?;
            let title = text("title").with_context(|| id.to_owned())?;
            let mut row = format!("| `{id}` | {title} |");
            for build in BUILDS {
                // A build of C without an outcome of its own has that of C.
                let outcome = &hazard["outcome"];
                let recorded = outcome.get(build).or_else(|| outcome.get("c"));
                let recorded = recorded.and_then(Value::as_str).unwrap_or_default();
                row += &format!(" {recorded} |");
            }
            Ok((id.to_owned(), row))
        })
        .collect()
}

/// The id of the hazard in a row of a table: ``| `ID` | ...``.
fn id_of(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("| `")?.split_once('`')?;
    Some(id)
}

/// The tour with the catalogue's rows.
fn with_rows(tour: &str) -> Result<String> {
    let catalogue = catalogue()?;
    let mut text = String::new();
    for line in tour.lines() {
        let row = id_of(line).and_then(|id| catalogue.get(id));
        text += row.map_or(line, String::as_str);
        text.push('\n');
    }
    Ok(text)
}

#[test]
fn every_hazard_has_the_outcomes_of_the_catalogue() -> Result<()> {
    let catalogue = catalogue()?;
    let tour = updated(TOUR, with_rows)?;
    let mut found = Vec::new();
    for line in tour.lines() {
        let Some(id) = id_of(line) else { continue };
        let row = catalogue
            .get(id)
            .with_context(|| format!("{TOUR}: the catalogue has no {id}"))?;
        ensure!(
            line == row,
            "{TOUR} says\n{line}\nand the catalogue\n{row}\nTRIPTYCH_UPDATE=1 updates it"
        );
        ensure!(!found.contains(&id), "{TOUR} has {id} twice");
        found.push(id);
    }
    for id in catalogue.keys().filter(|id| id.starts_with("drv-")) {
        ensure!(found.contains(&id.as_str()), "{TOUR} lacks {id}");
    }
    Ok(())
}

/// A driver's mistake is at the step that shows the code in which it is made.
#[test]
fn every_mistake_of_a_driver_is_at_its_step() -> Result<()> {
    for step in steps(&read(TOUR)?)? {
        let shown: Vec<String> = references(step)
            .into_iter()
            .map(|shown| shown.file)
            .collect();
        for id in step.lines().filter_map(id_of) {
            if !id.starts_with("drv-") {
                continue;
            }
            for driver in ["c", "rust", "rust-unsafe"] {
                let patch = root().join(format!("{PATCHES}/{id}/{driver}.patch"));
                for file in files_of(&patch)? {
                    ensure!(
                        shown.contains(&file),
                        "{id} is at step {:?}, which shows nothing of {file}",
                        title(step)
                    );
                }
            }
        }
    }
    Ok(())
}
