//! Mistakes that safe Rust does not let a program make: the compiler is asked.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{ensure, Context, Result};

use crate::builds::{add_externs, Externs};
use crate::evidence::{Evidence, Refusal};
use crate::root;

/// The program with a hazard's mistake that should not compile, if that is what it comes to.
pub fn case(hazard: &str) -> Option<PathBuf> {
    let name = hazard.strip_prefix("app-")?.replace('-', "_");
    let path = root().join(format!("rust/tests/compile_fail/{name}.rs"));
    path.is_file().then_some(path)
}

/// Has a case compiled.
///
/// # Errors
/// If the compiler takes it, or does not work at all.
pub fn run(case: &PathBuf, externs: &Externs) -> Result<Evidence> {
    let scratch = tempfile::tempdir()?;
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .args(["--edition=2021", "--crate-type=lib", "--crate-name=case"])
        .args(["--emit=metadata", "--error-format=short"])
        .arg("--out-dir")
        .arg(scratch.path())
        .arg(case);
    let mut driver = externs.clone();
    driver.retain(|name, _| name == "ixgbe");
    add_externs(&mut command, &driver, None);
    let output = command.output().context("rustc")?;
    ensure!(
        !output.status.success(),
        "{} compiles: it must not",
        case.display()
    );
    let text = String::from_utf8_lossy(&output.stderr);
    let mut codes = Vec::new();
    let mut first_line = String::new();
    for line in text.lines() {
        let Some((_, message)) = line.split_once("error[") else {
            continue;
        };
        let Some((code, what)) = message.split_once("]: ") else {
            continue;
        };
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
        if first_line.is_empty() {
            first_line = what.to_owned();
        }
    }
    ensure!(!codes.is_empty(), "{}: {text}", case.display());
    Ok(Evidence {
        refusal: Some(Refusal { codes, first_line }),
        ..Evidence::default()
    })
}
