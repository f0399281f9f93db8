//! The ladder to the limit: from the default path to the tuned one, in all three languages.
//!
//! `bench/ladder/limit/` lists the rungs, and has the patches that remove or add a feature of the tuned path. A rung is
//! built from a patched copy of the tree by the Makefile's own recipes, into `build/variants/limit-NAME/`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{absolute, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::process::{is_executable, Process};
use perfcounters::Interrupt;
use record::{BackendName, Implementation, LinePlacement, Metric, Sample, SAMPLES_FILE};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::arguments::LadderArguments;
use super::sources;
use crate::build::builds::variants::build_folder;
use crate::measure::run;
use crate::measure::run::arguments::RunArguments;
use crate::measure::run::config::{Block, Config, COUNTING};
use crate::progress::Progress;
use crate::usage::Outcome;

/// How the variants begin that this ladder builds. `perfcounters` measures them by the tuned path.
const PREFIX: &str = "limit-";

/// The parts of the repository that a rung is made of.
const PARTS: [&str; 10] = [
    "Makefile",
    "Cargo.lock",
    "bench/apps/Cargo.toml",
    "bench/forwarder-abi",
    "bench/setup",
    "c/src",
    "drivers/conformance/fuzz-input",
    "rust",
    "rust-unsafe",
    "Cargo.toml",
];

/// The crates among them.
const MEMBERS: [&str; 3] = ["rust", "rust-unsafe", "bench/forwarder-abi"];

/// Longest time for one build.
const LIMIT: Duration = Duration::from_secs(600);
/// The estimated time to build a rung in all languages.
const BUILD: Duration = Duration::from_secs(60);
/// The same to check it.
const CHECK: Duration = Duration::from_secs(10);

/// A rung.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rung {
    /// Its variant.
    name: String,
    /// Its name in the table.
    title: String,
    /// What is done to the shipped sources.
    #[serde(default)]
    patches: Vec<String>,
    /// The languages that have it.
    #[serde(rename = "impl", default = "all")]
    implementations: Vec<Implementation>,
}

fn all() -> Vec<Implementation> {
    Implementation::OURS.to_vec()
}

/// The rungs from the bottom, and the folder with their patches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    #[serde(rename = "rung")]
    rungs: Vec<Rung>,
    #[serde(skip)]
    folder: PathBuf,
}

impl Limit {
    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("rungs.toml");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read the rungs, {}", path.display()))?;
        let mut limit: Self =
            toml::from_str(&text).with_context(|| format!("{} is no ladder", path.display()))?;
        limit.folder = folder.to_owned();
        for rung in &limit.rungs {
            ensure!(
                rung.patches.is_empty() != rung.name.starts_with(PREFIX),
                "rung {}: a name begins with {PREFIX} if the rung has patches",
                rung.name
            );
        }
        Ok(limit)
    }

    /// The rungs that are builds of their own.
    fn built(&self) -> impl Iterator<Item = &Rung> {
        self.rungs.iter().filter(|rung| !rung.patches.is_empty())
    }

    fn patch(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.patch"))
    }

    /// Writes the sources of a rung.
    fn write(&self, rung: &Rung, repository: &Path, to: &Path) -> Result<()> {
        if to.exists() {
            fs::remove_dir_all(to).with_context(|| format!("cannot empty {}", to.display()))?;
        }
        for part in PARTS {
            sources::copy(&repository.join(part), &to.join(part))?;
        }
        let manifest = to.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        fs::write(&manifest, sources::workspace(&text, &rung.name, &MEMBERS)?)?;
        for patch in &rung.patches {
            sources::apply(&self.patch(patch), to)?;
        }
        Ok(())
    }
}

