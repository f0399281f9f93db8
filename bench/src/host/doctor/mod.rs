//! `triptych doctor`: looks at everything that a run depends on, and changes nothing.

mod counters;
mod iommu;
mod machine;
mod memory;
mod nics;
mod processors;
mod vfio;

pub(super) use vfio::release;

use super::address::PciAddress;
use super::finding::{Diagnosis, Finding, Level};
use super::nic::{Nic, NicError};
use super::system::System;
use machine::{plural, ExaminedMachine};

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
    let machine = ExaminedMachine {
        system,
        nics: &nics,
        named: !devices.is_empty(),
    };
    let mut findings = nics::check(&machine);
    findings.extend(iommu::check(&machine));
    findings.extend(vfio::check(&machine));
    findings.extend(memory::check(&machine));
    findings.extend(processors::check(&machine));
    findings.extend(counters::check(&machine));
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

#[cfg(test)]
mod tests;
