//! Mistakes that do not compile in safe Rust: the lab asks the compiler.
//!
//! `rust/tests/compile_fail/mistakes.rs` has each mistake with a `--cfg` of its own only. The lab first compiles
//! its twin, which is the same file without any, and runs it against the software card. Otherwise the
//! compiler might refuse both, for another reason than the mistake.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use nic::{Nic, NicConfig};
use serde_json::Value;

use crate::builds::{add_externs, Externs};
use crate::evidence::{CompilerError, Evidence};
use crate::paths::root;

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
/// compiler's error as evidence.
///
/// # Errors
/// If the twin does not compile or fails, if the file compiles, or if the compiler does not run.
pub fn run(source: &Path, mistake: &str, externs: &Externs) -> Result<Evidence> {
    run_twin(source, externs)?;
    let scratch = tempfile::tempdir()?;
    let output = compile(source, &scratch.path().join("case"), externs, Some(mistake))?;
    ensure!(
        !output.status.success(),
        "{} compiles with {mistake}, but must not",
        source.display()
    );
    let error = first_error(&output).with_context(|| source.display().to_string())?;
    Ok(Evidence {
        compiler_error: Some(error),
        ..Evidence::default()
    })
}

/// Compiles the twin of a source file and runs it with a port of the software card.
///
/// # Errors
/// If it does not compile, fails, or takes too long.
pub fn run_twin(source: &Path, externs: &Externs) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let program = scratch.path().join("twin");
    let output = compile(source, &program, externs, None)?;
    if !output.status.success() {
        let error = first_error(&output)?;
        bail!(
            "{} must compile without the mistake: {}",
            source.display(),
            error.first_line
        );
    }
    let nic = Nic::new(NicConfig::new(scratch.path(), 2))?;
    let data_plane = nic.run_data_plane()?;
    let device = nic.ports().first().context("the card has no port")?;
    let errors = tempfile::NamedTempFile::new()?;
    let mut child = Command::new(&program)
        .arg(device.device_name())
        .stdin(Stdio::null())
        .stderr(errors.reopen()?)
        .spawn()
        .with_context(|| program.display().to_string())?;
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            bail!("{} ran longer than {LIMIT:?}", source.display());
        }
        sleep(Duration::from_millis(2));
    };
    drop(data_plane);
    ensure!(
        status.success(),
        "{} compiles without the mistake, but ends with {status}: {}",
        source.display(),
        std::fs::read_to_string(errors.path())?
    );
    Ok(())
}

fn compile(
    source: &Path,
    program: &Path,
    externs: &Externs,
    mistake: Option<&str>,
) -> Result<Output> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .args(["--edition=2021", "--crate-type=bin", "--crate-name=case"])
        .args(["--error-format=json", "-Cdebuginfo=0"])
        .arg("-o")
        .arg(program)
        .arg(source);
    command.args(mistake.map(|mistake| format!("--cfg={mistake}")));
    let mut driver = externs.clone();
    driver.retain(|name, _| name == "ixgbe");
    add_externs(&mut command, &driver, None);
    command.output().context("rustc")
}

/// The compiler's errors as one: all codes, and the message of the first.
fn first_error(output: &Output) -> Result<CompilerError> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut found = CompilerError {
        codes: Vec::new(),
        first_line: String::new(),
    };
    for line in text.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if message["level"] != "error" {
            continue;
        }
        if let Some(code) = message["code"]["code"].as_str() {
            if !found.codes.iter().any(|known| known == code) {
                found.codes.push(code.to_owned());
            }
        }
        if found.first_line.is_empty() {
            let line = message["message"].as_str().unwrap_or_default();
            found.first_line = line.to_owned();
        }
    }
    ensure!(
        !found.first_line.is_empty(),
        "the compiler gave no error: {text}"
    );
    Ok(found)
}
