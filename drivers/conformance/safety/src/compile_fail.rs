//! Mistakes that do not compile in safe Rust: the lab asks the compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};

use crate::builds::{add_externs, Externs};
use crate::evidence::{CompilerError, Evidence};
use crate::paths::root;

/// The source file with a hazard's mistake, if that mistake should not compile.
pub fn source(hazard: &str) -> Option<PathBuf> {
    let name = hazard.strip_prefix("app-")?.replace('-', "_");
    let path = root().join(format!("rust/tests/compile_fail/{name}.rs"));
    path.is_file().then_some(path)
}

/// Compiles such a source file and returns the compiler's error as evidence.
///
/// # Errors
/// If the file compiles, or the compiler does not run.
pub fn run(source: &Path, externs: &Externs) -> Result<Evidence> {
    let scratch = tempfile::tempdir()?;
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .args(["--edition=2021", "--crate-type=lib", "--crate-name=case"])
        .args(["--emit=metadata", "--error-format=short"])
        .arg("--out-dir")
        .arg(scratch.path())
        .arg(source);
    let mut driver = externs.clone();
    driver.retain(|name, _| name == "ixgbe");
    add_externs(&mut command, &driver, None);
    let output = command.output().context("rustc")?;
    ensure!(
        !output.status.success(),
        "{} compiles, but must not",
        source.display()
    );
    let text = String::from_utf8_lossy(&output.stderr);
    let mut codes = Vec::new();
    let mut first_line = String::new();
    for line in text.lines() {
        let Some((_, message)) = line.split_once("error[") else {
            continue;
        };
        let Some((code, message)) = message.split_once("]: ") else {
            continue;
        };
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
        if first_line.is_empty() {
            first_line = message.to_owned();
        }
    }
    ensure!(!codes.is_empty(), "{}: {text}", source.display());
    Ok(Evidence {
        compiler_error: Some(CompilerError { codes, first_line }),
        ..Evidence::default()
    })
}
