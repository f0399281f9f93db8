//! The description of a processor's caches and branch predictor, read from a CPU file.

use serde::Deserialize;

/// The bytes of a cache line on all processors.
pub const LINE: u64 = 64;

macro_rules! files {
    ($($name:literal),+) => {
        &[$(($name, include_str!(concat!("../../data/cpus/", $name, ".toml")))),+]
    };
}
/// The CPU files, by name.
const FILES: &[(&str, &str)] = files!(
    "haswell",
    "ice-lake-sp",
    "ivy-bridge",
    "sapphire-rapids",
    "skylake-sp",
    "zen3",
    "zen4"
);

/// A processor. Its fields but the name are the keys of its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The name of the file: `haswell`.
    #[serde(skip)]
    pub name: String,
    /// Entries of the reorder buffer. For so many instructions, a line counts as on its way.
    pub reorder_buffer: u32,
    /// The L1 data cache.
    pub l1d: Cache,
    /// The L2 cache.
    pub l2: Cache,
    /// The L3 cache, of all slices that one core uses.
    pub l3: Cache,
    /// Which lines L3 contains.
    pub l3_contents: Contents,
    /// The ways of each L3 set in which a write of the card may allocate a line. 0: the maker documents no such writes.
    pub ddio_ways: u32,
    /// Whether an L2 miss also fetches the other line of the aligned pair of lines into L2.
    pub adjacent_line: bool,
    /// The taken branches in the history of each table of the branch predictor.
    pub histories: Vec<u32>,
}

/// The shape of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The size in KiB.
    pub size_kib: u32,
    /// The ways of a set.
    pub ways: u32,
}

impl Cache {
    /// The number of sets, rounded down.
    pub fn sets(self) -> u64 {
        u64::from(self.size_kib) * 1024 / LINE / u64::from(self.ways)
    }
}

/// Which lines an L3 cache contains.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// All lines of L1 and L2. If it drops a line, L1 and L2 lose the line too.
    Inclusive,
    /// Lines that L2 dropped. A line that a core takes leaves the cache.
    Victims,
}

/// Why there is no processor.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CpuError(String);

impl Cpu {
    /// The names of the CPU files.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// Reads a CPU file by its name.
    ///
    /// # Errors
    /// No file has this name; the error lists the names.
    pub fn named(name: &str) -> Result<Self, CpuError> {
        let mut files = FILES.iter();
        let Some((_, text)) = files.find(|(known, _)| *known == name) else {
            let known = Self::names().collect::<Vec<_>>().join(", ");
            let text = format!("no CPU is named `{name}`: give one of {known}");
            return Err(CpuError(text));
        };
        match toml::from_str::<Self>(text) {
            Ok(cpu) => Ok(Self {
                name: name.to_owned(),
                ..cpu
            }),
            Err(error) => Err(CpuError(format!("{name}.toml: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn all_files_of_the_folder_describe_possible_processors() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/cpus");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        let names = Cpu::names().map(|name| format!("{name}.toml").into());
        assert_eq!(found, names.collect::<Vec<OsString>>());
        for name in Cpu::names() {
            let cpu = Cpu::named(name).unwrap();
            assert_eq!(cpu.name, name);
            for cache in [cpu.l1d, cpu.l2, cpu.l3] {
                assert!(cache.ways > 0 && cache.sets() > 0, "{cpu:?}");
            }
            let larger = cpu.l3.size_kib > cpu.l1d.size_kib + cpu.l2.size_kib;
            assert!(cpu.l3_contents == Contents::Victims || larger, "{cpu:?}");
            assert!(cpu.ddio_ways <= cpu.l3.ways, "{cpu:?}");
            let lengths = &cpu.histories;
            assert!(lengths.is_sorted() && !lengths.is_empty(), "{cpu:?}");
        }
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Cpu::named("pentium").unwrap_err().to_string();
        let known = "haswell, ice-lake-sp, ivy-bridge";
        assert!(error.contains(known), "{error}");
    }
}
