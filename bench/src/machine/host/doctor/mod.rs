//! `triptych doctor`: examines everything that a run depends on, and changes nothing.

mod counters;
mod iommu;
mod memory;
mod nics;
mod processors;
mod reserved;
mod vfio;

use anyhow::{ensure, Result};

use super::address::PciAddress;
use super::finding::{Diagnosis, Severity};
use super::nic::{plural, Nic};
use super::system::System;

/// What the checks examine.
struct ExaminedMachine<'a> {
    system: &'a System,
    /// The ports that the user named, or all ports of the family, without those that the drivers refuse.
    nics: &'a [Nic],
    /// Whether the user named the ports.
    named: bool,
}

impl ExaminedMachine<'_> {
    /// The severity of a fault that only a run with a card notices.
    fn if_card(&self) -> Severity {
        Severity::of_fault(!self.nics.is_empty())
    }

    /// The NUMA nodes of the ports, each once.
    fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.nics.iter().filter_map(|nic| nic.numa_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The option of `bind` that gives the ports to this user; empty for root.
    fn for_user(&self) -> String {
        match self.system.user() {
            user if user.is_root() => String::new(),
            user => format!(" --user {}", user.name),
        }
    }

    /// Whether an option is on the kernel's command line.
    fn boot_option(&self, options: &[&'static str]) -> Option<&'static str> {
        let line = self.system.read("/proc/cmdline").unwrap_or_default();
        let mut options = options.iter().copied();
        options.find(|option| line.split_whitespace().any(|word| word == *option))
    }

    fn is_virtual(&self) -> bool {
        let text = self.system.read("/proc/cpuinfo");
        text.is_some_and(|text| text.contains(" hypervisor"))
    }
}

fn add_option(option: &str) -> String {
    format!("add {option} to the kernel's command line in the boot loader, then `sudo reboot`")
}

fn remove_option(option: &str) -> String {
    format!("remove {option} from the kernel's command line in the boot loader, then `sudo reboot`")
}

/// Examines a machine and some of its ports, or all ports of the family if none is named.
///
/// # Errors
/// If a named port does not exist.
pub fn examine(system: &System, devices: &[PciAddress]) -> Result<Diagnosis> {
    let (mut nics, errors) = Nic::find_each(system, devices);
    ensure!(errors.is_empty(), errors.join("; "));
    if devices.is_empty() {
        nics = Nic::all(system);
    }
    // What the drivers refuse needs no further check.
    let (refused, supported): (Vec<Nic>, Vec<Nic>) =
        nics.iter().cloned().partition(|nic| nic.refused.is_some());
    let machine = ExaminedMachine {
        system,
        nics: &supported,
        named: !devices.is_empty(),
    };
    let mut findings = nics::check(&machine);
    findings.extend(nics::refused(&machine, &refused));
    findings.extend(nics::rebinding(&machine));
    findings.extend(iommu::check(&machine));
    findings.extend(reserved::check(&machine));
    findings.extend(vfio::check(&machine));
    findings.extend(memory::check(&machine));
    findings.extend(processors::check(&machine));
    findings.extend(counters::check(&machine));
    let count = |level| findings.iter().filter(|it| it.level == level).count();
    let (problems, warnings) = (count(Severity::Problem), count(Severity::Warning));
    let ready = problems == 0;
    let subject = match (ready, supported.is_empty()) {
        (true, true) => "ready for a run with the software card",
        (true, false) => "ready for a run",
        (false, _) => "not ready for a run with a card",
    };
    let (problems, warnings) = (plural(problems, "problem"), plural(warnings, "warning"));
    Ok(Diagnosis {
        ready,
        verdict: format!("{subject}: {problems}, {warnings}"),
        nics,
        findings,
    })
}

#[cfg(test)]
mod tests;
