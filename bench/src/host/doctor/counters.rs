//! Checks the processor's hardware counters.

use super::machine::ExaminedMachine;
use crate::host::finding::{Finding, Severity, Topic};

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
        "the published counters come from a PMU; without one, only valgrind and lockstep count";
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
    findings
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
