//! `triptych compare --commits A..B`: measures the drivers of each commit that changes them, by today's collector.
//!
//! A commit whose program is that of another one gets its figures. If a step is dearer and commits lie between, they
//! are halved until one is left. Each commit has a folder of cells in `results/MACHINE/history/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{ensure, Context, Result};
use perfcounters::{Cell, Interrupt};
use record::{BackendName, GitFacts, HostFacts, LinePlacement, RunRecord, CELLS_FOLDER};
use serde_json::{json, Value};

use super::arguments::CompareArguments;
use super::comparisons::Judge;
use super::measure::Build;
use super::plan::CompareFile;
use crate::build::builds::variants::DEFAULT;
use crate::build::checkout::{git, hash_of, Checkout};
use crate::build::request::Builder;
use crate::build::{runner, stamp};
use crate::measure::cell_file::CellFiles;
use crate::measure::run::config::Config;
use crate::measure::run::job::into_cells;
use crate::measure::run::measure::BackendWork;
use crate::measure::run::setup::Backends;
use crate::usage::{Outcome, UsageError};

/// The sources of the drivers. Each commit that changes them is measured.
const SOURCES: [&str; 3] = ["c/src", "rust/src", "rust-unsafe/src"];
/// What else can change a driver's program. Such commits are measured where a step may be theirs.
const AROUND: [&str; 5] = [
    "rust",
    "rust-unsafe",
    "Makefile",
    "Cargo.toml",
    "Cargo.lock",
];
/// Counts of `trace` that differ by less are equal: it counts 1,024 packets.
const ROUNDING: f64 = 0.0005;
/// What the run of a second measurement ends with.
const AGAIN: &str = "-again";

#[derive(Debug, Clone)]
struct Commit {
    revision: String,
    committed: String,
    /// What its run is named after.
    time: String,
    subject: String,
    /// Whether it changes the sources of a driver.
    changes: bool,
}

impl Commit {
    fn short(&self) -> &str {
        &self.revision[..12]
    }
}

/// The lower end, the median and the upper end of the figure of each cell.
type Figures = BTreeMap<String, [f64; 3]>;

struct History<'a> {
    arguments: &'a CompareArguments,
    file: &'a CompareFile,
    builds: &'a [Build<'a>],
    interrupt: &'a Interrupt,
    commits: Vec<Commit>,
    /// The folder of the builds. Programs contain its path.
    output: PathBuf,
    /// The folder of the runs.
    runs: PathBuf,
    machine: String,
    found: BTreeMap<usize, Figures>,
}

