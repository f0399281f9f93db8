//! The doctor's findings, and their text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use serde::Serialize;

use super::nic::{join, Group, Nic, Pcie};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// A run works, but its figures may suffer, or an optional part is missing.
    Warning,
    /// A run with a card is impossible.
    Problem,
}

impl Severity {
    /// A problem if a run needs what is missing, or else a warning.
    pub fn of_fault(needed: bool) -> Self {
        if needed {
            Self::Problem
        } else {
            Self::Warning
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub topic: &'static str,
    /// A name for programs: `iommu`, `huge_pages`, …
    pub id: &'static str,
    pub level: Severity,
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// Shell commands that fix it; empty if nothing is wrong or nothing can be done.
    pub fix: Vec<String>,
}

impl Finding {
    /// A finding of `checks.toml` that is as it should be.
    pub fn ok(id: &'static str, found: impl Into<String>) -> Self {
        type Topics = BTreeMap<String, BTreeMap<String, String>>;
        static TOPICS: LazyLock<Topics> =
            LazyLock::new(|| toml::from_str(include_str!("checks.toml")).unwrap_or_default());
        let mut topics = TOPICS.iter();
        let known = topics.find_map(|(topic, whys)| Some((topic.as_str(), whys.get(id)?.as_str())));
        let (topic, why) = known.unwrap_or_default();
        Self {
            topic,
            id,
            level: Severity::Ok,
            found: found.into(),
            why,
            fix: Vec::new(),
        }
    }

    /// A finding of another severity.
    pub fn new(level: Severity, id: &'static str, found: impl Into<String>) -> Self {
        let ok = Self::ok(id, found);
        Self { level, ..ok }
    }

    /// A warning.
    pub fn warning(id: &'static str, found: impl Into<String>) -> Self {
        Self::new(Severity::Warning, id, found)
    }

    /// A problem.
    pub fn problem(id: &'static str, found: impl Into<String>) -> Self {
        Self::new(Severity::Problem, id, found)
    }

    /// The same finding with one more command that fixes it.
    #[must_use]
    pub fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix.push(command.into());
        self
    }
}

/// All findings of the doctor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether a run is possible.
    pub ready: bool,
    /// The result in one sentence.
    pub verdict: String,
    pub nics: Vec<Nic>,
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// The findings as text, with a line break at the end.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut topic = None;
        for finding in &self.findings {
            if topic != Some(finding.topic) {
                let gap = if topic.is_some() { "\n" } else { "" };
                // Writing to a string cannot fail.
                let _ = writeln!(out, "{gap}{}", finding.topic);
                topic = Some(finding.topic);
                if finding.topic == "network cards" {
                    for nic in &self.nics {
                        out += &describe(nic);
                    }
                }
            }
            let level = match finding.level {
                Severity::Ok => "ok",
                Severity::Warning => "warning",
                Severity::Problem => "PROBLEM",
            };
            let _ = writeln!(out, "  {level:8} {}", finding.found);
            if finding.level > Severity::Ok {
                let _ = writeln!(out, "           why:  {}", finding.why);
                for (index, command) in finding.fix.iter().enumerate() {
                    let label = if index == 0 { "fix: " } else { "     " };
                    let _ = writeln!(out, "           {label} {command}");
                }
            }
        }
        let _ = writeln!(out, "\n{}", self.verdict);
        out
    }
}

/// Describes a port in a few lines.
fn describe(nic: &Nic) -> String {
    let driver = match &nic.driver {
        Some(driver) => format!("driver {driver}"),
        None => "no driver".to_owned(),
    };
    let group = match &nic.group {
        None => "no IOMMU group".to_owned(),
        Some(group) if group.others.is_empty() => format!("IOMMU group {} (alone)", group.number),
        Some(Group { number, others, .. }) => {
            format!("IOMMU group {number} with {}", join(others, ", "))
        }
    };
    let node = nic
        .numa_node
        .map_or("unknown".to_owned(), |node| node.to_string());
    let pcie = match &nic.pcie {
        Some(Pcie { now, best }) if now == best => format!("PCIe {now}"),
        Some(Pcie { now, best }) => format!("PCIe {now} of {best}"),
        None => "PCIe link unknown".to_owned(),
    };
    let mut out = format!(
        "  {}  {}, {}\n      {driver}, {group}, NUMA node {node}, {pcie}\n",
        nic.address, nic.name, nic.id
    );
    for interface in &nic.interfaces {
        let link = match (interface.link, interface.speed_mbit) {
            _ if !interface.up => "down".to_owned(),
            (Some(true), Some(speed)) => format!("link at {speed} Mbit/s"),
            (Some(true), None) => "link".to_owned(),
            (Some(false), _) => "no link".to_owned(),
            (None, _) => "link unknown".to_owned(),
        };
        let carries = match interface.carries.as_slice() {
            [] => String::new(),
            some => format!(", carries {}", some.join(", ")),
        };
        let _ = writeln!(out, "      {}: {link}{carries}", interface.name);
    }
    out
}
