//! Checks the memory for rings and packet buffers.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity};

/// Huge pages that a run may need. Two ports with rings of 4096 take 36: 16 for each pool and one
/// for each of the four rings. With rings of 512 they take 8.
const PAGES: i64 = 64;
const PAGE_KIB: i64 = 2048;

const FOLDER: &str = "hugepages/hugepages-2048kB";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    vec![huge_pages(machine), memlock(machine)]
}

fn huge_pages(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let all = format!("/sys/kernel/mm/{FOLDER}");
    if !system.exists(&all) {
        return Finding::warning("huge_pages", "the kernel has no huge pages of 2 MiB");
    }
    let count = |folder: &str, name: &str| system.number(&format!("{folder}/{name}")).unwrap_or(0);
    let free = |folder: &str| count(folder, "free_hugepages");
    let total = |folder: &str| count(folder, "nr_hugepages");
    // With several nodes, only memory on the card's node counts.
    let mut folders = vec![("huge pages of 2 MiB".to_owned(), all)];
    if system.nodes().len() > 1 && !machine.nodes().is_empty() {
        let of_node = |node| {
            let folder = format!("/sys/devices/system/node/node{node}/{FOLDER}");
            (format!("huge pages of 2 MiB on node {node}"), folder)
        };
        folders = machine.nodes().into_iter().map(of_node).collect();
    }
    let text = |(what, folder): &(String, String)| {
        format!("{what}: {} of {} free", free(folder), total(folder))
    };
    let found = folders.iter().map(text).collect::<Vec<_>>().join(", ");
    folders.retain(|(_, folder)| free(folder) < PAGES);
    if folders.is_empty() {
        return Finding::ok("huge_pages", found);
    }
    let more = |(_, folder): &(String, String)| {
        format!(
            "echo {} | sudo tee {folder}/nr_hugepages",
            total(folder) + 256
        )
    };
    let fix = match folders.as_slice() {
        [(_, folder)] if folder.contains("/mm/") => "make hugepages".to_owned(),
        folders => folders.iter().map(more).collect::<Vec<_>>().join(" && "),
    };
    Finding::warning("huge_pages", format!("{found}; a run may take {PAGES}")).fix(fix)
}

fn memlock(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let user = &system.user().name;
    let limits = system.read("/proc/self/limits").unwrap_or_default();
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))
        .and_then(|rest| rest.split_whitespace().next());
    let limit = match limit {
        _ if system.user().is_root() => "unlimited",
        Some(text) => text,
        None => return Finding::warning("memlock", "the limit on locked memory is unknown"),
    };
    if limit == "unlimited" {
        return Finding::ok("memlock", format!("{user} may lock memory without limit"));
    }
    let kib = limit.parse().unwrap_or(0) / 1024;
    let found = format!("{user} may lock {kib} KiB");
    let wanted = PAGES * PAGE_KIB;
    if kib >= wanted {
        return Finding::ok("memlock", found);
    }
    let level = if kib < wanted / 4 {
        machine.if_card()
    } else {
        Severity::Warning
    };
    Finding::new(
        level,
        "memlock",
        format!("{found}; a run may lock {wanted} KiB"),
    )
    .fix("sudo prlimit --pid $$ --memlock=unlimited # this shell")
    .fix(format!(
        "echo '{user} - memlock unlimited' | sudo tee /etc/security/limits.d/triptych.conf \
             # from the next login on"
    ))
}
