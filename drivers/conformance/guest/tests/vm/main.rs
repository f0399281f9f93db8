//! Boots machines with the software 82599 in them, and tests in them what cannot be tested without a
//! kernel. `make vm-test` runs it; like the tests of Cargo, it takes `--list` and a filter.
//!
//! The tests of one machine run one after the other in one boot, and a machine is switched off after
//! its last. Only one runs at a time: the NIC and two virtual processors want all of a small machine.

mod fixture;
mod stock;
mod tools;
mod vfio;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{bail, Context, Result};
use libtest_mimic::Arguments;

use fixture::Bench;

/// Where `make vm-test` looks for the machines' logs.
const LOGS: &str = "build/logs/vm";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // In this thread: QEMU ends with the thread that has started it.
    arguments.test_threads = Some(1);
    let prepared = match arguments.list {
        true => Ok(Prepared::Nothing),
        false => prepare(),
    };
    let bench = match prepared {
        Ok(Prepared::Bench(bench)) => {
            println!("{bench}");
            Some(bench)
        }
        Ok(Prepared::Nothing) => None,
        // `.ci/checks` looks for this line.
        Ok(Prepared::Impossible(why)) => {
            println!("skipped: {why}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let mut tests = vfio::tests(&bench);
    tests.extend(stock::tests(&bench));
    tests.extend(tools::tests(&bench));
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// What the tests can be run with.
enum Prepared {
    Bench(Bench),
    /// They are only listed.
    Nothing,
    /// QEMU or a kernel cannot be had here.
    Impossible(String),
}

/// The script's exit status for that.
const CANNOT_BE_HAD: i32 = 2;

/// Fetches and packs what all machines boot.
fn prepare() -> Result<Prepared> {
    let script = guest::repository().join("bench/setup/vm.sh");
    let fetched = Command::new(&script)
        .output()
        .with_context(|| script.display().to_string())?;
    let said = String::from_utf8_lossy(&fetched.stderr);
    eprint!("{said}");
    match fetched.status.code() {
        Some(0) => {}
        Some(CANNOT_BE_HAD) => {
            let why = said.lines().last().unwrap_or_default();
            return Ok(Prepared::Impossible(
                why.trim_start_matches("setup: ").to_owned(),
            ));
        }
        _ => bail!("{}: {}", script.display(), fetched.status),
    }
    let fetched = PathBuf::from(String::from_utf8(fetched.stdout)?.trim_end());
    let agent = PathBuf::from(env!("CARGO_BIN_EXE_guest"));
    let logs = guest::repository().join(LOGS);
    Ok(Prepared::Bench(Bench::new(&fetched, &agent, &logs)?))
}