/// Checks, builds or measures the rungs.
///
/// # Errors
/// If a patch does not apply, or a rung cannot be built or measured.
pub(super) fn run(arguments: &LadderArguments, interrupt: &Interrupt) -> Result<Outcome> {
    ensure!(
        cfg!(target_arch = "x86_64"),
        "the patches of the ladder to the limit are for x86-64"
    );
    let limit = Limit::read(&arguments.ladder.join("limit"))?;
    let work = Work {
        limit: &limit,
        build: absolute(&*arguments.build_dir)?,
        // A check leaves the builds alone.
        folder: if arguments.check {
            "limit-check"
        } else {
            "limit"
        },
        interrupt,
    };
    if arguments.check {
        work.each("check", CHECK, |rung| work.check(rung))?;
        let count = limit.built().count();
        println!("{count} builds of the ladder to the limit: all patches apply and all compile");
        return Ok(Outcome::Good);
    }
    work.each("build", BUILD, |rung| work.build(rung))?;
    if !arguments.build {
        measure(&limit, arguments, interrupt)?;
    }
    Ok(Outcome::Good)
}

struct Work<'a> {
    limit: &'a Limit,
    build: PathBuf,
    /// The folder in `build` for the sources and logs.
    folder: &'static str,
    interrupt: &'a Interrupt,
}

impl Work<'_> {
    fn each(
        &self,
        title: &str,
        estimate: Duration,
        mut act: impl FnMut(&Rung) -> Result<()>,
    ) -> Result<()> {
        let count = self.limit.built().count() as u32;
        let mut progress = Progress::new(estimate * count);
        progress.begin(title, u64::from(count), estimate * count);
        for rung in self.limit.built() {
            progress.step(&rung.name);
            act(rung).with_context(|| format!("rung {}", rung.name))?;
        }
        progress.finish();
        Ok(())
    }

    fn folder(&self, rung: &Rung) -> PathBuf {
        self.build.join(self.folder).join(&rung.name)
    }

    /// Compiles C and safe Rust. C2Rust needs what compiles as C.
    fn check(&self, rung: &Rung) -> Result<()> {
        let folder = self.folder(rung);
        let (source, into) = (folder.join("source"), folder.join("checked"));
        self.limit.write(rung, Path::new("."), &source)?;
        self.make(rung, Implementation::C, &into)?;
        let mut command = Command::new("cargo");
        command
            .args(["check", "--quiet", "--package", "forwarder-abi-rust"])
            .arg("--target-dir")
            .arg(self.build.join("cargo-limit"))
            .current_dir(&source)
            .env("RUSTFLAGS", "-C target-cpu=haswell");
        self.wait(rung, "cargo-check", command)?;
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
    }

    /// Builds a rung, unless its sources and compilers are those of the last time. A language that cannot be built here
    /// is named.
    fn build(&self, rung: &Rung) -> Result<()> {
        let folder = self.folder(rung);
        let (source, stamp) = (folder.join("source"), folder.join("built.txt"));
        self.limit.write(rung, Path::new("."), &source)?;
        let hash = self.hash(rung, &source)?;
        let into = self.build.join("variants").join(&rung.name);
        if fs::read_to_string(&stamp).is_ok_and(|built| built == hash) && into.is_dir() {
            return Ok(());
        }
        if into.exists() {
            fs::remove_dir_all(&into)?;
        }
        for implementation in &rung.implementations {
            match implementation {
                Implementation::RustUnsafe if !self.transpile(rung, &source)? => println!(
                    "{}: there is no transpiled driver, because C2Rust is missing; `bench/setup/c2rust.sh` installs it",
                    rung.name
                ),
                implementation => self.make(rung, *implementation, &into)?,
            }
        }
        self.link_programs(rung, &into)?;
        fs::write(&stamp, hash).with_context(|| format!("cannot write {}", stamp.display()))
    }

    /// Translates the C of a rung. Returns whether C2Rust is there.
    fn transpile(&self, rung: &Rung, source: &Path) -> Result<bool> {
        let found = Command::new(source.join("bench/setup/c2rust.sh"))
            .arg("--path")
            .output()
            .context("cannot start bench/setup/c2rust.sh")?;
        let program = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        let is_there = is_executable(Path::new(&program));
        if is_there {
            let command = Command::new(source.join("rust-unsafe/transpile.sh"));
            self.wait(rung, "transpile", command)?;
        }
        Ok(is_there)
    }

    /// Runs the recipe that builds a shipped driver.
    fn make(&self, rung: &Rung, implementation: Implementation, into: &Path) -> Result<()> {
        let mut command = Command::new("make");
        command
            .arg("--directory")
            .arg(self.folder(rung).join("source"))
            .arg(format!("into-{implementation}"))
            .arg(format!("INTO={}", into.display()))
            .arg(format!(
                "DRIVER_TARGET={}",
                self.build.join("cargo-limit").display()
            ))
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL");
        self.wait(rung, &format!("make-{implementation}"), command)
    }

    fn wait(&self, rung: &Rung, name: &str, command: Command) -> Result<()> {
        let folder = self.folder(rung);
        Process::start(name, command, None, &folder, Stdio::null())?
            .wait(LIMIT, self.interrupt)
            .with_context(|| format!("see {}", folder.join(format!("{name}.stderr")).display()))
    }

    /// A hash of the sources and of the compilers of the shipped drivers.
    fn hash(&self, rung: &Rung, source: &Path) -> Result<String> {
        let mut hash = Sha256::new();
        let mut files = sources::files(source)?;
        files.sort();
        for implementation in &rung.implementations {
            files.push(build_folder(&self.build, *implementation, "default").join("toolchain.txt"));
        }
        for file in files {
            hash.update(file.to_string_lossy().as_bytes());
            hash.update(
                fs::read(&file)
                    .with_context(|| format!("cannot read {}: run `make build`", file.display()))?,
            );
        }
        Ok(format!("{:x}", hash.finalize()))
    }

    /// Makes a folder in which the rung replaces the drivers, for the conformance tests.
    fn link_programs(&self, rung: &Rung, into: &Path) -> Result<()> {
        let bin = self.folder(rung).join("bin");
        if bin.exists() {
            fs::remove_dir_all(&bin)?;
        }
        fs::create_dir_all(&bin)?;
        let shipped = self.build.join("bin");
        for name in ["c", "rust", "rust-unsafe", "nic"] {
            let own = into.join(name);
            let target = if own.exists() {
                own
            } else {
                shipped.join(name)
            };
            symlink(&target, bin.join(name))
                .with_context(|| format!("cannot link {}", target.display()))?;
        }
        Ok(())
    }
}

