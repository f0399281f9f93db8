//! What a run leaves behind: `hazards.csv` and `run.json` in a folder of `results/`, and a table.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use perfcounters::host::{git, HostFacts};
use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::builds::toolchain;
use crate::catalogue::Hazard;
use crate::outcome::{AtFault, Outcome, Subject};

/// File with the outcomes.
pub const HAZARDS_FILE: &str = "hazards.csv";
/// Link in the results folder to the newest run of the lab.
pub const LATEST_LINK: &str = "latest-safety";

/// One row of `hazards.csv`. The fields are its columns, in this order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Id of the hazard.
    pub hazard: String,
    /// Its class, `CWE-416`.
    pub class: String,
    /// Whose fault it is.
    pub at_fault: AtFault,
    /// Which driver, and how built.
    #[serde(rename = "impl")]
    pub subject: Subject,
    /// What it came to.
    pub outcome: Outcome,
    /// What that was concluded from.
    pub evidence: String,
    /// How long it took.
    pub seconds: f64,
}

/// What `run.json` says of a hazard, so that a report needs no catalogue.
#[derive(Debug, Serialize)]
struct Described<'a> {
    title: &'a str,
    provocation: &'a str,
    why: &'a BTreeMap<Subject, String>,
}

impl<'a> Described<'a> {
    fn of(hazard: &'a Hazard) -> Self {
        Self {
            title: &hazard.title,
            provocation: &hazard.provocation,
            why: &hazard.why,
        }
    }
}

/// A folder of `results/` that is being written.
#[derive(Debug)]
pub struct Folder {
    results: PathBuf,
    path: PathBuf,
    id: String,
    start: String,
    writer: csv::Writer<fs::File>,
}

impl Folder {
    /// Makes `results/<id>/`, named after the time.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(results: &Path) -> Result<Self> {
        let now = SystemTime::now();
        let start = humantime::format_rfc3339_seconds(now).to_string();
        let stamp = start.replace(':', "-");
        fs::create_dir_all(results).with_context(|| results.display().to_string())?;
        let mut attempt = 0;
        let (id, path) = loop {
            let id = match attempt {
                0 => stamp.clone(),
                n => format!("{stamp}-{n}"),
            };
            let path = results.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => break (id, path),
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 100 =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        };
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

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a row; a run that is killed keeps those until then.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, row: &Row) -> Result<()> {
        self.writer.serialize(row)?;
        self.writer.flush()?;
        Ok(())
    }

    /// Writes `run.json`, and has `latest-safety` point here.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(
        &mut self,
        hazards: &[Hazard],
        command: &[String],
        failures: &[String],
    ) -> Result<()> {
        let builds: Vec<_> = Subject::iter()
            .map(|subject| {
                let flags = toolchain(subject)?;
                Ok(serde_json::json!({
                    "impl": subject,
                    "variant": "lab",
                    "toolchain": perfcounters::host::short_toolchain(&flags),
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
            "git": git(&crate::root()),
            "host": HostFacts::gather(),
            "builds": builds,
            "hazards": hazards
                .iter()
                .map(|hazard| (&hazard.id, Described::of(hazard)))
                .collect::<BTreeMap<_, _>>(),
            "failures": failures,
        });
        let path = self.path.join("run.json");
        let text = serde_json::to_string_pretty(&record)? + "\n";
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        let link = self.results.join(LATEST_LINK);
        let fresh = self.results.join(format!(".{LATEST_LINK}.{}", self.id));
        std::os::unix::fs::symlink(&self.id, &fresh)
            .and_then(|()| fs::rename(&fresh, &link))
            .with_context(|| link.display().to_string())
    }
}

/// The outcomes as a Markdown table, a row a hazard, a part for each who is at fault.
pub fn markdown(hazards: &[Hazard], rows: &[Row]) -> String {
    let mut found: BTreeMap<(&str, Subject), Outcome> = BTreeMap::new();
    for row in rows {
        found.insert((&row.hazard, row.subject), row.outcome);
    }
    let mut text = String::new();
    for at_fault in AtFault::iter() {
        let those = hazards
            .iter()
            .filter(|hazard| hazard.at_fault == at_fault)
            .filter(|hazard| rows.iter().any(|row| row.hazard == hazard.id));
        let those: Vec<_> = those.collect();
        if those.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n#### At fault: the {at_fault}\n");
        let _ = writeln!(
            text,
            "| hazard | class | C | C, sanitizers | safe Rust | unsafe Rust |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|");
        for hazard in those {
            let _ = write!(text, "| {} | CWE-{} |", hazard.title, hazard.cwe);
            for subject in Subject::iter() {
                let outcome = found.get(&(hazard.id.as_str(), subject));
                let cell = outcome.map_or_else(|| "–".to_owned(), Outcome::to_string);
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    text
}
