//! Checks the ports: drivers, PCIe links, network links and NUMA nodes.

use super::machine::{plural, ExaminedMachine, PORTS};
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::nic::{join, Nic};
use crate::machine::host::system::program;

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    if machine.nics.is_empty() {
        return vec![Finding::ok(
            Topic::Nics,
            "nics",
            "no NIC that the drivers support; the software card works",
            "the findings on IOMMU and VFIO below matter only with a card",
        )];
    }
    let mut findings = vec![ports(machine)];
    for nic in machine.nics {
        findings.extend(one(machine, nic));
    }
    findings.extend(numa(machine));
    findings
}

/// The ports that the drivers refuse. A run without them is possible, unless the user named them.
pub(super) fn refused(machine: &ExaminedMachine<'_>, ports: &[Nic]) -> Vec<Finding> {
    let level = match machine.named {
        true => Severity::Problem,
        false => Severity::Warning,
    };
    ports
        .iter()
        .filter_map(|nic| {
            let reason = nic.refused?;
            let found = format!(
                "{} ({}) is not supported: {reason}",
                nic.address, nic.name
            );
            let why = "all three drivers refuse this card; bench/HARDWARE.md lists cards that they support";
            let finding = Finding::ok(Topic::Nics, "refused", found, why).with_severity(level);
            Some(finding.fix("lspci -D -d 8086: # look for an 82599 with SFP+, an X540 or an X550"))
        })
        .collect()
}

/// Whether enough ports are bound to vfio-pci.
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
        "a driver can open only ports that the kernel's driver has released, and it needs two",
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
    let finding = finding.with_severity(Severity::Problem);
    if free.len() + count < wanted {
        return finding.fix(format!(
            "sudo {} bind DEVICE DEVICE # too few ports are free: choose two by what they carry",
            program()
        ));
    }
    let carry = machine
        .nics
        .iter()
        .any(|nic| free.contains(&nic.address) && !nic.carries().is_empty());
    finding.fix(format!(
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

/// The option of `bind` that gives the ports to this user; empty for root.
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
                "the kernel loses all of it while the port is bound to vfio-pci",
            )
            .with_severity(Severity::Warning),
        );
    }
    if nic.virtual_functions > 0 {
        findings.push(
            Finding::ok(
                Topic::Nics,
                "sriov",
                format!(
                    "{} has {} (SR-IOV)",
                    nic.address,
                    plural(nic.virtual_functions as usize, "virtual function")
                ),
                "virtual functions take queues of the port, and a reset of the port ends their traffic",
            )
            .with_severity(Severity::Warning)
            .fix(format!("echo 0 | sudo tee {}/sriov_numvfs", nic.folder())),
        );
    }
    if let Some(pcie) = nic.pcie.as_ref().filter(|pcie| pcie.is_reduced()) {
        findings.push(
            Finding::ok(
                Topic::Nics,
                "pcie",
                format!(
                    "{} runs at PCIe {} x{} ({:.0} Gbit/s), but supports {} x{}",
                    nic.address,
                    pcie.speed,
                    pcie.width,
                    pcie.gigabits(),
                    pcie.max_speed,
                    pcie.max_width
                ),
                "both ports of a card share the link, and descriptors need a part of it: move the card \
                 to a better slot",
            )
            .with_severity(Severity::Warning)
            .fix(format!("sudo lspci -vv -s {} | grep Lnk", nic.address)),
        );
    }
    for interface in &nic.interfaces {
        if interface.up && interface.link == Some(false) {
            findings.push(
                Finding::ok(
                    Topic::Nics,
                    "link",
                    format!("{} ({}) has no link", nic.address, interface.name),
                    "packets need a cable and an optical module that the card accepts",
                )
                .with_severity(Severity::Warning)
                .fix(format!("sudo ethtool -m {}", interface.name)),
            );
        }
    }
    findings
}

/// Whether all ports are on one NUMA node.
fn numa(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let nodes = machine.nodes();
    (nodes.len() > 1).then(|| {
        Finding::ok(
            Topic::Nics,
            "numa",
            format!("the ports are on NUMA nodes {}", join(&nodes, ", ")),
            "a packet that crosses nodes costs more than the driver: use ports of one node",
        )
        .with_severity(Severity::Warning)
    })
}
