//! Writes the files that are generated from `registers.toml`, or lists the stale ones.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Parser;
use ixgbe_registers::outputs;

/// Writes the C header, the Rust constants, the software card's table and the reference
#[derive(Parser)]
#[command(name = "generate-registers", version)]
struct Arguments {
    /// Write nothing. If files are stale, list them and exit with status 1
    #[arg(long)]
    check: bool,
    /// Root of the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    root: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-registers: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = &arguments.root;
    let map = outputs::read_map(root).map_err(|error| match error {
        outputs::Error::File { .. } => {
            anyhow!("{error}; --root must name the root of the repository")
        }
        outputs::Error::Map(_) => error.into(),
    })?;
    let outputs = outputs::outputs(&map, &outputs::read_selection(root)?);
    if arguments.check {
        let stale = outputs::stale(root, &outputs)?;
        if !stale.is_empty() {
            bail!(
                "{} or the drivers' use of registers has changed; stale: {}; run `make registers`",
                outputs::SOURCE,
                stale.join(", ")
            );
        }
        println!("{} generated files are current", outputs.len());
    } else {
        for path in outputs::write(root, &outputs)? {
            println!("wrote {path}");
        }
    }
    Ok(())
}
