//! The command line of `triptych compare`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::build::toolchain::recipe::{OptLevel, DEFAULT_CPU};
use crate::usage::{compiled_driver, number, one_of, Batches, BuildDir, MachineName};

/// Arguments of `triptych compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The file that lists the builds and the settings; bench/README.md describes it
    #[arg(long, value_name = "FILE", default_value = "bench/compilers.toml")]
    pub config: PathBuf,
    /// Compare these compilers instead of those in the file: gcc-12, clang-19, rustc-1.85,
    /// rustc-stable, a path, or `installed` for all installed ones. LABEL=COMPILER gives a compiler
    /// a name for the tables, such as patched=/opt/gcc/bin/gcc
    #[arg(long = "toolchain", value_name = "COMPILER", value_delimiter = ',')]
    pub toolchains: Vec<String>,
    /// Compare every build with this: a compiler or a label of the list, another compiler, which is
    /// then built too, or the stored result of an earlier comparison, as a folder or JSON file
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// The increase that counts as worse [default: 1 for instructions, which are exact, and 2 for TSC
    /// cycles, which alignment changes]. In addition, it must exceed 0.2 instructions, and the 95 %
    /// intervals of TSC cycles must not touch
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub threshold: Option<f64>,
    /// Write the whole result to this file, too. It is always in compilers.json of the run's folder
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Optimisation levels; `default` is 2 for C and 3 for Rust
    #[arg(
        long,
        value_name = "LEVEL",
        requires = "toolchains",
        value_delimiter = ','
    )]
    #[arg(default_value = "default", value_parser = one_of::<OptLevel>())]
    pub opt: Vec<OptLevel>,
    /// Target processors, as the compilers name them; `default` is the Makefile's TARGET_CPU
    #[arg(
        long,
        value_name = "CPU",
        requires = "toolchains",
        value_delimiter = ','
    )]
    #[arg(default_value = DEFAULT_CPU, value_parser = processor)]
    pub target_cpu: Vec<String>,
    /// Build without link-time optimisation
    #[arg(long, requires = "toolchains")]
    pub no_lto: bool,
    /// Build with profile-guided optimisation; each driver records its own profile
    #[arg(long, requires = "toolchains")]
    pub pgo: bool,
    /// Drivers, also the paper's own, whose sources `make peers` takes [default: all of this project]
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = compiled_driver())]
    pub implementations: Vec<Implementation>,
    /// Batch sizes.
    #[command(flatten)]
    pub batch: Batches,
    /// Only list the builds and the missing compilers
    #[arg(long)]
    pub list: bool,
    /// Fail if a compiler is missing, before anything is built
    #[arg(long)]
    pub strict: bool,
    /// Compare the commits of this range that change a driver, built by the default compilers or
    /// those of --toolchain: HEAD~20..HEAD
    #[arg(long, value_name = "A..B", conflicts_with_all = ["baseline", "threshold", "json", "list"])]
    pub commits: Option<String>,
    /// Measure each N-th of these commits, and those between where a step is dearer
    #[arg(long, value_name = "N", default_value_t = 1, requires = "commits", value_parser = number::<u32>(1..=10_000))]
    pub every: u32,
    /// Measure TSC cycles of the commits, too
    #[arg(long, requires = "commits")]
    pub timed: bool,
    /// Measure commits whose cycles are dearer a second time; only then they count
    #[arg(long, requires = "timed")]
    pub again: bool,
    /// The folder that receives a folder for each comparison [default: results/compilers; with
    /// --commits: results]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub machine: MachineName,
    /// The folder with everything built.
    #[command(flatten)]
    pub build_dir: BuildDir,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(number) if (0.0..=1000.0).contains(&number) => Ok(number),
        _ => Err(format!("{text:?} is not a percentage from 0 to 1000")),
    }
}

pub(super) fn processor(text: &str) -> Result<String, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !text.is_empty() && text.chars().all(word) {
        Ok(text.to_owned())
    } else {
        Err(format!("{text:?} is not the name of a processor"))
    }
}
