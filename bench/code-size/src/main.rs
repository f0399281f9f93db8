//! `code-size`: counts the lines of code of the three drivers, and the unsafe ones among them. If `make peers` has
//! fetched the paper's own drivers, it counts these, too, at the commits that the paper counted.
//!
//! The exit status is 0 on success, 1 if a file cannot be read or parsed, and 2 for an error of usage.

mod count;
mod sources;
mod unsafety;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use record::{GitFacts, Implementation};
use serde::Serialize;

use count::SourceFile;
use sources::Sources;

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

#[derive(Debug, Serialize)]
struct Document {
    /// The git revision of the sources, followed by `with changes` if they differ from it.
    revision: String,
    /// The library that distinguishes code from comments.
    counted_by: &'static str,
    /// The commits of the paper's own drivers, if `make peers` has fetched them.
    upstream: BTreeMap<Implementation, String>,
    files: BTreeMap<Implementation, Vec<SourceFile>>,
    /// The lines of each part of the applications, and of what lies between them and each driver.
    applications: BTreeMap<String, usize>,
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
    let root = cli.root.as_path();
    let sources = Sources::read()?;
    let mut files = sources.drivers(root)?;
    let mut upstream = BTreeMap::new();
    for (driver, (commit, counted)) in sources.upstream(root)? {
        upstream.insert(driver, commit);
        files.insert(driver, counted);
    }
    let document = Document {
        revision: revision(root),
        counted_by: "tokei 15.0.0",
        upstream,
        files,
        applications: sources.applications(root)?,
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

fn revision(root: &Path) -> String {
    let git = GitFacts::of(root);
    let dirty = git.as_ref().is_some_and(|git| git.dirty);
    let revision = git.and_then(|git| git.revision);
    let revision = revision.unwrap_or_else(|| "no revision".into());
    revision + if dirty { " with changes" } else { "" }
}
