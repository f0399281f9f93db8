//! Fixes the clock for the life of a run. A process of its own holds the clock and restores the earlier
//! settings when its input ends: after the run, and also if the run is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use perfcounters::Interrupt;

use super::cpufreq::ClockError;
use super::note::Clocks;

/// The line that the holder prints when the clock is fixed.
const READY: &str = "fixed";
/// Longest time to fix the clock or to restore the settings.
const CHANGE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// Why no clock could be held.
#[derive(Debug, thiserror::Error)]
pub enum HolderError {
    /// The holder could not be started.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The clock could not be fixed.
    #[error("cannot fix the clock at {ghz} GHz: {why}{}", advice(why))]
    Fix {
        /// The wanted clock, GHz.
        ghz: f64,
        /// What the holder said.
        why: String,
    },
    /// The earlier settings could not be restored.
    #[error("the clocks were not restored: {why}; `sudo {program} clocks restore` does it")]
    Restore {
        /// The program.
        program: String,
        /// What the holder said.
        why: String,
    },
}

/// The advice for a user who is not root.
fn advice(why: &str) -> &'static str {
    match why.contains("sudo:") {
        true => {
            "; clocks need root: run `sudo -v` first, run this command as root, or measure with \
             --keep-clock"
        }
        false => "",
    }
}

/// A clock that is fixed until this is dropped.
#[derive(Debug)]
pub struct HeldClock {
    child: Child,
    stdin: Option<ChildStdin>,
    program: String,
}

impl HeldClock {
    /// Fixes the clock of all CPUs. `root` is `/` except in tests.
    ///
    /// # Errors
    /// [`HolderError::Start`], [`HolderError::Fix`].
    pub fn hold(ghz: f64, root: &Path) -> Result<Self, HolderError> {
        let command = holder_command(ghz, root);
        Self::start(command, ghz)
    }

    fn start((program, mut command): (String, Command), ghz: f64) -> Result<Self, HolderError> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C must reach only this process. The holder ends after the measurement has ended.
            .process_group(0)
            .spawn()
            .map_err(|cause| HolderError::Start {
                program: program.clone(),
                cause,
            })?;
        let stdin = child.stdin.take();
        let (sender, receiver) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut line = String::new();
                let _ = BufReader::new(stdout).read_line(&mut line);
                let _ = sender.send(line);
            });
        }
        let answer = receiver.recv_timeout(CHANGE);
        let mut held = Self {
            child,
            stdin,
            program,
        };
        match answer {
            Ok(line) if line.trim() == READY => Ok(held),
            _ => Err(HolderError::Fix {
                ghz,
                why: held
                    .end()
                    .err()
                    .unwrap_or_else(|| format!("no answer within {} s", CHANGE.as_secs())),
            }),
        }
    }

    /// Restores the earlier settings.
    ///
    /// # Errors
    /// [`HolderError::Restore`].
    pub fn release(mut self) -> Result<(), HolderError> {
        self.end().map_err(|why| HolderError::Restore {
            program: self.program.clone(),
            why,
        })
    }

    /// Ends the holder, and returns what it said if it failed.
    fn end(&mut self) -> Result<(), String> {
        // The holder restores the settings at the end of its input.
        if self.stdin.take().is_none() {
            return Ok(());
        }
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if start.elapsed() < CHANGE => thread::sleep(POLL),
                Ok(None) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(format!("not finished after {} s", CHANGE.as_secs()));
                }
                Err(error) => return Err(error.to_string()),
            }
        };
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.take(4000).read_to_string(&mut said);
        }
        Err(match said.trim() {
            "" => status.to_string(),
            text => text.trim_start_matches("triptych: ").to_owned(),
        })
    }
}

impl Drop for HeldClock {
    fn drop(&mut self) {
        if let Err(why) = self.end() {
            eprintln!("warning: the clocks were not restored: {why}");
        }
    }
}

/// This program as the holder, through sudo if the user is not root.
fn holder_command(ghz: f64, root: &Path) -> (String, Command) {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("triptych"));
    let name = program.display().to_string();
    let mut command = match needs_sudo(root) {
        true => {
            let mut sudo = Command::new("sudo");
            sudo.arg("-n").arg(&program);
            sudo
        }
        false => Command::new(&program),
    };
    command.args(["clocks", "hold", &ghz.to_string()]);
    if root != Path::new("/") {
        command.arg("--root").arg(root);
    }
    (name, command)
}

/// Whether clocks below this root need sudo. A simulated machine does not.
pub fn needs_sudo(root: &Path) -> bool {
    root == Path::new("/") && !rustix::process::geteuid().is_root()
}

/// Fixes the clock, says so on standard output, and restores the settings when standard input ends or a
/// signal arrives. [`HeldClock`] runs this as a process.
///
/// # Errors
/// [`ClockError`].
pub fn run(ghz: f64, root: &Path, interrupt: &Interrupt) -> Result<(), ClockError> {
    let clocks = Clocks::take(root)?;
    clocks.fix(ghz)?;
    println!("{READY}");
    // A reader that has gone is noticed at the end of the input.
    let _ = std::io::stdout().flush();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut buffer = [0; 64];
        while matches!(stdin.read(&mut buffer), Ok(count) if count > 0) {}
        let _ = sender.send(());
    });
    while !interrupt.is_set() {
        if receiver.recv_timeout(POLL) != Err(mpsc::RecvTimeoutError::Timeout) {
            break;
        }
    }
    clocks.restore()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (String, Command) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ("triptych".to_owned(), command)
    }

    #[test]
    fn the_holder_ends_with_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("restored");
        let script = format!("echo fixed; cat; echo yes > {}", file.display());
        let held = HeldClock::start(shell(&script), 1.6).unwrap();
        assert!(!file.exists());
        held.release().unwrap();
        assert!(file.exists());
        let _ = std::fs::remove_file(&file);
        drop(HeldClock::start(shell(&script), 1.6).unwrap());
        assert!(file.exists());
    }

    #[test]
    fn a_holder_that_fails_is_quoted_with_the_way_out() {
        let error = HeldClock::start(shell("echo sudo: a password is required >&2; exit 1"), 1.6)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("1.6 GHz") && error.contains("sudo -v"),
            "{error}"
        );
        let held = HeldClock::start(shell("echo fixed; cat; echo busy >&2; exit 1"), 1.6).unwrap();
        let error = held.release().unwrap_err().to_string();
        assert!(
            error.contains("busy") && error.contains("triptych clocks restore"),
            "{error}"
        );
    }
}
