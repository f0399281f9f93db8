//! `triptych compare --commits A..B`: measures the drivers of each commit that changes them, by today's collector.
//!
//! A commit whose program is that of another one gets its figures. If a step is dearer and commits lie between, they
//! are halved until one is left. Each commit has a folder of cells in `results/MACHINE/history/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::placement::Topology;
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
use crate::build::runner;
use crate::build::stamp;
use crate::measure::cell_file::{CellFiles, CellKey};
use crate::measure::run::config::Config;
use crate::measure::run::job::into_cells;
use crate::measure::run::measure::BackendWork;
use crate::measure::run::setup::Backends;
use crate::usage::{Outcome, UsageError};

/// The sources of the drivers. Each commit that changes them is measured.
const SOURCES: [&str; 3] = ["c/src", "rust/src", "rust-unsafe/src"];
/// What can change a driver's program beside them. Such commits are measured where a step has no other cause.
const AROUND: [&str; 5] = [
    "rust",
    "rust-unsafe",
    "Makefile",
    "Cargo.toml",
    "Cargo.lock",
];
/// Counts of `trace` that differ by less are equal: it counts 1,024 packets.
const ROUNDING: f64 = 0.0005;
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
struct Commit {
    facts: GitFacts,
    revision: String,
    /// Names its run.
    time: String,
    subject: String,
}

impl Commit {
    fn short(&self) -> &str {
        &self.revision[..12]
    }
}

/// The lower end, the median and the upper end of a cell's figure.
type Figure = [f64; 3];
type Figures = BTreeMap<String, Figure>;

struct History<'a> {
    arguments: &'a CompareArguments,
    file: &'a CompareFile,
    builds: &'a [Build<'a>],
    interrupt: &'a Interrupt,
    /// The folder of the builds, whose path must not differ from commit to commit: programs contain it.
    output: PathBuf,
    /// The folder of the runs.
    runs: PathBuf,
    machine: String,
    host: HostFacts,
}

