//! The doctor's findings, and their text.

use std::fmt::Write;

use serde::Serialize;

use super::nic::Nic;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// A run works, but its figures may suffer, or an optional part is missing.
    Warning,
    /// A run with a card is impossible.
    Problem,
}

/// The topic of a finding.
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
    /// Secure boot and lockdown.
    #[strum(serialize = "kernel")]
    Kernel,
    /// Huge pages and limits.
    #[strum(serialize = "memory")]
    Memory,
    /// Clock, isolation, simultaneous multithreading.
    #[strum(serialize = "processors")]
    Processors,
    /// The processor's hardware counters.
    #[strum(serialize = "hardware counters")]
    Counters,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its topic.
    pub topic: Topic,
    /// A name for programs: `iommu`, `huge_pages`, …
    pub id: &'static str,
    /// Its severity.
    pub level: Severity,
    /// The state of the machine.
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// Shell commands that fix it; empty if nothing is wrong or nothing can be done.
    pub fix: Vec<String>,
}

impl Finding {
    /// A finding that is as it should be.
    pub fn ok(topic: Topic, id: &'static str, found: impl Into<String>, why: &'static str) -> Self {
        Self {
            topic,
            id,
            level: Severity::Ok,
            found: found.into(),
            why,
            fix: Vec::new(),
        }
    }

    /// The same finding with another severity.
    #[must_use]
    pub fn with_severity(mut self, level: Severity) -> Self {
        self.level = level;
        self
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
    /// The ports of the ixgbe family.
    pub nics: Vec<Nic>,
    /// The findings, by topic.
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
                if finding.topic == Topic::Nics {
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
