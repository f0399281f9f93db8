//! Runs make, cargo, compilers and git: every wait has a limit, and what they wrote is kept.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;
use perfcounters::process::{is_executable, Process, ProcessError};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;

/// Variables of the environment that would change the flags of a build, or what git does.
const FOREIGN: [&str; 12] = [
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
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

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) result: Result<(), ProcessError>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn both(&self) -> String {
        format!("{}\n{}", self.stderr, self.stdout)
    }
}

pub(crate) fn run(mut command: Command, limit: Duration, interrupt: &Interrupt) -> Result<Ended> {
    let set: Vec<OsString> = command.get_envs().map(|(key, _)| key.to_owned()).collect();
    for (variable, _) in std::env::vars_os() {
        // The caller may have set it on purpose.
        if is_foreign(&variable.to_string_lossy()) && !set.contains(&variable) {
            command.env_remove(variable);
        }
    }
    // Without this, rustup would download missing toolchains.
    command.env("RUSTUP_AUTO_INSTALL", "0");
    let program = Path::new(command.get_program()).file_name();
    let name = program.unwrap_or_default().to_string_lossy().into_owned();
    let logs = TemporaryFolder::create()?;
    let out = logs.path().join("stdout");
    let file = File::create(&out)?;
    let mut process = Process::start(&name, command, None, logs.path(), Stdio::from(file))?;
    let result = match process.wait(limit, interrupt) {
        Err(error @ (ProcessError::Interrupted | ProcessError::System { .. })) => {
            return Err(error.into())
        }
        result => result,
    };
    let text = |path: &Path| -> Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
    };
    Ok(Ended {
        result,
        stdout: text(&out)?,
        stderr: text(&logs.path().join(format!("{name}.stderr")))?,
    })
}

/// The cargo that runs this program, or that of the search path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command that must not fail. Returns its standard output.
pub(crate) fn output(command: Command, limit: Duration, interrupt: &Interrupt) -> Result<String> {
    let ended = run(command, limit, interrupt)?;
    ended.result?;
    Ok(ended.stdout)
}

/// The C2Rust that generates `rust-unsafe/`; `None` if it is not installed.
pub(crate) fn c2rust(project: &Path, interrupt: &Interrupt) -> Result<Option<PathBuf>> {
    let mut command = Command::new(project.join("bench/setup/c2rust.sh"));
    command.arg("--path");
    let path = output(command, Duration::from_secs(20), interrupt)?;
    let path = PathBuf::from(path.trim());
    Ok(is_executable(&path).then_some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_and_the_reason_of_a_failure_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo reason >&2; exit 3"]);
        let ended = run(command, Duration::from_secs(20), &Interrupt::new()).unwrap();
        assert_eq!((&*ended.stdout, &*ended.stderr), ("out\n", "reason\n"));
        let error = ended.result.unwrap_err().to_string();
        assert!(error.contains("exit status: 3: reason"), "{error}");
        assert!(is_foreign("CARGO_PROFILE_RELEASE_LTO") && !is_foreign("RUSTUP_TOOLCHAIN"));
    }
}
