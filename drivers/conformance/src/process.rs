//! Runs programs with a time limit.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use record::Implementation;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::retry_on_intr;
use rustix::process::{kill_process, pidfd_open, Pid, PidfdFlags, Signal};
use serde::de::DeserializeOwned;
use serde::Deserialize;

use crate::builds::{
    application_program, forwarder_program, nic_program, path_name, thread_sanitizer_program,
    triptych_program, variant_program,
};

/// The totals that a forwarder writes with `--json`: exactly these keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Packets received, both directions added.
    pub rx: u64,
    /// Packets handed to the other device.
    pub tx: u64,
    /// Packets received and dropped because the other device's ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
    /// Duration of the forwarding in seconds, without opening and closing the devices.
    pub seconds: f64,
    /// The same duration in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
    /// The seconds of processor time that it used, all threads together.
    #[serde(default)]
    pub cpu_seconds: f64,
    /// Interrupts taken, with `--interrupts`.
    pub interrupts: Option<u64>,
    /// Sleeps, with `--interrupts`.
    pub sleeps: Option<u64>,
    /// The same counts for each queue, if there are several.
    #[serde(default)]
    pub queues: Vec<QueueTotals>,
}

/// The totals of a queue pair.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueTotals {
    /// Its number.
    pub queue: usize,
    /// As in [`Totals`].
    pub rx: u64,
    /// As in [`Totals`].
    pub tx: u64,
    /// As in [`Totals`].
    pub dropped: u64,
    /// As in [`Totals`].
    pub rx_calls: u64,
    /// As in [`Totals`].
    pub full_batches: u64,
}

impl Totals {
    /// Parses a `--json` file: one object and a newline.
    ///
    /// # Errors
    /// If the text is anything else.
    pub fn parse(text: &str) -> Result<Self> {
        ensure!(
            text.ends_with('\n') && text.trim_end().lines().count() == 1,
            "totals are not one line: {text:?}"
        );
        serde_json::from_str(text).with_context(|| format!("totals {text:?}"))
    }

    /// Checks the rules that hold for every run.
    ///
    /// # Errors
    /// Names the broken rule and shows the totals.
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
        for (nth, queue) in self.queues.iter().enumerate() {
            ensure!(
                queue.queue == nth && queue.rx == queue.tx + queue.dropped,
                "queue {nth}: rx is not tx + dropped: {self:?}"
            );
        }
        let sum: u64 = self.queues.iter().map(|queue| queue.rx).sum();
        ensure!(
            self.queues.is_empty() || sum == self.rx,
            "the queues received {sum} together: {self:?}"
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
    /// If the forwarder does not exist.
    pub fn forwarder(implementation: Implementation) -> Result<Self> {
        let program = Self::new(forwarder_program(implementation)?);
        Ok(match path_name() {
            Some(path) => program.arg("--path").arg(path),
            None => program,
        })
    }

    /// Another program of an implementation, such as `ixgbe-echo`.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn application(implementation: Implementation, name: &str) -> Result<Self> {
        Ok(Self::new(application_program(implementation, name)?))
    }

    /// An implementation's forwarder in a variant.
    ///
    /// # Errors
    /// If the forwarder does not exist.
    pub fn variant(implementation: Implementation, variant: &str) -> Result<Self> {
        Ok(Self::new(variant_program(implementation, variant)?))
    }

    /// The forwarder of C or of the transpiled driver under ThreadSanitizer, which ends with status 66 if it has
    /// seen a data race.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn under_thread_sanitizer(implementation: Implementation) -> Result<Self> {
        Ok(Self::new(thread_sanitizer_program(implementation)?))
    }

    /// The software NIC as a program of its own.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn nic() -> Result<Self> {
        Ok(Self::new(nic_program()?))
    }

    /// The program `triptych`.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn triptych() -> Result<Self> {
        Ok(Self::new(triptych_program()?))
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

    /// Makes a forwarder write its totals to this file.
    #[must_use]
    pub fn json(mut self, path: impl AsRef<Path>) -> Self {
        self.json = Some(path.as_ref().to_owned());
        self.arg("--json").arg(path.as_ref())
    }

    /// Sends its standard output to a pipe ([`Running::pipe`]) instead of the [`Output`].
    #[must_use]
    pub fn piped(mut self) -> Self {
        self.piped = true;
        self
    }

    /// Starts the program.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(self) -> Result<Running> {
        // Files and not pipes: a program that prints much would block while the test does not read.
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

    /// Runs the program to its end.
    ///
    /// # Errors
    /// If the program cannot be started, or runs longer than `limit`.
    pub fn run(self, limit: Duration) -> Result<Output> {
        self.start()?.wait(limit)
    }
}

