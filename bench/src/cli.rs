//! The command line of `triptych`: its subcommands.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::build::peers::arguments::PeersArguments;
use crate::build::sides::SYNTAX;
use crate::build::verdict::arguments::VerdictArguments;
use crate::code::asm::arguments::AsmArguments;
use crate::compare::arguments::CompareArguments;
use crate::machine::clocks::cli::ClocksArguments;
use crate::machine::host::cli::{BindArguments, DoctorArguments, UnbindArguments, WriteArguments};
use crate::machine::selftest::arguments::SelftestArguments;
use crate::measure::budget::arguments::BudgetArguments;
use crate::measure::ladder::arguments::LadderArguments;
use crate::measure::pktgen::cli::PktgenArguments;
use crate::measure::run::arguments::RunArguments;
use crate::share::arguments::{AnonymiseArguments, MergeArguments};
use crate::with_card::arguments::{StartArguments, WithCardArguments, EXAMPLES};

/// The last line of the help of commands with lists.
const LISTS: &str =
    "Options that take several values separate them with commas, for instance 8,32.";

/// The last lines of the help of `compare`.
const COMPARE: &str = "\
Options that take several values separate them with commas, for instance 8,32.

Exit status:
  0  everything was measured, and no build is worse than the baseline, or there is no baseline
  1  a build or a measurement failed
  2  the command line or the file is wrong
  3  a build is worse than the baseline, beyond the threshold";

/// The last lines of the help of `peers`.
const PEERS: &str = "\
The exit status is 0 also if a driver cannot be had: the table and peers.json say why. It is 1 if a build \
failed or sources differ from the pinned ones, and 2 for a wrong option or file.";

/// The last lines of the help of `verdict`.
const VERDICT_STATUS: &str =
    "The exit status is 0 if every case came out as recorded, 3 if one changed, \
1 if the verdict could not be run, and 2 for a wrong option or patch.";

