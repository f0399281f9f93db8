//! `triptych track`: the history over commits, which the Python package of `paper/` reads.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::usage::{Outcome, UsageError};

#[derive(Debug, Args)]
pub struct TrackArguments {
    /// Folders of results, of one machine or several [default: results]
    pub results: Vec<PathBuf>,
    /// Only show what changed after this commit
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Also write files that other programs read
    #[arg(long, value_name = "FORMAT", value_parser = ["asv", "github", "bencher"])]
    pub export: Vec<String>,
    /// The folder that receives the page, the plots and the tables
    #[arg(short, long, value_name = "DIR", default_value = "build/track")]
    pub output: PathBuf,
    /// The Python interpreter of `make setup`
    #[arg(long, value_name = "FILE", default_value = "build/venv/bin/python")]
    pub python: PathBuf,
}

/// Becomes the program that tracks, which ends with 3 if a commit is dearer.
pub fn run(arguments: &TrackArguments) -> Result<Outcome> {
    if !arguments.python.is_file() {
        let python = arguments.python.display();
        let why = format!("there is no {python}: run `make setup`, in the folder of the project");
        return Err(UsageError(why).into());
    }
    let mut command = Command::new(&arguments.python);
    command
        .env("PYTHONPATH", "paper")
        .args(["-m", "triptych_paper.track"]);
    command.arg("--output").arg(&arguments.output);
    let option = |name: &str, value: &String| OsString::from(format!("--{name}={value}"));
    command.args(
        arguments
            .since
            .iter()
            .map(|revision| option("since", revision)),
    );
    command.args(
        arguments
            .export
            .iter()
            .map(|format| option("export", format)),
    );
    command.arg("--").args(&arguments.results);
    Err(command.exec()).with_context(|| format!("cannot start {}", arguments.python.display()))
}
