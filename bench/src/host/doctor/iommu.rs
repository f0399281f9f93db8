//! The IOMMU, without which the kernel hands no device out.

use super::machine::{add_to_cmdline, plural, ExaminedMachine};
use crate::host::finding::{Finding, Level, Topic};

const WHY: &str = "VFIO hands a device out only where an IOMMU keeps its DMA in bounds";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let groups = system.entries("/sys/kernel/iommu_groups").len();
    if groups == 0 {
        return vec![off(machine)];
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
            .but(Level::Problem)
            .mend("sudo dmesg | grep -e DMAR -e IOMMU -e AMD-Vi"),
        );
    }
    findings.push(remapping(machine));
    findings
}

fn command_line(machine: &ExaminedMachine<'_>) -> String {
    machine.system.read("/proc/cmdline").unwrap_or_default()
}

/// What the kernel's command line says of the IOMMU.
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

/// There are no groups: is it the command line, the firmware, or the machine?
fn off(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let command_line = command_line(machine);
    let options = options(&command_line);
    let finding = |text: &str| {
        Finding::ok(Topic::Iommu, "iommu", format!("off: {text}{options}"), WHY)
            .but(machine.if_card(Level::Problem))
    };
    let switched_off = command_line
        .split_whitespace()
        .find(|option| matches!(*option, "intel_iommu=off" | "amd_iommu=off" | "iommu=off"));
    if let Some(option) = switched_off {
        return finding("switched off on the kernel's command line").mend(format!(
            "sudo sed -i 's/{option}//' /etc/default/grub && sudo update-grub && sudo reboot"
        ));
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
                false => finding(
                    "the firmware offers none: switch VT-d (Intel) or AMD-Vi on in its set-up",
                )
                .mend("sudo systemctl reboot --firmware-setup"),
            };
        }
    };
    finding("the machine has one, which the kernel does not use").mend(add_to_cmdline(options))
}

/// Interrupts that are not remapped could be forged by a device.
fn remapping(machine: &ExaminedMachine<'_>) -> Finding {
    const PARAMETER: &str = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
    let system = machine.system;
    let why = "without it a device could forge interrupts, and VFIO refuses to hand it out";
    // The names of the interrupt chips begin so where remapping is on.
    let remapped = system
        .read("/proc/interrupts")
        .is_some_and(|text| text.split_whitespace().any(|word| word.starts_with("IR-")));
    if remapped {
        let found = "interrupts are remapped";
        return Finding::ok(Topic::Iommu, "interrupt_remapping", found, why);
    }
    if system.read(PARAMETER).as_deref() == Some("Y") {
        let found = "interrupts are not remapped, and VFIO was told to suffer it";
        return Finding::ok(Topic::Iommu, "interrupt_remapping", found, why).but(Level::Warning);
    }
    let finding = Finding::ok(
        Topic::Iommu,
        "interrupt_remapping",
        "interrupts are not remapped",
        why,
    )
    .but(machine.if_card(Level::Problem));
    match command_line(machine)
        .split_whitespace()
        .any(|option| option == "intremap=off" || option == "nointremap")
    {
        true => finding.mend(
            "sudo sed -i -E 's/intremap=off|nointremap//' /etc/default/grub && sudo update-grub \
             && sudo reboot",
        ),
        // Old boards cannot at all.
        false => finding.mend(
            "sudo modprobe vfio_iommu_type1 && echo Y | sudo tee \
             /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
        ),
    }
}
