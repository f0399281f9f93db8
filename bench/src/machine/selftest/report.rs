//! The report of a self-test: for people as a table, for programs and maintainers as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use record::{HostFacts, Implementation};
use serde::Serialize;

use super::finding::{heading, Finding, Tally};
use crate::machine::host::finding::Diagnosis;

/// Everything that a maintainer needs.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of this program.
    pub version: &'static str,
    /// The command line.
    pub command: Vec<String>,
    /// When the test began, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// The two ports, in the order in which the findings number them.
    pub devices: [String; 2],
    /// The machine.
    pub host: HostFacts,
    /// The findings of `triptych doctor` for ports with a PCI address.
    pub doctor: Option<Diagnosis>,
    /// The number of findings with each outcome.
    pub tally: Tally,
    /// The findings.
    pub findings: Vec<Finding>,
    /// What each process wrote to standard error, if anything.
    pub messages: BTreeMap<String, String>,
}

impl Report {
    /// Writes the report as JSON.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = record::to_json(self)?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Prints findings as they come, under the headings of their drivers.
#[derive(Debug, Default)]
pub struct Table {
    last: Option<Option<Implementation>>,
}

impl Table {
    /// Prints a finding.
    pub fn print(&mut self, finding: &Finding) {
        if self.last != Some(finding.driver) {
            let gap = if self.last.is_some() { "\n" } else { "" };
            println!("{gap}{}", heading(finding.driver));
            self.last = Some(finding.driver);
        }
        println!("{}", finding.row());
    }
}
