//! The events of each processor, by metric: `data/events.toml`.

use std::collections::BTreeMap;

use record::{CpuFacts, Metric};
use serde::Deserialize;

/// The text of the table.
const TABLE: &str = include_str!("../../data/events.toml");

/// The table of events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(rename = "set")]
    sets: Vec<Set>,
    #[serde(rename = "cpu")]
    cpus: Vec<Cpu>,
    /// The errata that the events name.
    #[serde(rename = "erratum", default)]
    errata: BTreeMap<String, Erratum>,
}

/// Events of processors that count alike.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    name: String,
    /// The PMU architecture that prescribes these events. They then hold for every processor with
    /// such a PMU, and a processor has those that the kernel lists.
    pub architecture: Option<String>,
    /// Source of the codes.
    pub source: String,
    /// The event of each metric.
    pub events: BTreeMap<Metric, Encoding>,
    /// The other metrics, with the reason why no event counts them.
    #[serde(default)]
    pub absent: BTreeMap<Metric, String>,
}

/// The code of an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Its name in the maker's documents.
    pub name: String,
    /// Event select.
    pub event: u64,
    /// Unit mask.
    #[serde(default)]
    pub umask: u64,
    /// Its definition, if that differs from the metric's.
    pub counts: Option<String>,
    /// The unit of a value per packet, if it differs from the metric's.
    pub unit: Option<String>,
    /// Published errors of the processor that affect it.
    #[serde(default)]
    pub errata: Vec<String>,
}

/// A published error of a processor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Erratum {
    /// The processor whose document describes it.
    processor: String,
    /// The processor models that have it, if not all of the set.
    models: Option<Numbers>,
    /// Whether it needs simultaneous multithreading.
    #[serde(default)]
    smt_only: bool,
    /// What it does to the counts, if a source says so.
    effect: Option<String>,
    /// Source of the effect.
    source: Option<String>,
}

impl Erratum {
    /// Whether a processor has it. `smt` is `None` if the kernel does not say.
    fn concerns(&self, cpu: &CpuFacts, smt: Option<bool>) -> bool {
        let model = |models: &Numbers| cpu.model.is_some_and(|model| models.contain(model));
        self.models.as_ref().is_none_or(model) && !(self.smt_only && smt == Some(false))
    }
}

/// A kind of processor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The name of its microarchitecture.
    pub name: String,
    vendor: String,
    family: u32,
    models: Numbers,
    steppings: Option<Numbers>,
    /// The kernel's event source that has these events.
    #[serde(default = "usual_pmu")]
    pub pmu: String,
    set: String,
}

