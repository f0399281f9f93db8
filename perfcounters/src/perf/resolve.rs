//! Chooses the events that this machine can count, and says why it cannot count the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use record::{CpuFacts, Metric, EVENT_SOURCES};
use serde_json::json;

use super::events::{counted_metrics, Cpu, Event, Set, Table};
use super::kernel::{Kernel, Refusal};
use super::pmu::Pmu;

/// `PERF_TYPE_HARDWARE`: events that the kernel itself translates for the processor.
const HARDWARE: u32 = 0;
/// Position of the kind of core in the code of a hardware event (`PERF_PMU_TYPE_SHIFT`).
const CORE_SHIFT: u32 = 32;
/// `PERF_COUNT_HW_REF_CPU_CYCLES`: cycles of a clock that does not change.
const REFERENCE_CYCLES: (u64, &str) = (9, "ref-cycles");
/// The kernel's setting that says which users may count.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// The kernel's own event for a metric: its number in `PERF_TYPE_HARDWARE` and its name. The kernel
/// also has cache events, but what they count differs from processor to processor.
pub(super) fn generic(metric: Metric) -> Option<(u64, &'static str)> {
    match metric {
        Metric::CoreCycles => Some((0, "cpu-cycles")),
        Metric::Instructions => Some((1, "instructions")),
        Metric::Branches => Some((4, "branch-instructions")),
        Metric::BranchMisses => Some((5, "branch-misses")),
        _ => None,
    }
}

/// The events of a machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventSet {
    /// The events that can be counted.
    pub events: Vec<Event>,
    /// The metrics that cannot be counted, with the reason.
    pub absent: BTreeMap<Metric, String>,
    /// Facts about the events, for `run.json`.
    pub facts: BTreeMap<String, serde_json::Value>,
    /// An unknown processor, or the errata of a known one.
    pub warnings: Vec<String>,
}

impl EventSet {
    /// Chooses the events of this machine. `cpu` is the driver's.
    pub fn detect(cpu: Option<usize>) -> Result<Self, String> {
        let facts = CpuFacts::read();
        let pmu = Pmu::find(Path::new(EVENT_SOURCES), cpu);
        resolve(&facts, pmu.as_ref(), |event| Kernel.try_event(event))
    }
}

/// Chooses the events for a processor: those that the kernel accepts.
fn resolve(
    cpu: &CpuFacts,
    pmu: Option<&Pmu>,
    try_event: impl Fn(&Event) -> Result<(), Refusal>,
) -> Result<EventSet, String> {
    // Every PMU counts the core cycles.
    let cycles = Event {
        name: "cpu-cycles".to_owned(),
        ..Event::default()
    };
    try_event(&cycles).map_err(|refusal| no_counters(cpu, &refusal))?;
    let pmu = pmu
        .ok_or_else(|| format!("the kernel lists no PMU of the driver's CPU in {EVENT_SOURCES}"))?;
    let table = Table::built_in()?;
    let known = table.find(cpu, pmu).next();
    let entry = known.map(|(_, set)| set);
    let mut set = EventSet::default();
    let mut chosen = BTreeMap::new();
    for metric in counted_metrics() {
        match choose(metric, entry, pmu, &try_event) {
            Ok(event) => {
                chosen.insert(metric, describe(&event, entry));
                set.events.push(event);
            }
            Err(why) => {
                set.absent.insert(metric, why);
            }
        }
    }
    let reference = hardware(pmu, None, REFERENCE_CYCLES);
    if try_event(&reference).is_ok() {
        // It follows the core cycles, so that one window counts both.
        set.events.insert(1.min(set.events.len()), reference);
    }
    let mut fact = |name: &str, value| set.facts.insert(name.to_owned(), value);
    fact("pmu", json!(pmu.name));
    fact("events", json!(chosen));
    let Some((Cpu { name, errata, .. }, Set { source, .. })) = known else {
        let unknown = "unknown; only the kernel's generic events";
        fact("microarchitecture", json!(unknown));
        set.warnings.push(format!(
            "perf: {} with the PMU {} is not in the table of events, so perf counts only the kernel's \
             generic events",
            cpu.model_name.as_deref().unwrap_or("this processor"),
            pmu.name
        ));
        return Ok(set);
    };
    fact("microarchitecture", json!(name));
    fact("events_source", json!(source));
    if let Some(errata) = errata {
        fact("errata", json!(errata));
        set.warnings.push(format!(
            "perf: errata of {name} may change counts: {errata}. Its maker's documents describe them"
        ));
    }
    Ok(set)
}

/// The first event for a metric that the kernel accepts: the table's, or the kernel's generic one. The
/// latter also serves where an Arm PMU lacks an event of its architecture.
fn choose(
    metric: Metric,
    set: Option<&Set>,
    pmu: &Pmu,
    try_event: impl Fn(&Event) -> Result<(), Refusal>,
) -> Result<Event, String> {
    let tables = set.and_then(|set| from_table(metric, pmu, set));
    let kernels = generic(metric).map(|event| Ok(hardware(pmu, Some(metric), event)));
    let mut reasons = Vec::new();
    for candidate in tables.into_iter().chain(kernels) {
        let accepted = candidate.and_then(|event| match try_event(&event) {
            Ok(()) => Ok(event),
            Err(refusal) => Err(format!("{}: {refusal}", event.name)),
        });
        match accepted {
            Ok(event) => return Ok(event),
            Err(why) => reasons.push(why),
        }
    }
    match reasons.is_empty() {
        true => Err("no event is known for this processor".to_owned()),
        false => Err(reasons.join("; ")),
    }
}

