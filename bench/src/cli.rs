//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use perfcounters::record::Implementation;
use strum::{Display, EnumIter, EnumString};

use crate::host::cli::{BindArguments, DoctorArguments, UnbindArguments, WriteArguments};
use crate::pktgen::cli::PktgenArguments;

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
    /// Measure every driver with every backend that works here, into a new folder of results/.
    Run(RunArguments),
    /// Fail if a driver needs more instructions per packet than recorded.
    Budget(BudgetArguments),
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
}

/// The backends that `run` offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, EnumIter)]
#[strum(serialize_all = "kebab-case")]
pub enum BackendChoice {
    /// Instructions, branches and caches, simulated.
    Valgrind,
    /// TSC cycles of the driver alone.
    Lockstep,
    /// Throughput of whole processes.
    Wall,
}

/// Arguments of `triptych run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Drivers to measure: c, rust, rust-unsafe
    #[arg(
        long = "impl",
        value_name = "IMPL",
        value_delimiter = ',',
        default_value = "c,rust,rust-unsafe"
    )]
    pub implementations: Vec<Implementation>,
    /// Ways they are built; without this: default, and overflow-checks for safe Rust
    #[arg(long = "variant", value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Packets asked for per receive call, each 1 to 512
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "32,8",
          value_parser = clap::value_parser!(u32).range(1..=512))]
    pub batch: Vec<u32>,
    /// Ways to count: valgrind, lockstep, wall
    #[arg(
        long = "backend",
        value_name = "BACKEND",
        value_delimiter = ',',
        default_value = "valgrind,lockstep,wall"
    )]
    pub backends: Vec<BackendChoice>,
    /// Repetitions of valgrind and wall; without this: 1 (the counts are exact) and 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Only see whether everything works: short runs, rough figures
    #[arg(long)]
    pub quick: bool,
    /// Folder that gets a folder per run
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Folder that the drivers were built in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

/// Arguments of `triptych budget`.
#[derive(Debug, Args)]
pub struct BudgetArguments {
    /// The recorded figures
    #[arg(long, value_name = "FILE", default_value = "bench/budget.toml")]
    pub config: PathBuf,
    /// Folder that the drivers were built in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(run.backends, [BackendChoice::Wall]);
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            &["--batch", "0"][..],
            &["--batch", "513"],
            &["--impl", "fortran"],
            &["--backend", "guess"],
            &["--repeats", "0"],
        ] {
            let arguments = ["triptych", "run"].iter().chain(bad);
            assert!(Cli::try_parse_from(arguments).is_err(), "{bad:?}");
        }
    }
}
