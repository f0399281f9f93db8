//! Running a program, never for longer than allowed.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::retry_on_intr;
use rustix::process::{kill_process, pidfd_open, Pid, PidfdFlags, Signal};
use serde::Deserialize;

use crate::implementation::nic_program;
use crate::Implementation;

/// What a forwarder writes with `--json`: these keys, and no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Packets received, both directions together.
    pub rx: u64,
    /// Packets handed to the other device.
    pub tx: u64,
    /// Packets received that the other device's ring had no room for.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned as many packets as were asked for.
    pub full_batches: u64,
    /// Duration of the forwarding, without opening and closing.
    pub seconds: f64,
    /// The same in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
}

impl Totals {
    /// Parses the contents of a `--json` file: one object, and a newline.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn parse(text: &str) -> Result<Self> {
        ensure!(
            text.ends_with('\n') && text.trim_end().lines().count() == 1,
            "totals are not one line: {text:?}"
        );
        serde_json::from_str(text).with_context(|| format!("totals {text:?}"))
    }

    /// Checks what holds for every run.
    ///
    /// # Errors
    /// The rule that is broken, with the totals.
    pub fn check(&self, batch: u64) -> Result<()> {
        let calls = self.rx_calls;
        ensure!(
            self.rx == self.tx + self.dropped,
            "rx is not tx + dropped: {self:?}"
        );
        ensure!(
            self.full_batches <= calls,
            "more full batches than calls: {self:?}"
        );
        ensure!(
            self.rx <= calls * batch,
            "more packets than {calls} calls can return: {self:?}"
        );
        ensure!(self.seconds > 0.0, "no time has passed: {self:?}");
        ensure!(self.tsc_cycles > 0, "no cycles have passed: {self:?}");
        Ok(())
    }
}

/// A program and its arguments.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    json: Option<PathBuf>,
    piped: bool,
}

impl Program {
    /// An implementation's forwarder.
    ///
    /// # Errors
    /// If it has not been built.
    pub fn forwarder(implementation: Implementation) -> Result<Self> {
        Ok(Self::new(implementation.program()?))
    }

    /// The software NIC, as a program of its own.
    ///
    /// # Errors
    /// If it has not been built.
    pub fn nic() -> Result<Self> {
        Ok(Self::new(nic_program()?))
    }

    fn new(path: PathBuf) -> Self {
        Self {
            path,
            arguments: Vec::new(),
            json: None,
            piped: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Has a forwarder write its totals to this file.
    #[must_use]
    pub fn json(mut self, path: impl AsRef<Path>) -> Self {
        self.json = Some(path.as_ref().to_owned());
        self.arg("--json").arg(path.as_ref())
    }

    /// Writes its output to a pipe, see [`Running::pipe`], and not to where [`Output`] has it from.
    #[must_use]
    pub fn piped(mut self) -> Self {
        self.piped = true;
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(self) -> Result<Running> {
        // Files, not pipes: a program that says much does not block on a test that does not read.
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let name = self.path.display().to_string();
        let started = Instant::now();
        let to = match self.piped {
            true => Stdio::piped(),
            false => stdout.try_clone()?.into(),
        };
        let child = Command::new(&self.path)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(to)
            .stderr(stderr.try_clone()?)
            .spawn()
            .with_context(|| name.clone())?;
        Ok(Running {
            name,
            child,
            stdout,
            stderr,
            json: self.json,
            started,
        })
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// If it cannot be started, or takes longer than `limit`.
    pub fn run(self, limit: Duration) -> Result<Output> {
        self.start()?.wait(limit)
    }
}

/// A program that runs. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    stdout: File,
    stderr: File,
    json: Option<PathBuf>,
    started: Instant,
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipe that its output goes to.
    ///
    /// # Errors
    /// If it was not started with [`Program::piped`], or the pipe has been taken before.
    pub fn pipe(&mut self) -> Result<ChildStdout> {
        self.child.stdout.take().context("there is no pipe")
    }

    /// Whether it has not ended yet.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// What it has written to its output so far.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn stdout_so_far(&self) -> Result<String> {
        read(&self.stdout)
    }

    /// What it has written to its standard error so far.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn stderr_so_far(&self) -> Result<String> {
        read(&self.stderr)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// If it has ended.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        // As long as it was not waited for, its id is not given to another process.
        ensure!(
            self.is_running()?,
            "{} has ended before its signal: {}",
            self.name,
            self.said()
        );
        kill_process(self.pid()?, signal)?;
        Ok(())
    }

    fn pid(&self) -> Result<Pid> {
        Pid::from_raw(i32::try_from(self.child.id())?).context("process id 0")
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// If it has not ended after `limit`; it is killed then.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        // Sleeping until it ends, instead of looking every so often, leaves the processors to it.
        let pidfd = pidfd_open(self.pid()?, PidfdFlags::empty())?;
        let mut ended = [PollFd::new(&pidfd, PollFlags::IN)];
        let limit_spec = Timespec::try_from(limit)?;
        if retry_on_intr(|| poll(&mut ended, Some(&limit_spec)))? == 0 {
            bail!(
                "{} runs for longer than {limit:?}; so far: {}",
                self.name,
                self.said()
            );
        }
        let status = self.child.wait()?;
        Ok(Output {
            name: self.name.clone(),
            status,
            stdout: read(&self.stdout)?,
            stderr: read(&self.stderr)?,
            json: self.json.clone(),
            elapsed: self.started.elapsed(),
        })
    }

    fn said(&self) -> String {
        let [out, err] = [&self.stdout, &self.stderr]
            .map(|file| read(file).unwrap_or_else(|error| format!("({error})")));
        format!("stdout {out:?}, stderr {err:?}")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All of a file from its start, wherever the program that writes to it is.
fn read(file: &File) -> Result<String> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes)?)
}

