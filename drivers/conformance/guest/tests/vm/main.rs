//! Boots virtual machines with the software 82599 and runs the tests that need a kernel. `make test ONLY=vm-test` runs it.
//! Like Cargo's tests, it accepts `--list` and a filter.
//!
//! A machine boots once, runs its tests one after the other, and ends after its last test. Only one
//! test runs at a time, because the NIC and two virtual processors occupy a small machine.

mod applications;
mod environment;
mod fixture;
mod registers;
mod rig;
mod scripts;
mod stock;
mod vfio;
mod vm;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use environment::Environment;
use libtest_mimic::Arguments;

fn main() -> Result<ExitCode> {
    let mut arguments = Arguments::from_args();
    // The tests run in this thread: QEMU ends with the thread that started it.
    arguments.test_threads = Some(1);
    let mut environment = None;
    if !arguments.list {
        let Some(fetched) = guest::fetch("vm")? else {
            return Ok(ExitCode::SUCCESS);
        };
        let prepared = Environment::new(fetched)?;
        println!("{}", prepared.describe()?);
        environment = Some(Arc::new(prepared));
    }
    let scripts = scripts::scripts()?;
    let mut tests = vfio::tests(&environment, &scripts);
    tests.extend(stock::tests(&environment));
    tests.extend(scripts::tests(&environment, &scripts));
    Ok(libtest_mimic::run(&arguments, tests).exit_code())
}
