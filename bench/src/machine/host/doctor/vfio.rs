//! Checks the kernel's VFIO: its modules, its files and the IOMMU groups.

use super::machine::ExaminedMachine;
use super::nics::for_user;
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::holders;
use crate::machine::host::nic::{join, release_command, Group, Nic};
use crate::machine::host::system::{program, user_name};

const CONTAINER: &str = "/dev/vfio/vfio";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings = vec![modules(machine)];
    findings.extend(container(machine));
    for nic in machine.nics {
        findings.extend(group(machine, nic));
    }
    findings
}

fn modules(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let why = "vfio-pci gives devices to processes, and vfio_iommu_type1 maps their memory";
    let missing: Vec<&str> = [
        // A module that is built into the kernel has its driver folder, but none in /sys/module.
        ("vfio-pci", system.exists("/sys/bus/pci/drivers/vfio-pci")),
        (
            "vfio_iommu_type1",
            system.exists("/sys/module/vfio_iommu_type1"),
        ),
    ]
    .into_iter()
    .filter_map(|(name, there)| (!there).then_some(name))
    .collect();
    match missing.as_slice() {
        [] => Finding::ok(
            Topic::Vfio,
            "vfio_modules",
            "vfio-pci and vfio_iommu_type1 are loaded",
            why,
        ),
        some => Finding::ok(
            Topic::Vfio,
            "vfio_modules",
            format!("not loaded: {}", some.join(", ")),
            why,
        )
        // `triptych bind` loads them.
        .with_severity(match machine.nics.iter().any(Nic::is_bound_to_vfio) {
            true => Severity::Problem,
            false => Severity::Warning,
        })
        .fix(format!("sudo modprobe -a {}", some.join(" "))),
    }
}

/// Whether the user may open the container's file. The kernel creates it with access for all.
fn container(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let usable = machine.system.may_use(CONTAINER)?;
    let user = &machine.system.user().name;
    let why = "a driver maps memory for the card through this file";
    let finding = |found| Finding::ok(Topic::Vfio, "vfio_container", found, why);
    Some(match usable {
        true => finding(format!("{user} may use {CONTAINER}")),
        false => finding(format!("{user} may not use {CONTAINER}"))
            .with_severity(machine.if_card(Severity::Problem))
            .fix(format!("sudo chmod 666 {CONTAINER}")),
    })
}

fn group(machine: &ExaminedMachine<'_>, nic: &Nic) -> Vec<Finding> {
    let Some(group) = &nic.group else {
        return Vec::new();
    };
    let mut findings: Vec<Finding> = group_viable(machine, nic, group).into_iter().collect();
    if nic.is_bound_to_vfio() {
        findings.push(group_access(machine, nic, &group.node()));
        findings.extend(group_in_use(machine, nic, group));
    }
    findings
}

/// Whether other devices of the group keep VFIO from handing it out.
fn group_viable(machine: &ExaminedMachine<'_>, nic: &Nic, group: &Group) -> Option<Finding> {
    let in_the_way = group.in_the_way();
    if in_the_way.is_empty() || !(nic.is_bound_to_vfio() || machine.named) {
        return None;
    }
    let names: Vec<String> = in_the_way
        .iter()
        .map(|member| {
            format!(
                "{} ({}, {})",
                member.address,
                member.id,
                member.driver.as_deref().unwrap_or("no driver")
            )
        })
        .collect();
    let finding = Finding::ok(
        Topic::Vfio,
        "group_viable",
        format!(
            "IOMMU group {} of {} is not viable: it also holds {}",
            group.number,
            nic.address,
            names.join(", ")
        ),
        "the IOMMU cannot isolate devices of one group from each other, so VFIO needs all of them",
    )
    .with_severity(Severity::Problem);
    let mut addresses: Vec<_> = in_the_way.iter().map(|member| member.address).collect();
    Some(match in_the_way.iter().all(|member| member.ixgbe_family) {
        true => {
            if !nic.is_bound_to_vfio() {
                addresses.insert(0, nic.address);
            }
            finding.fix(format!(
                "sudo {} bind {}{}",
                program(),
                join(&addresses, " "),
                for_user(machine)
            ))
        }
        false => finding.fix(release_command(&addresses)),
    })
}

/// Whether the user may open the group's file.
fn group_access(machine: &ExaminedMachine<'_>, nic: &Nic, node: &str) -> Finding {
    let user = machine.system.user();
    let why = "a user who may open the group's file can drive the card without root";
    let finding = |found| Finding::ok(Topic::Vfio, "group_access", found, why);
    match machine.system.may_use(node) {
        None => finding(format!("{node} of {} is missing", nic.address))
            .with_severity(Severity::Problem)
            .fix(format!(
                "sudo {0} unbind {1} && sudo {0} bind {1}{2}",
                program(),
                nic.address,
                for_user(machine)
            )),
        Some(true) => finding(format!("{} may use {node} of {}", user.name, nic.address)),
        Some(false) => {
            let owner = machine.system.owner(node);
            let owner = owner.map_or_else(String::new, |owner| {
                format!(", which belongs to {}", user_name(owner.uid))
            });
            finding(format!(
                "{} may not use {node} of {}{owner}",
                user.name, nic.address
            ))
            .with_severity(Severity::Problem)
            .fix(format!(
                "sudo {} bind {}{}",
                program(),
                nic.address,
                for_user(machine)
            ))
        }
    }
}

/// Whether a process has the group open.
fn group_in_use(machine: &ExaminedMachine<'_>, nic: &Nic, group: &Group) -> Option<Finding> {
    let holders = holders::of_group(machine.system, group.number);
    if holders.is_empty() {
        return None;
    }
    let pids: Vec<u32> = holders.iter().map(|holder| holder.pid).collect();
    let found = format!(
        "{} of {} is open in {}",
        group.node(),
        nic.address,
        join(&holders, ", ")
    );
    let why = "only one process at a time can drive a group";
    Some(
        Finding::ok(Topic::Vfio, "group_in_use", found, why)
            .with_severity(Severity::Problem)
            .fix(format!("kill {}", join(&pids, " "))),
    )
}