/// Measures, and prints the steps. The outcome says whether one is dearer.
pub(super) fn run(
    arguments: &CompareArguments,
    range: &str,
    file: &CompareFile,
    builds: &[Build<'_>],
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let commits = commits(range)?;
    let machine = arguments.machine.name()?;
    let results = arguments.results.clone();
    let results = results.unwrap_or_else(|| PathBuf::from("results"));
    let history = History {
        output: std::path::absolute(arguments.build_dir.join("history"))?,
        runs: results.join(&machine).join("history"),
        host: HostFacts::gather(),
        arguments,
        file,
        builds,
        interrupt,
        machine,
    };
    stamp::make_folder(&history.output)?;
    let _lock = stamp::lock(&history.output)?;
    let mut found: BTreeMap<usize, Figures> = BTreeMap::new();
    let last = commits.len() - 1;
    let driver = (0..last).filter(|at| commits[*at].1).collect::<Vec<_>>();
    let every = driver.iter().rev().step_by(arguments.every as usize);
    let chosen: BTreeSet<usize> = every.copied().chain([0, last]).collect();
    println!(
        "{} of {} commits are measured first",
        chosen.len(),
        commits.len()
    );
    for at in chosen {
        history.add(at, &commits[at].0, &mut found)?;
    }
    // Where a step is dearer, the commits in between are measured, too.
    let mut searched = BTreeSet::new();
    while let Some((from, to)) = pairs(&found).into_iter().find(|(from, to)| {
        let dearer = history.steps(&found[from], &found[to]);
        to - from > 1 && dearer.iter().any(|step| step.1) && searched.insert((*from, *to))
    }) {
        let middle = from + (to - from) / 2;
        history.add(middle, &commits[middle].0, &mut found)?;
    }
    history.report(&commits, &found)
}

fn pairs(found: &BTreeMap<usize, Figures>) -> Vec<(usize, usize)> {
    found
        .keys()
        .copied()
        .zip(found.keys().copied().skip(1))
        .collect()
}

/// The first commit of the range, and those after it that may change a driver; whether they change its sources.
fn commits(range: &str) -> Result<Vec<(Commit, bool)>> {
    let here = Path::new(".");
    let ends = range
        .split_once("..")
        .filter(|(from, to)| !from.is_empty() && !to.starts_with('.'));
    let (from, to) = ends.ok_or_else(|| {
        UsageError(format!(
            "--commits {range}: write A..B, such as HEAD~20..HEAD"
        ))
    })?;
    let from = hash_of(here, from)?;
    let to = hash_of(here, if to.is_empty() { "HEAD" } else { to })?;
    let range = format!("{from}..{to}");
    let first = log(&["--no-walk", &from], &[])?;
    let sources = log(&[&range], &SOURCES)?;
    let all = log(&[&range], &[&SOURCES[..], &AROUND].concat())?;
    let changes = |commit: &Commit| {
        sources
            .iter()
            .any(|other| other.revision == commit.revision)
    };
    let all = first.into_iter().chain(all);
    Ok(all
        .map(|commit| (commit.clone(), changes(&commit)))
        .collect())
}

/// The commits of a first-parent log, oldest first.
fn log(what: &[&str], paths: &[&str]) -> Result<Vec<Commit>> {
    let mut command = git(Path::new("."));
    command.env("TZ", "UTC");
    command.args([
        "log",
        "--first-parent",
        "--reverse",
        "--date=format-local:%Y-%m-%dT%H-%M-%SZ",
    ]);
    command
        .arg("--format=%H%x09%cd%x09%cI%x09%s")
        .args(what)
        .arg("--")
        .args(paths);
    let text = runner::output(command, LIMIT, &Interrupt::new())?;
    let commit = |line: &str| {
        let mut parts = line.splitn(4, '\t').map(str::to_owned);
        let (revision, time) = (parts.next()?, parts.next()?);
        let facts = GitFacts {
            revision: Some(revision.clone()),
            committed: parts.next(),
            dirty: false,
        };
        let subject = parts.next()?;
        Some(Commit {
            facts,
            revision,
            time,
            subject,
        })
    };
    Ok(text.lines().filter_map(commit).collect())
}

impl History<'_> {
    /// Measures a commit. One that cannot be built is named, and left out.
    fn add(&self, at: usize, commit: &Commit, found: &mut BTreeMap<usize, Figures>) -> Result<()> {
        eprintln!("{} {}", commit.short(), commit.subject);
        match self.build(commit) {
            Ok(()) => found.insert(at, self.measure(commit, "")?),
            Err(error) if self.interrupt.is_set() => return Err(error),
            Err(error) => {
                eprintln!("{} is left out: {error:#}", commit.short());
                None
            }
        };
        Ok(())
    }

    /// The folder with the programs of a commit.
    fn place(&self, commit: &Commit) -> PathBuf {
        self.output.join(commit.short())
    }

    fn build(&self, commit: &Commit) -> Result<()> {
        let builds = self.builds.iter();
        let names = builds.map(|(recipe, driver)| format!("{driver} {}", recipe.variant));
        let from = names.collect::<Vec<_>>().join("\n");
        let place = self.place(commit);
        stamp::once(&place, &from, &[], || {
            let sources = self.output.join("source");
            Checkout::at(&commit.revision, &sources, self.interrupt)?;
            let builder = Builder {
                sources,
                output: self.output.clone(),
                build: &self.arguments.build_dir,
                interrupt: self.interrupt,
            };
            for (recipe, driver) in self.builds {
                builder.build(recipe, *driver)?;
            }
            let built = self.output.join("variants");
            let moved = fs::rename(&built, place.join("variants"));
            moved.with_context(|| format!("cannot move {}", built.display()))
        })
    }

    fn cells(&self, commit: &Commit) -> Vec<Cell> {
        let builder = Builder {
            sources: PathBuf::new(),
            output: self.place(commit),
            build: &self.arguments.build_dir,
            interrupt: self.interrupt,
        };
        let products = self
            .builds
            .iter()
            .flat_map(|build| self.file.batch.iter().map(move |batch| (build, *batch)));
        let cells = products.map(|((recipe, driver), batch)| {
            let mut cell = builder.cell(recipe, *driver, batch);
            if recipe.default_flags {
                DEFAULT.clone_into(&mut cell.variant);
            }
            cell
        });
        cells.collect()
    }

    /// Measures what no commit with the same program has, and returns the figures. A run with a suffix takes nothing
    /// from other commits.
    fn measure(&self, commit: &Commit, suffix: &str) -> Result<Figures> {
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
            start: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            command: std::env::args().collect(),
            git: Some(commit.facts.clone()),
            host: self.host.clone(),
            placement: Topology::here().choose(None),
            plan: json!({"compare": {"comparison": self.file}}),
            complete: true,
            ..RunRecord::default()
        };
        let folder = self.runs.join(&record.id);
        record::begin_run(&folder, &record)?;
        let folder = folder.join(CELLS_FOLDER);
        let (mut files, mut figures) = (CellFiles::default(), Figures::new());
        for name in &self.file.backends {
            let timed = *name == BackendName::Lockstep;
            if (timed && !self.arguments.timed) || (!timed && !suffix.is_empty()) {
                continue;
            }
            let backend = factory.backend(*name)?;
            let cells: Vec<Cell> = self
                .cells(commit)
                .iter()
                .flat_map(|cell| backend.cells_of(cell))
                .collect();
            let ids: Vec<_> = cells
                .iter()
                .map(|cell| files.id(cell, backend.as_ref()) + ".json")
                .collect();
            let mut missing = cells.clone();
            let mut at = ids.iter();
            missing.retain(|_| {
                at.next().is_some_and(|id| {
                    !folder.join(id).is_file()
                        && (!suffix.is_empty() || !self.take(&folder, id, &record))
                })
            });
            let names: Vec<_> = cells
                .iter()
                .map(|cell| {
                    format!(
                        "{}, {}",
                        CellKey::of(cell, backend.as_ref()).name(),
                        cell.toolchain
                    )
                })
                .collect();
            if !missing.is_empty() {
                // What is compared in time is measured together.
                let cells = if timed { cells } else { missing };
                into_cells(&folder, record.clone(), |recorder| {
                    recorder.note_settings(backend.as_ref());
                    let why = backend.unavailable();
                    ensure!(
                        why.is_none(),
                        "{name}: not measurable here: {}",
                        why.unwrap_or_default()
                    );
                    BackendWork { backend, cells }.measure(recorder)
                })?;
            }
            for (name, id) in names.into_iter().zip(ids) {
                figures.extend(figure(&folder.join(id), timed).map(|figure| (name, figure)));
            }
        }
        Ok(figures)
    }

    /// Takes the file of a cell from a commit with the same program; whether there was one.
    fn take(&self, folder: &Path, id: &str, record: &RunRecord) -> bool {
        let mut runs = fs::read_dir(&self.runs).into_iter().flatten().flatten();
        let other = runs.find_map(|run| {
            let text = fs::read_to_string(run.path().join(CELLS_FOLDER).join(id)).ok()?;
            serde_json::from_str::<serde_json::Map<String, Value>>(&text).ok()
        });
        let Some(mut cell) = other else {
            return false;
        };
        cell.insert("run".to_owned(), json!(record.id));
        cell.insert("git".to_owned(), json!(record.git));
        let line = record::to_line(&cell);
        line.is_ok_and(|line| record::write_whole(&folder.join(id), &line).is_ok())
    }

    /// The cells whose figures differ, and whether each is dearer.
    fn steps(&self, before: &Figures, after: &Figures) -> Vec<(String, bool)> {
        let step = |(name, after): (&String, &Figure)| {
            let before = before.get(name)?;
            let more = after[1] - before[1];
            let changed = match name.split('-').next() {
                Some("trace") => more.abs() > ROUNDING,
                Some("valgrind") => more.abs() > Judge::new(None).instructions,
                // Cycles need a second run.
                _ => false,
            };
            let percent = 100.0 * more / before[1];
            let text = format!(
                "{name}: {:.4}, then {:.4} ({percent:+.2} %)",
                before[1], after[1]
            );
            changed.then_some((text, more > 0.0))
        };
        after.iter().filter_map(step).collect()
    }

    /// The cells whose cycles are dearer, and were so again in a second run.
    fn slower(&self, commits: [&Commit; 2], figures: [&Figures; 2]) -> Result<Vec<(String, bool)>> {
        let apart = |[before, after]: [&Figures; 2]| -> BTreeSet<String> {
            let timed = after
                .iter()
                .filter(|(name, _)| name.starts_with("lockstep"));
            let above = timed
                .filter(|(name, [low, ..])| before.get(*name).is_some_and(|[.., high]| low > high));
            above.map(|(name, _)| name.clone()).collect()
        };
        let mut slower = apart(figures);
        let again = self.arguments.again && !slower.is_empty();
        if again {
            let [before, after] = commits.map(|commit| self.measure(commit, "-again"));
            let confirmed = apart([&before?, &after?]);
            slower.retain(|name| confirmed.contains(name));
        }
        let said = |name: String| {
            let [before, after] = figures.map(|figures| figures[&name][1]);
            let hint = if again {
                "in both runs"
            } else {
                "in this run: --again confirms it"
            };
            (
                format!("{name}: {before:.2}, then {after:.2} TSC cycles {hint}"),
                again,
            )
        };
        Ok(slower.into_iter().map(said).collect())
    }

    fn report(
        &self,
        commits: &[(Commit, bool)],
        found: &BTreeMap<usize, Figures>,
    ) -> Result<Outcome> {
        let mut dearer = 0;
        for (from, to) in pairs(found) {
            let (before, after) = (&commits[from].0, &commits[to].0);
            let mut steps = self.steps(&found[&from], &found[&to]);
            steps.extend(self.slower([before, after], [&found[&from], &found[&to]])?);
            if steps.is_empty() {
                continue;
            }
            println!(
                "\n{} {} (before: {})",
                after.short(),
                after.subject,
                before.short()
            );
            for (text, is_dearer) in steps {
                dearer += usize::from(is_dearer);
                println!("  {}{text}", if is_dearer { "dearer: " } else { "" });
            }
        }
        println!(
            "\n{} commits in {}; {dearer} cells became dearer",
            found.len(),
            self.runs.display()
        );
        ensure!(!found.is_empty(), "no commit could be built");
        Ok(if dearer > 0 {
            Outcome::Worse
        } else {
            Outcome::Good
        })
    }
}

fn figure(file: &Path, timed: bool) -> Option<Figure> {
    let text = fs::read_to_string(file).ok()?;
    let cell: Value = serde_json::from_str(&text).ok()?;
    let metric = if timed { "tsc_cycles" } else { "instructions" };
    let figure = &cell["figures"][metric];
    Some([
        figure["low"].as_f64()?,
        figure["value"].as_f64()?,
        figure["high"].as_f64()?,
    ])
}
