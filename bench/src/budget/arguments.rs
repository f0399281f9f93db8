//! The command line of `triptych budget`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `triptych budget`.
#[derive(Debug, Args)]
pub struct BudgetArguments {
    /// The recorded figures
    #[arg(long, value_name = "FILE", default_value = "bench/budget.toml")]
    pub config: PathBuf,
    /// Folder that the drivers were built in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}
