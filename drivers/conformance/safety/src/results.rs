//! A case, which is a hazard with a driver, and what a run writes about its cases: lines, a table,
//! `hazards.csv` and `run.json`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result};
use record::{link, short_toolchain, GitFacts, HostFacts};
use serde_json::{json, Value};
use strum::IntoEnumIterator;

use crate::builds::{self, root, toolchain, DoesNotApply, Externs};
use crate::catalogue::{allows, Hazard};
use crate::outcome::{AtFault, DriverBuild, Outcome};
use crate::testbed::Testbed;
use crate::{compile_fail, scenario};

/// Link in the results folder to the newest run of the lab.
const LATEST_LINK: &str = "latest-safety";

/// A hazard with a driver, and what was seen.
pub struct Case<'a> {
    /// The hazard.
    pub hazard: &'a Hazard,
    /// The driver that met it.
    pub driver: DriverBuild,
    /// The outcome and the evidence for it in words, or why the lab could not try the hazard.
    pub seen: Result<(Outcome, String)>,
    /// How long it took.
    pub seconds: f64,
}

impl<'a> Case<'a> {
    /// Provokes a hazard with a driver.
    pub fn observe(hazard: &'a Hazard, driver: DriverBuild, externs: &Externs) -> Self {
        Self::watched(hazard, driver, externs, |_, _| Ok(()))
    }

    /// The same. `watch` gets the program and what it runs in; see [`scenario::run_watched`].
    pub fn watched(
        hazard: &'a Hazard,
        driver: DriverBuild,
        externs: &Externs,
        watch: impl FnOnce(&Path, &mut Testbed) -> Result<()>,
    ) -> Self {
        let mut started = Instant::now();
        let seen = (|| {
            if driver == DriverBuild::Rust {
                if let Some(mistake) = compile_fail::mistake(&hazard.id)? {
                    let error = compile_fail::run(&compile_fail::source(), &mistake, externs)?;
                    return Ok((Outcome::DoesNotCompile, error));
                }
            }
            let program = builds::build(driver, scenario::patch_of(&hazard.id), externs)?;
            started = Instant::now();
            let watch = |testbed: &mut Testbed| watch(&program, testbed);
            Ok(scenario::run_watched(&program, &hazard.id, watch)?.outcome())
        })();
        Self {
            hazard,
            driver,
            seen,
            seconds: started.elapsed().as_secs_f64(),
        }
    }

    /// The outcome of the record.
    pub fn recorded(&self) -> &'a str {
        &self.hazard.outcome[&self.driver]
    }

    /// Whether the outcome is the recorded one.
    pub fn agrees(&self) -> bool {
        let seen = self.seen.as_ref();
        seen.is_ok_and(|(outcome, _)| allows(self.recorded(), *outcome))
    }

    /// The case in words, with the recorded outcome if it is another.
    pub fn line(&self) -> String {
        let case = format!("{}, {}", self.hazard.id, self.driver);
        match &self.seen {
            Err(error) => format!("{case}: {error:#}"),
            Ok((outcome, evidence)) if self.agrees() => format!("{case}: {outcome} ({evidence})"),
            Ok((outcome, evidence)) => {
                let recorded = self.recorded();
                format!("{case}: {outcome} ({evidence}); recorded: {recorded}")
            }
        }
    }

    /// The line of `safety run --json`.
    pub fn json(&self) -> Value {
        let (seen, evidence) = match &self.seen {
            Ok((outcome, evidence)) => (Some(outcome.to_string()), evidence.clone()),
            Err(error) => (None, format!("{error:#}")),
        };
        let refused = self.seen.as_ref().err();
        json!({
            "hazard": self.hazard.id,
            "title": self.hazard.title,
            "driver": self.driver.to_string(),
            "recorded": self.recorded(),
            "seen": seen,
            "evidence": evidence,
            "agrees": self.agrees(),
            // Whether the mistake of the catalogue can be put into the sources.
            "applies": !refused.is_some_and(|error| error.is::<DoesNotApply>()),
        })
    }
}

