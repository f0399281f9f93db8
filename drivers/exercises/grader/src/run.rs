//! Runs each test in a process of its own, with a time limit.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use safety_lab::builds::c_compiler;

use crate::cases;
use crate::course::Language;

/// Exit status of a process whose test failed and says why on standard output. Sanitizers and panics have others.
pub const FAILED: i32 = 10;
/// Bytes of a driver's output that are read.
const MAX_OUTPUT: usize = 16 << 10;

/// How a test ended.
pub enum Outcome {
    Passed,
    /// The step.
    Failed(String),
    /// What the sanitizer, the panic or the signal says.
    Crashed(String),
}

/// A process of the grader itself that runs a test with the driver in `build`.
pub fn process(case: &str, build: &Path, language: Language, seed: u64) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--case", case, "--impl", &language.to_string()])
        .args(["--seed", &seed.to_string()])
        .env("TRIPTYCH_BUILD", build)
        .env_remove("TRIPTYCH_PATH")
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs a test. Returns how it ended, and what the process wrote to standard error.
pub fn run(
    case: &str,
    build: &Path,
    language: Language,
    seed: u64,
    limit: Duration,
) -> Result<(Outcome, String)> {
    let output = tempfile::tempdir()?;
    let paths = ["stdout", "stderr"].map(|name| output.path().join(name));
    let mut command = process(case, build, language, seed)?;
    command
        .env("EXERCISE_SPARE", cases::find(case)?.1.to_string())
        .stdout(File::create(&paths[0])?)
        .stderr(File::create(&paths[1])?);
    if language == Language::C {
        command.env("LD_PRELOAD", address_sanitizer()?);
        // The process ends by force, so that much is not freed.
        command.env("ASAN_OPTIONS", "detect_leaks=0");
    }
    let mut child = command.spawn().context("the process of a test")?;
    let deadline = Instant::now() + limit;
    let mut status = child.try_wait()?;
    while status.is_none() && Instant::now() < deadline {
        sleep(Duration::from_millis(2));
        status = child.try_wait()?;
    }
    let Some(status) = status else {
        child.kill()?;
        child.wait()?;
        let late = format!("no end after {} s: a loop without an end?", limit.as_secs());
        return Ok((Outcome::Crashed(late), String::new()));
    };
    let [said, errors] = paths.map(|path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_OUTPUT)]).into_owned()
    });
    let outcome = match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Passed,
        (Some(FAILED), _) => Outcome::Failed(said.trim().to_owned()),
        _ => Outcome::Crashed(reason(&errors).unwrap_or_else(|| status.to_string())),
    };
    Ok((outcome, errors))
}

/// The library that must come first in a process that loads a driver with sanitizers.
fn address_sanitizer() -> Result<String> {
    let mut command = c_compiler();
    let output = { command.arg("-print-file-name=libasan.so") }.output();
    let path = String::from_utf8(output.context("the C compiler")?.stdout)?;
    ensure!(
        path.starts_with('/'),
        "the C compiler has no libasan.so: install gcc with its sanitizers"
    );
    Ok(path.trim().to_owned())
}

/// The words of the sanitizer or of the panic, and the first place in the driver.
fn reason(errors: &str) -> Option<String> {
    const MARKS: [&str; 3] = ["ERROR: AddressSanitizer", "runtime error:", "panicked at"];
    let lines: Vec<_> = errors.lines().collect();
    let at = { lines.iter() }.position(|line| MARKS.iter().any(|mark| line.contains(mark)))?;
    let said = match lines[at].split_once("/tree/") {
        Some((_, place)) => place,
        None => lines[at].trim_start_matches(|c: char| c == '=' || c.is_ascii_digit()),
    };
    let next = lines.get(at + 1).filter(|_| lines[at].contains("panicked"));
    let place = { lines[at..].iter() }.find(|line| line.contains("    #"));
    let place = place.and_then(|line| line.split_once("/tree/"));
    let place = place.map_or(String::new(), |(_, place)| format!(" at {place}"));
    Some(
        format!("{said}{place} {}", next.unwrap_or(&""))
            .trim()
            .to_owned(),
    )
}

#[cfg(test)]
#[test]
fn the_words_of_sanitizers_and_panics_are_found() {
    for (errors, expected) in [
        (
            "x\n==12==ERROR: AddressSanitizer: SEGV\n    #0 0x7f in f /a/b/tree/c/src/driver/rx.c:8\n",
            "ERROR: AddressSanitizer: SEGV at c/src/driver/rx.c:8",
        ),
        ("/a/tree/c/tx.c:9:3: runtime error: index 5", "c/tx.c:9:3: runtime error: index 5"),
        ("thread 'main' panicked at /a/tree/rust/rx.rs:1:2:\nno\nnote", "rust/rx.rs:1:2: no"),
    ] {
        assert_eq!(reason(errors).as_deref(), Some(expected));
    }
    assert_eq!(reason("nothing"), None);
}
