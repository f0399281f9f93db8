//! `oracle` writes the table of the registers that Linux and our drivers write.

use std::process::ExitCode;

use anyhow::{ensure, Result};
use clap::Parser;
use oracle::files;

/// Compares the registers that the three drivers write with those that Linux's ixgbe writes, and
/// writes the table `drivers/REGISTERS-COMPARED.md`.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only check that the table is current.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oracle: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let table = oracle::current_table()?;
    if !options.check {
        return files::write(files::TABLE, &table);
    }
    ensure!(
        files::read(files::TABLE)? == table,
        "{} is out of date: run `{}`",
        files::TABLE,
        files::WRITE_TABLE
    );
    Ok(())
}
