//! Checks the processor's hardware counters.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity, Topic};

const SOURCES: &str = "/sys/bus/event_source/devices";
const PARANOID: &str = "kernel/perf_event_paranoid";
const WATCHDOG: &str = "kernel/nmi_watchdog";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let sources: Vec<String> = system
        .entries(SOURCES)
        .into_iter()
        .filter(|name| matches!(name.as_str(), "cpu" | "cpu_core" | "cpu_atom"))
        .collect();
    let why =
        "the published counters come from a PMU; without one, trace and valgrind count, and lockstep and \
         burst measure TSC cycles";
    let finding = |found| Finding::ok(Topic::Counters, "pmu", found, why);
    if sources.is_empty() {
        let virtual_machine = system
            .read("/proc/cpuinfo")
            .is_some_and(|text| text.contains(" hypervisor"));
        let found = match virtual_machine {
            true => "no PMU: the virtual machine has none",
            false => "no PMU",
        };
        return vec![finding(found.to_owned()).with_severity(Severity::Warning)];
    }
    let mut findings = vec![finding(format!("PMU: {}", sources.join(", ")))];
    findings.extend(paranoid(machine));
    findings.extend(watchdog(machine));
    findings.extend(shared_counters(machine));
    findings
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
    let number = |name: &str| field(name).and_then(|value| value.parse::<i64>().ok());
    let affected = field("vendor_id") == Some("GenuineIntel")
        && number("cpu family") == Some(6)
        && number("model").is_some_and(|model| SHARED_COUNTERS.contains(&model));
    let active = machine
        .system
        .number("/sys/devices/system/cpu/smt/active")
        .is_some_and(|active| active != 0);
    (affected && active).then(|| {
        Finding::ok(
            Topic::Counters,
            "shared_counters",
            "with hyper-threading, a thread gets only half of this processor's counters",
            "memory events can count on the other thread of the core (errata BJ122, BV98, HSD29). Linux \
             prevents that, so that the counters need more passes",
        )
        .with_severity(Severity::Warning)
        .fix("sudo systemctl reboot --firmware-setup # switch hyper-threading off there")
    })
}

fn sysctl(machine: &ExaminedMachine<'_>, name: &str) -> Option<i64> {
    machine.system.number(&format!("/proc/sys/{name}"))
}

/// Level 2 lets users count their own programs in user space, which is enough. From level 3, which
/// some distributions add, users may not count at all.
fn paranoid(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let level = sysctl(machine, PARANOID)?;
    let why = "above 2, only root may count";
    let root = machine.system.user().is_root();
    let user = &machine.system.user().name;
    let finding = |found| Finding::ok(Topic::Counters, "perf_event_paranoid", found, why);
    Some(match level <= 2 || root {
        true => finding(format!("perf_event_paranoid is {level}: {user} may count")),
        false => finding(format!(
            "perf_event_paranoid is {level}: {user} may not count"
        ))
        .with_severity(Severity::Warning)
        .fix("sudo sysctl kernel.perf_event_paranoid=2"),
    })
}

fn watchdog(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let on = sysctl(machine, WATCHDOG)? != 0;
    let why = "the watchdog occupies one of the few counters";
    let finding = |found| Finding::ok(Topic::Counters, "nmi_watchdog", found, why);
    Some(match on {
        true => finding("the NMI watchdog is on")
            .with_severity(Severity::Warning)
            .fix("sudo sysctl kernel.nmi_watchdog=0"),
        false => finding("the NMI watchdog is off"),
    })
}
