//! Reads CPU files: checks the sources, then the values.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::description::{Contents, Cpu, LINE, LONGEST_HISTORY};
use super::policy::Policy;

/// The CPU files, by name.
const FILES: [(&str, &str); 7] = [
    ("haswell", include_str!("../../../data/cpus/haswell.toml")),
    (
        "ice-lake-sp",
        include_str!("../../../data/cpus/ice-lake-sp.toml"),
    ),
    (
        "ivy-bridge",
        include_str!("../../../data/cpus/ivy-bridge.toml"),
    ),
    (
        "sapphire-rapids",
        include_str!("../../../data/cpus/sapphire-rapids.toml"),
    ),
    (
        "skylake-sp",
        include_str!("../../../data/cpus/skylake-sp.toml"),
    ),
    ("zen3", include_str!("../../../data/cpus/zen3.toml")),
    ("zen4", include_str!("../../../data/cpus/zen4.toml")),
];

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
    /// A key of the file is wrong.
    #[error("{file}.toml: {key}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// The key, with its section.
        key: String,
        /// What is wrong, and the fix.
        problem: String,
    },
}

/// A parameter as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: Value,
    source: Option<String>,
    assumption: Option<String>,
}

/// A key and what is wrong with it.
type Problem = (String, String);

impl Cpu {
    /// The names of the CPU files.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// Reads a CPU file by its name.
    ///
    /// # Errors
    /// No file has this name; the error lists the names. Or a key of the file is wrong.
    pub fn named(name: &str) -> Result<Self, CpuError> {
        let unknown = || CpuError::UnknownName {
            name: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        };
        let mut files = FILES.iter();
        let (name, text) = files
            .find(|(known, _)| *known == name)
            .ok_or_else(unknown)?;
        parse(text).map_err(|(key, problem)| CpuError::Invalid {
            file: (*name).to_owned(),
            key,
            problem,
        })
    }
}

/// Reads a CPU file from `text`.
fn parse(text: &str) -> Result<Cpu, Problem> {
    let whole = |error: toml::de::Error| ("file".to_owned(), error.message().to_owned());
    let mut file: Table = toml::from_str(text).map_err(whole)?;
    let sources = file
        .remove("sources")
        .unwrap_or_else(|| Table::new().into());
    let sources: BTreeMap<String, String> = sources.try_into().map_err(whole)?;
    for (section, parameters) in &mut file {
        let Value::Table(parameters) = parameters else {
            continue;
        };
        for (key, value) in parameters {
            let plain = plain(value, &sources);
            *value = plain.map_err(|problem| (format!("{section}.{key}"), problem))?;
        }
    }
    let cpu: Cpu = file.try_into().map_err(whole)?;
    match wrong_value(&cpu) {
        Some((key, fix)) => Err((key.to_owned(), fix.to_owned())),
        None => Ok(cpu),
    }
}

/// The plain value of a parameter that names its basis.
fn plain(entry: &Value, sources: &BTreeMap<String, String>) -> Result<Value, String> {
    let entry: Entry = entry.clone().try_into().map_err(|error: toml::de::Error| {
        let message = error.message();
        format!("{message}: write {{ value = …, source = \"…\" }}")
    })?;
    match (entry.source, entry.assumption) {
        (Some(source), None) => {
            let document = source.split(':').next().unwrap_or_default();
            match sources.contains_key(document) {
                true => Ok(entry.value),
                false => Err(format!("`{document}` is not in [sources]: add it there")),
            }
        }
        (None, Some(reason)) if !reason.trim().is_empty() => Ok(entry.value),
        _ => Err("give it either a `source` or an `assumption` with a reason".to_owned()),
    }
}

