//! Chooses the events that this machine can count, and says why it cannot count the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use record::{CpuFacts, Metric};
use serde_json::json;

use super::event::{counted_metrics, Event};
use super::events::{Set, Table};
use super::kernel::{Kernel, Refusal};
use super::pmu::{Pmu, SOURCES};

/// `PERF_TYPE_HARDWARE`: events that the kernel itself translates for the processor.
const HARDWARE: u32 = 0;
/// Position of the kind of core in the code of a hardware event (`PERF_PMU_TYPE_SHIFT`).
const CORE_SHIFT: u32 = 32;
/// `PERF_COUNT_HW_REF_CPU_CYCLES`: cycles of a clock that does not change.
const REFERENCE_CYCLES: u64 = 9;
/// Whether simultaneous multithreading is on: 0 or 1.
const SMT: &str = "/sys/devices/system/cpu/smt/active";
/// The kernel's setting that says which users may count.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// The kernel's own event for a metric: its number in `PERF_TYPE_HARDWARE` and its name in sysfs.
/// The kernel also has cache events, but what they count differs from processor to processor.
fn generic(metric: Metric) -> Option<(u64, &'static str)> {
    match metric {
        Metric::CoreCycles => Some((0, "cpu-cycles")),
        Metric::Instructions => Some((1, "instructions")),
        Metric::Branches => Some((4, "branch-instructions")),
        Metric::BranchMisses => Some((5, "branch-misses")),
        _ => None,
    }
}

/// The events of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct EventSet {
    /// The events that can be counted.
    pub events: Vec<Event>,
    /// The metrics that cannot be counted, with the reason.
    pub absent: BTreeMap<Metric, String>,
    /// Facts about the events, for `run.json`.
    pub facts: BTreeMap<String, serde_json::Value>,
    /// Contradictions between the table and the kernel, and the errata of the processor.
    pub warnings: Vec<String>,
}

impl EventSet {
    /// Chooses the events of this machine. `cpu` is the driver's.
    ///
    /// # Errors
    /// The reason why nothing can be counted here.
    pub fn detect(cpu: Option<usize>) -> Result<Self, String> {
        let facts = CpuFacts::read();
        let pmu = Pmu::find(Path::new(SOURCES), cpu);
        let smt = fs::read_to_string(SMT).ok().map(|text| text.trim() == "1");
        resolve(&facts, smt, pmu.as_ref(), |event| Kernel.try_event(event))
    }
}

/// An event that the kernel translates, for the kind of core of `pmu`.
fn hardware(pmu: Option<&Pmu>, metric: Option<Metric>, name: &str, number: u64) -> Event {
    let core = match pmu {
        Some(pmu) if pmu.hybrid() => u64::from(pmu.kind) << CORE_SHIFT,
        _ => 0,
    };
    Event {
        metric,
        name: name.to_owned(),
        kind: HARDWARE,
        config: number | core,
        unit: None,
    }
}

