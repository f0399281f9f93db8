//! The command line of `triptych ladder`.

use std::path::PathBuf;

use clap::Args;

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
