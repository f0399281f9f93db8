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
    (6, "leak", [6, 6]),
    (8, "clamp", [0, 0]),
];

/// The random sizes of a wrong answer's run: some tests find some mistakes in large batches only.
const SEED: Option<&str> = Some("1");

/// Runs the grader. Returns its exit status and what it wrote.
fn grade(arguments: &[&str], work: &Path) -> Result<(Option<i32>, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grade"));
    let output = command.args(arguments).arg("--work").arg(work).output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

/// Grades what is in `work`. Returns exit status, `results.json`, and marks.
fn graded(
    exercise: &Exercise,
    language: Language,
    work: &Path,
    seed: Option<&str>,
) -> Result<(Option<i32>, Value, Option<u64>)> {
    let (number, language) = (exercise.number.to_string(), language.to_string());
    let mut arguments = vec![
        "--exercise",
        &number,
        "--impl",
        &language,
        "--json",
        "--limit",
        "4",
    ];
    arguments.extend(seed.into_iter().flat_map(|seed| ["--seed", seed]));
    let (status, said) = grade(&arguments, work)?;
    let read: Value = serde_json::from_str(&said).with_context(|| format!("{status:?} {said}"))?;
    ensure!(read["full_marks"] == 10 && read["version"] == 3, "{read:#}");
    let marks = read["marks"].as_u64();
    Ok((status, read, marks))
}

/// The same of these files, in each part.
fn graded_files(
    exercise: &Exercise,
    language: Language,
    files: &Files,
    seed: Option<&str>,
) -> Result<(Option<i32>, Value, Option<u64>)> {
    let work = tempfile::tempdir()?;
    for part in exercise.parts() {
        for (path, text) in files {
            let place = Exercise::place(&course::below(work.path(), part.as_deref()), path);
            fs::create_dir_all(place.parent().context("no folder")?)?;
            fs::write(place, text)?;
        }
    }
    graded(exercise, language, work.path(), seed)
}

fn solution_and_skeleton(exercise: &Exercise, language: Language) -> Result<()> {
    let solution = exercise.solution(language)?;
    let (status, read, marks) = graded_files(exercise, language, &solution, None)?;
    ensure!((status, marks) == (Some(0), Some(10)), "solution: {read:#}");
    let work = tempfile::tempdir()?;
    let written = exercise.begin(language, work.path())?;
    ensure!(!written.is_empty() && exercise.begin(language, work.path())?.is_empty());
    let (status, read, marks) = graded(exercise, language, work.path(), None)?;
    ensure!((status, marks) == (Some(3), Some(0)), "skeleton: {read:#}");
    let tests = read["tests"].as_array().into_iter().flatten();
    let described = tests.filter(|test| !test["message"].is_null()).count();
    ensure!(described == 1, "{read:#}");
    // The patch for the lab makes the student's driver.
    let patch = build_folder().join(format!(
        "exercises/{}-{language}/student.patch",
        exercise.number
    ));
    let part = exercise.parts().remove(0);
    let skeleton = exercise.skeleton(language, part.as_deref())?;
    let made = patched(&exercise.files[&language], &patch.canonicalize()?)?;
    ensure!(made == skeleton, "{}", patch.display());
    Ok(())
}

fn wrong_answer(exercise: &Exercise, language: Language, name: &str, expected: u64) -> Result<()> {
    let patch = format!("wrong/{}-{name}/{language}.patch", exercise.number);
    let files = patched(&exercise.files[&language], &course::folder().join(patch))?;
    let (status, read, marks) = graded_files(exercise, language, &files, SEED)?;
    ensure!(
        (status, marks) == (Some(3), Some(expected)),
        "{name}: {read:#}"
    );
    Ok(())
}

/// A driver with this text in the place of another.
fn changed(exercise: &Exercise, language: Language, from: &str, to: &str) -> Result<Value> {
    let mut files = exercise.solution(language)?;
    for text in files.values_mut() {
        ensure!(text.contains(from), "the driver has no {from}");
        *text = text.replacen(from, to, 1);
    }
    let (status, read, marks) = graded_files(exercise, language, &files, SEED)?;
    ensure!((status, marks) == (Some(3), Some(0)), "{read:#}");
    Ok(read)
}

fn compile_error(exercise: &Exercise, language: Language) -> Result<()> {
    let read = changed(
        exercise,
        language,
        "dma_write_barrier()",
        "no_such_function()",
    )?;
    let said = read["message"].as_str().unwrap_or_default();
    let names_it =
        said.contains("no_such_function") && said.contains("/tx.") && !said.contains("/tree/");
    ensure!(read["status"] == "error" && names_it, "{read:#}");
    Ok(())
}

fn endless_loop(exercise: &Exercise, language: Language) -> Result<()> {
    let (from, to) = match language {
        Language::C => (
            "uint32_t received = 0;",
            "uint32_t received = 0; for (;;) { dma_read_barrier(); }",
        ),
        Language::Rust => (
            "let mut index = self.index;",
            "let mut index = self.index; loop { dma_read_barrier(); }",
        ),
    };
    let read = changed(exercise, language, from, to)?;
    let said = read["tests"][0]["message"].as_str().unwrap_or_default();
    ensure!(said.contains("no end after 4 s"), "{read:#}");
    Ok(())
}

/// One after the other, because they share a folder of build/.
fn exercise(number: u8, language: Language) -> Result<()> {
    let exercise = course::load(number)?;
    solution_and_skeleton(&exercise, language)?;
    for (_, name, marks) in WRONG.iter().filter(|(of, ..)| *of == number) {
        wrong_answer(&exercise, language, name, marks[language as usize])?;
    }
    match number {
        1 => endless_loop(&exercise, language),
        3 => compile_error(&exercise, language),
        _ => Ok(()),
    }
}

fn hints_and_solutions_are_printed() -> Result<()> {
    for language in Language::iter() {
        for number in 1..=EXERCISES {
            let work = tempfile::tempdir()?;
            let (of, name) = (number.to_string(), language.to_string());
            let exercise = course::load(number)?;
            for (nth, hint) in ["1", "2", "3"].iter().zip(&exercise.hints) {
                let said = grade(
                    &["--exercise", &of, "--impl", &name, "--hint", nth],
                    work.path(),
                )?;
                ensure!(said == (Some(0), format!("{hint}\n")), "{said:?}");
            }
            let said = grade(
                &["--exercise", &of, "--impl", &name, "--solution"],
                work.path(),
            )?;
            let is_patch = said.1.contains("--- a/") && said.1.contains("\n+");
            ensure!(
                said.0 == Some(0) && is_patch && exercise.hints.len() == 3,
                "{said:?}"
            );
            ensure!(
                fs::read_dir(work.path())?.next().is_none(),
                "it began the exercise"
            );
        }
    }
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
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let (status, said) = grade(&arguments, Path::new("/nonexistent"))?;
        ensure!(
            status == Some(2) && said.contains("--"),
            "{arguments:?}: {status:?} {said}"
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
