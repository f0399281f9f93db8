//! Checks the IOMMU, without which the kernel gives no device to a process.

use super::boot::{add_options, remove_option};
use super::machine::{plural, ExaminedMachine};
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::nic::is_no_iommu;

const WHY: &str = "VFIO gives a device to a process only if an IOMMU confines the device's DMA";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let groups = system.entries("/sys/kernel/iommu_groups");
    let groups = groups.iter().filter(|group| !is_no_iommu(system, group));
    let groups = groups.count();
    if groups == 0 {
        let mut findings = vec![off(machine)];
        findings.extend(no_iommu(machine));
        return findings;
    }
    let units = system.entries("/sys/class/iommu");
    let mut findings = vec![Finding::ok(
        Topic::Iommu,
        "iommu",
        format!(
            "on: {} ({}), {}{}",
            plural(units.len(), "unit"),
            units.join(", "),
            plural(groups, "group"),
            options(&command_line(machine))
        ),
        WHY,
    )];
    for nic in machine.nics.iter().filter(|nic| nic.group.is_none()) {
        findings.push(
            Finding::ok(
                Topic::Iommu,
                "iommu_group",
                format!("{} is in no IOMMU group", nic.address),
                WHY,
            )
            .with_severity(Severity::Problem)
            .fix("sudo dmesg | grep -e DMAR -e IOMMU -e AMD-Vi"),
        );
    }
    findings.push(remapping(machine));
    findings.extend(no_iommu(machine));
    findings
}

/// Whether VFIO gives out devices without an IOMMU, which the drivers refuse.
fn no_iommu(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    const PARAMETER: &str = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
    let unprotected: Vec<String> = machine
        .nics
        .iter()
        .filter(|nic| nic.group.as_ref().is_some_and(|group| group.no_iommu))
        .map(|nic| nic.address.to_string())
        .collect();
    let enabled = machine.system.read(PARAMETER).as_deref() == Some("Y");
    let (found, level) = match unprotected.as_slice() {
        [] if !enabled => return None,
        [] => (
            "VFIO may give out devices without an IOMMU".to_owned(),
            Severity::Warning,
        ),
        some => (
            format!("VFIO gives out {} without an IOMMU", some.join(", ")),
            Severity::Problem,
        ),
    };
    let why =
        "the card could then overwrite all memory, and it needs physical addresses, which the \
               drivers do not use: they refuse no-IOMMU mode";
    let finding = Finding::ok(Topic::Iommu, "no_iommu", found, why).with_severity(level);
    Some(finding.fix(format!("echo N | sudo tee {PARAMETER}")))
}

fn command_line(machine: &ExaminedMachine<'_>) -> String {
    machine.system.read("/proc/cmdline").unwrap_or_default()
}

/// The IOMMU options on the kernel's command line.
fn options(command_line: &str) -> String {
    let found: Vec<&str> = command_line
        .split_whitespace()
        .filter(|option| {
            let name = option.split('=').next().unwrap_or("");
            matches!(name, "intel_iommu" | "amd_iommu" | "iommu" | "intremap")
        })
        .collect();
    match found.as_slice() {
        [] => String::new(),
        some => format!("; {}", some.join(" ")),
    }
}

/// Finds the cause of an IOMMU that is off: the command line, the firmware or the machine.
fn off(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let command_line = command_line(machine);
    let options = options(&command_line);
    let finding = |text: &str| {
        Finding::ok(Topic::Iommu, "iommu", format!("off: {text}{options}"), WHY)
            .with_severity(machine.if_card(Severity::Problem))
    };
    let switched_off = command_line
        .split_whitespace()
        .find(|option| matches!(*option, "intel_iommu=off" | "amd_iommu=off" | "iommu=off"));
    if let Some(option) = switched_off {
        return finding("switched off on the kernel's command line")
            .fix(remove_option(system, option));
    }
    let intel = system.exists("/sys/firmware/acpi/tables/DMAR");
    let amd = system.exists("/sys/firmware/acpi/tables/IVRS");
    let options = match (intel, amd) {
        (true, _) => "intel_iommu=on",
        (_, true) => "iommu=pt",
        _ => {
            let hypervisor = system
                .read("/proc/cpuinfo")
                .is_some_and(|text| text.contains(" hypervisor"));
            return match hypervisor {
                true => finding("the virtual machine has none"),
                false => {
                    finding("the firmware offers none: enable VT-d (Intel) or AMD-Vi in its set-up")
                        .fix("sudo systemctl reboot --firmware-setup")
                }
            };
        }
    };
    finding("the machine has an IOMMU, but the kernel does not use it")
        .fix(add_options(system, options))
}

/// Whether interrupts are remapped. Without that, a device could forge interrupts.
fn remapping(machine: &ExaminedMachine<'_>) -> Finding {
    const PARAMETER: &str = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
    let system = machine.system;
    let why = "without remapping, a device could forge interrupts, so VFIO refuses it";
    // With remapping, the names of the interrupt chips begin with IR-.
    let remapped = system
        .read("/proc/interrupts")
        .is_some_and(|text| text.split_whitespace().any(|word| word.starts_with("IR-")));
    if remapped {
        let found = "interrupts are remapped";
        return Finding::ok(Topic::Iommu, "interrupt_remapping", found, why);
    }
    if system.read(PARAMETER).as_deref() == Some("Y") {
        let found = "interrupts are not remapped, and VFIO is set to allow that";
        return Finding::ok(Topic::Iommu, "interrupt_remapping", found, why)
            .with_severity(Severity::Warning);
    }
    let finding = Finding::ok(
        Topic::Iommu,
        "interrupt_remapping",
        "interrupts are not remapped",
        why,
    )
    .with_severity(machine.if_card(Severity::Problem));
    let command_line = command_line(machine);
    let switched_off = command_line
        .split_whitespace()
        .find(|option| *option == "intremap=off" || *option == "nointremap");
    match switched_off {
        Some(option) => finding.fix(remove_option(system, option)),
        // Old boards cannot remap interrupts.
        None => finding.fix(
            "sudo modprobe vfio_iommu_type1 && echo Y | sudo tee \
             /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
        ),
    }
}
