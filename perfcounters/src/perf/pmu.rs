//! The kernel's description of the processor's counters, in `/sys/bus/event_source/devices`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use record::counts_processor_events;

use crate::placement::parse_cpu_list;

/// Folder in which the kernel lists its event sources.
pub const SOURCES: &str = "/sys/bus/event_source/devices";

/// An event source of the kernel that counts a processor's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pmu {
    /// Its name: `cpu`, on x86-64 processors with two kinds of core `cpu_core` or `cpu_atom`, on Arm
    /// for example `armv8_pmuv3_0`.
    pub name: String,
    /// Its number, for `perf_event_attr.type`.
    pub kind: u32,
    /// Position of each part of an event's code.
    format: BTreeMap<String, Vec<Bits>>,
    /// The codes of the events that the kernel has names for.
    aliases: BTreeMap<String, String>,
    /// Whether the machine has other kinds of core, with another source.
    hybrid: bool,
}

/// Bits of `perf_event_attr.config`, from the lowest to the highest, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits {
    low: u32,
    high: u32,
}

impl Bits {
    fn width(self) -> u32 {
        self.high - self.low + 1
    }
}

impl Pmu {
    /// The source for a CPU; `None` if the processor has no counters or a hypervisor hides them.
    pub fn find(sources: &Path, cpu: Option<usize>) -> Option<Self> {
        let mut names: Vec<String> = fs::read_dir(sources)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| counts_processor_events(name))
            .collect();
        // Without a CPU, performance cores come first: "cpu_core" is after "cpu_atom".
        names.sort_by(|a, b| b.cmp(a));
        let name = names.iter().find(|name| {
            // The x86-64 source of a processor with one kind of core has no file `cpus`.
            match fs::read_to_string(sources.join(name).join("cpus")) {
                Err(_) => true,
                Ok(list) => cpu.is_none_or(|cpu| parse_cpu_list(&list).contains(&cpu)),
            }
        })?;
        Self::read(name, &sources.join(name), names.len() > 1)
    }

    fn read(name: &str, folder: &Path, hybrid: bool) -> Option<Self> {
        let format = files(&folder.join("format"))
            .into_iter()
            .filter_map(|(field, text)| Some((field, parse_format(&text)?)))
            .collect();
        Some(Self {
            name: name.to_owned(),
            kind: fs::read_to_string(folder.join("type"))
                .ok()?
                .trim()
                .parse()
                .ok()?,
            format,
            aliases: files(&folder.join("events")),
            // Linux lists `cpu_core` alone if the other cores are switched off.
            hybrid: hybrid || name.starts_with("cpu_"),
        })
    }

    /// The architecture that prescribes codes for this PMU, if one does.
    pub fn architecture(&self) -> Option<&'static str> {
        let arm = ["armv8_", "armv9_"];
        arm.iter()
            .any(|prefix| self.name.starts_with(prefix))
            .then_some("Arm PMUv3")
    }

    /// Whether the machine has several kinds of core, each with a source of its own.
    pub fn hybrid(&self) -> bool {
        self.hybrid
    }

    /// The bits of `perf_event_attr.config` for an event.
    ///
    /// # Errors
    /// The reason, if the code is for another PMU than the kernel's.
    pub fn encode(&self, event: u64, umask: u64) -> Result<u64, String> {
        let event = self.place("event", event)?;
        // Some kernels leave out a field that their events do not need.
        match umask {
            0 => Ok(event),
            _ => Ok(event | self.place("umask", umask)?),
        }
    }

    /// The bits of an event that the kernel has a name for; `None` without such an event.
    pub fn alias(&self, name: &str) -> Option<Result<u64, String>> {
        let text = self.aliases.get(name)?.trim();
        let terms = text.split(',').map(|term| {
            let (field, value) = term.split_once('=').unwrap_or((term, "0x1"));
            let value = match value.trim().strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => value.trim().parse(),
            };
            let value = value.map_err(|_| format!("{text:?} is not an event's code"))?;
            self.place(field.trim(), value)
        });
        Some(terms.into_iter().try_fold(0, |bits, term| Ok(bits | term?)))
    }

    fn place(&self, field: &str, value: u64) -> Result<u64, String> {
        let ranges = self
            .format
            .get(field)
            .ok_or_else(|| format!("the kernel's PMU has no field {field:?}"))?;
        // The lowest bits of the value go into the first range, and so on.
        let (mut left, mut config) = (value, 0);
        for bits in ranges {
            let mask = u64::MAX >> (64 - bits.width());
            config |= (left & mask) << bits.low;
            left = left.checked_shr(bits.width()).unwrap_or(0);
        }
        match left {
            0 => Ok(config),
            _ => Err(format!(
                "{value:#x} does not fit into the PMU's field {field:?}"
            )),
        }
    }
}

