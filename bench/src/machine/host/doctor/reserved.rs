//! Checks for memory that the firmware keeps mapped for a port (RMRR). The kernel then gives the
//! port to no process.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

use super::machine::ExaminedMachine;
use crate::machine::host::finding::Finding;
use crate::machine::host::nic::Nic;
use crate::machine::host::system::System;

/// What kernels say when VFIO asks for such a device: Intel's driver since 3.17, all since 6.6.
const MESSAGES: [&str; 2] = [
    "Device is ineligible for IOMMU domain attach due to platform RMRR requirement",
    "Firmware has requested this device have a 1:1 IOMMU mapping, rejecting configuring the device",
];
/// Each read of `/dev/kmsg` returns one record, which must fit.
const RECORD: usize = 8192;
/// Limit on records, which the kernel's buffer does not reach.
const RECORDS: usize = 100_000;

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    if machine.nics.is_empty() {
        return Vec::new();
    }
    let refusals = refusals(machine.system);
    let nics = machine.nics.iter();
    nics.filter_map(|nic| one(machine.system, nic, &refusals))
        .collect()
}

fn one(system: &System, nic: &Nic, refusals: &[String]) -> Option<Finding> {
    let address = nic.address.to_string();
    let group = nic.group.as_ref().map(|group| group.number);
    let regions = group.map_or_else(Vec::new, |group| direct_regions(system, group));
    let found = match (regions.as_slice(), group) {
        ([_, ..], Some(group)) => format!(
            "the firmware keeps {} mapped for {address} (RMRR of IOMMU group {group})",
            regions.join(", ")
        ),
        _ if refusals.iter().any(|text| text.contains(&address)) => format!(
            "the kernel refused {address} to VFIO, because the firmware keeps memory mapped for it (RMRR)"
        ),
        _ => return None,
    };
    let fix = "sudo systemctl reboot --firmware-setup # newest firmware; no management functions that share the card \
        (HPE: `conrep` excludes the slot; Dell: no OS-to-iDRAC pass-through), or another slot";
    Some(Finding::problem("rmrr", found).fix(fix))
}

/// The ranges that must stay mapped. `direct-relaxable` ones, of graphics and USB, do not matter.
fn direct_regions(system: &System, group: u32) -> Vec<String> {
    let path = format!("/sys/kernel/iommu_groups/{group}/reserved_regions");
    let text = system.read(&path).unwrap_or_default();
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    lines
        .filter_map(|fields| match fields.as_slice() {
            [first, last, "direct"] => Some(format!("{:#x}-{:#x}", number(first)?, number(last)?)),
            _ => None,
        })
        .collect()
}

/// The kernel's refusals in its log; none if the user may not read it.
fn refusals(system: &System) -> Vec<String> {
    let mut found = Vec::new();
    let opened = File::options()
        .read(true)
        // A read at the end of the log fails instead of waiting for the next message.
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(system.path("/dev/kmsg"));
    let Ok(mut log) = opened else {
        return found;
    };
    let mut record = vec![0; RECORD];
    for _ in 0..RECORDS {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(length) => {
                let text = String::from_utf8_lossy(&record[..length]);
                if MESSAGES.iter().any(|message| text.contains(message)) {
                    found.push(text.into_owned());
                }
            }
            // The kernel overwrote the record; the next read returns a later one.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(_) => break,
        }
    }
    found
}
