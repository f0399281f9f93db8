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
        u64::from(self.size_kib) * 1024 / LINE / u64::from(self.ways.max(1))
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
pub enum CpuError {
    /// No file has the name.
    #[error("no CPU is named `{name}`: give one of {known}")]
    UnknownName {
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The file is wrong.
    #[error("{file}.toml: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong, and the fix.
        problem: String,
    },
}

impl Cpu {
    /// The names of the CPU files.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// Reads a CPU file by its name.
    ///
    /// # Errors
    /// No file has this name; the error lists the names. Or the file is wrong.
    pub fn named(name: &str) -> Result<Self, CpuError> {
        let mut files = FILES.iter();
        let Some((_, text)) = files.find(|(known, _)| *known == name) else {
            return Err(CpuError::UnknownName {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        };
        let name = name.to_owned();
        match parse(text) {
            Ok(cpu) => Ok(Self { name, ..cpu }),
            Err(problem) => Err(CpuError::Invalid {
                file: name,
                problem,
            }),
        }
    }
}

/// Reads a CPU file from `text` and checks its values.
fn parse(text: &str) -> Result<Cpu, String> {
    let cpu: Cpu = toml::from_str(text).map_err(|error| error.to_string())?;
    let (l1d, l2, l3) = (cpu.l1d, cpu.l2, cpu.l3);
    let rules = [
        (
            [l1d, l2, l3].iter().all(|it| it.ways > 0 && it.sets() > 0),
            "l1d, l2, l3: give at least 1 way and one set of ways × 64 bytes",
        ),
        (
            cpu.l3_contents == Contents::Victims || l3.size_kib > l1d.size_kib + l2.size_kib,
            "l3: an inclusive cache must be larger than L1 and L2 together",
        ),
        (
            cpu.ddio_ways <= l3.ways,
            "ddio_ways: give at most as many ways as L3 has",
        ),
        (
            cpu.histories.is_sorted() && !cpu.histories.is_empty(),
            "histories: give the length of at least one table, the shortest first",
        ),
    ];
    match rules.into_iter().find(|(holds, _)| !holds) {
        Some((_, fix)) => Err(fix.to_owned()),
        None => Ok(cpu),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn all_files_of_the_folder_are_read_under_their_own_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/cpus");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        let names = Cpu::names().map(|name| format!("{name}.toml").into());
        assert_eq!(found, names.collect::<Vec<OsString>>());
        for name in Cpu::names() {
            assert_eq!(Cpu::named(name).unwrap().name, name);
        }
    }

    #[test]
    fn wrong_files_are_refused_by_key() {
        for (from, to, key) in [
            ("ddio_ways = 2", "ddio_ways = 17", "ddio_ways"),
            ("ddio_ways = 2", "", "ddio_ways"),
            ("ddio_ways = 2", "dio_ways = 2", "dio_ways"),
            ("ways = 8", "ways = 0", "l1d"),
            ("size_kib = 256", "size_kib = 0", "l2"),
            ("size_kib = 8192", "size_kib = 200", "l3"),
            ("inclusive", "exclusive", "l3_contents"),
            ("[7, 14, 29]", "[7, 29, 14]", "histories"),
            ("[7, 14, 29]", "[]", "histories"),
        ] {
            let text = FILES[0].1.replace(from, to);
            assert_ne!(text, FILES[0].1, "{from}");
            let problem = parse(&text).unwrap_err();
            assert!(problem.contains(key), "{from} -> {to}: {problem}");
        }
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Cpu::named("pentium").unwrap_err().to_string();
        assert!(
            error.contains("haswell, ice-lake-sp, ivy-bridge"),
            "{error}"
        );
    }
}