/// The contents of all readable files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            Some((name, fs::read_to_string(entry.path()).ok()?))
        })
        .collect()
}

/// Parses `config:0-7,32-35`; `None` for fields of `config1` and `config2`, which no event here uses.
fn parse_format(text: &str) -> Option<Vec<Bits>> {
    let ranges = text.trim().strip_prefix("config:")?;
    ranges.split(',').map(parse_range).collect()
}

fn parse_range(text: &str) -> Option<Bits> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low <= high && high < 64).then_some(Bits { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::fixtures;

    #[test]
    fn codes_follow_the_kernels_format() {
        let intel = Pmu::find(&fixtures::sources("haswell"), None).unwrap();
        assert_eq!((intel.name.as_str(), intel.kind), ("cpu", 4));
        assert_eq!(intel.encode(0xd1, 0x20), Ok(0x20d1));
        assert_eq!(intel.encode(0x3c, 0), Ok(0x3c));
        let amd = Pmu::find(&fixtures::sources("zen2"), None).unwrap();
        assert_eq!(amd.encode(0x43, 0x58), Ok(0x5843));
        // AMD's event select has 12 bits, in two places.
        assert_eq!(amd.encode(0x1cf, 0x02), Ok(0x1_0000_02cf));
        let why = intel.encode(0x1cf, 0).unwrap_err();
        assert_eq!(why, "0x1cf does not fit into the PMU's field \"event\"");
    }

    #[test]
    fn the_kernels_own_events_are_read() {
        let pmu = Pmu::find(&fixtures::sources("haswell"), None).unwrap();
        assert_eq!(pmu.alias("branch-misses"), Some(Ok(0xc5)));
        assert_eq!(pmu.alias("mem-stores"), Some(Ok(0x82d0)));
        assert_eq!(pmu.alias("tx-capacity"), None);
        // Precise loads need a field that is not in `config`.
        let why = pmu.alias("mem-loads").unwrap().unwrap_err();
        assert_eq!(why, "the kernel's PMU has no field \"ldlat\"");
    }

    #[test]
    fn the_cpu_selects_the_kind_of_core() {
        let sources = fixtures::sources("alder-lake");
        for (cpu, name, kind) in [
            (0, "cpu_core", 4),
            (15, "cpu_core", 4),
            (16, "cpu_atom", 10),
        ] {
            let pmu = Pmu::find(&sources, Some(cpu)).unwrap();
            assert_eq!((pmu.name.as_str(), pmu.kind), (name, kind), "CPU {cpu}");
            assert!(pmu.hybrid());
        }
        assert_eq!(Pmu::find(&sources, Some(99)), None);
    }

    #[test]
    fn an_arm_machine_has_a_source_for_each_kind_of_core() {
        let sources = fixtures::sources("arm-big-little");
        for (cpu, name, kind) in [(0, "armv8_cortex_a53", 8), (5, "armv8_cortex_a72", 9)] {
            let pmu = Pmu::find(&sources, Some(cpu)).unwrap();
            assert_eq!((pmu.name.as_str(), pmu.kind), (name, kind), "CPU {cpu}");
            assert!(pmu.hybrid());
        }
        let pmu = Pmu::find(&fixtures::sources("arm-pmuv3"), Some(0)).unwrap();
        assert_eq!(pmu.name, "armv8_pmuv3");
        assert!(!pmu.hybrid(), "one source serves all of its cores");
        assert_eq!(pmu.encode(0x11, 0), Ok(0x11));
        assert_eq!(pmu.alias("inst_retired"), Some(Ok(0x08)));
        assert_eq!(pmu.alias("br_retired"), None);
        assert_eq!(pmu.architecture(), Some("Arm PMUv3"));
        let intel = Pmu::find(&fixtures::sources("haswell"), None).unwrap();
        assert_eq!(intel.architecture(), None);
    }

    #[test]
    fn a_machine_without_counters_has_no_source() {
        assert_eq!(Pmu::find(&fixtures::sources("no-pmu"), Some(0)), None);
        assert_eq!(Pmu::find(Path::new("/nonexistent"), None), None);
    }

    #[test]
    fn formats_are_read() {
        let bits = |low, high| Bits { low, high };
        assert_eq!(
            parse_format("config:0-7,32-35\n"),
            Some(vec![bits(0, 7), bits(32, 35)])
        );
        assert_eq!(parse_format("config:18"), Some(vec![bits(18, 18)]));
        for other in ["config1:0-15", "config:7-0", "config:0-64", "config:", ""] {
            assert_eq!(parse_format(other), None, "{other:?}");
        }
    }
}
