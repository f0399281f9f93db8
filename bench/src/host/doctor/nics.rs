//! The ports themselves.

use super::machine::{ExaminedMachine, PORTS};
use crate::host::finding::{Finding, Level, Topic};
use crate::host::nic::{join, Nic};
use crate::host::system::program;

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    if machine.nics.is_empty() {
        return vec![Finding::ok(
            Topic::Nics,
            "nics",
            "no NIC of the ixgbe family; the software card works",
            "what is said below of IOMMU and VFIO matters only with a card",
        )];
    }
    let mut findings = vec![ports(machine)];
    for nic in machine.nics {
        findings.extend(one(machine, nic));
    }
    findings.extend(numa(machine));
    findings
}

/// Whether there are enough ports that a driver could open.
fn ports(machine: &ExaminedMachine<'_>) -> Finding {
    let bound = |nic: &&Nic| nic.is_bound_to_vfio();
    let count = machine.nics.iter().filter(bound).count();
    let wanted = if machine.named {
        machine.nics.len()
    } else {
        PORTS
    };
    let finding = Finding::ok(
        Topic::Nics,
        "ports",
        format!("ports bound to vfio-pci: {count} of {}", machine.nics.len()),
        "a driver can open only what the kernel's own driver has let go of, and forwards \
         between two ports",
    );
    if count >= wanted {
        return finding;
    }
    let free: Vec<_> = machine
        .nics
        .iter()
        .filter(|nic| !nic.is_bound_to_vfio() && (machine.named || nic.carries().is_empty()))
        .map(|nic| nic.address)
        .take(wanted - count)
        .collect();
    let finding = finding.but(Level::Problem);
    if free.len() + count < wanted {
        return finding.mend(format!(
            "sudo {} bind DEVICE DEVICE # too few ports are free: see what they carry, and choose",
            program()
        ));
    }
    let carry = machine
        .nics
        .iter()
        .any(|nic| free.contains(&nic.address) && !nic.carries().is_empty());
    finding.mend(format!(
        "sudo {} bind {}{}{}",
        program(),
        join(&free, " "),
        for_user(machine),
        match carry {
            true => " --force # if what they carry can be spared",
            false => "",
        }
    ))
}

/// Gives the ports to the user who asks, if that is not root.
pub(super) fn for_user(machine: &ExaminedMachine<'_>) -> String {
    match machine.system.user() {
        user if user.is_root() => String::new(),
        user => format!(" --user {}", user.name),
    }
}

fn one(machine: &ExaminedMachine<'_>, nic: &Nic) -> Vec<Finding> {
    let mut findings = Vec::new();
    let carries = nic.carries();
    if !carries.is_empty() && machine.named {
        findings.push(
            Finding::ok(
                Topic::Nics,
                "in_use",
                format!("{} carries {}", nic.address, carries.join(", ")),
                "all of it is gone while the port is bound to vfio-pci",
            )
            .but(Level::Warning),
        );
    }
    if let Some(pcie) = nic.pcie.as_ref().filter(|pcie| pcie.is_reduced()) {
        findings.push(
            Finding::ok(
                Topic::Nics,
                "pcie",
                format!(
                    "{} runs at PCIe {} x{}, and could at {} x{}",
                    nic.address, pcie.speed, pcie.width, pcie.max_speed, pcie.max_width
                ),
                "fewer lanes carry fewer packets: put the card into a slot with more",
            )
            .but(Level::Warning)
            .mend(format!("sudo lspci -vv -s {} | grep Lnk", nic.address)),
        );
    }
    for interface in &nic.interfaces {
        if interface.up && interface.link == Some(false) {
            findings.push(
                Finding::ok(
                    Topic::Nics,
                    "link",
                    format!("{} ({}) has no link", nic.address, interface.name),
                    "without a cable and a module that the card accepts, nothing arrives",
                )
                .but(Level::Warning)
                .mend(format!("sudo ethtool -m {}", interface.name)),
            );
        }
    }
    findings
}

/// Whether all ports hang on the same node.
fn numa(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let nodes = machine.nodes();
    (nodes.len() > 1).then(|| {
        Finding::ok(
            Topic::Nics,
            "numa",
            format!("the ports are on NUMA nodes {}", join(&nodes, ", ")),
            "a packet that crosses nodes costs more than the driver: measure between ports of one",
        )
        .but(Level::Warning)
    })
}
