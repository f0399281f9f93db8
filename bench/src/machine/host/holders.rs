//! Finds the processes that have a device open.

use std::fmt;
use std::fs;

use serde::Serialize;

use super::system::{user_name, System};

/// A process that has something open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Process ID.
    pub pid: u32,
    /// The name of its program.
    pub program: String,
    /// Its user.
    pub user: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} ({}, of {})",
            self.pid, self.program, self.user
        )
    }
}

/// The processes that have an IOMMU group open. Only root sees the processes of all users.
pub fn of_group(system: &System, number: u32) -> Vec<Holder> {
    let node = format!("/dev/vfio/{number}");
    processes_with(system, |target| target == node)
}

/// The processes that have any VFIO device open. A device stays open after its group's file is
/// closed, and the device's own file does not name the device.
pub fn of_any_device(system: &System) -> Vec<Holder> {
    processes_with(system, |target| {
        target.starts_with("anon_inode:") && target.contains("vfio-device")
            || target.starts_with("/dev/vfio/devices/")
    })
}

fn processes_with(system: &System, matches: impl Fn(&str) -> bool) -> Vec<Holder> {
    let mut pids: Vec<u32> = system
        .entries("/proc")
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    pids.sort_unstable();
    pids.into_iter()
        .filter(|pid| {
            let folder = format!("/proc/{pid}/fd");
            system.entries(&folder).iter().any(|fd| {
                // A process may close files or end meanwhile.
                fs::read_link(system.path(&format!("{folder}/{fd}")))
                    .is_ok_and(|target| matches(&target.to_string_lossy()))
            })
        })
        .map(|pid| Holder {
            pid,
            program: system
                .read(&format!("/proc/{pid}/comm"))
                .unwrap_or_else(|| "?".to_owned()),
            user: system
                .owner(&format!("/proc/{pid}"))
                .map_or_else(|| "?".to_owned(), |owner| user_name(owner.uid)),
        })
        .collect()
}
