//! Boots virtual machines with the software 82599 and runs the tests that need a kernel. `make
//! vm-test` runs it. Like Cargo's tests, it accepts `--list` and a filter.
//!
//! A machine boots once, runs its tests one after the other, and ends after its last test. Only one
//! test runs at a time, because the NIC and two virtual processors occupy a small machine.

mod applications;
mod fixture;
mod registers;
mod stock;
mod tools;
mod vfio;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{bail, Context, Result};
use libtest_mimic::Arguments;

use fixture::Environment;

/// The folder of the machines' logs.
const LOGS: &str = "build/logs/vm";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The tests run in this thread: QEMU ends with the thread that started it.
    arguments.test_threads = Some(1);
    let prepared = match arguments.list {
        true => Ok(Prepared::ListOnly),
        false => prepare(),
    };
    let environment = match prepared {
        Ok(Prepared::Environment(environment)) => {
            println!("{environment}");
            Some(environment)
        }
        Ok(Prepared::ListOnly) => None,
        // `.ci/checks` looks for this line.
        Ok(Prepared::Impossible(reason)) => {
            println!("skipped: {reason}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let mut tests = vfio::tests(&environment);
    tests.extend(stock::tests(&environment));
    tests.extend(tools::tests(&environment));
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// The result of the preparation.
enum Prepared {
    Environment(Environment),
    /// The tests are only listed and need no environment.
    ListOnly,
    /// QEMU or the kernel cannot be fetched, with the reason.
    Impossible(String),
}

/// The script's exit status if QEMU or the kernel cannot be fetched.
const CANNOT_FETCH: i32 = 2;

/// Fetches QEMU and the kernel, and packs the image that all machines boot.
fn prepare() -> Result<Prepared> {
    let script = guest::repository().join("bench/setup/vm.sh");
    let fetched = Command::new(&script)
        .output()
        .with_context(|| script.display().to_string())?;
    let messages = String::from_utf8_lossy(&fetched.stderr);
    eprint!("{messages}");
    match fetched.status.code() {
        Some(0) => {}
        Some(CANNOT_FETCH) => {
            let reason = messages.lines().last().unwrap_or_default();
            return Ok(Prepared::Impossible(
                reason.trim_start_matches("setup: ").to_owned(),
            ));
        }
        _ => bail!("{}: {}", script.display(), fetched.status),
    }
    let fetched = PathBuf::from(String::from_utf8(fetched.stdout)?.trim_end());
    let agent = PathBuf::from(env!("CARGO_BIN_EXE_guest"));
    let logs = guest::repository().join(LOGS);
    Ok(Prepared::Environment(Environment::new(
        &fetched, &agent, &logs,
    )?))
}
