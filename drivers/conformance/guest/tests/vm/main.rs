//! Boots machines with the software 82599 in them, and tests in them what cannot be tested without a
//! kernel. `make vm-test` runs it; like the tests of Cargo, it takes `--list` and a filter.
//!
//! The tests of one machine run one after the other in one boot, and a machine is switched off after
//! its last. Only one runs at a time: the NIC and two virtual processors want all of a small machine.

mod fixture;
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
    let bench = match arguments.list {
        true => None,
        false => match prepare() {
            Ok(bench) => Some(bench),
            Err(error) => {
                eprintln!("{error:#}");
                return ExitCode::FAILURE;
            }
        },
    };
    let tests = vfio::tests(&bench);
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Fetches and packs what all machines boot.
fn prepare() -> Result<Bench> {
    let script = guest::repository().join("bench/setup/vm.sh");
    let fetched = Command::new(&script)
        .output()
        .with_context(|| script.display().to_string())?;
    if !fetched.status.success() {
        bail!("{}", String::from_utf8_lossy(&fetched.stderr).trim_end());
    }
    let fetched = PathBuf::from(String::from_utf8(fetched.stdout)?.trim_end());
    let agent = PathBuf::from(env!("CARGO_BIN_EXE_guest"));
    let bench = Bench::new(&fetched, &agent, &guest::repository().join(LOGS))?;
    println!("{bench}");
    Ok(bench)
}
