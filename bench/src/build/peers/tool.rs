//! Runs git and compilers, each with a time limit.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::process::Process;
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;

/// Variables of the environment that would change the flags of a build, or what git does.
const FOREIGN: [&str; 11] = [
    "MAKEFLAGS",
    "MAKELEVEL",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
];

fn is_foreign(name: &str) -> bool {
    FOREIGN.contains(&name) || name.starts_with("CARGO_PROFILE_")
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// The end of its standard error, or that it did not end within `limit` and was killed.
pub(crate) fn run(mut command: Command, limit: Duration, interrupt: &Interrupt) -> Result<String> {
    let set: Vec<_> = command.get_envs().map(|(key, _)| key.to_owned()).collect();
    for (variable, _) in std::env::vars_os() {
        // The caller may have set it on purpose.
        if is_foreign(&variable.to_string_lossy()) && !set.contains(&variable) {
            command.env_remove(variable);
        }
    }
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    let logs = TemporaryFolder::create()?;
    let out = logs.path().join("stdout");
    let file = File::create(&out).with_context(|| format!("cannot write {}", out.display()))?;
    Process::start(&name, command, None, logs.path(), Stdio::from(file))?.wait(limit, interrupt)?;
    let bytes = fs::read(&out).with_context(|| format!("cannot read {}", out.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
