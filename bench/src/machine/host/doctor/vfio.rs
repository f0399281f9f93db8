//! Checks the kernel's VFIO: its modules, its files and the IOMMU groups.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity};
use crate::machine::host::holders;
use crate::machine::host::nic::{Group, Nic};
use crate::machine::host::system::{program, user_name};

const CONTAINER: &str = "/dev/vfio/vfio";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings = vec![modules(machine)];
    findings.extend(container(machine));
    for nic in machine.nics {
        let Some(group) = &nic.group else { continue };
        if nic.is_bound_to_vfio() || machine.named {
            let obstacle = group.obstacle(nic.address, &[]).into_iter();
            findings.extend(obstacle.map(|(found, fix)| {
                Finding::problem("group_viable", found).fix(fix + &machine.for_user())
            }));
        }
        if nic.is_bound_to_vfio() {
            findings.push(group_access(machine, nic, &group.node()));
            findings.extend(group_in_use(machine, nic, group));
        }
    }
    findings
}

fn modules(machine: &ExaminedMachine<'_>) -> Finding {
    let mut missing = vec!["vfio-pci", "vfio_iommu_type1"];
    missing.retain(|name| {
        // A module that is built into the kernel has its driver folder, but none in /sys/module.
        !["bus/pci/drivers", "module"]
            .iter()
            .any(|folder| machine.system.exists(&format!("/sys/{folder}/{name}")))
    });
    if missing.is_empty() {
        return Finding::ok("vfio_modules", "vfio-pci and vfio_iommu_type1 are loaded");
    }
    // `triptych bind` loads them.
    let level = Severity::of_fault(machine.nics.iter().any(Nic::is_bound_to_vfio));
    Finding::new(
        level,
        "vfio_modules",
        format!("not loaded: {}", missing.join(", ")),
    )
    .fix(format!("sudo modprobe -a {}", missing.join(" ")))
}

/// Whether the user may open the container's file. The kernel creates it with access for all.
fn container(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let user = &machine.system.user().name;
    Some(if machine.system.may_use(CONTAINER)? {
        Finding::ok("vfio_container", format!("{user} may use {CONTAINER}"))
    } else {
        let found = format!("{user} may not use {CONTAINER}");
        Finding::new(machine.if_card(), "vfio_container", found)
            .fix(format!("sudo chmod 666 {CONTAINER}"))
    })
}

/// Whether the user may open the group's file.
fn group_access(machine: &ExaminedMachine<'_>, nic: &Nic, node: &str) -> Finding {
    let (name, address) = (&machine.system.user().name, nic.address);
    let (program, user) = (program(), machine.for_user());
    let bind = format!("sudo {program} bind {address}{user}");
    match machine.system.may_use(node) {
        None => Finding::problem("group_access", format!("{node} of {address} is missing"))
            .fix(format!("sudo {program} bind --undo {address} && {bind}")),
        Some(true) => Finding::ok(
            "group_access",
            format!("{name} may use {node} of {address}"),
        ),
        Some(false) => {
            let owner = machine
                .system
                .owner(node)
                .map(user_name)
                .unwrap_or_default();
            let found = format!("{name} may not use {node} of {address}, which belongs to {owner}");
            Finding::problem("group_access", found).fix(bind)
        }
    }
}

/// Whether a process has the group open.
fn group_in_use(machine: &ExaminedMachine<'_>, nic: &Nic, group: &Group) -> Option<Finding> {
    let (holders, kill) = holders::of_group(machine.system, group.number)?;
    let found = format!("{} of {} is open in {holders}", group.node(), nic.address);
    Some(Finding::problem("group_in_use", found).fix(kill))
}
