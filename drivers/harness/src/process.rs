//! Starts processes, waits for them with a time limit, and ends them.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::retry_on_intr;
use rustix::process::{kill_process, kill_process_group, pidfd_open, Pid, PidfdFlags, Signal};
use serde::de::DeserializeOwned;

use crate::builds::{built, forwarder_program, path_name};
use crate::totals::Totals;

/// No ordinary run takes so long, even on a slow machine.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How long [`wait_until`] waits, and how often it checks.
const EVENT: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(1);
/// Bytes of a program's output that are read. A program that has gone wrong may print without end.
const MAX_OUTPUT: usize = 1 << 20;
/// The time that the first process of a group gets to end the others.
const PATIENCE: Duration = Duration::from_secs(12);

/// Waits until a condition holds. `event` describes it in the error.
pub fn wait_until(event: &str, mut condition: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + EVENT;
    while !condition() {
        ensure!(Instant::now() < deadline, "waited {EVENT:?} for {event}");
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}

/// A program and its arguments.
#[derive(Debug)]
pub struct Program {
    command: Command,
    stdout: Option<Stdio>,
    grouped: bool,
}

impl Program {
    /// The program at a path.
    pub fn at(path: impl AsRef<OsStr>) -> Self {
        Self {
            command: Command::new(path),
            stdout: None,
            grouped: false,
        }
    }

    /// An implementation's forwarder.
    pub fn forwarder(implementation: impl fmt::Display) -> Result<Self> {
        let program = Self::at(forwarder_program(implementation)?);
        Ok(match path_name() {
            Some(path) => program.args(["--path", &path]),
            None => program,
        })
    }

    /// A program of the build folder, such as `bin/nic`.
    pub fn built(file: &str) -> Result<Self> {
        Ok(Self::at(built(file)?))
    }

    /// Another program of an implementation, such as `ixgbe-echo`.
    pub fn application(implementation: impl fmt::Display, name: &str) -> Result<Self> {
        Self::built(&format!("bin/{implementation}/{name}"))
    }

    /// The software NIC as a program of its own, with its sockets in this folder.
    pub fn nic(sockets: &Path) -> Result<Self> {
        Ok(Self::built("bin/nic")?.arg("--socket-dir").arg(sockets))
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(self, argument: impl AsRef<OsStr>) -> Self {
        self.args([argument])
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Makes it write its totals to this file.
    #[must_use]
    pub fn json(self, path: impl AsRef<Path>) -> Self {
        self.arg("--json").arg(path.as_ref())
    }

    /// Sends its standard output there, and not to the [`Output`].
    #[must_use]
    pub fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.stdout = Some(to.into());
        self
    }

    /// Sets variables of its environment.
    #[must_use]
    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.command.envs(variables);
        self
    }

    /// Runs it in this folder, in a process group that ends with it.
    #[must_use]
    pub fn grouped(mut self, folder: &Path) -> Self {
        self.grouped = true;
        self.command.current_dir(folder).process_group(0);
        self
    }

    /// Starts the program.
    pub fn start(mut self) -> Result<Running> {
        // Files and not pipes: a program that prints much would block while the test does not read.
        let [stdout, stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let words: Vec<_> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let to = self.stdout.unwrap_or(stdout.try_clone()?.into());
        self.command.stdin(Stdio::null()).stdout(to);
        self.command.stderr(stderr.try_clone()?);
        Ok(Running {
            started: Instant::now(),
            child: self.command.spawn().with_context(|| words[0].clone())?,
            words,
            outputs: [stdout, stderr],
            grouped: self.grouped,
        })
    }

    /// Runs the program to its end.
    pub fn run(self) -> Result<Output> {
        self.run_within(LIMIT)
    }

    /// The same in less time.
    pub fn run_within(self, limit: Duration) -> Result<Output> {
        self.start()?.wait(limit)
    }

    /// Checks that the program refuses each of these command lines with exit status 2 and a message.
    pub fn expect_refused(
        start: impl Fn() -> Result<Self>,
        rows: &[(&[&str], &str)],
    ) -> Result<()> {
        for (arguments, message) in rows {
            let output = start()?.args(*arguments).run()?;
            output.expect_exit(2)?;
            // A long message may be broken into lines.
            let words: Vec<_> = output.stderr.split_whitespace().collect();
            let said = words.join(" ").to_lowercase();
            let expected = message.to_lowercase();
            ensure!(
                said.contains(&expected),
                "{arguments:?}, no {message:?}: {output}"
            );
        }
        Ok(())
    }
}

/// A running program. Dropping it ends the process.
#[derive(Debug)]
pub struct Running {
    words: Vec<String>,
    child: Child,
    outputs: [File; 2],
    started: Instant,
    grouped: bool,
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipe of its standard output, once.
    pub fn pipe(&mut self) -> Result<ChildStdout> {
        self.child.stdout.take().context("there is no pipe")
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Its exit status. A program that still runs has none, and is killed.
    pub fn end_or_kill(&mut self) -> Result<Option<ExitStatus>> {
        let ended = self.ended()?;
        self.child.kill()?;
        self.child.wait()?;
        Ok(ended)
    }

    /// Whether the program still runs.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.ended()?.is_none())
    }

    /// Its standard output and its standard error so far.
    pub fn so_far(&self) -> Result<[String; 2]> {
        let [stdout, stderr] = self.outputs.each_ref().map(read);
        Ok([stdout?, stderr?])
    }

    /// Whether its standard output has this text, or it has ended.
    pub fn has_said(&mut self, text: &str) -> bool {
        self.so_far().is_ok_and(|[out, _]| out.contains(text))
            || !self.is_running().unwrap_or(false)
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        // No other process can have its id before this one waits for it.
        let (runs, name) = (self.is_running()?, &self.words[0]);
        ensure!(runs, "{name} ended before the signal: {:?}", self.so_far());
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits for the end of the program. A program that still runs after `limit` is killed.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        let (ended, said) = (self.ends_within(limit)?, self.so_far()?);
        let words = std::mem::take(&mut self.words);
        if !ended {
            bail!("{} runs longer than {limit:?}; so far: {said:?}", words[0]);
        }
        let status = self.child.wait()?;
        Ok(Output::new(words, status, said, self.started.elapsed()))
    }

    /// Ends a forwarder with a signal. It must succeed.
    pub fn end_by(mut self, signal: Signal) -> Result<Output> {
        self.signal(signal)?;
        let output = self.wait(LIMIT)?;
        output.expect_success()?;
        Ok(output)
    }

    /// Sleeps until the program ends or the time is over. Returns whether the program has ended.
    /// Polling would take the processors from the program.
    pub fn ends_within(&mut self, limit: Duration) -> Result<bool> {
        // A program that was seen to end has no process any more.
        if !self.is_running()? {
            return Ok(true);
        }
        let pidfd = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        let mut ended = [PollFd::new(&pidfd, PollFlags::IN)];
        let limit = Timespec::try_from(limit)?;
        Ok(retry_on_intr(|| poll(&mut ended, Some(&limit)))? > 0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // All calls fail if the program has already ended, which is fine.
        if self.grouped && self.signal(Signal::TERM).is_ok() {
            if matches!(self.ends_within(PATIENCE), Ok(true)) {
                return drop(self.child.wait());
            }
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a file without moving the position at which a program writes.
fn read(file: &File) -> Result<String> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?.min(MAX_OUTPUT)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct Output {
    /// The program and its arguments.
    words: Vec<String>,
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
}

impl Output {
    /// The result of a program, which may have run elsewhere, for example in a guest: its words, its standard output and
    /// its standard error.
    pub fn new(
        words: Vec<String>,
        status: ExitStatus,
        [stdout, stderr]: [String; 2],
        elapsed: Duration,
    ) -> Self {
        Self {
            words,
            status,
            stdout,
            stderr,
            elapsed,
        }
    }

    /// Checks the exit status.
    pub fn expect_exit(&self, code: i32) -> Result<&Self> {
        let exited = self.status.code() == Some(code);
        ensure!(exited, "exit status is not {code}: {self}");
        Ok(self)
    }

    /// Checks that the program succeeded without a message on standard error.
    pub fn expect_silence(&self) -> Result<&Self> {
        ensure!(self.stderr.is_empty(), "unexpected message: {self}");
        self.expect_exit(0)
    }

    /// Checks that the program succeeded and printed these texts.
    pub fn expect_stdout(&self, texts: &[&str]) -> Result<&Self> {
        self.expect_exit(0)?;
        let missing = texts.iter().find(|text| !self.stdout.contains(**text));
        ensure!(missing.is_none(), "output lacks {missing:?}: {self}");
        Ok(self)
    }

    /// Checks that the standard error contains all these texts.
    pub fn expect_stderr<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<&Self> {
        let mut texts = texts.into_iter();
        let missing = texts.find(|text| !self.stderr.contains(text.as_ref()));
        let missing = missing.as_ref().map(T::as_ref);
        ensure!(
            missing.is_none(),
            "standard error lacks {missing:?}: {self}"
        );
        Ok(self)
    }

    /// Checks that a program failed for the reason that these texts give.
    pub fn expect_failure<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<&Self> {
        self.expect_exit(1)?.expect_stderr(texts)
    }

    /// Checks that a forwarder succeeded: exit status 0 and no message except about huge pages.
    pub fn expect_success(&self) -> Result<&Self> {
        self.expect_exit(0)?;
        let expected = self.stderr.lines().all(|line| line.contains("huge pages"));
        ensure!(expected, "unexpected message: {self}");
        Ok(self)
    }

    /// The totals in a forwarder's `--json` file, which follow the rules of every run.
    pub fn totals(&self) -> Result<Totals> {
        let totals = Totals::parse(&self.json_text()?).with_context(|| self.to_string())?;
        totals.check(self.option("--batch").unwrap_or("32").parse()?)?;
        Ok(totals)
    }

    /// The totals of another program, in its `--json` file.
    pub fn totals_as<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.json_text()?).with_context(|| self.to_string())
    }

    fn json_text(&self) -> Result<String> {
        let path = self.option("--json").context("started without --json")?;
        std::fs::read_to_string(path).with_context(|| format!("{path}: {self}"))
    }

    /// The argument after an option.
    fn option(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, signal) = (&self.words[0], self.status.signal());
        let (status, elapsed) = (self.status, self.elapsed);
        writeln!(f, "{name} ({status}, signal {signal:?}, {elapsed:.2?})")?;
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        write!(f, "-- stdout\n{stdout}-- stderr\n{stderr}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Duration = Duration::from_secs(5);

    fn shell(script: &str) -> Program {
        Program::at("/bin/sh").args(["-c", script])
    }

    #[test]
    fn the_output_has_exit_status_and_both_streams() {
        let mut running = shell("echo out; echo err >&2; exit 3").start().unwrap();
        // It has its output also if it was seen to end before.
        wait_until("the program to end", || !running.is_running().unwrap()).unwrap();
        let output = running.wait(FIVE).unwrap();
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
    fn a_program_over_its_time_limit_is_killed() {
        let mut running = shell("echo ready; exec sleep 60").start().unwrap();
        wait_until("the program to start", || running.has_said("ready")).unwrap();
        assert!(running.is_running().unwrap());
        let error = running
            .wait(Duration::from_millis(10))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("longer than 10ms") && error.contains("ready"),
            "{error}"
        );
    }

    #[test]
    fn a_group_ends_with_its_first_process() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap 'kill $!; exit' TERM; sleep 60 & echo $A $!; wait";
        let program = shell(script)
            .grouped(folder.path())
            .envs([("A", "started")]);
        let mut running = program.start().unwrap();
        wait_until("the program to start", || running.has_said("started")).unwrap();
        let [text, _] = running.so_far().unwrap();
        drop(running);
        let child = format!("/proc/{}/stat", text.split_whitespace().last().unwrap());
        let ended = || std::fs::read_to_string(&child).map_or(true, |stat| stat.contains(") Z "));
        wait_until("the child to end", ended).unwrap();
    }
}