/// Measure the three ixgbe drivers, and prepare a machine for measuring
#[derive(Debug, Parser)]
#[command(name = "triptych", version)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `triptych`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the drivers, and write the results to a new folder in results/
    #[command(after_help = LISTS)]
    Run(Box<RunArguments>),
    /// Fail if a driver needs more instructions per packet than bench/budget.toml allows
    Budget(BudgetArguments),
    /// Build the drivers with several compilers, measure every build, and compare
    #[command(after_help = format!("{COMPARE}\n\n{SYNTAX}"))]
    Compare(Box<CompareArguments>),
    /// Show the machine code of a driver's data path beside its source, with checks marked, or how two
    /// builds of it differ
    #[command(after_help = SYNTAX)]
    Asm(AsmArguments),
    /// Measure the cost of each step from the transpiled driver to the safe driver
    Ladder(LadderArguments),
    /// Build the drivers of other projects that `run` measures beside ours: ixy, ixy.rs, DPDK
    #[command(after_help = PEERS)]
    Peers(PeersArguments),
    /// Try your own mistake: test drivers and hazards, with a patch or without, and show what changed
    #[command(after_help = VERDICT_STATUS)]
    Verdict(VerdictArguments),
    /// Check what a run with a network card needs, and print a command that fixes each problem
    Doctor(DoctorArguments),
    /// Take ports of a network card from the kernel's driver, for a run
    Bind(BindArguments),
    /// Return ports of a network card to the kernel's driver
    Unbind(UnbindArguments),
    /// Show the clocks of the cores, fix them, or restore what a killed run changed
    Clocks(ClocksArguments),
    /// Check two cabled ports of a card before measuring: link, frames, counters, interrupts, events
    Selftest(SelftestArguments),
    /// Test a load generator that sends to real cards, or measure at several rates
    #[command(after_help = LISTS)]
    Pktgen(PktgenArguments),
    /// Put runs of the same matrix, from several clocks or machines, into one folder
    Merge(MergeArguments),
    /// Copy a results folder without the names of hosts, users and homes, and without MAC addresses
    Anonymise(AnonymiseArguments),
    /// Run a program that drives a network card by VFIO, with the software card in the card's place
    #[command(after_help = EXAMPLES)]
    WithCard(Box<WithCardArguments>),
    /// Run and guard a program with the card; `with-card` starts it
    #[command(hide = true)]
    WithCardGuard(Box<WithCardArguments>),
    /// Become a program that the guard watches; `with-card-guard` starts it
    #[command(hide = true)]
    WithCardStart(StartArguments),
    /// Write to a file of sysfs, in a process that may outlive its parent; `bind` starts it
    #[command(hide = true)]
    SysfsWrite(WriteArguments),
    /// Measure in lockstep, in a process that may crash; `run` starts it
    #[command(hide = true)]
    LockstepWorker {
        /// The file in which `run` wrote what to measure
        specification: PathBuf,
    },
    /// Run a part of the self-test, in a process that may crash; `selftest` starts it
    #[command(hide = true)]
    SelftestWorker {
        /// The file in which `selftest` wrote what to test
        specification: PathBuf,
    },
    /// Forward and count events, in a process that may crash; `run` starts it
    #[command(hide = true)]
    PerfWorker {
        /// The file in which `run` wrote what to count
        specification: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use record::Implementation;

    use super::*;
    use record::BackendName;

    #[test]
    fn the_definition_of_the_command_line_is_valid() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn lists_are_split_at_commas() {
        let cli = Cli::parse_from([
            "triptych",
            "run",
            "--impl",
            "c,rust-unsafe",
            "--batch",
            "1,512",
            "--backend",
            "wall",
        ]);
        let Command::Run(run) = cli.command else {
            panic!("not run");
        };
        assert_eq!(
            run.implementations,
            [Implementation::C, Implementation::RustUnsafe]
        );
        assert_eq!(run.batch, [1, 512]);
        assert_eq!(run.backends, [BackendName::Wall]);
    }

    #[test]
    fn resume_takes_an_id_or_the_newest_run() {
        let resume = |arguments: &[&str]| {
            let words = ["triptych", "run"].iter().chain(arguments);
            match Cli::parse_from(words).command {
                Command::Run(run) => (run.resume.clone(), run.selects_measurements()),
                _ => panic!("not run"),
            }
        };
        assert_eq!(resume(&[]), (None, false));
        assert_eq!(resume(&["--resume"]), (Some(None), false));
        assert_eq!(resume(&["--resume", "x"]), (Some(Some("x".into())), false));
        assert!(resume(&["--resume", "--batch", "8"]).1);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for bad in [
            &["--batch", "0"][..],
            &["--batch", "513"],
            &["--impl", "fortran"],
            &["--backend", "guess"],
            &["--repeats", "0"],
            &["--ring-size", "500"],
            &["--frame-size", "59"],
        ] {
            let arguments = ["triptych", "run"].iter().chain(bad);
            assert!(Cli::try_parse_from(arguments).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_wrong_number_gives_the_range() {
        for (arguments, range) in [
            (&["run", "--batch", "32k"][..], "a number from 1 to 512"),
            (&["run", "--batch", "0"], "a number from 1 to 512"),
            (&["pktgen", "--seconds", "1s"], "a number from 1 to 3600"),
            (
                &["with-card", "--ports", "x", "--", "true"],
                "a number from 1 to 16",
            ),
        ] {
            let arguments = ["triptych"].iter().chain(arguments);
            let error = Cli::try_parse_from(arguments).unwrap_err().to_string();
            assert!(error.contains(range), "{error}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        for (arguments, names) in [
            (&["run", "--impl", "fortran"][..], "c, rust, rust-unsafe"),
            (&["asm", "fortran"], "c, rust, rust-unsafe"),
            (
                &["run", "--backend", "guess"],
                "perf, trace, valgrind, lockstep, burst, wall",
            ),
            (&["compare", "--opt", "4"], "default, 1, 2, 3, s"),
            (
                &["compare", "--impl", "dpdk-vector"],
                "c, rust, rust-unsafe, ixy, ixy-rs, ixy-c2rust]",
            ),
        ] {
            let arguments = ["triptych"].iter().chain(arguments);
            let error = Cli::try_parse_from(arguments).unwrap_err().to_string();
            assert!(error.contains(names), "{error}");
        }
    }
}
