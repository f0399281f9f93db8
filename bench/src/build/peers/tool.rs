//! Runs git and compilers, each with a time limit.

use std::ffi::{OsStr, OsString};
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

fn is_foreign(variable: &OsStr) -> bool {
    let name = variable.to_string_lossy();
    FOREIGN.contains(&name.as_ref()) || name.starts_with("CARGO_PROFILE_")
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// The end of its standard error, or that it did not end within `limit` and was killed.
pub fn run(
    name: &str,
    mut command: Command,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<String> {
    let set: Vec<OsString> = command.get_envs().map(|(key, _)| key.to_owned()).collect();
    for (variable, _) in std::env::vars_os() {
        // The caller may have set it on purpose.
        if is_foreign(&variable) && !set.contains(&variable) {
            command.env_remove(variable);
        }
    }
    let logs = TemporaryFolder::create()?;
    let out = logs.path().join("stdout");
    let file = File::create(&out).with_context(|| format!("cannot write {}", out.display()))?;
    Process::start(name, command, None, logs.path(), Stdio::from(file))?.wait(limit, interrupt)?;
    let bytes = fs::read(&out).with_context(|| format!("cannot read {}", out.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run("tool", command, limit, &Interrupt::new())
    }

    #[test]
    fn the_output_is_returned_and_a_failure_quotes_the_errors() {
        let long = Duration::from_secs(20);
        assert_eq!(shell("echo out; echo err >&2", long).unwrap(), "out\n");
        let error = shell("echo reason >&2; exit 3", long)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("exit status: 3") && error.contains("reason"),
            "{error}"
        );
    }

    #[test]
    fn variables_that_change_flags_are_kept_away() {
        for name in [
            "RUSTFLAGS",
            "MAKEFLAGS",
            "GIT_DIR",
            "CARGO_PROFILE_RELEASE_LTO",
        ] {
            assert!(is_foreign(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_TOOLCHAIN",
            "https_proxy",
        ] {
            assert!(!is_foreign(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_tool_that_hangs_is_stopped() {
        let error = shell("sleep 1000", Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
    }
}