/// Chooses the events for a processor: those of the table that the kernel accepts. `smt` is `None`
/// if the kernel does not say whether simultaneous multithreading is on.
fn resolve(
    cpu: &CpuFacts,
    smt: Option<bool>,
    pmu: Option<&Pmu>,
    try_event: impl Fn(&Event) -> Result<(), Refusal>,
) -> Result<EventSet, String> {
    check_for_a_pmu(cpu, pmu, &try_event)?;
    let table = Table::built_in()?;
    let known = table.find(cpu);
    let mut set = EventSet {
        events: Vec::new(),
        absent: BTreeMap::new(),
        facts: BTreeMap::new(),
        warnings: Vec::new(),
    };
    // An entry for one kind of core does not hold for the other.
    let usable = known
        .filter(|(entry, _)| pmu.is_some_and(|pmu| pmu.name == entry.pmu))
        .map(|(entry, events)| (entry.name.as_str(), events))
        .or_else(|| {
            let architecture = pmu?.architecture()?;
            Some((architecture, table.architecture(architecture)?))
        });
    let described = match (&usable, known) {
        (Some((name, _)), _) => (*name).to_owned(),
        (None, Some((entry, _))) => {
            format!("not the {}; only the kernel's generic events", entry.name)
        }
        (None, None) => "unknown; only the kernel's generic events".to_owned(),
    };
    if usable.is_none() {
        set.warnings.push(format!(
            "perf: {} is not in the table of events, so perf counts only the kernel's generic events",
            cpu.model_name.as_deref().unwrap_or("this processor")
        ));
    }
    let mut chosen = BTreeMap::new();
    let mut affected: BTreeMap<String, Vec<Metric>> = BTreeMap::new();
    for metric in counted_metrics() {
        let entry = usable.map(|(_, entry)| entry);
        let accepted = choose(metric, entry, pmu, &mut set.warnings, &try_event);
        let (event, mut facts) = match accepted {
            Ok(accepted) => accepted,
            Err(why) => {
                set.absent.insert(metric, why);
                continue;
            }
        };
        let encoding = usable.and_then(|(_, entry)| entry.events.get(&metric));
        let errata = encoding.map_or_else(Vec::new, |encoding| table.errata(encoding, cpu, smt));
        describe(&event, &errata, &mut facts);
        for id in errata {
            affected.entry(id).or_default().push(metric);
        }
        chosen.insert(metric.to_string(), facts);
        set.events.push(event);
    }
    let reference = hardware(pmu, None, "ref-cycles", REFERENCE_CYCLES);
    if try_event(&reference).is_ok() {
        // It follows the core cycles, so that one window counts both.
        set.events.insert(1.min(set.events.len()), reference);
    }
    set.facts = BTreeMap::from([
        ("microarchitecture".into(), json!(described)),
        ("pmu".into(), json!(pmu.map(|pmu| &pmu.name))),
        ("events".into(), json!(chosen)),
    ]);
    if let Some((_, entry)) = &usable {
        set.facts
            .insert("events_source".into(), json!(entry.source));
    }
    set.warnings.extend(table.remarks(&described, &affected));
    Ok(set)
}

/// An event for a metric that the kernel accepts, with facts about it: the table's event, or without
/// an entry the kernel's generic one. The latter also serves where a PMU lacks an event of its
/// architecture.
fn choose(
    metric: Metric,
    entry: Option<&Set>,
    pmu: Option<&Pmu>,
    warnings: &mut Vec<String>,
    try_event: impl Fn(&Event) -> Result<(), Refusal>,
) -> Result<(Event, serde_json::Value), String> {
    let accept = |event: Event, facts| {
        let refused = |refusal| format!("{}: {refusal}", event.name);
        try_event(&event).map_err(refused)?;
        Ok((event, facts))
    };
    let kernels = || {
        let (number, name) = generic(metric).ok_or("no event is known for this processor")?;
        accept(hardware(pmu, Some(metric), name, number), json!({}))
    };
    match entry.zip(pmu) {
        None => kernels(),
        Some((set, pmu)) => from_table(metric, set, pmu, warnings)
            .and_then(|(event, facts)| accept(event, facts))
            .or_else(|why| match set.architecture {
                Some(_) => kernels().map_err(|_: String| why),
                None => Err(why),
            }),
    }
}

/// Adds what `run.json` records about a chosen event.
fn describe(event: &Event, errata: &[String], facts: &mut serde_json::Value) {
    facts["event"] = json!(event.name);
    facts["type"] = json!(event.kind);
    facts["config"] = json!(format!("{:#x}", event.config));
    if !errata.is_empty() {
        facts["errata"] = json!(errata);
    }
}

