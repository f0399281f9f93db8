//! The command line of `triptych asm`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::build::sides::show::entries::Context;
use crate::build::sides::spec::SideSpec;
use crate::build::toolchain::recipe::OptLevel;
use crate::code::machine_code::data_path::DATA_PATH;
use crate::usage::{one_of, our_driver, BuildDir};

/// Arguments of `triptych asm`.
#[derive(Debug, Args)]
pub struct AsmArguments {
    /// The driver
    #[arg(value_name = "IMPL", required_unless_present = "diff", value_parser = our_driver())]
    pub implementation: Option<Implementation>,
    /// The compiler, such as gcc-12, clang-19 or rustc-1.85 [default: gcc or rustc]
    #[arg(long, value_name = "COMPILER")]
    pub toolchain: Option<String>,
    /// The optimisation level; `default` is 2 for C and 3 for Rust
    #[arg(long, value_name = "LEVEL", default_value = "default", value_parser = one_of::<OptLevel>())]
    pub opt: OptLevel,
    /// Show one function, or the functions into which it was inlined [default: all three]
    #[arg(long, value_name = "NAME", value_parser = DATA_PATH)]
    pub function: Option<String>,
    /// Also show the code around an inlined function, such as the start of threads
    #[arg(long, conflicts_with = "diff")]
    pub all: bool,
    /// Show this program, and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["toolchain", "opt"])]
    pub program: Option<PathBuf>,
    /// Compare the machine code of two sides, regardless of addresses and registers; see below
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        allow_hyphen_values = true,
        conflicts_with_all = ["toolchain", "opt", "program"]
    )]
    pub diff: Option<Vec<SideSpec>>,
    /// How `--diff` shows a difference.
    #[command(flatten)]
    pub shown: ShownArguments,
    /// The folder with everything built.
    #[command(flatten)]
    pub build_dir: BuildDir,
}

/// How `triptych asm --diff` shows a difference.
#[derive(Debug, Args)]
pub struct ShownArguments {
    /// Show both sides of --diff in one column, as `diff --unified` does
    #[arg(long, requires = "diff", conflicts_with = "json")]
    pub unified: bool,
    /// Write the whole comparison of --diff as JSON
    #[arg(long, requires = "diff")]
    pub json: bool,
    /// Show this many lines around each difference, or `all`
    #[arg(long, requires = "diff", value_name = "LINES", default_value = "3")]
    pub context: Context,
    /// Count each other register and stack slot as a difference
    #[arg(long, requires = "diff")]
    pub exact_registers: bool,
    /// The width of the page in characters [default: the terminal's, or 160]
    #[arg(long, requires = "diff", value_name = "CHARACTERS")]
    pub width: Option<usize>,
}
