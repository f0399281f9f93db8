//! Checks the IOMMU, without which the kernel gives no device to a process.

use super::machine::{add_option, remove_option, ExaminedMachine};
use crate::machine::host::finding::{Finding, Severity};
use crate::machine::host::nic::{is_no_iommu, join, plural};

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let mut groups = system.entries("/sys/kernel/iommu_groups");
    groups.retain(|group| !is_no_iommu(system, group));
    if groups.is_empty() {
        return [off(machine)]
            .into_iter()
            .chain(no_iommu(machine))
            .collect();
    }
    let units = system.entries("/sys/class/iommu");
    let mut findings = vec![Finding::ok(
        "iommu",
        format!(
            "on: {} ({}), {}{}",
            plural(units.len(), "unit"),
            units.join(", "),
            plural(groups.len(), "group"),
            options(machine)
        ),
    )];
    for nic in machine.nics.iter().filter(|nic| nic.group.is_none()) {
        let found = format!("{} is in no IOMMU group", nic.address);
        let command = "sudo dmesg | grep -e DMAR -e IOMMU -e AMD-Vi";
        findings.push(Finding::problem("iommu_group", found).fix(command));
    }
    findings.push(remapping(machine));
    findings.extend(no_iommu(machine));
    findings
}

/// Whether VFIO gives out devices without an IOMMU, which the drivers refuse.
fn no_iommu(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    const PARAMETER: &str = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
    let nics = machine.nics.iter();
    let unprotected: Vec<_> = nics
        .filter(|nic| nic.group.as_ref().is_some_and(|group| group.no_iommu))
        .map(|nic| nic.address)
        .collect();
    let enabled = machine.system.read(PARAMETER).as_deref() == Some("Y");
    let finding = match unprotected.as_slice() {
        [] if !enabled => return None,
        [] => Finding::warning("no_iommu", "VFIO may give out devices without an IOMMU"),
        some => {
            let found = format!("VFIO gives out {} without an IOMMU", join(some, ", "));
            Finding::problem("no_iommu", found)
        }
    };
    Some(finding.fix(format!("echo N | sudo tee {PARAMETER}")))
}

/// The IOMMU options on the kernel's command line.
fn options(machine: &ExaminedMachine<'_>) -> String {
    let text = machine.system.read("/proc/cmdline").unwrap_or_default();
    let mut found: Vec<&str> = text.split_whitespace().collect();
    found.retain(|option| {
        let name = option.split('=').next();
        matches!(
            name,
            Some("intel_iommu" | "amd_iommu" | "iommu" | "intremap")
        )
    });
    match found.as_slice() {
        [] => String::new(),
        some => format!("; {}", some.join(" ")),
    }
}

/// Finds the cause of an IOMMU that is off: the command line, the firmware or the machine.
fn off(machine: &ExaminedMachine<'_>) -> Finding {
    let options = options(machine);
    let finding =
        |text: &str| Finding::new(machine.if_card(), "iommu", format!("off: {text}{options}"));
    let table = |name: &str| {
        machine
            .system
            .exists(&format!("/sys/firmware/acpi/tables/{name}"))
    };
    let cpu = machine.system.read("/proc/cpuinfo").unwrap_or_default();
    let unused = "the machine has an IOMMU, but the kernel does not use it";
    let off = ["intel_iommu=off", "amd_iommu=off", "iommu=off"];
    if let Some(option) = machine.boot_option(&off) {
        finding("switched off on the kernel's command line").fix(remove_option(option))
    } else if table("DMAR") {
        finding(unused).fix(add_option("intel_iommu=on"))
    } else if table("IVRS") {
        finding(unused).fix(add_option("iommu=pt"))
    } else if cpu.contains(" hypervisor") {
        finding("the virtual machine has none")
    } else {
        finding("the firmware offers none: enable VT-d (Intel) or AMD-Vi in its set-up")
            .fix("sudo systemctl reboot --firmware-setup")
    }
}

/// Whether interrupts are remapped. Without that, a device could forge interrupts.
fn remapping(machine: &ExaminedMachine<'_>) -> Finding {
    const PARAMETER: &str = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
    let finding = |level, found: &str| Finding::new(level, "interrupt_remapping", found);
    // With remapping, the names of the interrupt chips begin with IR-.
    let interrupts = machine.system.read("/proc/interrupts").unwrap_or_default();
    let mut words = interrupts.split_whitespace();
    if words.any(|word| word.starts_with("IR-")) {
        return finding(Severity::Ok, "interrupts are remapped");
    }
    if machine.system.read(PARAMETER).as_deref() == Some("Y") {
        let found = "interrupts are not remapped, and VFIO is set to allow that";
        return finding(Severity::Warning, found);
    }
    let switched_off = machine.boot_option(&["intremap=off", "nointremap"]);
    finding(machine.if_card(), "interrupts are not remapped").fix(match switched_off {
        Some(option) => remove_option(option),
        // Old boards cannot remap interrupts.
        None => format!("sudo modprobe vfio_iommu_type1 && echo Y | sudo tee {PARAMETER}"),
    })
}