/// The first value of a processor that is impossible, and the fix.
fn wrong_value(cpu: &Cpu) -> Option<(&'static str, &'static str)> {
    let (l3, branches) = (&cpu.l3, &cpu.branches);
    let caches = [
        ("l1d", cpu.l1d.size_kib, cpu.l1d.ways, 1, cpu.l1d.policy),
        ("l2", cpu.l2.size_kib, cpu.l2.ways, 1, cpu.l2.policy),
        ("l3", l3.size_kib, l3.ways, l3.slices, l3.policy),
    ];
    for (name, size_kib, ways, slices, policy) in caches {
        let set = u64::from(ways) * LINE * u64::from(slices);
        if !(1..=32).contains(&ways) || slices == 0 {
            return Some((name, "give 1 to 32 ways and at least 1 slice"));
        }
        if u64::from(size_kib) * 1024 < set {
            return Some((name, "give at least one set per slice: ways × 64 bytes"));
        }
        if policy == Policy::Lru3Plru4 && ways != 12 {
            return Some((name, "LRU3PLRU4 needs 12 ways: change one of the two"));
        }
    }
    let inner = cpu.l1d.size_kib + cpu.l2.size_kib;
    let lengths = 1..=branches.longest_history.min(LONGEST_HISTORY);
    let rules = [
        (
            l3.contents != Contents::Inclusive || l3.size_kib > inner,
            "l3.size_kib",
            "an inclusive L3 must be larger than L1 and L2 together",
        ),
        (
            cpu.ddio.ways <= l3.ways,
            "ddio.ways",
            "give at most as many ways as L3 has",
        ),
        (
            branches.base_entries.is_power_of_two() && branches.table_entries.is_power_of_two(),
            "branches.base_entries",
            "give powers of two for both kinds of tables",
        ),
        (
            (1..=16).contains(&branches.tables) && (4..=16).contains(&branches.tag_bits),
            "branches.tables",
            "give 1 to 16 tables with tags of 4 to 16 bits",
        ),
        (
            branches.longest_history <= LONGEST_HISTORY
                && lengths.contains(&branches.shortest_history),
            "branches.longest_history",
            "give 1 to 1024 branches, and no fewer than branches.shortest_history",
        ),
    ];
    let mut broken = rules.into_iter().filter(|(holds, ..)| !holds);
    broken.next().map(|(_, key, fix)| (key, fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_folder_are_read_under_their_own_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/cpus");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        let names = Cpu::names().map(|name| format!("{name}.toml"));
        assert_eq!(found, names.collect::<Vec<_>>());
        for name in Cpu::names() {
            assert_eq!(Cpu::named(name).unwrap().name, name);
        }
    }

    #[test]
    fn every_source_of_a_file_is_used() {
        for (name, text) in FILES {
            let file: Table = toml::from_str(text).unwrap();
            for key in file["sources"].as_table().unwrap().keys() {
                assert!(
                    text.matches(key.as_str()).count() > 1,
                    "{name}: [sources] {key} is not used"
                );
            }
        }
    }

    #[test]
    fn wrong_files_are_refused_by_key() {
        for (from, to, key) in [
            (
                "ways = { value = 2, assumption",
                "ways = { value = 17, assumption",
                "ddio.ways",
            ),
            (
                ", source = \"intel: Haswell, out-of-order engine\"",
                "",
                "core.reorder_buffer",
            ),
            ("\"maurice: one", "\"morris: one", "l3.slices"),
            ("fill_buffers =", "fill_bufers =", "file"),
            ("[ddio]", "[ddoi]", "file"),
            ("size_kib = { value = 256", "size_kib = { value = 0", "l2"),
            ("value = \"PLRU\"", "value = \"FIFO\"", "file"),
            (
                "value = 8192, assumption",
                "value = 8000, assumption",
                "branches.base_entries",
            ),
            ("value = 29", "value = 3", "branches.longest_history"),
        ] {
            let text = FILES[0].1.replace(from, to);
            assert_ne!(text, FILES[0].1, "{from}");
            let (found, problem) = parse(&text).unwrap_err();
            assert_eq!(found, key, "{problem}");
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
