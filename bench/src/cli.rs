//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::asm::arguments::AsmArguments;
use crate::budget::arguments::BudgetArguments;
use crate::compare::arguments::CompareArguments;
use crate::host::cli::{BindArguments, DoctorArguments, UnbindArguments, WriteArguments};
use crate::ladder::arguments::LadderArguments;
use crate::pktgen::cli::PktgenArguments;
use crate::run::arguments::RunArguments;

/// Measure the three ixgbe drivers.
#[derive(Debug, Parser)]
#[command(name = "triptych", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `triptych` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the drivers with every backend that works here, into a new folder of results/.
    Run(Box<RunArguments>),
    /// Fail if a driver needs more instructions per packet than recorded.
    Budget(BudgetArguments),
    /// Build the drivers with several compilers and measure what each makes of them.
    Compare(CompareArguments),
    /// Show the machine code of a driver's data path beside its source, with checks marked.
    Asm(AsmArguments),
    /// Build the steps from the transpiled driver to the safe one, and measure what each costs.
    Ladder(LadderArguments),
    /// Look at what a run with a network card needs, and say what mends what is missing.
    Doctor(DoctorArguments),
    /// Take ports of a network card from the kernel's driver.
    Bind(BindArguments),
    /// Give ports of a network card back to the kernel's driver.
    Unbind(UnbindArguments),
    /// Send packets from a load generator, to a forwarder that drives real cards.
    Pktgen(PktgenArguments),
    /// Write to a file of sysfs, in a process that may be left behind; `bind` starts it.
    #[command(hide = true)]
    SysfsWrite(WriteArguments),
    /// Measure in lockstep, in a process that may crash; `run` starts it.
    #[command(hide = true)]
    LockstepWorker {
        /// What to measure, as `run` wrote it down.
        specification: PathBuf,
    },
    /// Forward and count, in a process that may crash; `run` starts it.
    #[command(hide = true)]
    PerfWorker {
        /// What to count, as `run` wrote it down.
        specification: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use record::Implementation;

    use super::*;
    use record::BackendName;

    #[test]
    fn the_definition_is_sound() {
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
    fn a_run_is_named_or_the_newest() {
        let resume = |arguments: &[&str]| {
            let words = ["triptych", "run"].iter().chain(arguments);
            match Cli::parse_from(words).command {
                Command::Run(run) => (run.resume.clone(), run.says_what()),
                _ => panic!("not run"),
            }
        };
        assert_eq!(resume(&[]), (None, false));
        assert_eq!(resume(&["--resume"]), (Some(None), false));
        assert_eq!(resume(&["--resume", "x"]), (Some(Some("x".into())), false));
        assert!(resume(&["--resume", "--batch", "8"]).1);
    }

    #[test]
    fn nonsense_is_refused() {
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
    fn of_a_name_that_is_none_the_names_there_are_are_told() {
        for (arguments, names) in [
            (&["run", "--impl", "fortran"][..], "c, rust, rust-unsafe"),
            (&["asm", "fortran"], "c, rust, rust-unsafe"),
            (
                &["run", "--backend", "guess"],
                "perf, valgrind, lockstep, wall",
            ),
            (&["compare", "--opt", "4"], "usual, 1, 2, 3, s"),
        ] {
            let arguments = ["triptych"].iter().chain(arguments);
            let error = Cli::try_parse_from(arguments).unwrap_err().to_string();
            assert!(error.contains(names), "{error}");
        }
    }
}
