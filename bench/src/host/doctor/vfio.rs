//! The kernel's VFIO: its modules, its files, and the groups.

use super::machine::ExaminedMachine;
use super::nics::for_user;
use crate::host::finding::{Finding, Level, Topic};
use crate::host::holders;
use crate::host::nic::{join, Nic};
use crate::host::system::{program, user_name};

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
    let why = "vfio-pci hands devices to processes, vfio_iommu_type1 maps memory for them";
    let missing: Vec<&str> = [
        // Built in, they have no folder in /sys/module of that use; what they offer is there.
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
        .but(match machine.nics.iter().any(Nic::is_bound_to_vfio) {
            true => Level::Problem,
            false => Level::Warning,
        })
        .mend(format!("sudo modprobe -a {}", some.join(" "))),
    }
}

/// The file through which memory is mapped; open to everybody as the kernel makes it.
fn container(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let usable = machine.system.may_use(CONTAINER)?;
    let user = &machine.system.user().name;
    let why = "a driver maps its memory for the card through it";
    let finding = |found| Finding::ok(Topic::Vfio, "vfio_container", found, why);
    Some(match usable {
        true => finding(format!("{user} may use {CONTAINER}")),
        false => finding(format!("{user} may not use {CONTAINER}"))
            .but(machine.if_card(Level::Problem))
            .mend(format!("sudo chmod 666 {CONTAINER}")),
    })
}

fn group(machine: &ExaminedMachine<'_>, nic: &Nic) -> Vec<Finding> {
    let Some(group) = &nic.group else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let in_the_way = group.in_the_way();
    if !in_the_way.is_empty() && (nic.is_bound_to_vfio() || machine.named) {
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
            "the IOMMU cannot keep devices of one group apart, so VFIO wants them all",
        )
        .but(Level::Problem);
        findings.push(match in_the_way.iter().all(|member| member.ixgbe_family) {
            true => {
                let mut all: Vec<_> = in_the_way.iter().map(|member| member.address).collect();
                if !nic.is_bound_to_vfio() {
                    all.insert(0, nic.address);
                }
                finding.mend(format!(
                    "sudo {} bind {}{}",
                    program(),
                    join(&all, " "),
                    for_user(machine)
                ))
            }
            false => finding.mend(release(
                &in_the_way
                    .iter()
                    .map(|member| member.address.to_string())
                    .collect::<Vec<_>>(),
            )),
        });
    }
    if !nic.is_bound_to_vfio() {
        return findings;
    }
    let node = group.node();
    let user = machine.system.user();
    let why = "whoever may open the group's file needs no root to drive the card";
    let finding = |found| Finding::ok(Topic::Vfio, "group_access", found, why);
    findings.push(match machine.system.may_use(&node) {
        None => finding(format!("{node} of {} is missing", nic.address))
            .but(Level::Problem)
            .mend(format!(
                "sudo {0} unbind {1} && sudo {0} bind {1}{2}",
                program(),
                nic.address,
                for_user(machine)
            )),
        Some(true) => finding(format!("{} may use {node} of {}", user.name, nic.address)),
        Some(false) => {
            let owner = machine.system.owner(&node);
            let owner = owner.map_or_else(String::new, |owner| {
                format!(", which belongs to {}", user_name(owner.uid))
            });
            finding(format!(
                "{} may not use {node} of {}{owner}",
                user.name, nic.address
            ))
            .but(Level::Problem)
            .mend(format!(
                "sudo {} bind {}{}",
                program(),
                nic.address,
                for_user(machine)
            ))
        }
    });
    let holders = holders::of_group(machine.system, group.number);
    if !holders.is_empty() {
        findings.push(
            Finding::ok(
                Topic::Vfio,
                "group_in_use",
                format!(
                    "{node} of {} is open in {}",
                    nic.address,
                    join(&holders, ", ")
                ),
                "only one process at a time can drive a group",
            )
            .but(Level::Problem)
            .mend(format!(
                "kill {}",
                join(
                    &holders.iter().map(|holder| holder.pid).collect::<Vec<_>>(),
                    " "
                )
            )),
        );
    }
    findings
}

/// Takes devices from their drivers, which is enough for a group to be viable.
pub(in crate::host) fn release(addresses: &[String]) -> String {
    let commands: Vec<String> = addresses
        .iter()
        .map(|address| {
            format!("echo {address} | sudo tee /sys/bus/pci/devices/{address}/driver/unbind")
        })
        .collect();
    commands.join(" && ")
}
