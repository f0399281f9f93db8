//! `code-size`: counts the lines of code of the three drivers, and the unsafe ones among them. If `make peers` has
//! fetched the paper's own drivers, it counts these, too, at the commits that the paper counted.
//!
//! The exit status is 0 on success, 1 if a file cannot be read or parsed, and 2 for an error of usage.

mod applications;
mod count;
mod unsafety;
mod upstream;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use record::{GitFacts, Implementation};
use serde::Serialize;

use count::SourceFile;

/// Count the lines of code of the three drivers, and write the result as JSON
#[derive(Debug, Parser)]
#[command(name = "code-size", version)]
struct Cli {
    /// The top folder of the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The result.
#[derive(Debug, Serialize)]
struct Document {
    /// The git revision of the sources, followed by `with changes` if they differ from it.
    revision: String,
    /// The library that distinguishes code from comments.
    counted_by: &'static str,
    /// The commits of the paper's own drivers, if `make peers` has fetched them.
    upstream: BTreeMap<Implementation, String>,
    /// The files of each implementation.
    files: BTreeMap<Implementation, Vec<SourceFile>>,
    /// The lines of each part of the applications, and of what lies between them and each driver.
    applications: BTreeMap<&'static str, usize>,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("code-size: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    let mut files = BTreeMap::new();
    for sources in count::SOURCES {
        files.insert(sources.implementation, count::count(&cli.root, sources)?);
    }
    let mut commits = BTreeMap::new();
    for driver in upstream::UPSTREAM {
        if let Some(counted) = upstream::count(&cli.root, driver)? {
            commits.insert(driver.implementation, counted.commit);
            files.insert(driver.implementation, counted.files);
        }
    }
    let document = Document {
        revision: revision(cli),
        counted_by: "tokei 15.0.0",
        upstream: commits,
        files,
        applications: applications::count(&cli.root)?,
    };
    let text = serde_json::to_string_pretty(&document)? + "\n";
    match &cli.output {
        None => print!("{text}"),
        Some(path) => {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

fn revision(cli: &Cli) -> String {
    let Some(git) = GitFacts::of(&cli.root) else {
        return "no revision".into();
    };
    let revision = git.revision.unwrap_or_else(|| "no revision".into());
    if git.dirty {
        return format!("{revision} with changes");
    }
    revision
}
