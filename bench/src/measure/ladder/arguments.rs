//! The command line of `triptych ladder`.

use std::path::PathBuf;

use clap::Args;

use crate::usage::{BuildDir, ResultsDir};

/// Arguments of `triptych ladder`.
#[derive(Debug, Args)]
pub struct LadderArguments {
    /// Only check that every patch applies, that every rung compiles, and that the shipped driver
    /// needs as many instructions when it is built as a rung
    #[arg(long, conflicts_with = "quick")]
    pub check: bool,
    /// Only build the rungs
    #[arg(long, conflicts_with_all = ["quick", "check"])]
    pub build: bool,
    /// Only check that everything works: short runs, rough figures
    #[arg(long)]
    pub quick: bool,
    /// The ladder from the default path to the tuned one instead, in all three languages
    #[arg(long)]
    pub limit: bool,
    /// The folder with rungs.toml and the patches
    #[arg(long, value_name = "DIR", default_value = "bench/ladder")]
    pub ladder: PathBuf,
    /// The folder of runs.
    #[command(flatten)]
    pub results: ResultsDir,
    /// The folder with everything built.
    #[command(flatten)]
    pub build_dir: BuildDir,
}
