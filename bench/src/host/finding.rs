//! What the doctor found, and how it is told.

use std::fmt::Write;

use serde::Serialize;

use super::nic::Nic;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// A run works, but its figures may suffer, or something is missing that it can do without.
    Warning,
    /// A run with a card cannot go.
    Problem,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Network cards.
    #[strum(serialize = "network cards")]
    Nics,
    /// IOMMU and interrupt remapping.
    #[strum(serialize = "IOMMU")]
    Iommu,
    /// The kernel's VFIO.
    #[strum(serialize = "VFIO")]
    Vfio,
    /// Huge pages and limits.
    #[strum(serialize = "memory")]
    Memory,
    /// Clock, isolation, SMT.
    #[strum(serialize = "processors")]
    Processors,
    /// The processor's own counters.
    #[strum(serialize = "hardware counters")]
    Counters,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// A name for programs: `iommu`, `huge_pages`, …
    pub id: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// What mends it: commands of a shell. Empty where nothing is to be done, or nothing can be.
    pub mend: Vec<String>,
}

impl Finding {
    /// Something that is as it should be.
    pub fn ok(topic: Topic, id: &'static str, found: impl Into<String>, why: &'static str) -> Self {
        Self {
            topic,
            id,
            level: Level::Ok,
            found: found.into(),
            why,
            mend: Vec::new(),
        }
    }

    /// The same, but not as it should be.
    #[must_use]
    pub fn but(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The same, with a command that mends it.
    #[must_use]
    pub fn mend(mut self, command: impl Into<String>) -> Self {
        self.mend.push(command.into());
        self
    }
}

/// Everything that the doctor found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether a run can go.
    pub ready: bool,
    /// In a sentence.
    pub verdict: String,
    /// The ports of the ixgbe family.
    pub nics: Vec<Nic>,
    /// The findings, by topic.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// For people, ending with a line break.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut topic = None;
        for finding in &self.findings {
            if topic != Some(finding.topic) {
                let gap = if topic.is_some() { "\n" } else { "" };
                // Writing to a string cannot fail.
                let _ = writeln!(out, "{gap}{}", finding.topic);
                topic = Some(finding.topic);
                if finding.topic == Topic::Nics {
                    for nic in &self.nics {
                        out += &describe(nic);
                    }
                }
            }
            let level = match finding.level {
                Level::Ok => "ok",
                Level::Warning => "warning",
                Level::Problem => "PROBLEM",
            };
            let _ = writeln!(out, "  {level:8} {}", finding.found);
            if finding.level > Level::Ok {
                let _ = writeln!(out, "           why:  {}", finding.why);
                for (index, command) in finding.mend.iter().enumerate() {
                    let label = if index == 0 { "mend:" } else { "     " };
                    let _ = writeln!(out, "           {label} {command}");
                }
            }
        }
        let _ = writeln!(out, "\n{}", self.verdict);
        out
    }
}

/// A port, in a few lines.
fn describe(nic: &Nic) -> String {
    let driver = match &nic.driver {
        Some(driver) => format!("driver {driver}"),
        None => "no driver".to_owned(),
    };
    let group = match &nic.group {
        None => "no IOMMU group".to_owned(),
        Some(group) if group.others.is_empty() => format!("IOMMU group {} (alone)", group.number),
        Some(group) => {
            let others: Vec<String> = group
                .others
                .iter()
                .map(|member| match &member.driver {
                    Some(driver) => format!("{} ({driver})", member.address),
                    None => member.address.to_string(),
                })
                .collect();
            format!("IOMMU group {} with {}", group.number, others.join(", "))
        }
    };
    let node = match nic.numa_node {
        Some(node) => format!("NUMA node {node}"),
        None => "NUMA node unknown".to_owned(),
    };
    let pcie = match &nic.pcie {
        Some(pcie) if pcie.is_reduced() => format!(
            "PCIe {} x{} of {} x{}",
            pcie.speed, pcie.width, pcie.max_speed, pcie.max_width
        ),
        Some(pcie) => format!("PCIe {} x{}", pcie.speed, pcie.width),
        None => "PCIe link unknown".to_owned(),
    };
    let mut out = format!(
        "  {}  {}, {}\n      {driver}, {group}, {node}, {pcie}\n",
        nic.address, nic.name, nic.id
    );
    for interface in &nic.interfaces {
        let link = match (interface.up, interface.link, interface.speed_mbit) {
            (false, ..) => "down".to_owned(),
            (true, Some(true), Some(speed)) => format!("link at {speed} Mbit/s"),
            (true, Some(true), None) => "link".to_owned(),
            (true, Some(false), _) => "no link".to_owned(),
            (true, None, _) => "link unknown".to_owned(),
        };
        let carries = match interface.carries.as_slice() {
            [] => String::new(),
            some => format!(", carries {}", some.join(", ")),
        };
        let _ = writeln!(out, "      {}: {link}{carries}", interface.name);
    }
    out
}
