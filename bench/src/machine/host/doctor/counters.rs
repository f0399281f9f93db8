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
    findings.extend(shared_counters(machine));
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

/// Processors whose memory events can count on the other thread of the core: Sandy Bridge, Ivy
/// Bridge and Haswell, to which Linux applies `intel_ht_bug` (`arch/x86/events/intel/core.c`).
const SHARED_COUNTERS: [i64; 8] = [42, 45, 58, 62, 60, 63, 69, 70];

/// Whether two threads of a core disturb each other's counters. Linux decides at boot whether it
/// must prevent that, so switching a thread off later does not give the counters back.
fn shared_counters(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let text = machine.system.read("/proc/cpuinfo")?;
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find_map(|(key, value)| (key.trim() == name).then(|| value.trim()))
    };
    let model = field("model").and_then(|value| value.parse().ok());
    let affected = field("vendor_id") == Some("GenuineIntel")
        && field("cpu family") == Some("6")
        && model.is_some_and(|model| SHARED_COUNTERS.contains(&model));
    let active = machine.system.number("/sys/devices/system/cpu/smt/active");
    (affected && active.is_some_and(|active| active != 0)).then(|| {
        let found = "with hyper-threading, a thread gets only half of this processor's counters";
        Finding::warning("shared_counters", found)
            .fix("sudo systemctl reboot --firmware-setup # switch hyper-threading off there")
    })
}
