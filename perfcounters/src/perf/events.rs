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
        Self::parse(TABLE).map_err(|why| format!("data/events.toml: {why}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for cpu in &table.cpus {
            if !table.sets.iter().any(|set| set.name == cpu.set) {
                return Err(format!("{} has no set {:?}", cpu.name, cpu.set));
            }
        }
        for event in table.sets.iter().flat_map(|set| set.events.values()) {
            let known = |id: &&String| !table.errata.contains_key(*id);
            if let Some(id) = event.errata.iter().find(known) {
                return Err(format!("{} names {id}, which has no [erratum]", event.name));
            }
        }
        Ok(table)
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
            entry.vendor == vendor
                && entry.family == family
                && entry.models.contain(model)
                && entry.steppings.as_ref().is_none_or(|steppings| {
                    cpu.stepping
                        .is_some_and(|stepping| steppings.contain(stepping))
                })
        })?;
        let set = self.sets.iter().find(|set| set.name == found.set)?;
        Some((found, set))
    }
}

#[cfg(test)]
mod tests {
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
        for set in Table::built_in().unwrap().sets {
            for metric in counted_metrics() {
                let known = set.events.contains_key(&metric);
                let absent = set.absent.get(&metric);
                assert!(
                    known != absent.is_some(),
                    "{}: {metric} must be an event or absent, not both or neither",
                    set.name
                );
                assert!(absent.is_none_or(|why| !why.is_empty()));
            }
            assert_eq!(
                set.events.len() + set.absent.len(),
                counted_metrics().count()
            );
            assert!(!set.source.is_empty());
        }
    }

    #[test]
    fn no_processor_is_in_the_table_twice() {
        let table = Table::built_in().unwrap();
        for (vendor, family) in [
            ("GenuineIntel", 6),
            ("AuthenticAMD", 0x17),
            ("AuthenticAMD", 0x19),
            ("AuthenticAMD", 0x1a),
        ] {
            for model in 0..=255 {
                for stepping in 0..16 {
                    let matching = table
                        .cpus
                        .iter()
                        .filter(|entry| {
                            entry.vendor == vendor
                                && entry.family == family
                                && entry.models.contain(model)
                                && entry
                                    .steppings
                                    .as_ref()
                                    .is_none_or(|numbers| numbers.contain(stepping))
                        })
                        .count();
                    assert!(matching <= 1, "{vendor} {family} {model} {stepping}");
                }
            }
        }
    }

    #[test]
    fn family_model_and_stepping_identify_a_processor() {
        for (cpu, expected) in [
            // Xeon E3-1230 v2, v3; E5-2620 v3; E5-2600 v4.
            (("GenuineIntel", 6, 58, 9), "Ivy Bridge"),
            (("GenuineIntel", 6, 60, 3), "Haswell"),
            (("GenuineIntel", 6, 63, 2), "Haswell"),
            (("GenuineIntel", 6, 79, 1), "Broadwell"),
            (("GenuineIntel", 6, 94, 3), "Skylake"),
            (("GenuineIntel", 6, 85, 4), "Skylake-SP"),
            (("GenuineIntel", 6, 85, 7), "Cascade Lake"),
            (("GenuineIntel", 6, 106, 6), "Ice Lake-SP"),
            (("GenuineIntel", 6, 143, 8), "Sapphire Rapids"),
            (("GenuineIntel", 6, 151, 2), "Alder Lake, performance cores"),
            // Epyc 7001 to 9005, Ryzen 3000.
            (("AuthenticAMD", 23, 1, 2), "Zen 1"),
            (("AuthenticAMD", 23, 8, 2), "Zen 1"),
            (("AuthenticAMD", 23, 49, 0), "Zen 2"),
            (("AuthenticAMD", 23, 113, 0), "Zen 2"),
            (("AuthenticAMD", 25, 1, 1), "Zen 3"),
            (("AuthenticAMD", 25, 33, 0), "Zen 3"),
            (("AuthenticAMD", 25, 17, 1), "Zen 4"),
            (("AuthenticAMD", 25, 97, 2), "Zen 4"),
            (("AuthenticAMD", 26, 2, 1), "Zen 5"),
            (("AuthenticAMD", 26, 68, 0), "Zen 5"),
        ] {
            let (vendor, family, model, stepping) = cpu;
            assert_eq!(
                name(vendor, family, model, stepping).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn unknown_processors_are_not_guessed() {
        // Sandy Bridge, Knights Landing, Bulldozer, Zen 6, and another maker.
        for (vendor, family, model) in [
            ("GenuineIntel", 6, 42),
            ("GenuineIntel", 6, 87),
            ("AuthenticAMD", 21, 2),
            ("AuthenticAMD", 26, 0x50),
            ("CentaurHauls", 6, 58),
        ] {
            assert_eq!(name(vendor, family, model, 1), None);
        }
        let table = Table::built_in().unwrap();
        assert!(table.find(&CpuFacts::default()).is_none());
    }

    #[test]
    fn each_erratum_belongs_to_an_event_and_names_the_source_of_its_effect() {
        let table = Table::built_in().unwrap();
        let named: Vec<&String> = table
            .sets
            .iter()
            .flat_map(|set| set.events.values())
            .flat_map(|event| &event.errata)
            .collect();
        for (id, erratum) in &table.errata {
            assert!(named.contains(&id), "no event names {id}");
            assert_eq!(erratum.effect.is_some(), erratum.source.is_some(), "{id}");
            assert!(!erratum.processor.is_empty());
        }
    }

    #[test]
    fn an_erratum_without_its_description_is_refused() {
        let text = "[[set]]\nname = \"some\"\nsource = \"s\"\n[set.events]\n\
                    loads = { name = \"LOADS\", event = 1, errata = [\"X1\"] }\n[[cpu]]\n\
                    name = \"X\"\nvendor = \"V\"\nfamily = 1\nmodels = [1]\nset = \"some\"\n";
        let error = Table::parse(text).unwrap_err();
        assert!(error.contains("LOADS names X1"), "{error}");
    }

    #[test]
    fn a_processor_without_its_set_is_refused() {
        let text =
            "[[cpu]]\nname = \"X\"\nvendor = \"V\"\nfamily = 1\nmodels = [1]\nset = \"none\"\n\
                    [[set]]\nname = \"some\"\nsource = \"s\"\n[set.events]\n";
        let error = Table::parse(text).unwrap_err();
        assert!(error.contains("X has no set \"none\""), "{error}");
    }
}
