//! Mistakes that do not compile in safe Rust: the lab asks the compiler.
//!
//! `rust/tests/compile_fail/mistakes.rs` has each mistake with a `--cfg` of its own only. The lab first compiles
//! its twin, which is the same file without any, and runs it against the software card. Otherwise the
//! compiler might refuse both, for another reason than the mistake.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use harness::Program;
use nic::{Nic, NicConfig};

use crate::builds::{root, rustc, Externs};

/// Time limit for a twin, which only starts and stops a port.
const LIMIT: Duration = Duration::from_secs(30);

/// The program with all mistakes.
pub fn source() -> PathBuf {
    root().join("rust/tests/compile_fail/mistakes.rs")
}

/// The cfg of a hazard's mistake, if that mistake should not compile.
///
/// # Errors
/// If the program cannot be read.
pub fn mistake(hazard: &str) -> Result<Option<String>> {
    let text = std::fs::read_to_string(source())?;
    let name = hazard.trim_start_matches("app-").replace('-', "_");
    let mut lines = [format!("#[cfg({name})]"), format!("#[cfg(not({name}))]")].into_iter();
    Ok(lines.any(|line| text.contains(&line)).then_some(name))
}

/// Checks that the twin compiles and runs. Then compiles the source file with a mistake and returns the
/// compiler's first error.
///
/// # Errors
/// If the twin does not compile or fails, if the file compiles, or if the compiler does not run.
pub fn run(source: &Path, mistake: &str, externs: &Externs) -> Result<String> {
    let scratch = tempfile::tempdir()?;
    let name = source.display();
    let twin = scratch.path().join("twin");
    if let Err(error) = compile(source, &twin, externs, None)? {
        bail!("{name} must compile without the mistake: {error}");
    }
    let ran = run_twin(&twin);
    ran.with_context(|| format!("{name} compiles without the mistake, but fails"))?;
    match compile(source, &scratch.path().join("case"), externs, Some(mistake))? {
        Ok(()) => bail!("{name} compiles with {mistake}, but must not"),
        Err(error) => Ok(error),
    }
}

/// Runs a twin with a port of the software card.
fn run_twin(twin: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let nic = Nic::new(NicConfig::new(scratch.path(), 2))?;
    let _data_plane = nic.run_data_plane()?;
    let device = nic.ports().first().context("the card has no port")?;
    let program = Program::at(twin).arg(device.device_name());
    program.run_within(LIMIT)?.expect_exit(0).map(drop)
}

/// Compiles a source file. Returns the compiler's error if it refuses.
fn compile(
    source: &Path,
    program: &Path,
    externs: &Externs,
    mistake: Option<&str>,
) -> Result<Result<(), String>> {
    let mut driver = externs.clone();
    driver.retain(|name, _| name == "ixgbe");
    let output = rustc(&driver)
        .args(["--edition=2021", "--crate-type=bin", "--crate-name=case"])
        .arg("-Cdebuginfo=0")
        .args(mistake.map(|mistake| format!("--cfg={mistake}")))
        .arg("-o")
        .args([program, source])
        .output()
        .context("rustc")?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text.lines().find_map(|line| line.strip_prefix("error"));
    let error = error.with_context(|| format!("the compiler gave no error: {text}"))?;
    // `[E0382]: use of moved value`, or `: message` without a code.
    let words = error.trim_start_matches(['[', ':', ' ']);
    Ok(Err(words.replacen("]:", ":", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builds;

    #[test]
    fn a_mistake_whose_twin_fails_proves_nothing() {
        let externs = builds::externs(&["ixgbe"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("wrong.rs");
        let cases = [
            ("fn main() { absent() }", "must compile"),
            ("fn main() { std::process::exit(3) }", "exit status: 3"),
            ("fn main() { std::process::abort() }", "signal: 6"),
        ];
        for (twin, expected) in cases {
            let text =
                format!("#[cfg(mistake)] fn main() {{ absent() }} #[cfg(not(mistake))] {twin}");
            std::fs::write(&source, text).unwrap();
            let error = run(&source, "mistake", &externs).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
