//! The cases of a verdict that are conformance tests: each runs in a process of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;

use super::build::Folders;
use super::child;
use super::message;
use super::report::{Row, ALL_DRIVERS};

/// Tests in lockstep: time plays no part, so two of them may share the processors.
pub const LOCKSTEP: [&str; 4] = ["data_path", "paths", "register_trace", "pool_exhaustion"];
/// Tests of the program: card and driver poll all the time, so these tests run one after the other.
pub const PROGRAM: [&str; 5] = ["usage", "ending", "failures", "hardware", "forwarding"];

/// Time limits for a test. The slowest in lockstep takes some seconds, and of the program some 20 s.
const LOCKSTEP_LIMIT: Duration = Duration::from_secs(40);
const PROGRAM_LIMIT: Duration = Duration::from_secs(120);
/// What the record says of every test.
const EXPECTED: &str = "passes";

/// A test of one driver, or of all three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    file: String,
    /// The name as the test program knows it: `rust::a_packet_limit_is_exact`.
    name: String,
    driver: Option<Implementation>,
}

impl Case {
    /// The case as a reader knows it: `data_path: a packet limit is exact`.
    fn title(&self) -> String {
        let name = self.name.rsplit("::").next().unwrap_or(&self.name);
        format!("{}: {}", self.file, name.replace('_', " "))
    }
}

/// Lists the cases of a test program.
///
/// # Errors
/// If the program cannot be started or does not list its tests.
pub fn list(file: &str, program: &Path) -> Result<Vec<Case>> {
    let output = Command::new(program)
        .args(["--list", "--format", "terse"])
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let cases = parse_list(file, &String::from_utf8_lossy(&output.stdout));
    ensure!(!cases.is_empty(), "{} lists no tests", program.display());
    Ok(cases)
}

fn parse_list(file: &str, text: &str) -> Vec<Case> {
    text.lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(|name| {
            let module = name.split("::").next().unwrap_or_default();
            let driver = Implementation::OURS
                .into_iter()
                .find(|one| one.to_string().replace('-', "_") == module);
            Case {
                file: file.to_owned(),
                name: name.to_owned(),
                driver,
            }
        })
        .collect()
}

/// The cases that these drivers take part in. A case of all drivers needs all.
pub fn of_drivers(cases: Vec<Case>, drivers: &[Implementation]) -> Vec<Case> {
    let needed = |case: &Case| match case.driver {
        Some(driver) => drivers.contains(&driver),
        None => drivers.len() == Implementation::OURS.len(),
    };
    cases.into_iter().filter(needed).collect()
}

/// Runs cases, `jobs` at a time, and returns a row for each.
///
/// # Errors
/// If a process cannot be started, or the user asks to stop.
pub fn run(
    cases: &[Case],
    programs: &BTreeMap<String, PathBuf>,
    folders: &Folders,
    jobs: usize,
    interrupt: &Interrupt,
    step: impl Fn(&str) + Sync,
) -> Result<Vec<Row>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    step(&case.name);
                    let row = run_case(case, programs, folders, interrupt);
                    let failed = row.is_err();
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push(row);
                    if failed {
                        break;
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().collect()
}

fn run_case(
    case: &Case,
    programs: &BTreeMap<String, PathBuf>,
    folders: &Folders,
    interrupt: &Interrupt,
) -> Result<Row> {
    let program = programs.get(&case.file).context("no test program")?;
    let mut command = Command::new(program);
    command
        .args(["--exact", &case.name, "--nocapture", "--test-threads", "1"])
        .env("TRIPTYCH_BUILD", &folders.build)
        .env("RUST_BACKTRACE", "0");
    let name = format!("{}-{}", case.file, case.name.replace("::", "-"));
    let limit = match LOCKSTEP.contains(&case.file.as_str()) {
        true => LOCKSTEP_LIMIT,
        false => PROGRAM_LIMIT,
    };
    let ended = child::run(&name, command, &folders.logs, limit, interrupt)?;
    let seen = match &ended.failure {
        None => EXPECTED.to_owned(),
        Some(end) => message::of_test(&ended.output(), end),
    };
    Ok(Row {
        case: case.title(),
        driver: case
            .driver
            .map_or_else(|| ALL_DRIVERS.to_owned(), |driver| driver.to_string()),
        expected: EXPECTED.to_owned(),
        changed: ended.failure.is_some(),
        seen,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_belong_to_their_drivers() {
        let text = "c::a_limit: test\nrust_unsafe::a_limit: test\nall_agree: test\n\n3 tests\n";
        let cases = parse_list("data_path", text);
        let drivers: Vec<_> = cases.iter().map(|case| case.driver).collect();
        assert_eq!(
            drivers,
            [
                Some(Implementation::C),
                Some(Implementation::RustUnsafe),
                None
            ]
        );
        assert_eq!(cases[1].title(), "data_path: a limit");
        let some = of_drivers(cases.clone(), &[Implementation::C]);
        assert_eq!(some, cases[..1]);
        let all = Implementation::OURS;
        assert_eq!(of_drivers(cases.clone(), &all), cases);
    }
}