/// Measures, and prints the steps. The outcome says whether one is dearer.
pub(super) fn run(
    arguments: &CompareArguments,
    range: &str,
    file: &CompareFile,
    builds: &[Build<'_>],
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let machine = arguments.machine.name();
    let results = arguments.results.as_deref();
    let results = results.unwrap_or(Path::new("results"));
    let mut history = History {
        commits: commits(range)?,
        output: std::path::absolute(arguments.build_dir.join("history"))?,
        runs: results.join(&machine).join("history"),
        arguments,
        file,
        builds,
        interrupt,
        machine,
        found: BTreeMap::new(),
    };
    stamp::make_folder(&history.output)?;
    let _lock = stamp::lock(&history.output)?;
    history.measure_all()?;
    history.report()
}

/// The first commit of the range, and those after it that may change a driver's program.
fn commits(range: &str) -> Result<Vec<Commit>> {
    let ends = range
        .split_once("..")
        .filter(|(_, to)| !to.starts_with('.'));
    let why = || {
        UsageError(format!(
            "--commits {range}: write A..B, such as HEAD~20..HEAD"
        ))
    };
    let (from, to) = ends.ok_or_else(why)?;
    let [from, to] = [from, to].map(|end| hash_of(Path::new("."), end));
    let (from, range) = (from?, to?);
    let range = format!("{from}..{range}");
    let mut all = log(&["--no-walk", &from], &[])?;
    all.extend(log(&[&range], &[&SOURCES[..], &AROUND].concat())?);
    let sources = log(&[&range], &SOURCES)?;
    for commit in &mut all {
        commit.changes = sources.iter().any(|it| it.revision == commit.revision);
    }
    Ok(all)
}

/// The commits of a first-parent log, oldest first.
fn log(what: &[&str], paths: &[&str]) -> Result<Vec<Commit>> {
    let mut command = git(Path::new("."));
    command.env("TZ", "UTC");
    command.args([
        "log",
        "--first-parent",
        "--reverse",
        "--format=%H%x09%cI%x09%cd%x09%s",
    ]);
    command.arg("--date=format-local:%Y-%m-%dT%H-%M-%SZ");
    command.args(what).arg("--").args(paths);
    let text = runner::output(command, Duration::from_secs(60), &Interrupt::new())?;
    let commit = |line: &str| {
        let mut parts = line.splitn(4, '\t').map(str::to_owned);
        Some(Commit {
            revision: parts.next()?,
            committed: parts.next()?,
            time: parts.next()?,
            subject: parts.next()?,
            changes: false,
        })
    };
    Ok(text.lines().filter_map(commit).collect())
}

impl History<'_> {
    fn measure_all(&mut self) -> Result<()> {
        let last = self.commits.len() - 1;
        let changes = (1..last).rev().filter(|at| self.commits[*at].changes);
        let every = changes.step_by(self.arguments.every as usize);
        let chosen: BTreeSet<usize> = every.chain([0, last]).collect();
        eprintln!("{} commits are measured, of {}", chosen.len(), last + 1);
        for at in chosen {
            self.add(at)?;
        }
        let mut searched = BTreeSet::new();
        while let Some((from, to)) = self.pairs().into_iter().find(|(from, to)| {
            let dearer = self.steps(*from, *to).iter().any(|step| step.1);
            dearer && to - from > 1 && searched.insert((*from, *to))
        }) {
            self.add(from + (to - from) / 2)?;
        }
        Ok(())
    }

    /// The measured commits, each with the next one.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let measured = self.found.keys().copied();
        measured.clone().zip(measured.skip(1)).collect()
    }

    /// Measures a commit. One that cannot be built is named, and left out.
    fn add(&mut self, at: usize) -> Result<()> {
        let commit = &self.commits[at];
        eprintln!("{} {}", commit.short(), commit.subject);
        match self.build(commit) {
            Ok(()) => {
                let figures = self.measure(commit, "")?;
                self.found.insert(at, figures);
            }
            Err(error) if self.interrupt.is_set() => return Err(error),
            Err(error) => eprintln!("{} is left out: {error:#}", commit.short()),
        }
        Ok(())
    }

    fn builder(&self, output: PathBuf) -> Builder<'_> {
        Builder {
            // The same for all commits, so that the same sources give the same program.
            sources: self.output.join("source"),
            output,
            build: &self.arguments.build_dir,
            interrupt: self.interrupt,
        }
    }

    fn build(&self, commit: &Commit) -> Result<()> {
        let builds = self.builds.iter();
        let from: String = builds
            .map(|(recipe, driver)| format!("{driver} {}\n", recipe.variant))
            .collect();
        let place = self.output.join(commit.short());
        stamp::once(&place, &from, &[], || {
            let builder = self.builder(self.output.clone());
            Checkout::at(
                Path::new("."),
                &commit.revision,
                &builder.sources,
                self.interrupt,
            )?;
            for (recipe, driver) in self.builds {
                builder.build(recipe, *driver)?;
            }
            let built = self.output.join("variants");
            let moved = fs::rename(&built, place.join("variants"));
            moved.with_context(|| format!("cannot move {}", built.display()))
        })
    }

    /// Measures what no commit with the same program has, and returns the figures. A second measurement times
    /// everything.
    fn measure(&self, commit: &Commit, suffix: &str) -> Result<Figures> {
        let again = suffix == AGAIN;
        let config = Config {
            placements: vec![LinePlacement::Memory],
            valgrind: self.file.valgrind.clone(),
            lockstep: self.file.lockstep.clone(),
            ..Config::default()
        };
        let factory = Backends::new(&config, &self.arguments.build_dir, self.interrupt);
        let record = RunRecord {
            id: format!("{}-{}{suffix}", commit.time, commit.short()),
            machine: self.machine.clone(),
            start: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command: std::env::args().collect(),
            git: Some(GitFacts {
                revision: Some(commit.revision.clone()),
                committed: Some(commit.committed.clone()),
                dirty: false,
            }),
            host: HostFacts::gather(),
            placement: factory.placement.clone(),
            plan: json!({"compare": {"comparison": self.file}}),
            complete: true,
            ..RunRecord::default()
        };
        let run = self.runs.join(&record.id);
        record::begin_run(&run, &record)?;
        let folder = run.join(CELLS_FOLDER);
        let builder = self.builder(self.output.join(commit.short()));
        let (mut files, mut figures) = (CellFiles::default(), Figures::new());
        for name in &self.file.backends {
            let timed = *name == BackendName::Lockstep;
            if (timed && !self.arguments.timed) || (again && !timed) {
                continue;
            }
            let backend = factory.backend(*name)?;
            let mut cells: Vec<Cell> = Vec::new();
            for ((recipe, driver), batch) in self
                .builds
                .iter()
                .flat_map(|build| self.file.batch.iter().map(move |batch| (build, batch)))
            {
                let mut cell = builder.cell(recipe, *driver, *batch);
                if recipe.default_flags {
                    DEFAULT.clone_into(&mut cell.variant);
                }
                cells.extend(backend.cells_of(&cell));
            }
            let file = |cell: &Cell| folder.join(files.id(cell, backend.as_ref()) + ".json");
            let paths: Vec<_> = cells.iter().map(file).collect();
            let missing = |path: &&PathBuf| !path.is_file() && (again || !self.take(path, &record));
            if paths.iter().filter(missing).count() > 0 {
                into_cells(&folder, record.clone(), |recorder| {
                    recorder.note_settings(backend.as_ref());
                    let why = backend.unavailable();
                    ensure!(
                        why.is_none(),
                        "{name} cannot measure here: {}",
                        why.unwrap_or_default()
                    );
                    BackendWork { backend, cells }.measure(recorder)
                })?;
            }
            figures.extend(paths.iter().filter_map(|path| figure(path)));
        }
        Ok(figures)
    }

    /// Takes the file of a cell from a commit with the same program; whether there was one.
    fn take(&self, path: &Path, record: &RunRecord) -> bool {
        let name = path.file_name().unwrap_or_default();
        let mut runs = fs::read_dir(&self.runs).into_iter().flatten().flatten();
        let Some(mut cell) = runs.find_map(|run| read(&run.path().join(CELLS_FOLDER).join(name)))
        else {
            return false;
        };
        cell["run"] = json!(record.id);
        cell["git"] = json!(record.git);
        let line = record::to_line(&cell);
        line.is_ok_and(|line| record::write_whole(path, &line).is_ok())
    }

    /// The counts that differ between two commits, and whether each is dearer.
    fn steps(&self, before: usize, after: usize) -> Vec<(String, bool)> {
        let step = |(name, [_, after, _]): (&String, &[f64; 3])| {
            let [_, before, _] = self.found[&before].get(name)?;
            let limit = match name.split('-').next() {
                Some("trace") => ROUNDING,
                Some("valgrind") => Judge::new(None).instructions,
                // Times alone change nothing.
                _ => f64::INFINITY,
            };
            let (more, percent) = (after - before, 100.0 * (after / before - 1.0));
            let text = format!(
                "{name}: {before:.3} instructions a packet, now {after:.3} ({percent:+.2} %)"
            );
            (more.abs() > limit).then_some((text, more > 0.0))
        };
        self.found[&after].iter().filter_map(step).collect()
    }

    /// The cells whose cycles are dearer, and whether they were so again in a second run.
    fn slower(&self, before: usize, after: usize) -> Result<Vec<(String, bool)>> {
        let apart = |before: &Figures, after: &Figures| -> Vec<String> {
            let above = |(name, figure): &(&String, &[f64; 3])| {
                name.starts_with("lockstep")
                    && before
                        .get(*name)
                        .is_some_and(|before| is_above(before, figure))
            };
            after
                .iter()
                .filter(above)
                .map(|(name, _)| name.clone())
                .collect()
        };
        let mut slower = apart(&self.found[&before], &self.found[&after]);
        let again = self.arguments.again && !slower.is_empty();
        if again {
            let [before, after] = [before, after].map(|at| self.measure(&self.commits[at], AGAIN));
            let confirmed = apart(&before?, &after?);
            slower.retain(|name| confirmed.contains(name));
        }
        let said = |name: String| {
            let [before, after] = [before, after].map(|at| self.found[&at][&name][1]);
            let seen = if again {
                "in two runs"
            } else {
                "in one run; --again confirms it"
            };
            (
                format!("{name}: {before:.2} TSC cycles a packet, now {after:.2}, {seen}"),
                again,
            )
        };
        Ok(slower.into_iter().map(said).collect())
    }

    fn report(&self) -> Result<Outcome> {
        ensure!(!self.found.is_empty(), "no commit could be built");
        let mut count = 0;
        for (from, to) in self.pairs() {
            let mut steps = self.steps(from, to);
            steps.extend(self.slower(from, to)?);
            let [before, after] = [from, to].map(|at| &self.commits[at]);
            if !steps.is_empty() {
                println!(
                    "{} {} (after {})",
                    after.short(),
                    after.subject,
                    before.short()
                );
            }
            for (text, dearer) in steps {
                count += usize::from(dearer);
                println!("  {}{text}", if dearer { "dearer: " } else { "" });
            }
        }
        println!(
            "{} commits in {}: {count} cells became dearer",
            self.found.len(),
            self.runs.display()
        );
        Ok(if count > 0 {
            Outcome::Worse
        } else {
            Outcome::Good
        })
    }
}

