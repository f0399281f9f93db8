//! Child processes: they end with this process, and every wait has a time limit.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::interrupt::Interrupt;
use crate::sys;

/// Pause between two checks of a child.
const POLL: Duration = Duration::from_millis(5);
/// Most bytes of a failed child's standard error that an error quotes.
const TAIL: usize = 600;

/// A child process that failed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It ended with an error.
    #[error("{name} ended with {status}{stderr}")]
    Failed {
        /// Name of the child.
        name: String,
        /// Its exit status.
        status: ExitStatus,
        /// The end of what it wrote to standard error, after a colon.
        stderr: String,
    },
    /// It did not end or go on in time, and was killed.
    #[error("{name} {what} within {seconds:.1} s and was stopped{stderr}")]
    Timeout {
        /// Name of the child.
        name: String,
        /// What it did not do.
        what: &'static str,
        /// The time limit, seconds.
        seconds: f64,
        /// The end of what it wrote to standard error, after a colon.
        stderr: String,
    },
    /// The user asked to stop; the child was killed.
    #[error("interrupted")]
    Interrupted,
    /// The system does not start it, or does not return its status.
    #[error("cannot start or watch {}: {cause}", program.display())]
    System {
        /// The program, or the name of the child.
        program: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

/// A running child in its own process group; dropping it kills the whole group.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    stderr: PathBuf,
}

impl Process {
    /// Starts `command` on `cpu`, or on any CPU. Standard error goes to a file in `folder`, standard
    /// output to `stdout`.
    pub fn start(
        name: &str,
        command: Command,
        cpu: Option<usize>,
        folder: &Path,
        stdout: Stdio,
    ) -> Result<Self, ProcessError> {
        Self::start_with(name, command, cpu, folder, (Stdio::null(), stdout))
    }

    /// As [`Process::start`], with a standard input. Some programs end when their input ends.
    pub(crate) fn start_with(
        name: &str,
        mut command: Command,
        cpu: Option<usize>,
        folder: &Path,
        (stdin, stdout): (Stdio, Stdio),
    ) -> Result<Self, ProcessError> {
        let program = PathBuf::from(command.get_program());
        let fail = |cause| ProcessError::System {
            program: program.clone(),
            cause,
        };
        let stderr = folder.join(format!("{name}.stderr"));
        command
            .stdin(stdin)
            .stdout(stdout)
            .stderr(File::create(&stderr).map_err(fail)?);
        sys::prepare_child(&mut command, cpu);
        Ok(Self {
            name: name.to_owned(),
            child: command.spawn().map_err(fail)?,
            stderr,
        })
    }

    /// Waits until the child ends without an error. One that does not end is killed.
    pub fn wait(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<(), ProcessError> {
        match self.poll(limit, interrupt, "did not end", Self::status) {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failed(status)),
            Err(error) => {
                self.kill();
                Err(error)
            }
        }
    }

    /// Waits until `ready` returns true, while the child runs.
    /// Fails if the child ends, even without an error.
    pub fn wait_until(
        &mut self,
        limit: Duration,
        interrupt: &Interrupt,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), ProcessError> {
        self.poll(limit, interrupt, "was not ready", |child| match ready() {
            true => Ok(Some(())),
            false => child.check_running().map(|()| None),
        })
    }

    /// Looks at the child until there is something to return.
    fn poll<T>(
        &mut self,
        limit: Duration,
        interrupt: &Interrupt,
        what: &'static str,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>, ProcessError>,
    ) -> Result<T, ProcessError> {
        let start = Instant::now();
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            if interrupt.is_set() {
                return Err(ProcessError::Interrupted);
            }
            if start.elapsed() > limit {
                return Err(ProcessError::Timeout {
                    name: self.name.clone(),
                    what,
                    seconds: limit.as_secs_f64(),
                    stderr: self.last_words(),
                });
            }
            thread::sleep(POLL);
        }
    }

    /// Sends SIGTERM and waits; a child that does not end is killed. A launcher may report the signal in
    /// its exit code, as a shell does.
    pub fn stop(mut self, limit: Duration) -> Result<(), ProcessError> {
        self.check_running()?;
        self.signal(Signal::TERM);
        match self.wait(limit, &Interrupt::new()) {
            Err(ProcessError::Failed { status, .. })
                if status.signal() == Some(15) || status.code() == Some(128 + 15) =>
            {
                Ok(())
            }
            result => result,
        }
    }

    /// Checks that the child runs.
    /// Fails if it has ended, even without an error.
    pub fn check_running(&mut self) -> Result<(), ProcessError> {
        match self.status()? {
            Some(status) => Err(self.failed(status)),
            None => Ok(()),
        }
    }

    fn status(&mut self) -> Result<Option<ExitStatus>, ProcessError> {
        self.child.try_wait().map_err(|cause| ProcessError::System {
            program: PathBuf::from(&self.name),
            cause,
        })
    }

    fn failed(&self, status: ExitStatus) -> ProcessError {
        ProcessError::Failed {
            name: self.name.clone(),
            status,
            stderr: self.last_words(),
        }
    }

    /// The last lines of its standard error, joined to one line after a colon; empty if it wrote nothing.
    pub fn last_words(&self) -> String {
        let bytes = std::fs::read(&self.stderr).unwrap_or_default();
        let tail = &bytes[bytes.len().saturating_sub(TAIL)..];
        let lines: Vec<_> = String::from_utf8_lossy(tail)
            .lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            // Valgrind always remarks on the machine's caches: `--1234-- warning: L3 cache found`.
            .filter(|line| !(line.contains("-- warning: ") && line.contains(" cache")))
            .collect();
        match &lines[lines.len().saturating_sub(4)..] {
            [] => String::new(),
            lines => format!(": {}", lines.join("; ")),
        }
    }

    fn signal(&self, signal: Signal) {
        // The child was not waited for yet, so no other process can have its number. A group that
        // has ended needs no signal.
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), signal);
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        // A killed child ends, unless the kernel itself hangs.
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
        }
    }
}