/// What a program has left behind.
#[derive(Debug)]
pub struct Output {
    name: String,
    /// How it has ended.
    pub status: ExitStatus,
    /// What it wrote to its output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// How long it has run.
    pub elapsed: Duration,
    json: Option<PathBuf>,
}

impl Output {
    /// Checks the exit status.
    ///
    /// # Errors
    /// If it is another, or a signal has ended the program.
    pub fn expect_exit(&self, code: i32) -> Result<&Self> {
        ensure!(
            self.status.code() == Some(code),
            "exit status is not {code}: {self}"
        );
        Ok(self)
    }

    /// Checks that the program says all of this on its standard error.
    ///
    /// # Errors
    /// What it does not say.
    pub fn expect_says<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Result<&Self> {
        for text in texts {
            let text = text.as_ref();
            ensure!(self.stderr.contains(text), "does not say {text:?}: {self}");
        }
        Ok(self)
    }

    /// Checks that a forwarder has ended as it does after a run without trouble: exit status 0 and
    /// nothing to say, but for a remark about huge pages.
    ///
    /// # Errors
    /// If it has not.
    pub fn expect_success(&self) -> Result<&Self> {
        self.expect_exit(0)?;
        let remark = |line: &&str| !line.contains("huge pages");
        ensure!(
            self.stderr.lines().find(remark).is_none(),
            "says something: {self}"
        );
        Ok(self)
    }

    /// The totals that a forwarder wrote to its `--json` file.
    ///
    /// # Errors
    /// If there is no such file, or it holds anything else.
    pub fn totals(&self) -> Result<Totals> {
        let path = self.json.as_ref().context("was not asked for totals")?;
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{}: {self}", path.display()))?;
        Totals::parse(&text).with_context(|| format!("{self}"))
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            status,
            stdout,
            stderr,
            elapsed,
            ..
        } = self;
        write!(
            f,
            "{name} ({status}, signal {:?}, {elapsed:.2?})",
            status.signal()
        )?;
        write!(f, "\n-- stdout\n{stdout}-- stderr\n{stderr}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("/bin/sh".into()).args(["-c", script])
    }

    #[test]
    fn what_a_program_says_and_how_it_ends_is_kept() {
        let output = shell("echo out; echo err >&2; exit 3")
            .run(Duration::from_secs(5))
            .unwrap();
        output.expect_exit(3).unwrap().expect_says(["err"]).unwrap();
        assert_eq!(output.stdout, "out\n");
        assert!(output.expect_exit(0).is_err());
        assert!(output.expect_says(["other"]).is_err());
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let mut running = shell("echo ready; exec sleep 60").start().unwrap();
        crate::wait_until("the program to start", || {
            running.stdout_so_far().unwrap() == "ready\n"
        })
        .unwrap();
        assert!(running.is_running().unwrap());
        let error = running
            .wait(Duration::from_millis(10))
            .unwrap_err()
            .to_string();
        assert!(error.contains("longer than 10ms"), "{error}");
        assert!(error.contains("ready"), "{error}");
    }

    #[test]
    fn totals_are_one_line_with_exactly_these_keys() {
        let text = r#"{"rx":3,"tx":2,"dropped":1,"rx_calls":9,"full_batches":0,"seconds":0.5,"tsc_cycles":7}"#;
        let totals = Totals::parse(&format!("{text}\n")).unwrap();
        assert_eq!((totals.rx, totals.tx, totals.seconds), (3, 2, 0.5));
        totals.check(32).unwrap();
        assert!(Totals::parse(text).is_err());
        assert!(Totals::parse("{\"rx\":3}\n").is_err());
        assert!(Totals::parse(&format!("{}\n", text.replace("rx_calls", "calls"))).is_err());
        assert!(Totals::parse("").is_err());
    }
}
