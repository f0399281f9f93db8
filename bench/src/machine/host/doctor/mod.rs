//! `triptych doctor`: examines everything that a run depends on, and changes nothing.

mod counters;
mod iommu;
mod machine;
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
use machine::ExaminedMachine;

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
