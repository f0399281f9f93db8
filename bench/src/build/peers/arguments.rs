//! The command line of `triptych peers`.

use std::path::PathBuf;

use clap::Args;

use crate::usage::BuildDir;

/// Arguments of `triptych peers`.
#[derive(Debug, Args)]
pub struct PeersArguments {
    /// Take the sources from git bundles in this folder instead of their public repositories
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
    /// Print what there is and what is skipped, and build nothing
    #[arg(long, conflicts_with = "from")]
    pub list: bool,
    /// The file that names the sources, the programs and their flags
    #[arg(long, value_name = "FILE", default_value = "bench/peers.toml")]
    pub config: PathBuf,
    /// The folder with everything built.
    #[command(flatten)]
    pub build_dir: BuildDir,
}