/// Tries the core cycles, which every PMU counts.
fn check_for_a_pmu(
    cpu: &CpuFacts,
    pmu: Option<&Pmu>,
    try_event: &impl Fn(&Event) -> Result<(), Refusal>,
) -> Result<(), String> {
    let cycles = hardware(pmu, Some(Metric::CoreCycles), "cpu-cycles", 0);
    match try_event(&cycles) {
        Ok(()) => Ok(()),
        Err(refusal @ Refusal::Forbidden(_)) => Err(forbidden(&refusal)),
        Err(Refusal::Unsupported(_)) if cpu.virtual_machine => {
            Err("no PMU (the hypervisor hides the processor's counters)".to_owned())
        }
        Err(Refusal::Unsupported(_)) => Err("no PMU".to_owned()),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// The table's event for a metric, with facts about it. If the kernel lists another code for the same
/// event, the kernel's code is used, with a warning.
fn from_table(
    metric: Metric,
    set: &Set,
    pmu: &Pmu,
    warnings: &mut Vec<String>,
) -> Result<(Event, serde_json::Value), String> {
    let Some(encoding) = set.events.get(&metric) else {
        let why = set.absent.get(&metric).map(String::as_str);
        return Err(why
            .unwrap_or("the processor has no event for it")
            .to_owned());
    };
    // The kernel also accepts the other events of the architecture, and counts them as 0.
    let listed = || pmu.alias(&encoding.name.to_lowercase()).is_some();
    if set.architecture.is_some() && !listed() {
        return Err(format!(
            "{}: the processor's PMU does not implement it",
            encoding.name
        ));
    }
    let config = pmu
        .encode(encoding.event, encoding.umask)
        .map_err(|error| format!("{}: {error}", encoding.name))?;
    let mut event = Event {
        metric: Some(metric),
        name: encoding.name.clone(),
        kind: pmu.kind,
        config,
        unit: encoding.unit.clone(),
    };
    let alias = generic(metric).and_then(|(_, name)| Some((name, pmu.alias(name)?)));
    if let Some((name, Ok(theirs))) = alias {
        if theirs != config {
            warnings.push(format!(
                "perf: for {metric}, the kernel lists {name} with the code {theirs:#x}, the table {} \
                 with {config:#x}; perf uses the kernel's",
                encoding.name
            ));
            event.name = name.to_owned();
            event.config = theirs;
        }
    }
    let mut facts = json!({});
    if let Some(counts) = &encoding.counts {
        facts["counts"] = json!(counts);
    }
    Ok((event, facts))
}

/// The reason why the kernel forbids the counters, with the command that permits them.
fn forbidden(refusal: &Refusal) -> String {
    let level: Option<i32> = fs::read_to_string(PARANOID)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    match level {
        Some(level) if level > 2 => format!(
            "{refusal}: kernel.perf_event_paranoid is {level}; `sysctl kernel.perf_event_paranoid=2` \
             permits it"
        ),
        _ => format!("{refusal}: a container or a sandbox may block perf_event_open"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::perf::fixtures;

    fn cpu(vendor: &str, family: u32, model: u32) -> CpuFacts {
        CpuFacts {
            vendor: Some(vendor.into()),
            family: Some(family),
            model: Some(model),
            stepping: Some(4),
            model_name: Some("Some Processor".into()),
            ..CpuFacts::default()
        }
    }

    fn unsupported() -> Refusal {
        Refusal::Unsupported(io::Error::from_raw_os_error(2))
    }

    /// Resolves on a kernel that accepts every event that `refuses` lets pass.
    fn resolved(
        cpu: &CpuFacts,
        sources: &str,
        at: Option<usize>,
        refuses: impl Fn(&Event) -> bool,
    ) -> EventSet {
        resolved_with_smt(cpu, sources, at, None, refuses)
    }

    fn resolved_with_smt(
        cpu: &CpuFacts,
        sources: &str,
        at: Option<usize>,
        smt: Option<bool>,
        refuses: impl Fn(&Event) -> bool,
    ) -> EventSet {
        let pmu = Pmu::find(&fixtures::sources(sources), at);
        resolve(cpu, smt, pmu.as_ref(), |event| match refuses(event) {
            true => Err(unsupported()),
            false => Ok(()),
        })
        .unwrap()
    }

    /// Whether errata are the only remarks.
    fn only_errata(set: &EventSet) -> bool {
        let erratum = |text: &String| text.contains("errat");
        set.warnings.iter().all(erratum)
    }

    fn config(set: &EventSet, metric: Metric) -> Option<u64> {
        let mut events = set.events.iter();
        let event = events.find(|event| event.metric == Some(metric))?;
        Some(event.config)
    }

    const INTEL: [(Metric, u64); 10] = [
        (Metric::CoreCycles, 0x003c),
        (Metric::Instructions, 0x00c0),
        (Metric::Branches, 0x00c4),
        (Metric::BranchMisses, 0x00c5),
        (Metric::Stores, 0x82d0),
        (Metric::Loads, 0x81d0),
        (Metric::L1Hits, 0x01d1),
        (Metric::L2Hits, 0x02d1),
        (Metric::L3Hits, 0x04d1),
        (Metric::L3Misses, 0x20d1),
    ];

    #[test]
    fn intel_codes_match_the_published_ones() {
        for (model, sources, loads) in [
            (58, "haswell", "MEM_UOPS_RETIRED.ALL_LOADS"),
            (85, "skylake-sp", "MEM_INST_RETIRED.ALL_LOADS"),
            (143, "skylake-sp", "MEM_INST_RETIRED.ALL_LOADS"),
        ] {
            let set = resolved(&cpu("GenuineIntel", 6, model), sources, None, |_| false);
            for (metric, code) in INTEL {
                assert_eq!(config(&set, metric), Some(code), "model {model} {metric}");
            }
            assert!(only_errata(&set), "{:?}", set.warnings);
            let names: Vec<_> = set.events.iter().map(|event| event.name.as_str()).collect();
            assert!(names.contains(&loads), "{names:?}");
            assert_eq!(set.events[1].name, "ref-cycles");
        }
    }

    #[test]
    fn amd_codes_match_the_manuals_and_other_metrics_are_absent() {
        use Metric::{Branches, CoreCycles, L1Hits, L2Hits, L3Hits, L3Misses, Loads, Stores};
        let core = [
            (CoreCycles, 0x76),
            (Branches, 0xc2),
            (Loads, 0x0529),
            (Stores, 0x0629),
        ];
        let zen2 = [(L2Hits, 0x0143), (L3Misses, 0x5843)];
        let zen4 = [(L2Hits, 0x0143), (L3Hits, 0x0243), (L3Misses, 0xdc43)];
        for (family, model, sources, codes) in [
            (23, 1, "zen2", &[][..]),
            (23, 49, "zen2", &zen2),
            (25, 17, "zen4", &zen4),
            (26, 2, "zen4", &zen4[2..]),
        ] {
            let amd = cpu("AuthenticAMD", family, model);
            let set = resolved(&amd, sources, None, |_| false);
            for (metric, code) in core.iter().chain(codes) {
                let found = config(&set, *metric);
                assert_eq!(found, Some(*code), "{family} {model} {metric}");
            }
            assert!(set.absent[&L1Hits].contains("Zen has no event"));
            assert!(only_errata(&set), "{:?}", set.warnings);
            for event in &set.events {
                let lines = matches!(event.metric, Some(L2Hits | L3Hits | L3Misses));
                assert_eq!(event.unit.is_some(), lines, "{event:?}");
            }
        }
    }

    #[test]
    fn a_processor_is_remarked_for_its_errata() {
        let remarks = |cpu: &CpuFacts, sources: &str, smt| {
            let set = resolved_with_smt(cpu, sources, None, smt, |_| false);
            (set.warnings.join("\n"), set.facts["events"].clone())
        };
        let haswell = cpu("GenuineIntel", 6, 63);
        let (text, events) = remarks(&haswell, "haswell", Some(true));
        for part in [
            "erratum HSD29 (4th Generation Core, desktop) affects",
            "at most half of its counters",
            "the maker lists errata for events of Haswell, ",
            "HSD11 (instructions), HSD140 (instructions), HSD143 (instructions)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(
            events["instructions"]["errata"],
            json!(["HSD11", "HSD140", "HSD143"])
        );
        // That erratum needs two threads on a core.
        let (text, events) = remarks(&haswell, "haswell", Some(false));
        assert!(!text.contains("HSD29"), "{text}");
        assert_eq!(events["loads"]["errata"], json!(["HSM30"]));

        let (text, _) = remarks(&cpu("GenuineIntel", 6, 79), "haswell", None);
        assert!(text.contains("BDM61 (instructions)"), "{text}");
        let (text, _) = remarks(&cpu("GenuineIntel", 6, 85), "skylake-sp", None);
        assert!(text.contains("SKL044 (instructions)"), "{text}");
        assert!(text.contains("SKL091 (instructions, branches)"), "{text}");
        let (text, _) = remarks(&cpu("GenuineIntel", 6, 106), "skylake-sp", None);
        assert_eq!(text, "", "Intel lists none for Ice Lake");
        // The same set of events, but only some models have the erratum.
        let (text, _) = remarks(&cpu("AuthenticAMD", 25, 1), "zen2", None);
        assert!(text.contains("erratum 1292"), "{text}");
        let (text, events) = remarks(&cpu("AuthenticAMD", 25, 33), "zen2", None);
        assert_eq!(text, "");
        assert!(events["instructions"]["errata"].is_null());
    }

    #[test]
    fn the_kind_of_core_selects_the_events() {
        let alder_lake = cpu("GenuineIntel", 6, 0x97);
        let set = resolved(&alder_lake, "alder-lake", Some(0), |_| false);
        assert_eq!(config(&set, Metric::Loads), Some(0x81d0));
        // The code of a hardware event includes the kind of core.
        assert_eq!(set.events[1].config, 4 << 32 | 9);
        let set = resolved(&alder_lake, "alder-lake", Some(16), |_| false);
        assert_eq!(config(&set, Metric::CoreCycles), Some(10 << 32));
        assert_eq!(config(&set, Metric::Loads), None);
        assert_eq!(set.warnings.len(), 1);
    }

    /// An Arm processor, whose number the table need not know.
    fn arm(sources: &str, refuses: impl Fn(&Event) -> bool) -> EventSet {
        resolved(&cpu("0x41", 8, 0xd08), sources, Some(4), refuses)
    }

    #[test]
    fn an_arm_processor_has_the_events_that_the_kernel_lists() {
        // The kernel accepts every code of the architecture.
        let set = arm("arm-big-little", |event| {
            event.kind == HARDWARE && event.config & 0xff == 4
        });
        assert_eq!(set.facts["microarchitecture"], "Arm PMUv3");
        assert_eq!(config(&set, Metric::CoreCycles), Some(0x11));
        assert_eq!(config(&set, Metric::Instructions), Some(0x08));
        let why = &set.absent[&Metric::Branches];
        assert!(why.contains("BR_RETIRED: the processor's PMU"), "{why}");
        // The kernel has another event for it, for the kind of core of the driver's CPU.
        let misses = set
            .events
            .iter()
            .find(|event| event.metric == Some(Metric::BranchMisses));
        let misses = misses.unwrap();
        assert_eq!((misses.kind, misses.config), (HARDWARE, 9 << 32 | 5));
        assert!(set.absent[&Metric::L1Hits].contains("no event"));
        assert!(set.warnings.is_empty(), "{:?}", set.warnings);
    }

    #[test]
    fn an_unknown_processor_has_generic_events_only() {
        let set = resolved(&cpu("GenuineIntel", 6, 250), "haswell", None, |_| false);
        let names: Vec<_> = set.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "cpu-cycles",
                "ref-cycles",
                "instructions",
                "branch-instructions",
                "branch-misses"
            ]
        );
        assert!(set.events.iter().all(|event| event.kind == HARDWARE));
        assert_eq!(set.absent.len(), counted_metrics().count() - 4);
        assert!(set.warnings[0].contains("Some Processor is not in the table"));
        assert!(set.facts["microarchitecture"]
            .as_str()
            .unwrap()
            .starts_with("unknown"));
    }

    #[test]
    fn an_event_that_the_kernel_refuses_is_absent_with_its_name() {
        let haswell = cpu("GenuineIntel", 6, 60);
        let all = resolved(&haswell, "haswell", None, |_| false);
        let set = resolved(&haswell, "haswell", None, |event| {
            event.config == 0x20d1 || event.name == "ref-cycles"
        });
        assert_eq!(set.events.len(), all.events.len() - 2);
        let why = &set.absent[&Metric::L3Misses];
        assert!(why.contains("MEM_LOAD_UOPS_RETIRED.L3_MISS"), "{why}");
        assert!(why.contains("cannot count it here"), "{why}");
    }

    #[test]
    fn where_table_and_kernel_differ_the_kernels_code_is_used() {
        // An Intel model number with AMD's event source: no code of the table fits.
        let set = resolved(&cpu("GenuineIntel", 6, 60), "zen2", None, |_| false);
        assert_eq!(config(&set, Metric::CoreCycles), Some(0x76));
        assert!(
            set.warnings[0].contains("cpu-cycles with the code 0x76"),
            "{:?}",
            set.warnings
        );
    }

    #[test]
    fn a_machine_without_counters_has_no_pmu() {
        let refuse = |_: &Event| Err(unsupported());
        let bare = cpu("GenuineIntel", 6, 60);
        assert_eq!(resolve(&bare, None, None, refuse).unwrap_err(), "no PMU");
        let virtual_machine = CpuFacts {
            virtual_machine: true,
            ..bare
        };
        let why = resolve(&virtual_machine, None, None, refuse).unwrap_err();
        assert!(why.starts_with("no PMU (the hypervisor"), "{why}");
    }

    #[test]
    fn forbidden_counters_name_the_remedy() {
        let why = resolve(&cpu("GenuineIntel", 6, 60), None, None, |_| {
            Err(Refusal::Forbidden(io::Error::from_raw_os_error(13)))
        })
        .unwrap_err();
        assert!(why.contains("does not permit"), "{why}");
        assert!(
            why.contains("perf_event_paranoid") || why.contains("sandbox"),
            "{why}"
        );
    }
}
