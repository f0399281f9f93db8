//! The command line of `triptych compare`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::toolchain::recipe::Level;
use crate::usage::one_of;

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

fn processor(text: &str) -> Result<String, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !text.is_empty() && text.chars().all(word) {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?} is no name of a processor")),
    }
}