/// The table's event for a metric, or the reason why there is none.
fn from_table(metric: Metric, pmu: &Pmu, set: &Set) -> Option<Result<Event, String>> {
    let Some(encoding) = set.events.get(&metric) else {
        return Some(Err(set.absent.get(&metric)?.clone()));
    };
    let name = encoding.name.clone();
    // The kernel accepts the code of an event that the processor lacks, and counts it as 0.
    if set.listed_only && !pmu.events.contains(&name.to_lowercase()) {
        let why = format!("{name}: the processor's PMU does not implement it");
        return Some(Err(why));
    }
    Some(Ok(Event {
        metric: Some(metric),
        name,
        kind: pmu.kind,
        config: encoding.code,
        unit: encoding.unit.clone(),
    }))
}

/// An event that the kernel translates, for the kind of core of `pmu`.
fn hardware(pmu: &Pmu, metric: Option<Metric>, (number, name): (u64, &str)) -> Event {
    let core = match pmu.hybrid {
        true => u64::from(pmu.kind) << CORE_SHIFT,
        false => 0,
    };
    Event {
        metric,
        name: name.to_owned(),
        kind: HARDWARE,
        config: number | core,
        unit: None,
    }
}

/// What `run.json` records about a chosen event.
fn describe(event: &Event, set: Option<&Set>) -> serde_json::Value {
    let mut facts = json!({
        "event": event.name,
        "type": event.kind,
        "config": format!("{:#x}", event.config),
    });
    let encoding = set.and_then(|set| set.events.get(&event.metric?));
    if let Some(counts) = encoding.and_then(|encoding| encoding.counts.as_ref()) {
        facts["counts"] = json!(counts);
    }
    facts
}

