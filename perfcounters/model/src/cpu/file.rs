//! Reads CPU files: checks the sources, then the values.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::Deserialize;
use toml::{Table, Value};

use super::description::{Basis, Cache, Contents, Cpu, Identity, Parameter, LINE, LONGEST_HISTORY};
use super::policy::Policy;

/// The CPU files that come with the model, by name.
const SHIPPED: &[(&str, &str)] = &[
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

/// The sections with parameters.
const SECTIONS: [&str; 9] = [
    "core",
    "l1d",
    "l2",
    "l3",
    "memory",
    "ddio",
    "tlb",
    "prefetchers",
    "branches",
];

/// Why there is no processor.
#[derive(Debug, thiserror::Error)]
pub enum CpuError {
    /// No shipped file has the name.
    #[error("no CPU is named `{name}`: give one of {known}, `host`, or the path of a CPU file")]
    UnknownName {
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// No file describes the machine.
    #[error("no CPU file describes this machine ({vendor}, family {family}, model {model}): name one of {known}")]
    UnknownHost {
        /// `vendor_id` of `/proc/cpuinfo`.
        vendor: String,
        /// `cpu family` of `/proc/cpuinfo`.
        family: String,
        /// `model` of `/proc/cpuinfo`.
        model: String,
        /// The names that exist.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read {file}: {source}: give the path of a readable CPU file, or a name of a processor")]
    Unreadable {
        /// The path.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// A key of the file is wrong.
    #[error("{file}: {key}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// The key, with its section.
        key: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// There is no such number to change.
    #[error(
        "{file}: `{parameter}` is no parameter with a whole number: `Cpu::parameters` lists them"
    )]
    NoNumber {
        /// The file.
        file: String,
        /// The parameter.
        parameter: String,
    },
}

/// The top level of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    title: String,
    llvm_mca: String,
    identity: Identity,
    sources: BTreeMap<String, String>,
    core: Table,
    l1d: Table,
    l2: Table,
    l3: Table,
    memory: Table,
    ddio: Table,
    tlb: Table,
    prefetchers: Table,
    branches: Table,
}

/// A parameter as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: Value,
    source: Option<String>,
    assumption: Option<String>,
}

struct Reader<'a> {
    file: &'a str,
}

