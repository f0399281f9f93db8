//! Checks for memory that the firmware keeps mapped for a port (RMRR). The kernel then gives the
//! port to no process.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::kernel_log;
use crate::machine::host::nic::Nic;

/// What kernels say when VFIO asks for such a device: Intel's driver since 3.17, all since 6.6.
const MESSAGES: [&str; 2] = [
    "Device is ineligible for IOMMU domain attach due to platform RMRR requirement",
    "Firmware has requested this device have a 1:1 IOMMU mapping, rejecting configuring the device",
];

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    if machine.nics.is_empty() {
        return Vec::new();
    }
    let refusals: Vec<String> = kernel_log::messages(machine.system)
        .into_iter()
        .filter(|text| MESSAGES.iter().any(|message| text.contains(message)))
        .collect();
    machine
        .nics
        .iter()
        .filter_map(|nic| one(machine, nic, &refusals))
        .collect()
}

fn one(machine: &ExaminedMachine<'_>, nic: &Nic, refusals: &[String]) -> Option<Finding> {
    let address = nic.address.to_string();
    let regions = nic
        .group
        .as_ref()
        .map_or_else(Vec::new, |group| direct_regions(machine, group.number));
    let found = match (regions.as_slice(), &nic.group) {
        ([_, ..], Some(group)) => format!(
            "the firmware keeps {} mapped for {address} (RMRR of IOMMU group {})",
            regions.join(", "),
            group.number
        ),
        _ if refusals.iter().any(|text| text.contains(&address)) => {
            format!("the kernel refused {address} to VFIO, because the firmware keeps memory mapped for it (RMRR)")
        }
        _ => return None,
    };
    let finding = Finding::ok(
        Topic::Iommu,
        "rmrr",
        found,
        "the firmware may let the port access that memory at any time, so VFIO gives it to no process. \
         A kernel patched with relax_rmrr would, at the risk of damaged memory",
    )
    .with_severity(Severity::Problem);
    Some(ways_out(machine, nic, finding))
}

/// The ranges that must stay mapped. `direct-relaxable` ones, of graphics and USB, do not matter.
fn direct_regions(machine: &ExaminedMachine<'_>, group: u32) -> Vec<String> {
    let path = format!("/sys/kernel/iommu_groups/{group}/reserved_regions");
    let text = machine.system.read(&path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (first, last, kind) = (fields.next()?, fields.next()?, fields.next()?);
            let short = |number: &str| match number.trim_start_matches("0x").trim_start_matches('0')
            {
                "" => "0x0".to_owned(),
                digits => format!("0x{digits}"),
            };
            (kind == "direct").then(|| format!("{}-{}", short(first), short(last)))
        })
        .collect()
}

fn ways_out(machine: &ExaminedMachine<'_>, nic: &Nic, finding: Finding) -> Finding {
    let vendor = machine.system.read("/sys/class/dmi/id/sys_vendor");
    let vendor = vendor.unwrap_or_default();
    let setup = "sudo systemctl reboot --firmware-setup";
    if vendor.starts_with("HP") || vendor.starts_with("Hewlett") {
        return finding
            .fix(format!(
                "sudo lspci -vv -s {} | grep 'Physical Slot' # the number N of the slot",
                nic.address
            ))
            .fix(
                "echo '<Conrep><Section name=\"RMRDS_SlotN\" helptext=\".\">Endpoints_Excluded</Section></Conrep>' \
                 > exclude.dat",
            )
            .fix(
                "sudo conrep -l -x conrep_rmrds.xml -f exclude.dat && sudo reboot \
                 # both from HPE's Scripting Toolkit",
            );
    }
    if vendor.starts_with("Dell") {
        return finding.fix(format!(
            "{setup} # with the newest BIOS: no OS-to-iDRAC pass-through by this card, or another slot"
        ));
    }
    finding.fix(format!(
        "{setup} # newest firmware; no management functions that share the card, or another slot"
    ))
}
