//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use perfcounters::record::Implementation;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, VariantNames};

use crate::compare::plan::Level;
use crate::config::{Narrowing, RingSize, Within};
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

/// The backends that `run` offers, in the order in which they measure.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Display,
    EnumString,
    EnumIter,
    VariantNames,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum BackendChoice {
    /// The processor's own counters.
    Perf,
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
    /// What to measure, as a file (see bench/README.md); the options below then leave only a part
    /// of it. Without, the counter table is measured
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Go on with a run that was interrupted: a folder in results/; without ID the newest
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// Drivers; without this, all
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = one_of::<Implementation>())]
    pub implementations: Vec<Implementation>,
    /// Ways they are built: default, overflow-checks, sanitized, fortified, no-lto, or a folder of
    /// build/variants/; without this, default, and overflow-checks for safe Rust
    #[arg(long = "variant", value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Packets asked for per receive call, each 1 to 512; without this, 32 and 8
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=512))]
    pub batch: Vec<u32>,
    /// Descriptors per ring, powers of two from 64 to 4096; without this, 512
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = ring_size)]
    pub ring_size: Vec<u32>,
    /// Bytes of a frame without its CRC, each 60 to 1514; without this, 60
    #[arg(long, value_name = "BYTES", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(60..=1514))]
    pub frame_size: Vec<u32>,
    /// Ways to count; without this, all that work here
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = one_of::<BackendChoice>())]
    pub backends: Vec<BackendChoice>,
    /// Repetitions of perf, valgrind, wall and latency; without this and in no file: 3, 1 (the
    /// counts are exact), 3 and 1
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

impl RunArguments {
    /// Whether the command line says anything about what to measure.
    pub fn says_what(&self) -> bool {
        self.config.is_some()
            || self.quick
            || self.repeats.is_some()
            || self.narrowing() != Narrowing::default()
    }

    /// What the command line leaves of a configuration.
    pub fn narrowing(&self) -> Narrowing {
        Narrowing {
            backends: self.backends.clone(),
            implementations: self.implementations.clone(),
            variants: self.variants.clone(),
            batch: self.batch.iter().copied().map(Within).collect(),
            ring_size: self.ring_size.iter().copied().map(RingSize).collect(),
            frame_size: self.frame_size.iter().copied().map(Within).collect(),
        }
    }
}

fn ring_size(text: &str) -> Result<u32, String> {
    let number: i64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    RingSize::try_from(number).map(|size| size.0)
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

/// Arguments of `triptych compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// What to compare, as a file (see bench/README.md)
    #[arg(long, value_name = "FILE", default_value = "bench/compilers.toml")]
    pub config: PathBuf,
    /// Instead of the file's: gcc-12, clang-19, rustc-1.85, rustc-stable, a path, or `installed`
    /// for all that are here
    #[arg(long = "toolchain", value_name = "COMPILER", value_delimiter = ',')]
    pub toolchains: Vec<String>,
    /// Optimisation levels; without this, the usual one: 2 for C and 3 for Rust
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = one_of::<Level>())]
    pub opt: Vec<Level>,
    /// Processors, as the compilers name them; without this, that of the Makefile
    #[arg(long, value_name = "CPU", value_delimiter = ',', value_parser = processor)]
    pub target_cpu: Vec<String>,
    /// Without optimisation over the whole program
    #[arg(long)]
    pub no_lto: bool,
    /// Optimised by a profile that each driver makes of itself, forwarding for a moment
    #[arg(long)]
    pub pgo: bool,
    /// Drivers; without this, all
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = one_of::<Implementation>())]
    pub implementations: Vec<Implementation>,
    /// Packets asked for per receive call; without this, what the file says, or 32
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=512))]
    pub batch: Vec<u32>,
    /// Only say what would be built, and which compilers are not here
    #[arg(long)]
    pub list: bool,
    /// Folder that gets a folder per comparison
    #[arg(long, value_name = "DIR", default_value = "results/compilers")]
    pub results: PathBuf,
    /// Folder to build in, with the software NIC in bin/
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

/// Arguments of `triptych ladder`.
#[derive(Debug, Args)]
pub struct LadderArguments {
    /// Only see whether every step can be made and compiles, and whether the shipped driver, built as
    /// a step, needs as many instructions as itself
    #[arg(long, conflicts_with = "quick")]
    pub check: bool,
    /// Only build
    #[arg(long, conflicts_with_all = ["quick", "check"])]
    pub build: bool,
    /// Only see whether everything works: short runs, rough figures
    #[arg(long)]
    pub quick: bool,
    /// Folder with the list of the steps and their patches
    #[arg(long, value_name = "DIR", default_value = "bench/ladder")]
    pub ladder: PathBuf,
    /// Folder that gets a folder per run
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Folder that the drivers were built in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

/// Arguments of `triptych asm`.
#[derive(Debug, Args)]
pub struct AsmArguments {
    /// Driver
    #[arg(value_name = "IMPL", value_parser = one_of::<Implementation>())]
    pub implementation: Implementation,
    /// Compiler, as for `compare`; without this, gcc or rustc
    #[arg(long, value_name = "COMPILER")]
    pub toolchain: Option<String>,
    /// Optimisation level; the usual one is 2 for C and 3 for Rust
    #[arg(long, value_name = "LEVEL", default_value = "usual", value_parser = one_of::<Level>())]
    pub opt: Level,
    /// Only this function, or those into which it was inlined; without this, all three
    #[arg(long, value_name = "NAME", value_parser = crate::asm::DATA_PATH)]
    pub function: Option<String>,
    /// Builds nothing and shows this program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["toolchain", "opt"])]
    pub program: Option<PathBuf>,
    /// Folder to build in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

/// Takes the names of an enumeration's values, and says which there are if it is given another.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = strum::ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse())
}

fn processor(text: &str) -> Result<String, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !text.is_empty() && text.chars().all(word) {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?} is no name of a processor")),
    }
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
