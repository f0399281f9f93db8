//! Checks the processor's hardware counters.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::Finding;

const SOURCES: &str = "/sys/bus/event_source/devices";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut sources = machine.system.entries(SOURCES);
    sources.retain(|name| matches!(name.as_str(), "cpu" | "cpu_core" | "cpu_atom"));
    if sources.is_empty() {
        let found = "no PMU (few virtual machines have one)";
        return vec![Finding::warning("pmu", found)];
    }
    let mut findings = vec![Finding::ok("pmu", format!("PMU: {}", sources.join(", ")))];
    findings.extend(paranoid(machine));
    findings.extend(watchdog(machine));
    findings
}

/// Level 2 lets users count their own programs in user space, which is enough. From level 3, which
/// some distributions add, users may not count at all.
fn paranoid(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let level = machine
        .system
        .number("/proc/sys/kernel/perf_event_paranoid")?;
    let user = machine.system.user();
    let found = |may| format!("perf_event_paranoid is {level}: {} {may} count", user.name);
    Some(if level <= 2 || user.is_root() {
        Finding::ok("perf_event_paranoid", found("may"))
    } else {
        Finding::warning("perf_event_paranoid", found("may not"))
            .fix("sudo sysctl kernel.perf_event_paranoid=2")
    })
}

fn watchdog(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    Some(
        match machine.system.number("/proc/sys/kernel/nmi_watchdog")? {
            0 => Finding::ok("nmi_watchdog", "the NMI watchdog is off"),
            _ => Finding::warning("nmi_watchdog", "the NMI watchdog is on")
                .fix("sudo sysctl kernel.nmi_watchdog=0"),
        },
    )
}
