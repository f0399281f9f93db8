//! The command line of `triptych budget`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `triptych budget`.
#[derive(Debug, Args)]
pub struct BudgetArguments {
    /// The file with the recorded figures
    #[arg(long, value_name = "FILE", default_value = "bench/budget.toml")]
    pub config: PathBuf,
    /// The folder with the built drivers
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}
