//! Writes the drivers' headers from the register map, or lists the stale ones; or writes the
//! reference for readers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, Context};
use clap::Parser;
use ixgbe_registers::emit::markdown;
use ixgbe_registers::map::RegisterMap;
use ixgbe_registers::outputs::{outputs, stale, SOURCE};
use ixgbe_registers::usage::Selection;

/// Writes the drivers' headers from the register map
#[derive(Parser)]
#[command(name = "generate-registers", version)]
struct Arguments {
    /// Write nothing. If files are stale, list them and exit with status 1
    #[arg(long)]
    check: bool,
    /// Write the reference for readers instead
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
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
    let map = RegisterMap::of_the_82599().context(SOURCE)?;
    if let Some(page) = &arguments.page {
        if let Some(folder) = page.parent() {
            std::fs::create_dir_all(folder)?;
        }
        return std::fs::write(page, markdown::reference(&map))
            .with_context(|| format!("cannot write {}", page.display()));
    }
    let root = &arguments.root;
    let selection =
        Selection::of_drivers(root).context("--root must name the root of the repository")?;
    let outputs = outputs(&map, &selection);
    let stale = stale(root, &outputs)?;
    if arguments.check && !stale.is_empty() {
        let paths: Vec<&str> = stale.iter().map(|output| output.path).collect();
        bail!(
            "{SOURCE} or the drivers' use of registers has changed; stale: {}; run `make registers`",
            paths.join(", ")
        );
    }
    // Current files keep their time stamps, so that nothing is rebuilt for them.
    for output in stale {
        let path = root.join(output.path);
        std::fs::write(&path, &output.text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", output.path);
    }
    Ok(())
}