impl Reader<'_> {
    fn error(&self, key: &str, problem: impl ToString) -> CpuError {
        let problem = problem.to_string().trim_end().replace('\n', "; ");
        CpuError::Invalid {
            file: self.file.to_owned(),
            key: key.to_owned(),
            problem,
        }
    }

    /// Checks a section's sources and returns its plain values.
    fn values(
        &self,
        section: &str,
        table: &Table,
        sources: &BTreeMap<String, String>,
        parameters: &mut Vec<Parameter>,
    ) -> Result<Table, CpuError> {
        let mut plain = Table::new();
        for (key, value) in table {
            let name = format!("{section}.{key}");
            let entry: Entry = value.clone().try_into().map_err(|error: toml::de::Error| {
                self.error(
                    &name,
                    format!("{}: write {{ value = …, source = \"…\" }}", error.message()),
                )
            })?;
            let basis = self.basis(&name, &entry, sources)?;
            parameters.push(Parameter {
                name,
                value: entry.value.to_string(),
                basis,
            });
            plain.insert(key.clone(), entry.value);
        }
        Ok(plain)
    }

    fn basis(
        &self,
        name: &str,
        entry: &Entry,
        sources: &BTreeMap<String, String>,
    ) -> Result<Basis, CpuError> {
        match (&entry.source, &entry.assumption) {
            (Some(source), None) => {
                let document = source.split(':').next().unwrap_or_default();
                if !sources.contains_key(document) {
                    let known: Vec<&str> = sources.keys().map(String::as_str).collect();
                    let problem = format!(
                        "`{document}` is not in [sources]: add it there, or name one of {}",
                        known.join(", ")
                    );
                    return Err(self.error(name, problem));
                }
                Ok(Basis::Source(source.clone()))
            }
            (None, Some(reason)) if !reason.trim().is_empty() => {
                Ok(Basis::Assumption(reason.clone()))
            }
            (None, Some(_)) => Err(self.error(name, "the assumption has no reason: write one")),
            (Some(_), Some(_)) => Err(self.error(
                name,
                "it has a source and an assumption: remove one of them",
            )),
            (None, None) => Err(self.error(
                name,
                "it has no source: add `source`, or `assumption` with a reason",
            )),
        }
    }

    fn section<T: DeserializeOwned>(
        &self,
        section: &str,
        values: Option<Table>,
    ) -> Result<T, CpuError> {
        values
            .unwrap_or_default()
            .try_into()
            .map_err(|error: toml::de::Error| {
                self.error(
                    &format!("[{section}]"),
                    format!("{}: correct this key", error.message()),
                )
            })
    }

    fn check(&self, holds: bool, key: &str, problem: &str) -> Result<(), CpuError> {
        if holds {
            Ok(())
        } else {
            Err(self.error(key, problem))
        }
    }

    fn cache(&self, section: &str, cache: &Cache, slices: u32) -> Result<(), CpuError> {
        let key = |key: &str| format!("{section}.{key}");
        self.check(
            (1..=32).contains(&cache.ways),
            &key("ways"),
            "give 1 to 32 ways",
        )?;
        let set = u64::from(cache.ways) * LINE * u64::from(slices.max(1));
        let room = u64::from(cache.size_kib) * 1024 >= set;
        self.check(
            room,
            &key("size_kib"),
            "give at least one set per slice: ways × 64 bytes × slices",
        )?;
        self.check(cache.latency > 0, &key("latency"), "give at least 1 cycle")?;
        let fits = match cache.policy {
            Policy::Lru3Plru4 => cache.ways == 12,
            _ => true,
        };
        self.check(
            fits,
            &key("policy"),
            "LRU3PLRU4 needs 12 ways: change one of the two",
        )
    }

    fn validate(&self, cpu: &Cpu) -> Result<(), CpuError> {
        let l3 = Cache {
            size_kib: cpu.l3.size_kib,
            ways: cpu.l3.ways,
            latency: cpu.l3.latency,
            policy: cpu.l3.policy,
        };
        self.check(cpu.l3.slices > 0, "l3.slices", "give at least 1 slice")?;
        self.cache("l1d", &cpu.l1d, 1)?;
        self.cache("l2", &cpu.l2, 1)?;
        self.cache("l3", &l3, cpu.l3.slices)?;
        let ascending = cpu.l1d.latency < cpu.l2.latency && cpu.l2.latency < cpu.l3.latency;
        self.check(
            ascending,
            "l2.latency",
            "give a latency between those of L1 and L3",
        )?;
        let inner = cpu.l1d.size_kib + cpu.l2.size_kib;
        let room = cpu.l3.contents != Contents::Inclusive || cpu.l3.size_kib > inner;
        self.check(
            room,
            "l3.size_kib",
            "an inclusive L3 must be larger than L1 and L2 together",
        )?;
        self.check(
            cpu.ddio.ways <= cpu.l3.ways,
            "ddio.ways",
            "give at most as many ways as L3 has",
        )?;
        for (key, value) in [
            ("core.clock_mhz", cpu.core.clock_mhz),
            ("core.width", cpu.core.width),
            ("core.reorder_buffer", cpu.core.reorder_buffer),
            ("core.load_buffer", cpu.core.load_buffer),
            ("core.store_buffer", cpu.core.store_buffer),
            ("core.fill_buffers", cpu.core.fill_buffers),
            ("core.superqueue", cpu.core.superqueue),
            ("branches.return_stack", cpu.branches.return_stack),
        ] {
            self.check(value > 0, key, "give at least 1")?;
        }
        for (key, entries, ways) in [
            (
                "tlb.small_entries",
                cpu.tlb.small_entries,
                cpu.tlb.small_ways,
            ),
            (
                "tlb.large_entries",
                cpu.tlb.large_entries,
                cpu.tlb.large_ways,
            ),
            (
                "tlb.second_entries",
                cpu.tlb.second_entries,
                cpu.tlb.second_ways,
            ),
        ] {
            let whole = entries > 0 && ways > 0 && entries % ways == 0;
            self.check(whole, key, "give a multiple of the ways, at least 1")?;
        }
        self.check(
            cpu.tlb.huge_entries > 0,
            "tlb.huge_entries",
            "give at least 1",
        )?;
        self.validate_branches(cpu)
    }

    fn validate_branches(&self, cpu: &Cpu) -> Result<(), CpuError> {
        let branches = &cpu.branches;
        for (key, entries) in [
            ("branches.base_entries", branches.base_entries),
            ("branches.table_entries", branches.table_entries),
        ] {
            self.check(entries.is_power_of_two(), key, "give a power of two")?;
        }
        self.check(
            branches.target_entries > 0,
            "branches.target_entries",
            "give at least 1",
        )?;
        self.check(
            (1..=16).contains(&branches.tables),
            "branches.tables",
            "give 1 to 16 tables",
        )?;
        self.check(
            (4..=16).contains(&branches.tag_bits),
            "branches.tag_bits",
            "give 4 to 16 bits",
        )?;
        let lengths = branches.shortest_history > 0
            && branches.shortest_history <= branches.longest_history
            && branches.longest_history <= LONGEST_HISTORY;
        self.check(
            lengths,
            "branches.longest_history",
            "give 1 to 1024 branches, and no fewer than branches.shortest_history",
        )
    }
}

