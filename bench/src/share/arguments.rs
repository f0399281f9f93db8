//! The command lines of `triptych merge` and `triptych anonymise`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `triptych merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The folders of complete runs, such as results/2026-01-02T03-04-05Z
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// The folder to create
    #[arg(long, value_name = "DIR")]
    pub into: PathBuf,
}

/// Arguments of `triptych anonymise`.
#[derive(Debug, Args)]
pub struct AnonymiseArguments {
    /// The folder of a run, or of merged runs
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// The folder to create
    #[arg(long, value_name = "DIR")]
    pub into: PathBuf,
    /// Replace PCI addresses, too
    #[arg(long)]
    pub pci: bool,
    /// Another name to replace, such as a project's
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub name: Vec<String>,
}