fn measure(limit: &Limit, arguments: &LadderArguments, interrupt: &Interrupt) -> Result<()> {
    let config = arguments.build_dir.join("limit").join("matrix.toml");
    fs::write(&config, toml::to_string(&matrix(limit))?)
        .with_context(|| format!("cannot write {}", config.display()))?;
    let run = RunArguments {
        quick: arguments.quick,
        results: arguments.results.clone(),
        build_dir: arguments.build_dir.clone(),
        ..RunArguments::of(&config)
    };
    for folder in run::record_runs(&run, interrupt)? {
        let samples = record::read_samples(&folder.join(SAMPLES_FILE))?;
        print!("{}", table(limit, &samples));
    }
    Ok(())
}

/// Instructions at two batch sizes, cycles at one: where lines lie matters more than the batch.
fn matrix(limit: &Limit) -> Config {
    let variants: Vec<_> = limit.rungs.iter().map(|rung| rung.name.clone()).collect();
    let counted = Block {
        name: "limit".to_owned(),
        backends: vec![COUNTING],
        variants,
        batch: vec![32, 8],
        ..Block::default()
    };
    let timed = Block {
        name: "limit, cycles".to_owned(),
        backends: vec![BackendName::Lockstep],
        batch: vec![32],
        ..counted.clone()
    };
    let mut config = Config::new(vec![counted, timed]);
    config.placements = vec![
        LinePlacement::Warm,
        LinePlacement::L3,
        LinePlacement::Memory,
    ];
    config
}

