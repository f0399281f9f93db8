//! Events that the kernel can count, and the table of each processor's: `data/events.toml`.

use std::collections::BTreeMap;

use record::{BackendName, CpuFacts, Group, Metric};
use serde::{Deserialize, Serialize};

use super::pmu::Pmu;

/// The text of the table.
const TABLE: &str = include_str!("../../data/events.toml");

/// Something that the kernel can count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The metric that it gives; `None` for the cycles of the reference clock, from which follows
    /// how fast the core ran.
    pub metric: Option<Metric>,
    /// Its name in the maker's documents, or the kernel's.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// The unit of a value per packet, if it differs from the metric's.
    pub unit: Option<String>,
}

/// The metrics that processors have events for: the counters that `perf` gives, without ratios.
pub fn counted_metrics() -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(|metric| {
        metric.is_given_by(BackendName::Perf)
            && metric.group() == Group::Counter
            && metric.quotient().is_none()
    })
}

/// The ratios that `perf` computes, each with the metrics that it divides.
pub fn ratios() -> impl Iterator<Item = (Metric, (Metric, Metric))> {
    Metric::ALL
        .into_iter()
        .filter(|metric| metric.is_given_by(BackendName::Perf))
        .filter_map(|metric| Some((metric, metric.quotient()?)))
}

/// The table of events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(rename = "set")]
    sets: Vec<Set>,
}

/// Events of processors that count alike.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    vendor: Option<String>,
    cpus: Vec<Cpu>,
    /// Whether a processor has only those of the events that the kernel lists.
    #[serde(default)]
    pub listed_only: bool,
    /// Source of the codes.
    pub source: String,
    /// The event of each metric.
    pub events: BTreeMap<Metric, Encoding>,
    /// Other metrics, with the reason why no event counts them.
    #[serde(default)]
    pub absent: BTreeMap<Metric, String>,
}

/// The code of an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Its name in the maker's documents.
    pub name: String,
    /// `perf_event_attr.config`.
    pub code: u64,
    /// Its definition, if that differs from the metric's.
    pub counts: Option<String>,
    /// The unit of a value per packet, if it differs from the metric's.
    pub unit: Option<String>,
}

/// A kind of processor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The name of its microarchitecture.
    pub name: String,
    family: Option<u32>,
    #[serde(default)]
    models: Vec<u32>,
    range: Option<(u32, u32)>,
    /// The kernel's event source that has these events: `cpu` unless given. With `_` at the end, the
    /// beginning of its name.
    pmu: Option<String>,
    /// Published errors that affect the counts.
    pub errata: Option<String>,
}

impl Cpu {
    fn is(&self, cpu: &CpuFacts, pmu: &Pmu) -> bool {
        let within = |model| {
            self.range
                .is_some_and(|(from, to)| from <= model && model <= to)
        };
        let modelled = |model| self.models.contains(&model) || within(model);
        let source = self.pmu.as_deref().unwrap_or("cpu");
        let right_source =
            pmu.name == source || source.ends_with('_') && pmu.name.starts_with(source);
        let right_model = self.family == cpu.family && cpu.model.is_some_and(modelled);
        right_source && (self.family.is_none() || right_model)
    }
}

impl Table {
    /// The table of this crate.
    pub fn built_in() -> Result<Self, String> {
        toml::from_str(TABLE).map_err(|error| format!("data/events.toml: {error}"))
    }

    /// The entries of a processor: none or one. On a processor with two kinds of core, an entry for one
    /// kind does not hold for the other.
    pub fn find<'a>(
        &'a self,
        cpu: &'a CpuFacts,
        pmu: &'a Pmu,
    ) -> impl Iterator<Item = (&'a Cpu, &'a Set)> {
        let vendor = |set: &&Set| set.vendor.is_none() || set.vendor == cpu.vendor;
        let sets = self.sets.iter().filter(vendor);
        sets.flat_map(|set| set.cpus.iter().map(move |entry| (entry, set)))
            .filter(|(entry, _)| entry.is(cpu, pmu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::fixtures::{cpu, pmu};
    use crate::perf::resolve::generic;

    #[test]
    fn every_set_has_an_event_or_a_reason_for_each_metric_that_the_kernel_lacks() {
        let table = Table::built_in().unwrap();
        for set in &table.sets {
            for metric in counted_metrics() {
                let event = set.events.contains_key(&metric);
                let reason = set.absent.get(&metric);
                assert!(
                    event != reason.is_some_and(|why| !why.is_empty())
                        || generic(metric).is_some() && reason.is_none(),
                    "{}: {metric} must be an event or absent, not both or neither",
                    set.source
                );
            }
        }
    }

    #[test]
    fn vendor_family_model_and_kind_of_core_identify_a_processor() {
        let table = Table::built_in().unwrap();
        let (intel, amd) = ("GenuineIntel", "AuthenticAMD");
        for model in 0..=255 {
            for (vendor, family) in [(intel, 6), (amd, 23), (amd, 25), (amd, 26)] {
                let (cpu, pmu) = (cpu(vendor, family, model), pmu("cpu"));
                assert!(table.find(&cpu, &pmu).count() < 2, "twice: {cpu:?}");
            }
        }
        let alder_lake = Some("Alder Lake, performance cores");
        for (vendor, family, model, source, expected) in [
            // Xeon E3-1230 v2, v3; E5-2600 v4.
            (intel, 6, 58, "cpu", Some("Ivy Bridge")),
            (intel, 6, 60, "cpu", Some("Haswell")),
            (intel, 6, 79, "cpu", Some("Broadwell")),
            (intel, 6, 85, "cpu", Some("Skylake-SP or Cascade Lake")),
            (intel, 6, 106, "cpu", Some("Ice Lake-SP")),
            (intel, 6, 143, "cpu", Some("Sapphire Rapids")),
            (intel, 6, 151, "cpu_core", alder_lake),
            (intel, 6, 151, "cpu_atom", None),
            // Epyc 7001 to 9005.
            (amd, 23, 1, "cpu", Some("Zen 1")),
            (amd, 23, 49, "cpu", Some("Zen 2")),
            (amd, 25, 1, "cpu", Some("Zen 3")),
            (amd, 25, 17, "cpu", Some("Zen 4")),
            (amd, 26, 2, "cpu", Some("Zen 5")),
            ("0x41", 8, 0xd08, "armv8_cortex_a72", Some("Arm PMUv3")),
            // Sandy Bridge, Knights Landing, Bulldozer, Zen 6, and another maker are not guessed.
            (intel, 6, 42, "cpu", None),
            (intel, 6, 87, "cpu", None),
            (amd, 21, 2, "cpu", None),
            (amd, 26, 0x50, "cpu", None),
            ("CentaurHauls", 6, 58, "cpu", None),
        ] {
            let cpu = cpu(vendor, family, model);
            let pmu = pmu(source);
            let names = table.find(&cpu, &pmu).map(|(entry, _)| entry.name.as_str());
            assert!(names.eq(expected), "{cpu:?}");
        }
    }
}
