//! The exercises and their grader.
//!
//! An exercise is data ([`course`]): a text, patches that take lines out of a driver, hints, and tests with weights. The
//! grader puts a student's files into a copy of the driver and builds it (`build`). Each test (`cases`) runs in a process
//! of its own (`run`), because a student's driver may crash or never end. `report` adds the marks up, and `speed` counts
//! instructions.

mod build;
mod cases;
pub mod course;
mod report;
mod run;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{ensure, Context, Result};
use clap::Parser;
use safety_lab::builds::root;

use build::{CompileError, Kind};
use course::{below, driver_files, Exercise, Files, Language, EXERCISES};
use report::Results;

/// Exit status of fewer than full marks.
const FEWER_MARKS: u8 = 3;

/// Grades an exercise: builds the driver with the student's files, and tests it on the software card.
///
/// The first call writes the files to edit. The exit status is 0 for full marks, 3 for fewer, 2 for a wrong command line,
/// and 1 if the grader fails.
#[derive(Debug, Parser)]
#[command(name = "grade", version)]
struct Options {
    /// The exercise
    #[arg(long, value_name = "N", required_unless_present = "case",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(EXERCISES)))]
    exercise: Option<u8>,
    /// The language of the driver
    #[arg(long = "impl", value_name = "NAME")]
    language: Language,
    /// Print a hint instead: 1 says least
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    hint: Option<u8>,
    /// Print the solution instead
    #[arg(long, conflicts_with = "hint")]
    solution: bool,
    /// The folder of the student's files [default: drivers/exercises/answers/N-NAME]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Print results.json
    #[arg(long)]
    json: bool,
    /// Repeat a run: the seed that it printed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The longest time of a test, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, hide = true)]
    limit: u64,
    /// Run this test, in the process that the grader started for it
    #[arg(long, value_name = "NAME", hide = true)]
    case: Option<String>,
}

