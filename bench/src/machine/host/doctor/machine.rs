//! The machine that the doctor examines, and helpers of its checks.

use crate::machine::host::finding::Severity;
use crate::machine::host::nic::Nic;
use crate::machine::host::system::System;

/// Ports that a run needs.
pub(super) const PORTS: usize = 2;

/// What the checks examine.
pub(super) struct ExaminedMachine<'a> {
    pub(super) system: &'a System,
    /// The ports that the user named, or all ports of the family.
    pub(super) nics: &'a [Nic],
    /// Whether the user named the ports.
    pub(super) named: bool,
}

impl ExaminedMachine<'_> {
    /// The severity of a fault that only a run with a card notices: at most a warning without one.
    pub(super) fn if_card(&self, level: Severity) -> Severity {
        match self.nics {
            [] => Severity::Warning.min(level),
            _ => level,
        }
    }

    /// The NUMA nodes of the ports, each once.
    pub(super) fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.nics.iter().filter_map(|nic| nic.numa_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// `1 problem`, `2 problems`.
pub(super) fn plural(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
