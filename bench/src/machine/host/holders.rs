//! Finds the processes that have a device open. Only root sees the processes of all users.

use std::fs;

use super::nic::join;
use super::system::{user_name, System};

/// The processes that have an IOMMU group open, in words, and the command that ends them.
pub fn of_group(system: &System, number: u32) -> Option<(String, String)> {
    let node = format!("/dev/vfio/{number}");
    let pids = processes_with(system, |target| target == node);
    let kill = format!("kill {}", join(&pids, " "));
    (!pids.is_empty()).then(|| (describe(system, &pids), kill))
}

/// The processes that have any VFIO device open, in words. A device stays open after its group's file is
/// closed, and the device's own file does not name the device.
pub fn of_any_device(system: &System) -> String {
    let pids = processes_with(system, |target| {
        target.starts_with("anon_inode:") && target.contains("vfio-device")
            || target.starts_with("/dev/vfio/devices/")
    });
    describe(system, &pids)
}

fn processes_with(system: &System, matches: impl Fn(&str) -> bool) -> Vec<u32> {
    let entries = system.entries("/proc");
    let mut pids: Vec<u32> = entries
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    pids.sort_unstable();
    pids.retain(|pid| {
        let folder = format!("/proc/{pid}/fd");
        system.entries(&folder).iter().any(|fd| {
            // A process may close files or end meanwhile.
            fs::read_link(system.path(&format!("{folder}/{fd}")))
                .is_ok_and(|target| matches(&target.to_string_lossy()))
        })
    });
    pids
}

fn describe(system: &System, pids: &[u32]) -> String {
    let describe = |pid: &u32| {
        let program = system
            .read(&format!("/proc/{pid}/comm"))
            .unwrap_or_default();
        let user = system.owner(&format!("/proc/{pid}")).map(user_name);
        format!("process {pid} ({program}, of {})", user.unwrap_or_default())
    };
    pids.iter().map(describe).collect::<Vec<_>>().join(", ")
}