/// The reason why the kernel does not count the core cycles, and the remedy if there is one.
fn no_counters(cpu: &CpuFacts, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Forbidden(_) => {
            let level = fs::read_to_string(PARANOID).unwrap_or_default();
            match level.trim().parse::<i32>() {
                Ok(level) if level > 2 => format!(
                    "{refusal}: kernel.perf_event_paranoid is {level}; `sysctl \
                     kernel.perf_event_paranoid=2` permits it"
                ),
                _ => format!("{refusal}: a container or a sandbox may block perf_event_open"),
            }
        }
        Refusal::Other(_) => refusal.to_string(),
        Refusal::Unsupported(_) if cpu.virtual_machine => {
            "no PMU (the hypervisor hides the processor's counters; enable its virtual PMU, or measure \
             outside the virtual machine)"
                .to_owned()
        }
        Refusal::Unsupported(_) => "no PMU".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::perf::fixtures::{cpu, pmu};

    fn unsupported() -> Refusal {
        Refusal::Unsupported(io::Error::from_raw_os_error(2))
    }

    /// Resolves on a kernel that accepts every event that `refuses` lets pass.
    fn resolved(cpu: &CpuFacts, pmu: &Pmu, refuses: impl Fn(&Event) -> bool) -> EventSet {
        let accept = |event: &Event| match refuses(event) {
            true => Err(unsupported()),
            false => Ok(()),
        };
        resolve(cpu, Some(pmu), accept).unwrap()
    }

    fn event(set: &EventSet, metric: Metric) -> Option<&Event> {
        let mut events = set.events.iter();
        events.find(|event| event.metric == Some(metric))
    }

    fn config(set: &EventSet, metric: Metric) -> Option<u64> {
        event(set, metric).map(|event| event.config)
    }

    #[test]
    fn codes_match_the_makers_documents() {
        use Metric::{L1Hits, L2Hits, L3Hits, L3Misses, Loads, Stores};
        let (intel, amd) = ("GenuineIntel", "AuthenticAMD");
        let metrics = [Stores, Loads, L1Hits, L2Hits, L3Hits, L3Misses];
        let retired = [0x82d0, 0x81d0, 0x01d1, 0x02d1, 0x04d1, 0x20d1].map(Some);
        let dispatched = |l2, l3, misses| [Some(0x0629), Some(0x0529), None, l2, l3, misses];
        let zen2 = dispatched(Some(0x0143), None, Some(0x5843));
        let zen3 = dispatched(Some(0x0143), Some(0x0243), Some(0x5c43));
        let zen5 = dispatched(Some(0x0143), Some(0x0243), Some(0xdc43));
        for (vendor, family, model, errata, codes) in [
            (intel, 6, 60, "HSD140", retired),
            (intel, 6, 85, "SKL091", retired),
            (intel, 6, 143, "", retired),
            (amd, 23, 1, "", dispatched(None, None, None)),
            (amd, 23, 49, "1291", zen2),
            (amd, 25, 33, "", zen3),
            (amd, 26, 2, "", zen5),
        ] {
            let set = resolved(&cpu(vendor, family, model), &pmu("cpu"), |_| false);
            assert_eq!(metrics.map(|metric| config(&set, metric)), codes, "{model}");
            let names = set.events.iter().take(3).map(|event| event.name.as_str());
            let generic = ["cpu-cycles", "ref-cycles", "instructions"];
            assert!(names.eq(generic), "{:?}", set.events);
            let total = counted_metrics().count() + 1;
            assert_eq!(set.events.len() + set.absent.len(), total);
            assert_eq!(set.warnings.len(), usize::from(!errata.is_empty()));
            assert!(set.warnings.join("").contains(errata), "{:?}", set.warnings);
            // Zen counts lines, not loads.
            for metric in [L2Hits, L3Hits, L3Misses] {
                let lines = event(&set, metric).is_some_and(|event| event.unit.is_some());
                assert_eq!(lines, vendor == amd && event(&set, metric).is_some());
            }
        }
    }

    #[test]
    fn the_kind_of_core_selects_the_events() {
        let alder_lake = cpu("GenuineIntel", 6, 0x97);
        let set = resolved(&alder_lake, &pmu("cpu_core"), |_| false);
        assert_eq!(config(&set, Metric::Loads), Some(0x81d0));
        let set = resolved(&alder_lake, &pmu("cpu_atom"), |_| false);
        let why = "no event is known for this processor";
        assert_eq!(set.absent[&Metric::Loads], why);
        let warning = "Some Processor with the PMU cpu_atom is not in the table";
        assert!(set.warnings[0].contains(warning));
        // The code of a hardware event includes the kind of core.
        assert_eq!(config(&set, Metric::Instructions), Some(4 << 32 | 1));
        assert_eq!(set.events[1].config, 4 << 32 | 9);
    }

    #[test]
    fn an_arm_processor_has_the_events_that_the_kernel_lists() {
        let mut pmu = pmu("armv8_cortex_a72");
        pmu.events = ["cpu_cycles", "inst_retired"].map(str::to_owned).into();
        // The kernel accepts every code of the architecture.
        let set = resolved(&cpu("0x41", 8, 0xd08), &pmu, |event| {
            event.kind == HARDWARE && event.config & 0xff == 4
        });
        assert_eq!(set.facts["microarchitecture"], "Arm PMUv3");
        assert_eq!(config(&set, Metric::CoreCycles), Some(0x11));
        assert_eq!(config(&set, Metric::Instructions), Some(0x08));
        let why = "BR_RETIRED: the processor's PMU does not implement it";
        assert!(set.absent[&Metric::Branches].starts_with(why));
        // The kernel has another event for it.
        let misses = event(&set, Metric::BranchMisses).unwrap();
        assert_eq!((misses.kind, misses.config & 0xff), (HARDWARE, 5));
        assert!(set.absent[&Metric::L1Hits].contains("no event"));
        assert!(set.warnings.is_empty(), "{:?}", set.warnings);
    }

    #[test]
    fn an_event_that_the_kernel_refuses_is_absent_with_its_name() {
        let set = resolved(&cpu("GenuineIntel", 6, 60), &pmu("cpu"), |event| {
            event.config == 0x20d1 || event.name == "ref-cycles" || event.name == "branch-misses"
        });
        assert!(set.events.iter().all(|event| event.metric.is_some()));
        for (metric, name) in [
            (Metric::L3Misses, "MEM_LOAD_UOPS_RETIRED.L3_MISS"),
            (Metric::BranchMisses, "branch-misses"),
        ] {
            let why = format!("{name}: the kernel cannot count it here");
            assert!(set.absent[&metric].starts_with(&why));
        }
        let counts = &set.facts["events"]["loads"]["counts"];
        assert_eq!(counts, "load micro-operations");
    }

    #[test]
    fn a_machine_that_cannot_count_gives_the_reason_and_the_remedy() {
        let bare = cpu("GenuineIntel", 6, 60);
        let mut guest = bare.clone();
        guest.virtual_machine = true;
        let forbidden = || Refusal::Forbidden(io::Error::from_raw_os_error(13));
        let refused = |cpu: &CpuFacts, refusal: fn() -> Refusal| {
            resolve(cpu, None, |_| Err(refusal())).unwrap_err()
        };
        assert_eq!(refused(&bare, unsupported), "no PMU");
        let why = refused(&guest, unsupported);
        assert!(why.starts_with("no PMU (the hypervisor"), "{why}");
        assert!(why.contains("enable its virtual PMU"), "{why}");
        let why = refused(&bare, forbidden);
        assert!(why.contains("does not permit"), "{why}");
        let causes = ["perf_event_paranoid", "sandbox"];
        assert!(causes.iter().any(|cause| why.contains(cause)), "{why}");
        let why = resolve(&bare, None, |_| Ok(())).unwrap_err();
        assert!(why.contains("lists no PMU"), "{why}");
    }
}
