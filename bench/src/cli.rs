//! The command line of `triptych`: its subcommands, and how the program ends.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use perfcounters::{lockstep, perf, Interrupt};

use crate::build::peers::{self, PeersArguments};
use crate::build::sides::SYNTAX;
use crate::build::verdict::{self, VerdictArguments};
use crate::code::asm::{self, AsmArguments};
use crate::compare::{self, arguments::CompareArguments, track};
use crate::lab::{self, LabArguments};
use crate::machine::clocks::cli::{self as clocks, ClocksArguments};
use crate::machine::host::cli::{self as host, BindArguments, DoctorArguments};
use crate::machine::selftest::{self, arguments::SelftestArguments};
use crate::measure::ladder::{self, LadderArguments};
use crate::measure::pktgen::cli::{self as pktgen, PktgenArguments};
use crate::measure::run::{self, arguments::RunArguments};
use crate::usage::{Outcome, UsageError, WorkerKind};
use crate::with_card::{
    self,
    arguments::{WithCardArguments, EXAMPLES},
};

/// The first lines of the help: what one does with the program.
const USES: &str = "\
Reproduce the paper's tables on this machine:
  triptych run

Teach safety: let the drivers meet a hostile card with a mistake of your own
  triptych verdict --patch mistake.patch
  triptych verdict --program './my-forwarder {port0} {port1}'

Compare compilers:
  triptych compare --toolchain gcc-12,clang-19";

/// The last lines of the help.
const STATUS: &str = "\
Exit status:
  0  all is well
  1  something failed, or the machine is not fit for a run
  2  the command line or a file that it names is wrong
  3  `compare` found a worse build or a dearer commit, `track` a dearer commit, or `verdict` a case that differs
     from the record or that a program fails
`with-card` ends with the status of its program.";

/// The last line of the help of commands with lists.
const LISTS: &str =
    "Options that take several values separate them with commas, for instance 8,32.";

/// Measure three drivers of Intel's ixgbe network cards: in C, in safe Rust, and transpiled from C to Rust
#[derive(Debug, Parser)]
#[command(name = "triptych", version, before_help = USES, after_help = STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands of `triptych`, in the order in which one needs them.
#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the drivers on this machine, and write the results to a new folder in results/
    #[command(after_help = LISTS)]
    Run(Box<RunArguments>),
    /// Build the drivers of other projects, which `run` then measures beside ours
    #[command(hide = true)]
    Peers(PeersArguments),
    /// Measure what each safety feature costs, step by step from the transpiled to the safe driver
    Ladder(LadderArguments),
    /// Test the drivers, or any program of yours, against hostile cards, and show what changed
    Verdict(VerdictArguments),
    /// Record a driver and its card step by step, and show it in a browser
    Lab(LabArguments),
    /// Show a driver's machine code beside its source, or how the code of two builds differs
    #[command(after_help = SYNTAX)]
    Asm(AsmArguments),
    /// Build the drivers with several compilers, measure every build, and compare
    #[command(after_help = LISTS)]
    Compare(Box<CompareArguments>),
    /// Show what each commit changed, as `compare --commits` measured it
    Track(track::TrackArguments),
    /// Run any program that drives a network card by VFIO, with the software card
    #[command(after_help = EXAMPLES)]
    WithCard(Box<WithCardArguments>),
    /// Check what a run with a real card needs, and print a command that fixes each problem
    Doctor(DoctorArguments),
    /// Take ports of a real card from the kernel's driver, or return them with --undo
    Bind(BindArguments),
    /// Show the clocks of the processor, fix them, or restore them
    Clocks(ClocksArguments),
    /// Test a real card whose two ports a cable connects, before measuring
    Selftest(SelftestArguments),
    /// Test the load generator that sends to a real card, or measure at several rates
    #[command(after_help = LISTS, hide = true)]
    Pktgen(PktgenArguments),
    /// Measure or test in a process that may crash; other commands start it
    #[command(hide = true)]
    Worker {
        /// What to do
        kind: WorkerKind,
        /// The file that describes the work
        file: PathBuf,
    },
}

/// Runs the command of this process's command line. [`Outcome`] says how it ends.
pub fn main() -> ExitCode {
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

/// Prints an error of usage with the usage of the subcommand, and ends the program.
fn exit_with(error: &UsageError, matches: &ArgMatches) -> ! {
    let mut top = Cli::command();
    // This gives subcommands their full names.
    top.build();
    let name = matches.subcommand_name().unwrap_or_default();
    let mut command = top.find_subcommand(name).unwrap_or(&top).clone();
    command.error(ErrorKind::ValueValidation, error).exit()
}

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
        Command::Lab(arguments) => lab::run(arguments, &interrupt),
        Command::Asm(arguments) => asm::run(arguments, &interrupt),
        Command::Compare(arguments) => compare::run(arguments, &interrupt),
        Command::Track(arguments) => track::run(arguments),
        Command::Doctor(arguments) => host::doctor(arguments),
        Command::Bind(arguments) => host::bind(arguments, &interrupt),
        Command::Clocks(arguments) => clocks::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments, &interrupt),
        Command::Pktgen(arguments) => pktgen::run(arguments, &interrupt),
        Command::Worker { kind, file } => {
            match kind {
                WorkerKind::Lockstep => lockstep::worker::run(file, &interrupt)?,
                WorkerKind::Perf => perf::worker::run(file, &interrupt)?,
            }
            Ok(Outcome::Good)
        }
        Command::WithCard(arguments) => with_card::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use record::{BackendName, Implementation};

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_valid() {
        Cli::command().debug_assert();
    }

    fn parse_run(words: &[&str]) -> RunArguments {
        let words = ["triptych", "run"].iter().chain(words);
        match Cli::parse_from(words).command {
            Command::Run(run) => *run,
            _ => panic!("not run"),
        }
    }

    #[test]
    fn lists_are_split_at_commas_and_resume_takes_an_id_or_the_newest_run() {
        let run = parse_run(&["--impl=c,rust-unsafe", "--batch=1,512", "--backend=wall"]);
        let drivers = [Implementation::C, Implementation::RustUnsafe];
        assert_eq!(run.filter.implementations, drivers);
        assert_eq!(*run.filter.batch, [1, 512]);
        assert_eq!(run.filter.backends, [BackendName::Wall]);
        for (words, resume, selects) in [
            (&[][..], None, false),
            (&["--resume"], Some(None), false),
            (&["--resume", "x"], Some(Some("x".to_owned())), false),
            (&["--resume", "--batch", "8"], Some(None), true),
        ] {
            let run = parse_run(words);
            assert_eq!((run.selects_measurements(), run.resume), (selects, resume));
        }
    }

    #[test]
    fn a_wrong_value_gives_the_range_or_the_names() {
        for (arguments, expected) in [
            ("run --batch 0", "a number from 1 to 512"),
            ("run --batch 32k", "a number from 1 to 512"),
            ("run --ring-size 500", "a power of two"),
            ("run --impl fortran", "c, rust, rust-unsafe"),
            ("asm fortran", "c, rust, rust-unsafe"),
            (
                "run --backend guess",
                "perf, trace, valgrind, lockstep, burst, wall",
            ),
            ("compare --opt 4", "default, 1, 2, 3, s"),
            (
                "compare --impl dpdk-vector",
                "c, rust, rust-unsafe, ixy, ixy-rs, ixy-c2rust]",
            ),
        ] {
            let arguments = ["triptych"].into_iter().chain(arguments.split(' '));
            let error = Cli::try_parse_from(arguments).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
