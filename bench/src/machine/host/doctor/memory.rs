//! Checks the memory for rings and packet buffers.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::nic::join;

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
    let why = "a pool on 4 KiB pages causes TLB and IOTLB misses, which distort the figures";
    let finding = |found: String| Finding::ok(Topic::Memory, "huge_pages", found, why);
    let all = format!("/sys/kernel/mm/{FOLDER}");
    if !system.exists(&all) {
        return finding("the kernel has no huge pages of 2 MiB".to_owned())
            .with_severity(Severity::Warning);
    }
    let free = |folder: &str| {
        system
            .number(&format!("{folder}/free_hugepages"))
            .unwrap_or(0)
    };
    let total = |folder: &str| {
        system
            .number(&format!("{folder}/nr_hugepages"))
            .unwrap_or(0)
    };
    let nodes: Vec<(u32, String)> = system
        .entries("/sys/devices/system/node")
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            Some((number, format!("/sys/devices/system/node/{name}/{FOLDER}")))
        })
        .filter(|(_, folder)| system.exists(folder))
        .collect();
    // Only memory on the card's node counts.
    let wanted = machine.nodes();
    let short: Vec<&(u32, String)> = nodes
        .iter()
        .filter(|(node, folder)| wanted.contains(node) && free(folder) < PAGES)
        .collect();
    let whole = format!("{} of {} free", free(&all), total(&all));
    let found = match nodes.as_slice() {
        [] | [_] => format!("huge pages of 2 MiB: {whole}"),
        several => {
            let texts: Vec<String> = several
                .iter()
                .map(|(node, folder)| {
                    format!("node {node}: {} of {} free", free(folder), total(folder))
                })
                .collect();
            format!("huge pages of 2 MiB: {}", texts.join(", "))
        }
    };
    let gigantic = total("/sys/kernel/mm/hugepages/hugepages-1048576kB");
    if total(&all) == 0 && gigantic > 0 {
        return finding(format!(
            "only huge pages of 1 GiB are reserved ({gigantic}); the drivers use those of 2 MiB"
        ))
        .with_severity(Severity::Warning)
        .fix("make hugepages # the kernel's option hugepagesz=1G does not prevent it");
    }
    if nodes.len() > 1 && !short.is_empty() {
        let commands: Vec<String> = short
            .iter()
            .map(|(_, folder)| {
                format!(
                    "echo {} | sudo tee {folder}/nr_hugepages",
                    total(folder) + 256
                )
            })
            .collect();
        let names: Vec<u32> = short.iter().map(|(node, _)| *node).collect();
        return finding(format!(
            "{found}; fewer than {PAGES} on the card's node {}",
            join(&names, ", ")
        ))
        .with_severity(Severity::Warning)
        .fix(commands.join(" && "));
    }
    if free(&all) < PAGES {
        return finding(format!("{found}; a run may take {PAGES}"))
            .with_severity(Severity::Warning)
            .fix("make hugepages");
    }
    finding(found)
}

fn memlock(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let why = "memory that the card may access is locked, and counts against this limit";
    let finding = |found: String| Finding::ok(Topic::Memory, "memlock", found, why);
    if system.user().is_root() {
        return finding("root may lock memory without limit".to_owned());
    }
    let user = &system.user().name;
    let limits = system.read("/proc/self/limits").unwrap_or_default();
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))
        .and_then(|rest| rest.split_whitespace().next());
    match limit {
        None => finding("the limit on locked memory is unknown".to_owned())
            .with_severity(Severity::Warning),
        Some("unlimited") => finding(format!("{user} may lock memory without limit")),
        Some(text) => {
            let kib = text.parse().unwrap_or(0) / 1024;
            let found = format!("{user} may lock {kib} KiB");
            if kib >= PAGES * PAGE_KIB {
                return finding(found);
            }
            finding(format!("{found}; a run may lock {} KiB", PAGES * PAGE_KIB))
                .with_severity(match kib < PAGES * PAGE_KIB / 4 {
                    true => machine.if_card(Severity::Problem),
                    false => Severity::Warning,
                })
                .fix("sudo prlimit --pid $$ --memlock=unlimited # this shell")
                .fix(format!(
                    "echo '{user} - memlock unlimited' | sudo tee \
                     /etc/security/limits.d/triptych.conf # from the next login on"
                ))
        }
    }
}