impl Cpu {
    /// The names of the CPU files that come with the model.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Reads a CPU file of the model by its name.
    ///
    /// # Errors
    /// No file has this name. The error lists the names.
    pub fn named(name: &str) -> Result<Self, CpuError> {
        let (_, text) = SHIPPED
            .iter()
            .find(|(shipped, _)| *shipped == name)
            .ok_or_else(|| CpuError::UnknownName {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            })?;
        Self::parse(&format!("{name}.toml"), text)
    }

    /// Reads the processor that a user names: `host`, a name of [`Cpu::names`], or the path of a CPU file.
    ///
    /// A path contains `/` or ends in `.toml`. `host` is the machine at hand.
    ///
    /// # Errors
    /// Those of [`Cpu::named`], [`Cpu::load`] and [`Cpu::of_host`].
    pub fn find(name: &str) -> Result<Self, CpuError> {
        if name == "host" {
            let file = "/proc/cpuinfo";
            let text = std::fs::read_to_string(file).map_err(|source| CpuError::Unreadable {
                file: file.to_owned(),
                source,
            })?;
            Self::of_host(&text)
        } else if name.contains('/') || name.ends_with(".toml") {
            Self::load(Path::new(name))
        } else {
            Self::named(name)
        }
    }

    /// Reads the CPU file at `path`.
    ///
    /// # Errors
    /// The file is unreadable, or its contents are not those of a CPU file.
    pub fn load(path: &Path) -> Result<Self, CpuError> {
        let text = std::fs::read_to_string(path).map_err(|source| CpuError::Unreadable {
            file: path.display().to_string(),
            source,
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a CPU file from `text`. `file` is its name in errors.
    ///
    /// # Errors
    /// A key is missing, unknown, without source or outside its range.
    pub fn parse(file: &str, text: &str) -> Result<Self, CpuError> {
        parse(file, text)
    }

    /// The shipped processor of the machine whose `/proc/cpuinfo` is `cpuinfo`.
    ///
    /// # Errors
    /// No CPU file describes the machine. The error names vendor, family and model.
    pub fn of_host(cpuinfo: &str) -> Result<Self, CpuError> {
        let field = |key: &str| {
            cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == key).then(|| value.trim().to_owned())
            })
        };
        let (vendor, family, model) = (field("vendor_id"), field("cpu family"), field("model"));
        for name in Self::names() {
            let cpu = Self::named(name)?;
            let models: Vec<String> = cpu.identity.models.iter().map(u32::to_string).collect();
            if vendor.as_deref() == Some(cpu.identity.vendor.as_str())
                && family == Some(cpu.identity.family.to_string())
                && model.as_ref().is_some_and(|model| models.contains(model))
            {
                return Ok(cpu);
            }
        }
        Err(CpuError::UnknownHost {
            vendor: vendor.unwrap_or_else(|| "unknown".to_owned()),
            family: family.unwrap_or_else(|| "unknown".to_owned()),
            model: model.unwrap_or_else(|| "unknown".to_owned()),
            known: Self::names().collect::<Vec<_>>().join(", "),
        })
    }

