//! Runs all checks in the guest and prints a line for each.
//!
//! Usage: `pmu-checks MACHINE`, or `pmu-checks detect`, which the checks themselves run as another user.

use std::process::ExitCode;

use perfcounters::perf::resolve::EventSet;
use pmu_guest::checks::{CHECKS, DETECT};
use pmu_guest::{Environment, Machine};

fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == DETECT {
        return detect();
    }
    let environment = Machine::named(&argument)
        .ok_or_else(|| format!("pmu-checks: {argument:?} is no machine of these tests"))
        .and_then(|machine| Environment::new(machine).map_err(|error| format!("{error:#}")));
    let environment = match environment {
        Ok(environment) => environment,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let mut failed = false;
    for (name, check) in CHECKS {
        match check(&environment) {
            Ok(()) => println!("check {name}: ok"),
            Err(error) => {
                failed = true;
                println!("check {name}: {}", format!("{error:#}").replace('\n', " "));
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

/// Prints the events that this user may count, or the reason for none.
fn detect() -> ExitCode {
    match EventSet::detect(Some(0)) {
        Ok(set) => {
            for event in set.events {
                println!("{}", event.name);
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
