//! The command line of `triptych asm`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::machine_code::data_path::DATA_PATH;
use crate::toolchain::recipe::Level;
use crate::usage::one_of;

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
    #[arg(long, value_name = "NAME", value_parser = DATA_PATH)]
    pub function: Option<String>,
    /// Builds nothing and shows this program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["toolchain", "opt"])]
    pub program: Option<PathBuf>,
    /// Folder to build in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}