    /// The same processor with another value of one whole-number parameter, for example `l3.latency`.
    ///
    /// # Errors
    /// The parameter does not exist or is no whole number, or the processor is impossible with this value.
    pub fn with(&self, parameter: &str, value: u32) -> Result<Self, CpuError> {
        with(self, parameter, value)
    }
}

/// Reads a CPU file from `text`.
fn parse(file: &str, text: &str) -> Result<Cpu, CpuError> {
    let reader = Reader { file };
    let head: Head = toml::from_str(text).map_err(|error| reader.error("file", error))?;
    let tables = [
        head.core,
        head.l1d,
        head.l2,
        head.l3,
        head.memory,
        head.ddio,
        head.tlb,
        head.prefetchers,
        head.branches,
    ];
    let mut parameters = Vec::new();
    let mut values = BTreeMap::new();
    for (section, table) in SECTIONS.into_iter().zip(&tables) {
        values.insert(
            section,
            reader.values(section, table, &head.sources, &mut parameters)?,
        );
    }
    let cpu = Cpu {
        name: head.name,
        title: head.title,
        llvm_mca: head.llvm_mca,
        identity: head.identity,
        core: reader.section("core", values.remove("core"))?,
        l1d: reader.section("l1d", values.remove("l1d"))?,
        l2: reader.section("l2", values.remove("l2"))?,
        l3: reader.section("l3", values.remove("l3"))?,
        memory: reader.section("memory", values.remove("memory"))?,
        ddio: reader.section("ddio", values.remove("ddio"))?,
        tlb: reader.section("tlb", values.remove("tlb"))?,
        prefetchers: reader.section("prefetchers", values.remove("prefetchers"))?,
        branches: reader.section("branches", values.remove("branches"))?,
        sources: head.sources,
        parameters,
    };
    reader.validate(&cpu)?;
    Ok(cpu)
}

/// `cpu` with another value of `parameter`.
fn with(cpu: &Cpu, parameter: &str, value: u32) -> Result<Cpu, CpuError> {
    let reader = Reader { file: &cpu.name };
    let missing = || CpuError::NoNumber {
        file: cpu.name.clone(),
        parameter: parameter.to_owned(),
    };
    let mut changed = cpu.clone();
    let index = cpu
        .parameters
        .iter()
        .position(|known| known.name == parameter)
        .ok_or_else(missing)?;
    cpu.parameters[index].number().ok_or_else(missing)?;
    changed.parameters[index].value = value.to_string();
    let (section, _) = parameter.split_once('.').ok_or_else(missing)?;
    let table = plain_section(&changed.parameters, section)
        .map_err(|error| reader.error(parameter, error))?;
    let table = Some(table);
    match section {
        "core" => changed.core = reader.section(section, table)?,
        "l1d" => changed.l1d = reader.section(section, table)?,
        "l2" => changed.l2 = reader.section(section, table)?,
        "l3" => changed.l3 = reader.section(section, table)?,
        "memory" => changed.memory = reader.section(section, table)?,
        "ddio" => changed.ddio = reader.section(section, table)?,
        "tlb" => changed.tlb = reader.section(section, table)?,
        "prefetchers" => changed.prefetchers = reader.section(section, table)?,
        "branches" => changed.branches = reader.section(section, table)?,
        _ => return Err(missing()),
    }
    reader.validate(&changed)?;
    Ok(changed)
}

