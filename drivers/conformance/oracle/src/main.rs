//! `oracle` records what our drivers write, and writes the comparison with Linux as a page.

use std::process::ExitCode;

use anyhow::{Context, Result};
use oracle::recorded::repository;
use oracle::{ours, page, Recorded};

const PAGE: &str = "build/docs/registers-compared.md";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oracle: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let recorded = Recorded::read()?;
    let now = recorded.with(&recorded.linux()?, &ours::take()?);
    if now != recorded {
        now.write()?;
    }
    let path = repository().join(PAGE);
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    std::fs::write(&path, page::markdown(&now)).with_context(|| path.display().to_string())?;
    now.check_reasons()
}