fn usual_pmu() -> String {
    "cpu".to_owned()
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Numbers {
    List(Vec<u32>),
    Range { from: u32, to: u32 },
}

impl Numbers {
    fn contain(&self, number: u32) -> bool {
        match self {
            Self::List(list) => list.contains(&number),
            Self::Range { from, to } => (*from..=*to).contains(&number),
        }
    }
}

impl Table {
    /// The table of this crate.
    ///
    /// # Errors
    /// If the table is malformed; a test checks that it is not.
    pub fn built_in() -> Result<Self, String> {
        toml::from_str(TABLE).map_err(|error| format!("data/events.toml: {error}"))
    }

    /// The errata of an event that concern a processor. `smt` is `None` if the kernel does not say
    /// whether simultaneous multithreading is on.
    pub fn errata(&self, event: &Encoding, cpu: &CpuFacts, smt: Option<bool>) -> Vec<String> {
        let concerns = |id: &&String| {
            let erratum = self.errata.get(*id);
            erratum.is_some_and(|erratum| erratum.concerns(cpu, smt))
        };
        event.errata.iter().filter(concerns).cloned().collect()
    }

    /// One sentence for each erratum with a known effect, and one for all others. `affected` has
    /// the metrics that each erratum affects.
    pub fn remarks(&self, cpu: &str, affected: &BTreeMap<String, Vec<Metric>>) -> Vec<String> {
        let mut remarks = Vec::new();
        let mut others: Vec<String> = Vec::new();
        for (id, metrics) in affected {
            let names: Vec<String> = metrics.iter().map(Metric::to_string).collect();
            let names = names.join(", ");
            let Some(erratum) = self.errata.get(id) else {
                continue;
            };
            match (&erratum.effect, &erratum.source) {
                (Some(effect), Some(source)) => remarks.push(format!(
                    "perf: erratum {id} ({}) affects {names}: {effect} (source: {source})",
                    erratum.processor
                )),
                _ => others.push(format!("{id} ({names})")),
            }
        }
        if !others.is_empty() {
            remarks.push(format!(
                "perf: the maker lists errata for events of {cpu}, which its Specification Update \
                 describes: {}",
                others.join(", ")
            ));
        }
        remarks
    }

    /// The events that a PMU architecture prescribes; `None` if the table lacks it.
    pub fn architecture(&self, name: &str) -> Option<&Set> {
        let mut sets = self.sets.iter();
        sets.find(|set| set.architecture.as_deref() == Some(name))
    }

    /// The entry of a processor and its events; `None` if the table lacks the processor.
    pub fn find(&self, cpu: &CpuFacts) -> Option<(&Cpu, &Set)> {
        let (vendor, family, model) = (cpu.vendor.as_deref()?, cpu.family?, cpu.model?);
        let found = self.cpus.iter().find(|entry| {
            let stepping = |numbers: &Numbers| cpu.stepping.is_some_and(|it| numbers.contain(it));
            entry.vendor == vendor
                && entry.family == family
                && entry.models.contain(model)
                && entry.steppings.as_ref().is_none_or(stepping)
        })?;
        let set = self.sets.iter().find(|set| set.name == found.set)?;
        Some((found, set))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::perf::event::counted_metrics;

    fn cpu(vendor: &str, family: u32, model: u32, stepping: u32) -> CpuFacts {
        CpuFacts {
            vendor: Some(vendor.into()),
            family: Some(family),
            model: Some(model),
            stepping: Some(stepping),
            ..CpuFacts::default()
        }
    }

    fn name(vendor: &str, family: u32, model: u32, stepping: u32) -> Option<String> {
        let table = Table::built_in().unwrap();
        let (found, _) = table.find(&cpu(vendor, family, model, stepping))?;
        Some(found.name.clone())
    }

    #[test]
    fn every_set_has_an_event_or_a_reason_for_each_metric() {
        let table = Table::built_in().unwrap();
        for set in &table.sets {
            for metric in counted_metrics() {
                let known = set.events.contains_key(&metric);
                let absent = set.absent.get(&metric).map(String::as_str);
                assert!(
                    known != absent.is_some() && absent != Some(""),
                    "{}: {metric} must be an event or absent, not both or neither",
                    set.name
                );
            }
            assert_eq!(
                set.events.len() + set.absent.len(),
                counted_metrics().count()
            );
        }
        for cpu in &table.cpus {
            assert!(table.sets.iter().any(|set| set.name == cpu.set), "{cpu:?}");
        }
    }

    #[test]
    fn no_processor_is_in_the_table_twice() {
        let mut table = Table::built_in().unwrap();
        while let Some(last) = table.cpus.pop() {
            for model in (0..=255).filter(|model| last.models.contain(*model)) {
                for stepping in 0..16 {
                    let stepped = last.steppings.as_ref();
                    if stepped.is_none_or(|numbers| numbers.contain(stepping)) {
                        let cpu = cpu(&last.vendor, last.family, model, stepping);
                        assert!(table.find(&cpu).is_none(), "{cpu:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn family_model_and_stepping_identify_a_processor() {
        for (cpu, expected) in [
            // Xeon E3-1230 v2, v3; E5-2600 v4.
            (("GenuineIntel", 6, 58, 9), Some("Ivy Bridge")),
            (("GenuineIntel", 6, 60, 3), Some("Haswell")),
            (("GenuineIntel", 6, 79, 1), Some("Broadwell")),
            (("GenuineIntel", 6, 85, 4), Some("Skylake-SP")),
            (("GenuineIntel", 6, 85, 7), Some("Cascade Lake")),
            (("GenuineIntel", 6, 106, 6), Some("Ice Lake-SP")),
            (("GenuineIntel", 6, 143, 8), Some("Sapphire Rapids")),
            // Epyc 7001 to 9005.
            (("AuthenticAMD", 23, 1, 2), Some("Zen 1")),
            (("AuthenticAMD", 23, 49, 0), Some("Zen 2")),
            (("AuthenticAMD", 25, 1, 1), Some("Zen 3")),
            (("AuthenticAMD", 25, 17, 1), Some("Zen 4")),
            (("AuthenticAMD", 26, 2, 1), Some("Zen 5")),
            // Sandy Bridge, Knights Landing, Bulldozer, Zen 6, and another maker are not guessed.
            (("GenuineIntel", 6, 42, 1), None),
            (("GenuineIntel", 6, 87, 1), None),
            (("AuthenticAMD", 21, 2, 1), None),
            (("AuthenticAMD", 26, 0x50, 1), None),
            (("CentaurHauls", 6, 58, 1), None),
        ] {
            let (vendor, family, model, stepping) = cpu;
            let found = name(vendor, family, model, stepping);
            assert_eq!(found.as_deref(), expected, "{cpu:?}");
        }
        let table = Table::built_in().unwrap();
        assert!(table.find(&CpuFacts::default()).is_none());
    }

    #[test]
    fn events_and_errata_belong_together_and_each_effect_has_a_source() {
        let table = Table::built_in().unwrap();
        let events = table.sets.iter().flat_map(|set| set.events.values());
        let named: BTreeSet<_> = events.flat_map(|event| &event.errata).collect();
        assert_eq!(named, table.errata.keys().collect());
        for (id, erratum) in &table.errata {
            assert_eq!(erratum.effect.is_some(), erratum.source.is_some(), "{id}");
        }
    }
}
