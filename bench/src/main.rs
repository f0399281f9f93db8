//! `triptych`: the benchmark runner. [`Outcome`] says how a command ends.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use perfcounters::{lockstep, perf, Interrupt};
use triptych::build::{peers, verdict};
use triptych::cli::{Cli, Command};
use triptych::code::asm;
use triptych::machine::host::cli as host;
use triptych::machine::{clocks, selftest};
use triptych::measure::{ladder, pktgen, run};
use triptych::usage::{Outcome, UsageError, WorkerKind};
use triptych::{compare, with_card};

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match execute(&cli) {
        Ok(outcome) => ExitCode::from(outcome),
        Err(error) => match error.downcast_ref::<UsageError>() {
            Some(usage) => exit_with(usage, &matches),
            None => {
                eprintln!("triptych: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Prints an error of usage with the usage of the innermost subcommand, and ends the program.
fn exit_with(error: &UsageError, matches: &ArgMatches) -> ! {
    let mut top = Cli::command();
    // This gives subcommands their full names.
    top.build();
    let (mut command, mut chosen) = (&top, matches);
    while let Some((name, inner)) = chosen.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            break;
        };
        (command, chosen) = (found, inner);
    }
    command
        .clone()
        .error(ErrorKind::ValueValidation, error)
        .exit()
}

/// Runs the command.
fn execute(cli: &Cli) -> Result<Outcome> {
    // It passes signals on to the program, so it handles them differently.
    if let Command::WithCard(arguments) = &cli.command {
        return with_card::run(arguments);
    }
    let interrupt = Interrupt::new();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The first signal stops the measurement in order. The second one ends the process at once.
        signal_hook::flag::register_conditional_shutdown(signal, 1, interrupt.flag())
            .and_then(|_| signal_hook::flag::register(signal, interrupt.flag()))
            .context("cannot handle signals")?;
    }
    match &cli.command {
        Command::Run(arguments) => run::run(arguments, &interrupt),
        Command::Peers(arguments) => peers::run(arguments, &interrupt),
        Command::Ladder(arguments) => ladder::run(arguments, &interrupt),
        Command::Verdict(arguments) => verdict::run(arguments, &interrupt),
        Command::Asm(arguments) => asm::run(arguments, &interrupt),
        Command::Compare(arguments) => compare::run(arguments, &interrupt),
        Command::Doctor(arguments) => host::doctor(arguments),
        Command::Bind(arguments) => host::bind(arguments, &interrupt),
        Command::Clocks(arguments) => clocks::cli::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments, &interrupt),
        Command::Pktgen(arguments) => pktgen::cli::run(arguments, &interrupt),
        Command::Worker { kind, file } => work(*kind, file, &interrupt),
        Command::WithCard(arguments) => with_card::run(arguments),
    }
}

/// Does the part of the work for which another command has started this process.
fn work(kind: WorkerKind, file: &Path, interrupt: &Interrupt) -> Result<Outcome> {
    match kind {
        WorkerKind::Lockstep => lockstep::worker::run(file, interrupt)?,
        WorkerKind::Perf => perf::worker::run(file, interrupt)?,
    }
    Ok(Outcome::Good)
}