/// Waits until a child ends, or until the limit: then `None`, and the child still runs.
///
/// # Errors
/// The system's error.
pub fn wait_at_most(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => thread::sleep(POLL),
            result => return Ok(result),
        }
    }
}

/// Finds a program: a path as it is, a bare name in `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

/// Whether `path` is a file that may be run.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The CPUs that this process may run on, in order.
pub fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    let cpus = 0..rustix::thread::CpuSet::MAX_CPU;
    cpus.filter(|cpu| set.is_set(*cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn shell(script: &str, folder: &Path) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start("child", command, None, folder, Stdio::null()).unwrap()
    }

    #[test]
    fn a_child_that_fails_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        for (script, wanted) in [
            (
                "echo no >&2; echo '--3-- warning: L3 cache found, using it' >&2; echo link >&2; exit 3",
                "exit status: 3: no; link",
            ),
            ("kill -SEGV $$", "signal: 11 (SIGSEGV)"),
        ] {
            let mut child = shell(script, folder.path());
            let ready = child.wait_until(SOON, &Interrupt::new(), || false);
            let ended = child.wait(SOON, &Interrupt::new());
            for error in [ready.unwrap_err(), ended.unwrap_err()] {
                let error = error.to_string();
                let wanted = format!("child ended with {wanted}");
                assert!(error.starts_with(&wanted), "{error}");
            }
        }
        let command = Command::new("/nonexistent/program");
        let started = Process::start("child", command, None, folder.path(), Stdio::null());
        let error = started.unwrap_err().to_string();
        assert!(error.contains("/nonexistent/program"), "{error}");
    }

    #[test]
    fn a_child_that_hangs_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let script = format!(
            "sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait",
            pid_file.display()
        );
        let mut child = shell(&script, folder.path());
        child
            .wait_until(SOON, &Interrupt::new(), || pid_file.exists())
            .unwrap();
        let interrupt = Interrupt::new();
        let error = child
            .wait(Duration::from_millis(50), &interrupt)
            .unwrap_err();
        assert!(matches!(error, ProcessError::Timeout { .. }), "{error}");
        let pid = std::fs::read_to_string(&pid_file).unwrap();
        let deadline = Instant::now() + SOON;
        // A killed grandchild may remain as a zombie until its new parent notices.
        let gone = || {
            std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
                .map_or(true, |stat| stat.contains(") Z"))
        };
        while !gone() {
            assert!(Instant::now() < deadline, "the grandchild is still running");
            thread::sleep(POLL);
        }
        interrupt.set();
        let waited = shell("sleep 1000", folder.path()).wait(SOON, &interrupt);
        assert!(matches!(waited, Err(ProcessError::Interrupted)));
    }

    #[test]
    fn a_child_ends_after_sigterm() {
        let folder = tempfile::tempdir().unwrap();
        for script in [
            "exec sleep 1000",
            "trap 'exit 143' TERM; while :; do sleep 0.1; done",
        ] {
            shell(script, folder.path()).stop(SOON).unwrap();
        }
    }

    #[test]
    fn children_run_on_the_given_cpu() {
        let folder = tempfile::tempdir().unwrap();
        let cpu = *allowed_cpus().last().unwrap();
        let mut command = Command::new("grep");
        command.arg(format!("^Cpus_allowed_list:[^0-9]*{cpu}$"));
        command.arg("/proc/self/status");
        let child = Process::start("child", command, Some(cpu), folder.path(), Stdio::null());
        child.unwrap().wait(SOON, &Interrupt::new()).unwrap();
    }
}
