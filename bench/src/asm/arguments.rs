//! The command line of `triptych asm`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::machine_code::data_path::DATA_PATH;
use crate::toolchain::recipe::OptLevel;
use crate::usage::one_of;

/// Arguments of `triptych asm`.
#[derive(Debug, Args)]
pub struct AsmArguments {
    /// The driver
    #[arg(value_name = "IMPL", value_parser = one_of::<Implementation>())]
    pub implementation: Implementation,
    /// The compiler, such as gcc-12, clang-19 or rustc-1.85 [default: gcc or rustc]
    #[arg(long, value_name = "COMPILER")]
    pub toolchain: Option<String>,
    /// The optimisation level; `default` is 2 for C and 3 for Rust
    #[arg(long, value_name = "LEVEL", default_value = "default", value_parser = one_of::<OptLevel>())]
    pub opt: OptLevel,
    /// Show one function, or the functions into which it was inlined [default: all three]
    #[arg(long, value_name = "NAME", value_parser = DATA_PATH)]
    pub function: Option<String>,
    /// Show this program, and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["toolchain", "opt"])]
    pub program: Option<PathBuf>,
    /// The build folder
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}
