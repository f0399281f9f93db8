//! Every solution gets full marks, every skeleton none, and typical wrong answers what they deserve.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use conformance::build_folder;
use exercises::course::{self, patched, Exercise, Files, Language, EXERCISES};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use strum::IntoEnumIterator;

/// The marks of typical wrong answers, of 10: exercise, name in `wrong/`, marks in C and in Rust. Without a mask, C reads
/// behind the ring. Safe Rust masks each access, so there the receive ring goes round.
const WRONG: [(u8, &str, [u64; 2]); 5] = [
    (2, "rdt-is-index", [3, 3]),
    (4, "no-dd", [5, 5]),
    (5, "no-mask", [1, 4]),
    (6, "leak", [5, 5]),
    (8, "clamp", [0, 0]),
];

/// The random sizes of a wrong answer's run: some tests find some mistakes in large batches only.
const SEED: &str = "--seed 1";

/// Runs the grader. Returns its exit status and what it wrote.
fn grade(arguments: &str, work: &Path) -> Result<(Option<i32>, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grade"));
    command.args(arguments.split_whitespace());
    let output = command.arg("--work").arg(work).output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

/// Grades what is in `work`, and checks exit status and marks. Returns `results.json`.
fn graded(of: &Exercise, language: Language, more: &str, work: &Path, marks: u64) -> Result<Value> {
    let chosen = format!("--exercise {} --impl {language} --json {more}", of.number);
    let (status, said) = grade(&chosen, work)?;
    let read: Value = serde_json::from_str(&said).with_context(|| format!("{status:?} {said}"))?;
    let expected = (
        Some(if marks == 10 { 0 } else { 3 }),
        marks.into(),
        10.into(),
    );
    let seen = (status, read["marks"].clone(), read["full_marks"].clone());
    ensure!(
        seen == expected && read["version"] == 3,
        "not {marks} marks: {read:#}"
    );
    Ok(read)
}

/// The same of these files, in each part.
fn graded_files(
    of: &Exercise,
    language: Language,
    more: &str,
    files: &Files,
    marks: u64,
) -> Result<Value> {
    let work = tempfile::tempdir()?;
    for part in of.parts() {
        let folder = course::below(work.path(), part.as_deref());
        fs::create_dir_all(&folder)?;
        for (path, text) in files {
            fs::write(Exercise::place(&folder, path), text)?;
        }
    }
    graded(of, language, more, work.path(), marks)
}

fn skeleton(of: &Exercise, language: Language) -> Result<()> {
    let work = tempfile::tempdir()?;
    let written = of.begin(language, work.path())?;
    ensure!(!written.is_empty() && of.begin(language, work.path())?.is_empty());
    let read = graded(of, language, "", work.path(), 0)?;
    let tests = read["tests"].as_array().into_iter().flatten();
    let described = tests.filter(|test| !test["message"].is_null()).count();
    ensure!(described == 1, "{read:#}");
    // The patch for the lab makes the student's driver.
    let patch = format!("exercises/{}-{language}/student.patch", of.number);
    let made = patched(
        &of.files[&language],
        &build_folder().canonicalize()?.join(patch),
    )?;
    ensure!(
        made == of.skeleton(language, of.parts()[0].as_deref())?,
        "student.patch differs"
    );
    Ok(())
}

/// Grades a driver with this text in the place of another. It gets no marks.
fn changed(of: &Exercise, language: Language, from: &str, to: &str) -> Result<Value> {
    let mut files = of.solution(language)?;
    for text in files.values_mut() {
        ensure!(text.contains(from), "the driver has no {from}");
        *text = text.replacen(from, to, 1);
    }
    // An endless loop ends at the limit, in each test.
    graded_files(of, language, "--limit 1", &files, 0)
}

fn compile_error(of: &Exercise, language: Language) -> Result<()> {
    let read = changed(of, language, "dma_write_barrier()", "no_such_function()")?;
    let said = read["message"].as_str().unwrap_or_default();
    let names_it = said.contains("no_such_function") && said.contains("/tx.");
    let is_own = read["status"] == "error" && !said.contains("/tree/");
    ensure!(names_it && is_own, "{read:#}");
    Ok(())
}

fn endless_loop(of: &Exercise, language: Language) -> Result<()> {
    let (from, more) = match language {
        Language::C => (
            "uint32_t received = 0;",
            " for (;;) { dma_read_barrier(); }",
        ),
        Language::Rust => (
            "let mut index = self.index;",
            " loop { dma_read_barrier(); }",
        ),
    };
    let read = changed(of, language, from, &(from.to_owned() + more))?;
    let said = read["tests"][0]["message"].as_str().unwrap_or_default();
    ensure!(said.contains("no end after 1 s"), "{read:#}");
    Ok(())
}

/// One after the other, because they share a folder of build/.
fn exercise(number: u8, language: Language) -> Result<()> {
    let of = course::load(number)?;
    graded_files(&of, language, "", &of.solution(language)?, 10).context("solution")?;
    skeleton(&of, language).context("skeleton")?;
    for (_, name, marks) in WRONG.iter().filter(|wrong| wrong.0 == number) {
        let patch = course::folder().join(format!("wrong/{number}-{name}/{language}.patch"));
        let files = patched(&of.files[&language], &patch)?;
        graded_files(&of, language, SEED, &files, marks[language as usize]).context(*name)?;
    }
    match number {
        1 => endless_loop(&of, language),
        3 => compile_error(&of, language),
        _ => Ok(()),
    }
}

fn hints_and_solutions_are_printed() -> Result<()> {
    let work = tempfile::tempdir()?;
    for number in 1..=EXERCISES {
        for language in Language::iter() {
            let hints = course::load(number)?.hints;
            ensure!(
                hints.len() == 3,
                "exercise {number} has {} hints",
                hints.len()
            );
            let chosen = format!("--exercise {number} --impl {language}");
            for (nth, hint) in (1..).zip(&hints) {
                let said = grade(&format!("{chosen} --hint {nth}"), work.path())?;
                ensure!(said == (Some(0), format!("{hint}\n")), "{said:?}");
            }
            let (status, said) = grade(&format!("{chosen} --solution"), work.path())?;
            let is_patch = said.starts_with("--- a/") && said.contains("\n+");
            ensure!(status == Some(0) && is_patch, "{status:?} {said}");
        }
    }
    ensure!(
        fs::read_dir(work.path())?.next().is_none(),
        "an exercise began"
    );
    Ok(())
}

fn a_wrong_command_line_is_refused() -> Result<()> {
    for arguments in [
        "",
        "--exercise 1",
        "--impl c",
        "--exercise 9 --impl c",
        "--exercise 0 --impl c",
        "--exercise 1 --impl go",
        "--exercise 1 --impl c --hint 4",
        "--exercise 1 --impl c --hint 1 --solution",
        "--exercise 1 --impl c --seed x",
    ] {
        let (status, said) = grade(arguments, Path::new("/nonexistent"))?;
        ensure!(
            status == Some(2) && said.contains("--"),
            "{arguments}: {status:?} {said}"
        );
    }
    Ok(())
}

fn main() {
    let trial = |name: String, test: Box<dyn FnOnce() -> Result<()> + Send>| {
        Trial::test(name, || {
            test().map_err(|error| Failed::from(format!("{error:#}")))
        })
    };
    let mut trials = vec![
        trial(
            "hints_and_solutions".to_owned(),
            Box::new(hints_and_solutions_are_printed),
        ),
        trial(
            "wrong_command_line".to_owned(),
            Box::new(a_wrong_command_line_is_refused),
        ),
    ];
    // The longest first.
    for number in (1..=EXERCISES).rev() {
        for language in Language::iter() {
            let name = format!("exercise_{number}::{language}");
            trials.push(trial(name, Box::new(move || exercise(number, language))));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