/// Writes `hazards.csv` and `run.json` to `results/ID`, and points `latest-safety` there.
pub fn record(
    results: &Path,
    id: &str,
    start: SystemTime,
    hazards: &[Hazard],
    cases: &[Case<'_>],
) -> Result<()> {
    let folder = results.join(id);
    let mut table = csv::Writer::from_path(folder.join("hazards.csv"))?;
    table.write_record([
        "hazard", "class", "at_fault", "impl", "outcome", "evidence", "seconds",
    ])?;
    for case in cases {
        if let Ok((outcome, evidence)) = &case.seen {
            table.write_record([
                &case.hazard.id,
                &format!("CWE-{}", case.hazard.cwe),
                &case.hazard.at_fault.to_string(),
                &case.driver.to_string(),
                &outcome.to_string(),
                evidence,
                &format!("{:.3}", case.seconds),
            ])?;
        }
    }
    table.flush()?;
    let builds: Vec<_> = DriverBuild::iter()
        .map(|driver| {
            let flags = toolchain(driver)?;
            Ok(json!({
                "impl": driver.to_string(),
                "variant": "lab",
                "toolchain": short_toolchain(&flags),
                "flags": flags,
            }))
        })
        .collect::<Result<_>>()?;
    // The part of the catalogue that a report shows.
    let notes = hazards.iter().map(|hazard| {
        let why = hazard.why.iter();
        let why: BTreeMap<_, _> = why.map(|(driver, why)| (driver.to_string(), why)).collect();
        let notes = json!({
            "title": hazard.title, "provocation": hazard.provocation, "why": why,
        });
        (&hazard.id, notes)
    });
    let failed = cases.iter().filter(|case| !case.agrees()).map(Case::line);
    let time = |time| humantime::format_rfc3339_seconds(time).to_string();
    let record = json!({
        "id": id,
        "start": time(start),
        "end": time(SystemTime::now()),
        "command": std::env::args().collect::<Vec<_>>(),
        "git": GitFacts::of(&root()),
        "host": HostFacts::gather(),
        "builds": builds,
        "hazards": notes.collect::<BTreeMap<_, _>>(),
        "failures": failed.collect::<Vec<_>>(),
    });
    let path = folder.join("run.json");
    fs::write(&path, record::to_json(&record)?).with_context(|| path.display().to_string())?;
    link(results, LATEST_LINK, id)?;
    Ok(())
}

/// The outcomes as Markdown: a table for each party at fault, a row for each hazard.
pub fn markdown(hazards: &[Hazard], cases: &[Case<'_>]) -> String {
    let mut found = BTreeMap::new();
    for case in cases {
        if let Ok((outcome, _)) = &case.seen {
            found.insert((&case.hazard.id, case.driver), outcome.to_string());
        }
    }
    let mut text = String::new();
    for at_fault in AtFault::iter() {
        let mut rows = String::new();
        for hazard in hazards {
            let seen = DriverBuild::iter().map(|driver| found.get(&(&hazard.id, driver)));
            if hazard.at_fault != at_fault || seen.clone().flatten().next().is_none() {
                continue;
            }
            let _ = write!(rows, "| {} | CWE-{} |", hazard.title, hazard.cwe);
            for cell in seen {
                let _ = write!(rows, " {} |", cell.map_or("–", String::as_str));
            }
            rows.push('\n');
        }
        if !rows.is_empty() {
            let _ = write!(
                text,
                "\n#### At fault: the {at_fault}\n\n\
                 | hazard | class | C | C, sanitizers | safe Rust | safe Rust, trusted device | \
                 safe Rust, copy | unsafe Rust |\n\
                 |---|---|---|---|---|---|---|---|\n{rows}"
            );
        }
    }
    text
}
