//! Child processes of a verdict: each has a time limit, and its end is a result and no error.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::process::{Process, ProcessError};
use perfcounters::Interrupt;

use super::message;

/// How a child ended, and what it wrote.
#[derive(Debug)]
pub struct Ended {
    /// `None` if the child succeeded, otherwise how it ended, in words.
    pub failure: Option<String>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ended {
    /// Both outputs, the errors first.
    pub fn output(&self) -> String {
        format!("{}\n{}", self.stderr, self.stdout)
    }
}

/// Runs `command` until it ends or `limit` is over. Its outputs go to files in `logs`.
///
/// # Errors
/// If the child cannot be started, or the user asks to stop.
pub fn run(
    name: &str,
    command: Command,
    logs: &Path,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Ended> {
    let out = logs.join(format!("{name}.stdout"));
    let file = File::create(&out).with_context(|| format!("cannot write {}", out.display()))?;
    let mut process = Process::start(name, command, None, logs, Stdio::from(file))?;
    let failure = match process.wait(limit, interrupt) {
        Ok(()) => None,
        Err(ProcessError::Failed { status, .. }) => Some(message::end_of(status)),
        Err(ProcessError::Timeout { seconds, .. }) => {
            Some(format!("did not end within {seconds:.0} s (hang)"))
        }
        Err(error) => return Err(error.into()),
    };
    let text = |path: &Path| -> Result<String> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ended {
        failure,
        stdout: text(&out)?,
        stderr: text(&logs.join(format!("{name}.stderr")))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run("child", command, folder.path(), limit, &Interrupt::new()).unwrap()
    }

    #[test]
    fn every_end_is_a_result() {
        let long = Duration::from_secs(20);
        let good = shell("echo out; echo err >&2", long);
        assert_eq!(good.failure, None);
        assert_eq!(good.output(), "err\n\nout\n");
        let crash = shell("kill -SEGV $$", long).failure.unwrap();
        assert_eq!(crash, "segmentation fault (SIGSEGV)");
        let hang = shell("sleep 1000", Duration::from_millis(50));
        assert!(hang.failure.unwrap().contains("hang"));
    }
}
