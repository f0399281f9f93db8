//! The kernel's description of the processor's counters, in `/sys/bus/event_source/devices`.

use std::fs;
use std::path::Path;

use record::{entries, processor_event_sources};

use crate::placement::parse_cpu_list;

/// An event source of the kernel that counts a processor's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pmu {
    /// Its name: `cpu`, on x86-64 processors with two kinds of core `cpu_core` or `cpu_atom`, on Arm
    /// for example `armv8_pmuv3_0`.
    pub name: String,
    /// Its number, for `perf_event_attr.type`.
    pub kind: u32,
    /// The kernel's names of events that it lists.
    pub events: Vec<String>,
    /// Whether the machine has several kinds of core, each with a source of its own.
    pub hybrid: bool,
}

impl Pmu {
    /// The source for a CPU; `None` if the processor has no counters or a hypervisor hides them.
    pub fn find(sources: &Path, cpu: Option<usize>) -> Option<Self> {
        let names = processor_event_sources(sources);
        // Without a CPU, performance cores come first: "cpu_core" is after "cpu_atom".
        let name = names.iter().rev().find(|name| {
            // The x86-64 source of a processor with one kind of core has no file `cpus`.
            match fs::read_to_string(sources.join(name).join("cpus")) {
                Err(_) => true,
                Ok(list) => cpu.is_none_or(|cpu| parse_cpu_list(&list).contains(&cpu)),
            }
        })?;
        let folder = sources.join(name);
        let kind = fs::read_to_string(folder.join("type")).ok()?;
        Some(Self {
            name: name.clone(),
            kind: kind.trim().parse().ok()?,
            events: entries(folder.join("events")),
            // Linux lists `cpu_core` alone if the other cores are switched off.
            hybrid: names.len() > 1 || name.starts_with("cpu_"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of event sources: each has a name, a number, and perhaps a list of CPUs.
    fn sources(sources: &[(&str, u32, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, kind, cpus) in sources {
            let source = folder.path().join(name);
            fs::create_dir_all(source.join("events")).unwrap();
            fs::write(source.join("type"), format!("{kind}\n")).unwrap();
            fs::write(source.join("events/inst_retired"), "event=0x0008\n").unwrap();
            if !cpus.is_empty() {
                fs::write(source.join("cpus"), format!("{cpus}\n")).unwrap();
            }
        }
        folder
    }

    #[test]
    fn the_cpu_selects_the_kind_of_core() {
        let intel = [("cpu_atom", 10, "16-23"), ("cpu_core", 4, "0-15")];
        let arm = [
            ("armv8_cortex_a53", 8, "0-3"),
            ("armv8_cortex_a72", 9, "4-5"),
        ];
        let software = ("software", 1, "");
        for (listed, cpu, expected) in [
            (&intel[..], Some(15), Some(("cpu_core", 4, true))),
            (&intel, Some(16), Some(("cpu_atom", 10, true))),
            (&intel, None, Some(("cpu_core", 4, true))),
            (&intel, Some(99), None),
            (&intel[1..], Some(0), Some(("cpu_core", 4, true))),
            (&arm, Some(0), Some(("armv8_cortex_a53", 8, true))),
            (&arm, Some(5), Some(("armv8_cortex_a72", 9, true))),
            (&arm[1..], Some(5), Some(("armv8_cortex_a72", 9, false))),
            (
                &[software, ("cpu", 4, "")],
                Some(3),
                Some(("cpu", 4, false)),
            ),
            (&[software], Some(0), None),
        ] {
            let folder = sources(listed);
            let pmu = Pmu::find(folder.path(), cpu);
            let found = pmu.as_ref().map(|it| (&*it.name, it.kind, it.hybrid));
            assert_eq!(found, expected, "CPU {cpu:?} of {listed:?}");
            if let Some(pmu) = pmu {
                assert!(pmu.events.iter().eq(["inst_retired"]));
            }
        }
        assert_eq!(Pmu::find(Path::new("/nonexistent"), None), None);
    }
}
