//! Runs all checks in the guest and prints a line for each.
//!
//! Usage: `pmu-checks MACHINE`, or `pmu-checks detect`, which the checks themselves run as another user.

use std::process::ExitCode;

use anyhow::{Context, Result};
use perfcounters::perf::resolve::EventSet;
use pmu_guest::{Environment, Machine, ALL_HOLD, CHECKS, DETECT};

fn main() -> Result<ExitCode> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == DETECT {
        return Ok(detect());
    }
    let mut machines = Machine::ALL.into_iter();
    let machine = machines.find(|machine| machine.name == argument);
    let environment = Environment::new(machine.context("no such machine")?)?;
    let mut hold = true;
    for (name, check) in CHECKS {
        let result = check(&environment);
        hold &= result.is_ok();
        let text = result.map_or_else(|error| format!("{error:#}"), |()| "ok".to_owned());
        println!("check {name}: {}", text.replace('\n', " "));
    }
    if hold {
        println!("{ALL_HOLD}");
    }
    Ok(ExitCode::from(u8::from(!hold)))
}

/// Prints the events that this user may count, or the reason for none.
fn detect() -> ExitCode {
    match EventSet::detect(Some(0)) {
        Ok(set) => {
            let names = set.events.iter().map(|event| &event.name);
            names.for_each(|name| println!("{name}"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
