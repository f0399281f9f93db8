//! The machine that the doctor examines, and what several checks ask of it.

use crate::machine::host::finding::Severity;
use crate::machine::host::nic::Nic;
use crate::machine::host::system::System;

/// What the checks examine.
pub(super) struct ExaminedMachine<'a> {
    pub(super) system: &'a System,
    /// The ports that the user named, or all ports of the family, without those that the drivers refuse.
    pub(super) nics: &'a [Nic],
    /// Whether the user named the ports.
    pub(super) named: bool,
}

impl ExaminedMachine<'_> {
    /// The severity of a fault that only a run with a card notices.
    pub(super) fn if_card(&self) -> Severity {
        Severity::of_fault(!self.nics.is_empty())
    }

    /// The NUMA nodes of the ports, each once.
    pub(super) fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.nics.iter().filter_map(|nic| nic.numa_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The option of `bind` that gives the ports to this user; empty for root.
    pub(super) fn for_user(&self) -> String {
        match self.system.user() {
            user if user.is_root() => String::new(),
            user => format!(" --user {}", user.name),
        }
    }

    /// Whether an option is on the kernel's command line.
    pub(super) fn boot_option(&self, options: &[&'static str]) -> Option<&'static str> {
        let line = self.system.read("/proc/cmdline").unwrap_or_default();
        let mut options = options.iter().copied();
        options.find(|option| line.split_whitespace().any(|word| word == *option))
    }
}

pub(super) fn add_option(option: &str) -> String {
    format!("add {option} to the kernel's command line in the boot loader, then `sudo reboot`")
}

pub(super) fn remove_option(option: &str) -> String {
    format!("remove {option} from the kernel's command line in the boot loader, then `sudo reboot`")
}
