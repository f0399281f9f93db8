//! The processor's events, counted in loops whose counts are known.

use perfcounters::device::two_cpus;
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops::{self, Check, KnownLoop, ITERATIONS};
use perfcounters::perf::resolve::EventSet;
use rustix::thread::{sched_setaffinity, CpuSet};

use crate::finding::Finding;

/// Checks the event of each metric that the backend `perf` counts.
pub(crate) fn check() -> Vec<Finding> {
    // A driver's CPU, because some processors have two kinds of core.
    let cpu = two_cpus().0;
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu);
        // Without the permission the check runs on any CPU.
        let _ = sched_setaffinity(None, &set);
    }
    let set = match EventSet::detect(cpu) {
        Ok(set) => set,
        Err(why) => return vec![Finding::not_available("events", why)],
    };
    let checked = match known_loops::check(&Kernel, &set.events, ITERATIONS) {
        Ok(checked) => checked,
        Err(why) => return vec![Finding::fail("events", why)],
    };
    let mut findings = Vec::new();
    for event in &set.events {
        let Some(metric) = event.metric else { continue };
        let checks = checked.checks.iter().filter(|it| it.metric == metric);
        findings.push(match checked.absent.get(&event.name) {
            Some(why) => Finding::not_available(metric.to_string(), why),
            None => judge(metric.to_string(), &event.name, &checks.collect::<Vec<_>>()),
        });
    }
    let absent = set.absent.iter();
    findings.extend(absent.map(|(metric, why)| Finding::not_available(metric.to_string(), why)));
    if let Some(first) = findings.first_mut() {
        first.add("facts", &set.facts);
        first.add("warnings", &set.warnings);
    }
    findings
}

/// The finding for one event.
fn judge(check: String, event: &str, checks: &[&Check]) -> Finding {
    let (known, loops) = (checks.len(), KnownLoop::ALL.len());
    let wrong = checks.iter().filter(|check| !check.passed());
    let mut wrong: Vec<_> = wrong.map(|check| check.to_string()).collect();
    if !wrong.is_empty() {
        let advice = "Is another program on this core? If not, the event's code is wrong here.";
        wrong.push(advice.to_owned());
    }
    let right = format!("{event} counts as expected in {known} of {loops} loops");
    match known {
        0 => Finding::not_available(check, format!("{event}: no loop has a known count of it")),
        _ => Finding::unless(&wrong, check, right).figure("loops", checks),
    }
}

#[cfg(test)]
mod tests {
    use record::Metric;

    use super::*;
    use crate::finding::Grade;

    #[test]
    fn one_wrong_loop_fails_the_event_and_is_named() {
        let counted = |known_loop, expected, counted| Check {
            known_loop,
            metric: Metric::Loads,
            event: "ALL_LOADS".into(),
            expected,
            counted,
            tolerance: 10.0,
            iterations: 100,
            scaled: false,
        };
        let right = counted(KnownLoop::Loads, 400.0, 401.0);
        let wrong = counted(KnownLoop::Stores, 0.0, 300.0);
        for (checks, outcome) in [
            (vec![&right], Grade::Pass),
            (vec![&right, &wrong], Grade::Fail),
            (vec![], Grade::NotAvailable),
        ] {
            let found = judge("loads".into(), "ALL_LOADS", &checks);
            assert_eq!(found.outcome, outcome, "{found}");
            let named = found
                .text
                .starts_with("stores: loads (ALL_LOADS) counted 3.000");
            assert_eq!(named, outcome == Grade::Fail, "{found}");
        }
    }

    #[test]
    fn this_machine_counts_right_or_says_why_it_cannot_count() {
        let findings = check();
        assert!(!findings.is_empty());
        for finding in findings {
            assert_ne!(finding.outcome, Grade::Fail, "{finding}");
        }
    }
}
