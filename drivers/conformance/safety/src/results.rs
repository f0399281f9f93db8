//! What a run of the lab writes: `hazards.csv` and `run.json` in a folder of `results/`, and a table.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use record::{create_folder, link, short_toolchain, GitFacts, HostFacts};
use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::builds::{toolchain, DoesNotApply};
use crate::catalogue::Hazard;
use crate::evidence::Evidence;
use crate::outcome::{AtFault, DriverBuild, Outcome};
use crate::paths::root;

/// File with the outcomes.
pub const HAZARDS_FILE: &str = "hazards.csv";
/// Link in the results folder to the newest run of the lab.
pub const LATEST_LINK: &str = "latest-safety";

/// One row of `hazards.csv`. Its columns are the fields, in this order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutcomeRow {
    /// Id of the hazard.
    pub hazard: String,
    /// Class of the weakness, such as `CWE-416`.
    pub class: String,
    /// The party that causes the hazard.
    pub at_fault: AtFault,
    /// The driver and how it was built.
    #[serde(rename = "impl")]
    pub driver: DriverBuild,
    /// What the hazard came to.
    pub outcome: Outcome,
    /// The evidence for the outcome.
    pub evidence: String,
    /// Duration of the run in seconds.
    pub seconds: f64,
}

/// A line of `safety run --json`.
#[derive(Debug, Serialize)]
pub struct CaseLine<'a> {
    /// Id of the hazard.
    pub hazard: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The driver and how it was built.
    pub driver: DriverBuild,
    /// The recorded outcome in words.
    pub recorded: String,
    /// The outcome that was seen; absent if the lab could not try the hazard.
    pub seen: Option<Outcome>,
    /// The evidence for the outcome, or why the lab could not try the hazard.
    pub evidence: String,
    /// Whether the outcome is the recorded one.
    pub agrees: bool,
    /// Whether the mistake of the catalogue can be put into the sources.
    pub applies: bool,
}

impl<'a> CaseLine<'a> {
    /// The line of a case.
    pub fn of(hazard: &'a Hazard, driver: DriverBuild, evidence: &Result<Evidence>) -> Self {
        let recorded = &hazard.outcome[&driver];
        let (seen, evidence, applies) = match evidence {
            Ok(evidence) => {
                let (outcome, words) = evidence.outcome();
                (Some(outcome), words, true)
            }
            Err(error) => (None, format!("{error:#}"), !error.is::<DoesNotApply>()),
        };
        Self {
            hazard: &hazard.id,
            title: &hazard.title,
            driver,
            recorded: recorded.describe(),
            agrees: seen.is_some_and(|outcome| recorded.allows(outcome)),
            seen,
            evidence,
            applies,
        }
    }
}

/// The part of a catalogue entry that `run.json` repeats, so that a report needs no catalogue.
#[derive(Debug, Serialize)]
struct HazardNotes<'a> {
    title: &'a str,
    provocation: &'a str,
    why: &'a BTreeMap<DriverBuild, String>,
}

impl<'a> HazardNotes<'a> {
    fn of(hazard: &'a Hazard) -> Self {
        Self {
            title: &hazard.title,
            provocation: &hazard.provocation,
            why: &hazard.why,
        }
    }
}

/// A folder of `results/` that a run writes to.
#[derive(Debug)]
pub struct ResultFolder {
    results: PathBuf,
    path: PathBuf,
    id: String,
    start: String,
    writer: csv::Writer<fs::File>,
}

impl ResultFolder {
    /// Creates `results/<id>/`; the id is the current time.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn create(results: &Path) -> Result<Self> {
        let now = SystemTime::now();
        let start = humantime::format_rfc3339_seconds(now).to_string();
        let (id, path) = create_folder(results, now)?;
        let file = path.join(HAZARDS_FILE);
        let writer = csv::Writer::from_path(&file).with_context(|| file.display().to_string())?;
        Ok(Self {
            results: results.to_owned(),
            path,
            id,
            start,
            writer,
        })
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a row to the file at once, so that a killed run keeps its rows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, row: &OutcomeRow) -> Result<()> {
        self.writer.serialize(row)?;
        self.writer.flush()?;
        Ok(())
    }

    /// Writes `run.json` and points `latest-safety` to this folder.
    ///
    /// # Errors
    /// If a file or the link cannot be written.
    pub fn finish(
        &mut self,
        hazards: &[Hazard],
        command: &[String],
        failures: &[String],
    ) -> Result<()> {
        let builds: Vec<_> = DriverBuild::iter()
            .map(|driver| {
                let flags = toolchain(driver)?;
                Ok(serde_json::json!({
                    "impl": driver,
                    "variant": "lab",
                    "toolchain": short_toolchain(&flags),
                    "flags": flags,
                }))
            })
            .collect::<Result<_>>()?;
        let end = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let record = serde_json::json!({
            "id": self.id,
            "start": self.start,
            "end": end,
            "command": command,
            "git": GitFacts::of(&root()),
            "host": HostFacts::gather(),
            "builds": builds,
            "hazards": hazards
                .iter()
                .map(|hazard| (&hazard.id, HazardNotes::of(hazard)))
                .collect::<BTreeMap<_, _>>(),
            "failures": failures,
        });
        let path = self.path.join("run.json");
        let text = record::to_json(&record)?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        link(&self.results, LATEST_LINK, &self.id)?;
        Ok(())
    }
}

/// The outcomes as Markdown: a table for each party at fault, a row for each hazard.
pub fn markdown(hazards: &[Hazard], rows: &[OutcomeRow]) -> String {
    let mut found: BTreeMap<(&str, DriverBuild), Outcome> = BTreeMap::new();
    for row in rows {
        found.insert((&row.hazard, row.driver), row.outcome);
    }
    let mut text = String::new();
    for at_fault in AtFault::iter() {
        let caused = hazards
            .iter()
            .filter(|hazard| hazard.at_fault == at_fault)
            .filter(|hazard| rows.iter().any(|row| row.hazard == hazard.id));
        let caused: Vec<_> = caused.collect();
        if caused.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n#### At fault: the {at_fault}\n");
        let _ = writeln!(
            text,
            "| hazard | class | C | C, sanitizers | safe Rust | safe Rust, trusted device | \
             safe Rust, copy | unsafe Rust |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|---|");
        for hazard in caused {
            let _ = write!(text, "| {} | CWE-{} |", hazard.title, hazard.cwe);
            for driver in DriverBuild::iter() {
                let outcome = found.get(&(hazard.id.as_str(), driver));
                let cell = outcome.map_or_else(|| "–".to_owned(), Outcome::to_string);
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    text
}
