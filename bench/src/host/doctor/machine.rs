//! The machine that the doctor examines, and helpers of its checks.

use crate::host::finding::Level;
use crate::host::nic::Nic;
use crate::host::system::System;

/// Ports that a run needs.
pub(super) const PORTS: usize = 2;

/// What the checks look at.
pub(super) struct ExaminedMachine<'a> {
    pub(super) system: &'a System,
    /// Ports of the family: those that were named, or all.
    pub(super) nics: &'a [Nic],
    /// Whether particular ports were asked about.
    pub(super) named: bool,
}

impl ExaminedMachine<'_> {
    /// How bad it is that a card could not be used: without a card, nothing is lost.
    pub(super) fn if_card(&self, level: Level) -> Level {
        match self.nics {
            [] => Level::Warning.min(level),
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

/// The command that adds options to the kernel's command line, on Debian and its kin.
pub(super) fn add_to_cmdline(options: &str) -> String {
    format!(
        "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{options} /' /etc/default/grub && \
         sudo update-grub && sudo reboot"
    )
}