/// The values of a section as TOML.
fn plain_section(parameters: &[Parameter], section: &str) -> Result<Table, toml::de::Error> {
    let mut text = String::new();
    for parameter in parameters {
        if let Some((own, key)) = parameter.name.split_once('.') {
            if own == section {
                text.push_str(&format!("{key} = {}\n", parameter.value));
            }
        }
    }
    toml::from_str(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn haswell() -> String {
        SHIPPED
            .iter()
            .find(|(name, _)| *name == "haswell")
            .unwrap()
            .1
            .to_owned()
    }

    fn error_of(change: impl Fn(&str) -> String) -> String {
        let text = haswell();
        let changed = change(&text);
        assert_ne!(text, changed, "the change has no effect");
        parse("my.toml", &changed).unwrap_err().to_string()
    }

    #[test]
    fn all_shipped_files_are_read_under_their_own_name() {
        for (name, _) in SHIPPED {
            let cpu = Cpu::named(name).unwrap();
            assert_eq!(cpu.name, *name);
            assert!(cpu.parameters().len() > 50);
        }
    }

    #[test]
    fn all_cpu_files_of_the_folder_are_shipped() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/cpus");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        found.sort();
        let mut shipped: Vec<&str> = Cpu::names().collect();
        shipped.sort_unstable();
        assert_eq!(found, shipped);
    }

    #[test]
    fn every_source_of_a_shipped_file_is_used() {
        for name in Cpu::names() {
            let cpu = Cpu::named(name).unwrap();
            for key in cpu.sources.keys() {
                let used = cpu
                    .parameters()
                    .iter()
                    .any(|parameter| match &parameter.basis {
                        Basis::Source(text) | Basis::Assumption(text) => {
                            text.contains(key.as_str())
                        }
                    });
                assert!(used, "{name}: [sources] {key} is not used");
            }
        }
    }

    #[test]
    fn no_two_files_describe_the_same_processor() {
        let mut all = Vec::new();
        for name in Cpu::names() {
            let identity = Cpu::named(name).unwrap().identity;
            all.extend(
                identity
                    .models
                    .iter()
                    .map(|model| (identity.vendor.clone(), identity.family, *model)),
            );
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn errors_name_file_and_key_and_fix() {
        let error = error_of(|text| {
            text.replace(
                "ways = { value = 0, source",
                "ways = { value = 17, assumption",
            )
        });
        assert_eq!(
            error,
            "my.toml: ddio.ways: give at most as many ways as L3 has"
        );
    }

    #[test]
    fn a_parameter_without_source_is_refused() {
        let error = error_of(|text| {
            text.replace(", source = \"intel: Haswell, load and store buffers\"", "")
        });
        assert!(
            error.starts_with("my.toml: core.load_buffer: it has no source: add `source`"),
            "{error}"
        );
    }

    #[test]
    fn a_source_that_is_not_listed_is_refused() {
        let error = error_of(|text| text.replace("\"seven: L3", "\"eight: L3"));
        assert!(
            error.starts_with("my.toml: l3.latency: `eight` is not in [sources]"),
            "{error}"
        );
    }

    #[test]
    fn a_source_and_an_assumption_exclude_each_other() {
        let error = error_of(|text| {
            text.replace(
                "\"seven: L3 cache latency\"",
                "\"seven: L3\", assumption = \"a guess\"",
            )
        });
        assert!(
            error.contains("l3.latency: it has a source and an assumption"),
            "{error}"
        );
    }

    #[test]
    fn missing_and_unknown_keys_are_refused() {
        let error = error_of(|text| text.replace("store_buffer =", "store_bufer ="));
        assert!(error.starts_with("my.toml: [core]: "), "{error}");
        assert!(error.contains("store_bufer"), "{error}");
        let error = error_of(|text| text.replace("[ddio]", "[ddoi]"));
        assert!(error.contains("ddoi"), "{error}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let error =
            error_of(|text| text.replace("size_kib = { value = 256", "size_kib = { value = 0"));
        assert!(
            error.starts_with("my.toml: l2.size_kib: give at least one set"),
            "{error}"
        );
        let error = error_of(|text| text.replace("value = \"PLRU\"", "value = \"FIFO\""));
        assert!(error.contains("`FIFO` is no policy"), "{error}");
        let error = error_of(|text| {
            text.replace("store_buffer = { value = 42", "store_buffer = { value = -1")
        });
        assert!(error.starts_with("my.toml: [core]: "), "{error}");
    }

    #[test]
    fn one_parameter_changes_and_the_others_stay() {
        let cpu = Cpu::named("haswell").unwrap();
        let slower = cpu.with("l3.latency", 43).unwrap();
        assert_eq!(slower.l3.latency, 43);
        assert_eq!(
            Cpu {
                l3: cpu.l3.clone(),
                parameters: cpu.parameters.clone(),
                ..slower
            },
            cpu
        );
        assert!(cpu.with("l3.latency", 3).is_err());
        assert!(cpu.with("l3.policy", 3).is_err());
        assert!(cpu.with("l3.nothing", 3).is_err());
    }

    #[test]
    fn latencies_in_ns_follow_the_clock() {
        let cpu = Cpu::named("haswell").unwrap();
        let nominal = cpu.nominal_latencies();
        assert_eq!(
            (nominal.l1, nominal.l2, nominal.l3, nominal.memory),
            (4, 12, 36, 36 + 189)
        );
        let slow = cpu.latencies(1600);
        assert_eq!(
            (slow.l1, slow.l2, slow.l3, slow.memory),
            (4, 12, 12 + 12, 24 + 92)
        );
        let ivy = Cpu::named("ivy-bridge").unwrap();
        assert_eq!(ivy.latencies(1600).l3, ivy.nominal_latencies().l3);
    }

    #[test]
    fn hosts_are_found_by_vendor_family_and_model() {
        let info = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 58\nmodel name\t: X\n";
        assert_eq!(Cpu::of_host(info).unwrap().name, "ivy-bridge");
        let error = Cpu::of_host(&info.replace("58", "1"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("GenuineIntel, family 6, model 1"), "{error}");
        assert!(Cpu::of_host("").is_err());
    }

    #[test]
    fn users_name_a_processor_a_file_or_the_host() {
        assert_eq!(Cpu::find("zen3").unwrap().name, "zen3");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/cpus/zen4.toml");
        assert_eq!(Cpu::find(file).unwrap().name, "zen4");
        assert!(matches!(
            Cpu::find("my.toml"),
            Err(CpuError::Unreadable { .. })
        ));
        assert!(matches!(Cpu::find("my"), Err(CpuError::UnknownName { .. })));
        // Which one this is depends on the machine that runs the test.
        assert!(matches!(
            Cpu::find("host"),
            Ok(_) | Err(CpuError::UnknownHost { .. })
        ));
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Cpu::named("pentium").unwrap_err().to_string();
        assert!(
            error.contains("haswell, ice-lake-sp, ivy-bridge"),
            "{error}"
        );
        assert!(Cpu::load(std::path::Path::new("/no/such.toml"))
            .unwrap_err()
            .to_string()
            .contains("/no/such.toml"));
    }
}
