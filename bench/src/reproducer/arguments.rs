//! The options of `triptych compare` that write a reproducer.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::build::sides::spec::SideSpec;
use crate::code::machine_code::data_path::DATA_PATH;
use crate::usage::our_driver;

/// What to reproduce, and where to write it.
#[derive(Debug, Args)]
pub struct ReproducerArguments {
    /// Instead of comparing, write a folder for a compiler's bug tracker that shows how the code of two
    /// sides differs; see below
    #[arg(
        long = "reproducer",
        num_args = 2,
        value_names = ["A", "B"],
        allow_hyphen_values = true,
        requires = "output",
        conflicts_with_all = ["toolchains", "opt", "target_cpu", "no_lto", "pgo", "implementations", "batch", "list"]
    )]
    pub sides: Option<Vec<SideSpec>>,
    /// The driver of the sides of --reproducer that name none
    #[arg(long, value_name = "IMPL", requires = "sides", value_parser = our_driver())]
    pub driver: Option<Implementation>,
    /// The function that --reproducer shows [default: all three of the data path]
    #[arg(long, value_name = "NAME", requires = "sides", value_parser = DATA_PATH)]
    pub function: Option<String>,
    /// The new folder that --reproducer writes
    #[arg(long, value_name = "DIR", requires = "sides")]
    pub output: Option<PathBuf>,
}