/// A column: its head, the metric, the batch size and the placement.
type Column = (&'static str, Metric, u32, Option<LinePlacement>);

const COLUMNS: [Column; 7] = [
    ("instr.", Metric::Instructions, 32, None),
    ("loads", Metric::Loads, 32, None),
    ("stores", Metric::Stores, 32, None),
    ("warm", Metric::TscCycles, 32, Some(LinePlacement::Warm)),
    ("l3", Metric::TscCycles, 32, Some(LinePlacement::L3)),
    ("memory", Metric::TscCycles, 32, Some(LinePlacement::Memory)),
    ("instr. at batch 8", Metric::Instructions, 8, None),
];

/// A Markdown table for each language: medians per packet.
fn table(limit: &Limit, samples: &[Sample]) -> String {
    let mut values: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        for (column, (_, metric, batch, placement)) in COLUMNS.iter().enumerate() {
            let conditions = sample.conditions;
            if (sample.metric, conditions.batch) == (*metric, *batch)
                && conditions.placement == *placement
            {
                let key = (sample.implementation, sample.variant.as_str(), column);
                values.entry(key).or_default().push(sample.value);
            }
        }
    }
    let mut text = String::new();
    for implementation in Implementation::OURS {
        let heads = COLUMNS.map(|column| column.0).join(" | ");
        text += &format!(
            "\n| {implementation} | {heads} |\n|---|{}\n",
            "---:|".repeat(COLUMNS.len())
        );
        for rung in &limit.rungs {
            let cell = |column| {
                let values = values.get_mut(&(implementation, rung.name.as_str(), column));
                values.map_or(String::new(), |values| format!("{:.1}", median(values)))
            };
            let cells: Vec<_> = (0..COLUMNS.len()).map(cell).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                text += &format!("| {} | {} |\n", rung.title, cells.join(" | "));
            }
        }
    }
    text
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn limit() -> Limit {
        Limit::read(&repository().join("bench/ladder/limit")).unwrap()
    }

    #[test]
    fn every_patch_applies_and_each_rung_is_measured() {
        let limit = limit();
        let folder = tempfile::tempdir().unwrap();
        let mut texts = Vec::new();
        for rung in limit.built() {
            let to = folder.path().join(&rung.name);
            limit.write(rung, repository(), &to).unwrap();
            let text: String = [
                "c/src/tuned",
                "c/src/driver",
                "rust/src/tuned",
                "rust/src/sys",
                "rust/src/driver",
            ]
            .into_iter()
            .flat_map(|part| {
                let mut files = sources::files(&to.join(part)).unwrap();
                files.sort();
                files
            })
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
            assert!(!texts.contains(&text), "{} changes nothing", rung.name);
            texts.push(text);
        }
        let config = matrix(&limit);
        config.check().unwrap();
        let back: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
        assert_eq!(back, config);
        assert_eq!(config.blocks[0].variants.len(), limit.rungs.len());
    }

    #[test]
    fn readme_and_rungs_name_the_same() {
        let readme = fs::read_to_string(repository().join("bench/ladder/README.md")).unwrap();
        for rung in limit().rungs {
            assert!(
                readme.contains(&format!("| {} |", rung.title)),
                "{}",
                rung.title
            );
        }
    }

    #[test]
    fn the_table_has_medians_and_gaps() {
        let limit = limit();
        let line = |batch, backend, metric, value, place| {
            format!(
                "c,tuned,gcc,{batch},{backend},{metric},{value},u,1,0,512,60,,,,1,poll,{place},0\n"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        let head = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,ring_size,frame_size,\
                    offered_mpps,note,cpu,queues,waiting,placement,process\n";
        let lines = [
            line(32, "lockstep", "tsc_cycles", 3.0, "warm"),
            line(32, "lockstep", "tsc_cycles", 9.0, "warm"),
            line(32, "lockstep", "tsc_cycles", 4.0, "warm"),
            line(8, "trace", "instructions", 37.25, ""),
        ];
        fs::write(&path, head.to_owned() + &lines.concat()).unwrap();
        let text = table(&limit, &record::read_samples(&path).unwrap());
        assert!(
            text.contains("| four at once (the tuned path) |  |  |  | 4.0 |  |  | 37.2 |"),
            "{text}"
        );
        assert_eq!(text.matches("four at once").count(), 1);
    }
}
