//! `triptych doctor`: examines everything that a run depends on, and changes nothing.

mod boot;
mod counters;
mod iommu;
mod kernel;
mod machine;
mod memory;
mod nics;
mod processors;
mod rebinding;
mod reserved;
mod vfio;

use super::address::PciAddress;
use super::finding::{Diagnosis, Finding, Severity};
use super::nic::{Nic, NicError};
use super::system::System;
use machine::{plural, ExaminedMachine};

/// Examines a machine and some of its ports, or all ports of the family if none is named.
///
/// # Errors
/// If a named port does not exist.
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
    findings.extend(rebinding::check(&machine));
    findings.extend(iommu::check(&machine));
    findings.extend(reserved::check(&machine));
    findings.extend(vfio::check(&machine));
    findings.extend(kernel::check(&machine));
    findings.extend(memory::check(&machine));
    findings.extend(processors::check(&machine));
    findings.extend(counters::check(&machine));
    let count = |level| {
        findings
            .iter()
            .filter(|finding: &&Finding| finding.level == level)
            .count()
    };
    let (problems, warnings) = (count(Severity::Problem), count(Severity::Warning));
    let ready = problems == 0;
    let subject = match (ready, supported.is_empty()) {
        (true, true) => "ready for a run with the software card",
        (true, false) => "ready for a run",
        (false, _) => "not ready for a run with a card",
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