/// A running program. Dropping it kills the process.
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

    /// The pipe of its standard output.
    ///
    /// # Errors
    /// If the program was not started with [`Program::piped`], or the pipe was taken before.
    pub fn pipe(&mut self) -> Result<ChildStdout> {
        self.child.stdout.take().context("there is no pipe")
    }

    /// Whether the program still runs.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Its standard output so far.
    ///
    /// # Errors
    /// If the output cannot be read.
    pub fn stdout_so_far(&self) -> Result<String> {
        read(&self.stdout)
    }

    /// Its standard error so far.
    ///
    /// # Errors
    /// If the output cannot be read.
    pub fn stderr_so_far(&self) -> Result<String> {
        read(&self.stderr)
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// If the program has ended.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        // No other process can have its id before this one waits for it.
        ensure!(
            self.is_running()?,
            "{} ended before the signal: {}",
            self.name,
            self.output_so_far()
        );
        kill_process(self.pid()?, signal)?;
        Ok(())
    }

    fn pid(&self) -> Result<Pid> {
        Pid::from_raw(i32::try_from(self.child.id())?).context("process id 0")
    }

    /// Waits for the end of the program.
    ///
    /// # Errors
    /// If the program still runs after `limit`; it is then killed.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        // A program that `is_running` has seen end has no process any more.
        if self.is_running()? && !self.ends_within(limit)? {
            bail!(
                "{} runs longer than {limit:?}; so far: {}",
                self.name,
                self.output_so_far()
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

    /// Sleeps until the program ends or the time is over. Returns whether the program has ended.
    /// Polling would take the processors from the program.
    fn ends_within(&self, limit: Duration) -> Result<bool> {
        let pidfd = pidfd_open(self.pid()?, PidfdFlags::empty())?;
        let mut ended = [PollFd::new(&pidfd, PollFlags::IN)];
        let limit = Timespec::try_from(limit)?;
        Ok(retry_on_intr(|| poll(&mut ended, Some(&limit)))? > 0)
    }

    fn output_so_far(&self) -> String {
        let [out, err] = [&self.stdout, &self.stderr]
            .map(|file| read(file).unwrap_or_else(|error| format!("({error})")));
        format!("stdout {out:?}, stderr {err:?}")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both calls fail if the program has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a whole file without moving the position at which a program writes.
fn read(file: &File) -> Result<String> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes)?)
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct Output {
    name: String,
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
    json: Option<PathBuf>,
}

impl Output {
    /// Checks the exit status.
    ///
    /// # Errors
    /// If the status is another, or a signal ended the program.
    pub fn expect_exit(&self, code: i32) -> Result<&Self> {
        ensure!(
            self.status.code() == Some(code),
            "exit status is not {code}: {self}"
        );
        Ok(self)
    }

    /// Checks that the standard error contains all these texts.
    ///
    /// # Errors
    /// Names the text that is missing.
    pub fn expect_stderr<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<&Self> {
        for text in texts {
            let text = text.as_ref();
            ensure!(
                self.stderr.contains(text),
                "standard error lacks {text:?}: {self}"
            );
        }
        Ok(self)
    }

    /// Checks that a forwarder succeeded: exit status 0 and no message except about huge pages.
    ///
    /// # Errors
    /// If the forwarder failed or printed another message.
    pub fn expect_success(&self) -> Result<&Self> {
        self.expect_exit(0)?;
        let unexpected = |line: &&str| !line.contains("huge pages");
        ensure!(
            self.stderr.lines().find(unexpected).is_none(),
            "unexpected message: {self}"
        );
        Ok(self)
    }

    /// The totals in a forwarder's `--json` file.
    ///
    /// # Errors
    /// If the file does not exist or contains anything else.
    pub fn totals(&self) -> Result<Totals> {
        Totals::parse(&self.json_text()?).with_context(|| format!("{self}"))
    }

    /// The totals of another program, in its `--json` file.
    ///
    /// # Errors
    /// If the file does not exist or contains anything else.
    pub fn totals_as<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.json_text()?).with_context(|| format!("{self}"))
    }

    fn json_text(&self) -> Result<String> {
        let path = self
            .json
            .as_ref()
            .context("the program was started without --json")?;
        std::fs::read_to_string(path).with_context(|| format!("{}: {self}", path.display()))
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
    fn the_output_has_exit_status_and_both_streams() {
        let output = shell("echo out; echo err >&2; exit 3")
            .run(Duration::from_secs(5))
            .unwrap();
        output
            .expect_exit(3)
            .unwrap()
            .expect_stderr(["err"])
            .unwrap();
        assert_eq!(output.stdout, "out\n");
        assert!(output.expect_exit(0).is_err());
        assert!(output.expect_stderr(["other"]).is_err());
    }

    #[test]
    fn a_program_that_was_seen_to_end_has_its_output() {
        let mut running = shell("echo out; exit 3").start().unwrap();
        crate::wait_until("the program to end", || !running.is_running().unwrap()).unwrap();
        let output = running.wait(Duration::from_secs(5)).unwrap();
        assert_eq!(output.expect_exit(3).unwrap().stdout, "out\n");
    }

    #[test]
    fn a_program_over_its_time_limit_is_killed() {
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