/// The program `grade`.
pub fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(case) = &options.case {
        run_case(case, &options)
    }
    match grade(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FEWER_MARKS),
        Err(error) => {
            eprintln!("grade: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// In a process of its own. It ends at once, because a driver that failed may not stop.
fn run_case(case: &str, options: &Options) -> ! {
    let seed = options.seed.unwrap_or_default();
    let result = match case {
        "speed" => speed::child(options.language),
        _ => cases::find(case).and_then(|case| cases::run(case, options.language, seed)),
    };
    if let Err(error) = result {
        println!("{error:#}");
        exit(run::FAILED)
    }
    exit(0)
}

/// Whether the student gets full marks. Also true if nothing was graded.
fn grade(options: &Options) -> Result<bool> {
    let language = options.language;
    let exercise = course::load(options.exercise.context("no exercise")?)?;
    if let Some(hint) = options.hint {
        let hint = exercise.hints.get(usize::from(hint) - 1);
        println!("{}", hint.context("no such hint")?);
        return Ok(true);
    }
    if options.solution {
        print!("{}", solution(&exercise, language)?);
        return Ok(true);
    }
    let name = format!("{}-{language}", exercise.number);
    let work = options.work.clone();
    let work = work.unwrap_or_else(|| course::folder().join("answers").join(&name));
    let written = exercise.begin(language, &work)?;
    if !written.is_empty() {
        for path in written {
            println!("wrote {}", shown(&path));
        }
        println!("Edit it, and call again: drivers/exercises/README.md says how.");
        return Ok(true);
    }
    let folder = build::exercises_folder()?.join(&name);
    let _lock = build::lock(&folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = options.seed.unwrap_or_else(|| now.subsec_nanos().into());
    let results = test(&exercise, options, seed, &work, &folder)?;
    let json = format!("{:#}\n", results.json(seed));
    fs::write(folder.join("results.json"), &json)?;
    if options.json {
        print!("{json}");
        return Ok(results.full());
    }
    println!("Exercise {name}: {}; seed {seed}", exercise.title);
    println!("{}{}", results.text, results.end());
    let folder = shown(&folder);
    let lab = exercise.lab.replace("{impl}", &language.to_string());
    println!("results: {folder}/results.json");
    if !results.full() {
        println!(
            "what your driver does: build/bin/triptych lab record --driver {language} --patch {folder}/student.patch \
             -o {folder}/trace.json\nwhat it should do: build/lab/index.html#{lab}"
        );
    }
    Ok(results.full())
}

/// A path below the repository's root, as people write it.
fn shown(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let below = path.strip_prefix(root()).unwrap_or(&path);
    below.display().to_string()
}

/// Builds and tests the student's driver, part by part.
fn test(
    exercise: &Exercise,
    options: &Options,
    seed: u64,
    work: &Path,
    folder: &Path,
) -> Result<Results> {
    let language = options.language;
    let mut results = Results::default();
    let (mut patch, mut last) = (String::new(), Files::new());
    for (nth, part) in exercise.parts().into_iter().enumerate() {
        let part = part.as_deref();
        let files = exercise.student(language, part, work)?;
        // One picture shows one driver: the first that is wrong.
        if results.full() {
            patch = student_patch(&files)?;
        }
        let mut tests: Vec<_> = exercise.tests.iter().collect();
        tests.retain(|test| test.part.as_deref() == part);
        let built = match build::build(language, &files, &below(folder, part), Kind::Checked) {
            Ok(built) => built,
            Err(error) => {
                let errors = error.downcast::<CompileError>()?.to_string();
                results.add_error(&tests, &student_paths(&errors, &files, &below(work, part)));
                continue;
            }
        };
        let limit = Duration::from_secs(options.limit);
        for test in tests {
            let outcome = run::run(&test.case, &built, language, seed, limit)?;
            results.add(test, nth + 1, outcome);
        }
        last = files;
    }
    if results.full() {
        let fast = |files: &Files| build::build(language, files, folder, Kind::Fast);
        let count = |files: &Files| speed::measure(language, &fast(files)?);
        let driver = driver_files(last.keys())?;
        match count(&last).and_then(|own| Ok([own, count(&driver)?])) {
            Ok(counted) => results.instructions = Some(counted),
            // Some machines permit no tracing, and marks do not need it.
            Err(error) => eprintln!("grade: no instructions counted: {error:#}"),
        }
    }
    fs::write(folder.join("student.patch"), patch)?;
    Ok(results)
}

/// A compiler's errors with the paths that the student edits, in the place of those of the copies.
fn student_paths(errors: &str, files: &Files, work: &Path) -> String {
    let mut text = String::new();
    for line in errors.lines() {
        let path = files
            .keys()
            .find(|path| line.contains(&format!("/tree/{path}")));
        let copy = path.and_then(|path| {
            let end = line.find("/tree/")? + "/tree/".len() + path.len();
            let start = line[..end]
                .rfind(char::is_whitespace)
                .map_or(0, |at| at + 1);
            let own = shown(&Exercise::place(work, path));
            Some(format!("{}{own}{}", &line[..start], &line[end..]))
        });
        text += copy.as_deref().unwrap_or(line);
        text += "\n";
    }
    text
}

/// A patch of `path` from one text to the other; empty if they are equal.
fn diff(path: &str, from: &str, to: &str) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let texts = ["a", "b"].map(|name| folder.path().join(name));
    fs::write(&texts[0], from)?;
    fs::write(&texts[1], to)?;
    let labels = [format!("--label=a/{path}"), format!("--label=b/{path}")];
    let mut command = Command::new("diff");
    let output = { command.arg("-u").args(labels).args(texts) }
        .output()
        .context("diff")?;
    ensure!(
        output.status.code().is_some_and(|code| code < 2),
        "diff failed"
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// From the driver to the student's files, for `triptych lab record` and `triptych verdict`.
fn student_patch(files: &Files) -> Result<String> {
    let driver = driver_files(files.keys())?;
    { files.iter() }
        .map(|(path, text)| diff(path, &driver[path], text))
        .collect()
}

/// From each skeleton to the solution.
fn solution(exercise: &Exercise, language: Language) -> Result<String> {
    let solution = exercise.solution(language)?;
    let mut text = String::new();
    for part in exercise.parts() {
        for (path, from) in exercise.skeleton(language, part.as_deref())? {
            text += &diff(&path, &from, &solution[&path])?;
        }
    }
    Ok(text)
}