/// Whether the 95 % interval of the ratio of two figures lies above 1. They were measured apart, so their relative errors
/// add up in squares. history.py judges by the same rule.
fn is_above([_, before, high]: &[f64; 3], [low, after, _]: &[f64; 3]) -> bool {
    let error = (1.0 - low / after).hypot(high / before - 1.0);
    after / before * (1.0 - error) > 1.0
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// The figure of a cell's file that decides, and a name that does not depend on the program.
fn figure(path: &Path) -> Option<(String, [f64; 3])> {
    let cell = read(path)?;
    let (name, _) = cell["id"].as_str()?.rsplit_once('-')?;
    let figures = &cell["figures"];
    let figure = figures
        .get("instructions")
        .or_else(|| figures.get("tsc_cycles"))?;
    let [low, value, high] = ["low", "value", "high"].map(|end| figure[end].as_f64());
    let name = format!("{name} by {}", cell["build"]["toolchain"].as_str()?);
    Some((name, [low?, value?, high?]))
}

#[cfg(test)]
mod tests {
    use super::is_above;

    #[test]
    fn the_interval_of_the_ratio_decides() {
        let before = [99.0, 100.0, 101.0];
        assert!(is_above(&before, &[102.0, 103.0, 104.0]));
        // The interval of this ratio holds 1.
        assert!(!is_above(&before, &[100.2, 101.2, 102.2]));
        assert!(!is_above(&[102.0, 103.0, 104.0], &before));
    }
}
