//! Checks the ports: drivers, PCIe links, network links and NUMA nodes.

use super::machine::{remove_option, ExaminedMachine};
use crate::machine::host::finding::{Finding, Severity};
use crate::machine::host::nic::{join, plural, Nic, Pcie, VFIO_PCI};
use crate::machine::host::system::program;

/// Ports that a run needs.
const PORTS: usize = 2;

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    if machine.nics.is_empty() {
        let found = "no NIC that the drivers support; the software card works";
        return vec![Finding::ok("nics", found)];
    }
    let mut findings = vec![ports(machine)];
    for nic in machine.nics {
        findings.extend(one(machine, nic));
    }
    let nodes = machine.nodes();
    if nodes.len() > 1 {
        let found = format!("the ports are on NUMA nodes {}", join(&nodes, ", "));
        findings.push(Finding::warning("numa", found));
    }
    findings
}

/// The ports that the drivers refuse. A run without them is possible, unless the user named them.
pub(super) fn refused(machine: &ExaminedMachine<'_>, ports: &[Nic]) -> Vec<Finding> {
    let level = Severity::of_fault(machine.named);
    let refused = ports.iter().filter_map(|nic| Some((nic, nic.refused?)));
    let findings = refused.map(|(Nic { address, name, .. }, reason)| {
        let found = format!("{address} ({name}) is not supported: {reason}");
        Finding::new(level, "refused", found)
            .fix("lspci -D -d 8086: # look for an 82599 with SFP+, an X540 or an X550")
    });
    findings.collect()
}

/// Whether enough ports are bound to vfio-pci.
fn ports(machine: &ExaminedMachine<'_>) -> Finding {
    let (nics, named) = (machine.nics, machine.named);
    let count = nics.iter().filter(|nic| nic.is_bound_to_vfio()).count();
    let found = format!("ports bound to vfio-pci: {count} of {}", nics.len());
    let wanted = if named { nics.len() } else { PORTS };
    if count >= wanted {
        return Finding::ok("ports", found);
    }
    let free: Vec<&Nic> = nics
        .iter()
        .filter(|nic| !nic.is_bound_to_vfio() && (named || nic.carries().is_empty()))
        .take(wanted - count)
        .collect();
    let program = program();
    let bind = if free.len() + count < wanted {
        let choose = "# too few ports are free: choose two by what they carry";
        format!("sudo {program} bind DEVICE DEVICE {choose}")
    } else {
        let addresses: Vec<_> = free.iter().map(|nic| nic.address).collect();
        let (ports, user) = (join(&addresses, " "), machine.for_user());
        let carry = free.iter().any(|nic| !nic.carries().is_empty());
        let force = Some(" --force # if what they carry can be spared").filter(|_| carry);
        format!(
            "sudo {program} bind {ports}{user}{}",
            force.unwrap_or_default()
        )
    };
    Finding::problem("ports", found).fix(bind)
}

fn one(machine: &ExaminedMachine<'_>, nic: &Nic) -> Vec<Finding> {
    let mut findings = Vec::new();
    let address = nic.address;
    let carries = nic.carries();
    if !carries.is_empty() && machine.named {
        let found = format!("{address} carries {}", carries.join(", "));
        findings.push(Finding::warning("in_use", found));
    }
    if nic.virtual_functions > 0 {
        let functions = plural(nic.virtual_functions as usize, "virtual function");
        findings.push(
            Finding::warning("sriov", format!("{address} has {functions} (SR-IOV)"))
                .fix(format!("echo 0 | sudo tee {}/sriov_numvfs", nic.folder())),
        );
    }
    if let Some(Pcie { now, best }) = nic.pcie.as_ref().filter(|pcie| pcie.now != pcie.best) {
        let found = format!("{address} runs at PCIe {now}, but supports {best}");
        let command = format!("sudo lspci -vv -s {address} | grep Lnk");
        findings.push(Finding::warning("pcie", found).fix(command));
    }
    for interface in &nic.interfaces {
        if interface.up && interface.link == Some(false) {
            let found = format!("{address} ({}) has no link", interface.name);
            let command = format!("sudo ethtool -m {}", interface.name);
            findings.push(Finding::warning("link", found).fix(command));
        }
    }
    findings
}

/// Settings that bind a port to a driver at boot, or whenever it appears.
pub(super) fn rebinding(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let finding = |found: String, driver: &str, fix: String| {
        if driver.replace('_', "-") == VFIO_PCI {
            Finding::ok("rebinding", found)
        } else {
            Finding::warning("rebinding", found).fix(fix)
        }
    };
    let mut findings = Vec::new();
    let command_line = machine.system.read("/proc/cmdline").unwrap_or_default();
    for nic in machine.nics {
        let address = nic.address;
        // `triptych bind` sets an override to `vfio-pci`; another one is somebody else's.
        let only = nic.driver_override.as_deref();
        if let Some(driver) = only.filter(|driver| *driver != VFIO_PCI) {
            let found = format!("{address} may be bound to {driver} only (driver_override)");
            let fix = format!("echo | sudo tee {}/driver_override", nic.folder());
            findings.push(finding(found, driver, fix));
        }
        let driverctl = format!("/etc/driverctl.d/{address}");
        if let Some(driver) = machine.system.read(&driverctl) {
            let found = format!("driverctl binds {address} to {driver} at each boot");
            let fix = format!("sudo driverctl unset-override {address}");
            findings.push(finding(found, &driver, fix));
        }
        // `vfio-pci.ids=` and `pci-stub.ids=`.
        for option in command_line.split_whitespace() {
            let setting = option.split_once(".ids=");
            if let Some((driver, _)) = setting.filter(|(_, ids)| ids.contains(&nic.id)) {
                let found =
                    format!("the kernel's command line binds {address} to {driver} ({option})");
                findings.push(finding(found, driver, remove_option(option)));
            }
        }
    }
    findings
}
