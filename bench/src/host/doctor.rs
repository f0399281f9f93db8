//! `triptych doctor`: looks at everything that a run depends on, and changes nothing.

mod counters;
mod iommu;
mod memory;
mod nics;
mod processors;
mod vfio;

pub(super) use vfio::release;

use super::address::PciAddress;
use super::finding::{Diagnosis, Finding, Level};
use super::nic::{Nic, NicError};
use super::system::System;

/// Ports that a run needs.
const PORTS: usize = 2;

/// What the checks look at.
struct Patient<'a> {
    system: &'a System,
    /// Ports of the family: those that were named, or all.
    nics: &'a [Nic],
    /// Whether particular ports were asked about.
    named: bool,
}

impl Patient<'_> {
    /// How bad it is that a card could not be used: without a card, nothing is lost.
    fn if_card(&self, level: Level) -> Level {
        match self.nics {
            [] => Level::Warning.min(level),
            _ => level,
        }
    }

    /// The NUMA nodes of the ports, each once.
    fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.nics.iter().filter_map(|nic| nic.numa_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// Looks at a machine: at these ports of it, or at all of the family.
///
/// # Errors
/// If there is no such port.
pub fn examine(system: &System, devices: &[PciAddress]) -> Result<Diagnosis, NicError> {
    let mut nics = Vec::new();
    for address in devices {
        let nic = Nic::find(system, *address)?;
        if !nics.contains(&nic) {
            nics.push(nic);
        }
    }
    if devices.is_empty() {
        nics = Nic::all(system);
    }
    let patient = Patient {
        system,
        nics: &nics,
        named: !devices.is_empty(),
    };
    let mut findings = nics::check(&patient);
    findings.extend(iommu::check(&patient));
    findings.extend(vfio::check(&patient));
    findings.extend(memory::check(&patient));
    findings.extend(processors::check(&patient));
    findings.extend(counters::check(&patient));
    let count = |level| {
        findings
            .iter()
            .filter(|finding: &&Finding| finding.level == level)
            .count()
    };
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    let ready = problems == 0;
    let subject = match (ready, nics.is_empty()) {
        (true, true) => "a run with the software card can go",
        (true, false) => "a run can go",
        (false, _) => "a run with a card cannot go yet",
    };
    let verdict = format!(
        "{subject}: {}, {}",
        plural(problems, "problem"),
        plural(warnings, "warning")
    );
    Ok(Diagnosis {
        ready,
        verdict,
        nics,
        findings,
    })
}

/// `1 problem`, `2 problems`.
fn plural(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The command that adds options to the kernel's command line, on Debian and its kin.
fn add_to_cmdline(options: &str) -> String {
    format!(
        "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{options} /' /etc/default/grub && \
         sudo update-grub && sudo reboot"
    )
}

#[cfg(test)]
mod tests;
