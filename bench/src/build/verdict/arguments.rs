//! The command line of `triptych verdict`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::usage::{our_driver, BuildDir};

/// Arguments of `triptych verdict`.
#[derive(Debug, Args)]
pub struct VerdictArguments {
    /// Judge a copy of the tree with this patch, as `git diff` writes it
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
    /// Judge only this driver; may be given several times [default: all]
    #[arg(long = "driver", value_name = "NAME", value_parser = our_driver())]
    pub drivers: Vec<Implementation>,
    /// Run only the data path, the register traces and a few hazards: two minutes
    #[arg(long)]
    pub quick: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
    /// The folder with everything built.
    #[command(flatten)]
    pub build_dir: BuildDir,
}
