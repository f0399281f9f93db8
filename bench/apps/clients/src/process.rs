//! Processes that end with their owner, and what they cost.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::process::{kill_process, Pid, Signal};

/// Time between two looks at a condition.
const LOOK: Duration = Duration::from_millis(5);

/// Time for the last lines of a program that has ended.
const LAST_LINES: Duration = Duration::from_millis(100);

/// Time for a program to end after a signal.
const END: Duration = Duration::from_secs(10);

/// A process that is killed when its owner drops it.
pub struct Process {
    name: String,
    child: Child,
    /// What it prints, if somebody waits for lines.
    lines: Option<mpsc::Receiver<String>>,
    /// What it prints to its standard error besides, to be shown if a line does not come.
    complaints: Option<mpsc::Receiver<String>>,
}

/// Processor time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// In user mode.
    pub user: f64,
    /// Of the kernel for the process.
    pub system: f64,
}

impl std::ops::Sub for CpuTime {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
        }
    }
}

impl Process {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self {
            name,
            child,
            lines: None,
            complaints: None,
        })
    }

    /// Starts a program, and waits until its standard error has a line that begins with `line`. The lines
    /// before are in the error if it ends first.
    ///
    /// # Errors
    /// If it cannot be started, ends, or takes longer than `limit`.
    pub fn start_until(command: &mut Command, line: &str, limit: Duration) -> Result<Self> {
        let mut process = Self::start(command.stderr(Stdio::piped()))?;
        process.lines = process.child.stderr.take().map(lines_of_stderr);
        process.wait_for_line(line, limit)?;
        Ok(process)
    }

    /// The same with standard output. The error then has what it printed to its standard error.
    ///
    /// # Errors
    /// As [`Process::start_until`].
    pub fn start_until_printed(command: &mut Command, line: &str, limit: Duration) -> Result<Self> {
        let mut process = Self::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        process.lines = process.child.stdout.take().map(lines_of_stdout);
        process.complaints = process.child.stderr.take().map(lines_of_stderr);
        process.wait_for_line(line, limit)?;
        Ok(process)
    }

    /// Waits until the output on which it was started has another line that begins with `expected`.
    ///
    /// # Errors
    /// If it ends, or takes longer than `limit`.
    pub fn wait_for_line(&mut self, expected: &str, limit: Duration) -> Result<()> {
        let lines = self.lines.as_ref().context("no output")?;
        let end = Instant::now() + limit;
        let mut seen = String::new();
        loop {
            match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.starts_with(expected) => return Ok(()),
                Ok(line) => seen = seen + &line + "\n",
                Err(reason) => bail!(
                    "{}: {} a line '{expected}'; it printed:\n{seen}{}",
                    self.name,
                    match reason {
                        mpsc::RecvTimeoutError::Timeout => format!("{limit:?} passed without"),
                        mpsc::RecvTimeoutError::Disconnected => "it ended before".to_owned(),
                    },
                    self.complained()
                ),
            }
        }
    }

    /// What it has printed to its standard error. The last lines may just be on their way.
    fn complained(&self) -> String {
        let Some(lines) = &self.complaints else {
            return String::new();
        };
        let mut text = String::new();
        while let Ok(line) = lines.recv_timeout(LAST_LINES) {
            text = text + &line + "\n";
        }
        text
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its processor time so far (proc(5), fields 14 and 15).
    ///
    /// # Errors
    /// If it has ended.
    pub fn cpu_time(&self) -> Result<CpuTime> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        let fields = text.rsplit_once(')').context("no name")?.1;
        let mut fields = fields.split_whitespace().skip(11);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let mut seconds = || -> Result<f64> {
            Ok(fields.next().context("no time")?.parse::<f64>()? / per_second)
        };
        Ok(CpuTime {
            user: seconds()?,
            system: seconds()?,
        })
    }

    /// Its memory now, in KiB (proc(5), VmRSS).
    ///
    /// # Errors
    /// If it has ended.
    pub fn memory_kib(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"));
        let word = line.and_then(|line| line.split_whitespace().nth(1));
        word.and_then(|word| word.parse().ok()).context("no VmRSS")
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// If it has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(self.child.id() as i32).context("no process")?;
        kill_process(pid, signal).with_context(|| format!("cannot signal {}", self.name))
    }

    /// Ends it by SIGINT, and waits for it.
    ///
    /// # Errors
    /// If it does not end, or not in order.
    pub fn end(mut self) -> Result<()> {
        self.signal(Signal::INT)?;
        let status = self.wait(END)?;
        ensure!(
            status.success() || status.signal() == Some(Signal::INT.as_raw()),
            "{} ended with {status}",
            self.name
        );
        Ok(())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// If it takes longer.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            ensure!(
                Instant::now() < end,
                "{} did not end in {limit:?}",
                self.name
            );
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of_stderr(output: ChildStderr) -> mpsc::Receiver<String> {
    lines_of(BufReader::new(output))
}

fn lines_of_stdout(output: ChildStdout) -> mpsc::Receiver<String> {
    lines_of(BufReader::new(output))
}

/// The lines of a program. A thread reads them to the end, so that the program never waits for room.
fn lines_of(output: impl BufRead + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in output.lines().map_while(std::io::Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// A program that has ended.
#[derive(Debug)]
pub struct Output {
    /// Its standard output.
    pub text: String,
    /// Its standard error.
    pub error: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its duration in seconds.
    pub seconds: f64,
    /// Its processor time.
    pub cpu: CpuTime,
}

/// Runs a program to its end. No other program of this process may end meanwhile, or its processor time counts here.
///
/// # Errors
/// If it cannot be started, or takes longer than `limit`.
pub fn run(command: &mut Command, limit: Duration) -> Result<Output> {
    let before = children_time();
    let start = Instant::now();
    let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let text = process.child.stdout.take().map(read_all);
    let error = process.child.stderr.take().map(read_all);
    let status = process
        .wait(limit)
        .with_context(|| format!("{command:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let joined = |text: Option<thread::JoinHandle<String>>| {
        text.and_then(|text| text.join().ok()).unwrap_or_default()
    };
    Ok(Output {
        text: joined(text),
        error: joined(error),
        status,
        seconds,
        cpu: children_time() - before,
    })
}

/// Runs a program that must succeed. Returns its standard output.
///
/// # Errors
/// If it fails, with its output.
pub fn run_well(command: &mut Command, limit: Duration) -> Result<Output> {
    let output = run(command, limit)?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}:\n{}{}",
        output.status,
        output.text,
        output.error
    );
    Ok(output)
}

fn read_all(mut output: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The processor time of all children that have ended (proc(5), fields 16 and 17).
fn children_time() -> CpuTime {
    let read = || -> Option<CpuTime> {
        let text = fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / per_second);
        Some(CpuTime {
            user: seconds()?,
            system: seconds()?,
        })
    };
    read().unwrap_or_default()
}

/// Waits until a condition holds.
///
/// # Errors
/// If it takes longer than `limit`.
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) -> Result<()> {
    let end = Instant::now() + limit;
    while !condition() {
        ensure!(Instant::now() < end, "{what} did not come in {limit:?}");
        thread::sleep(LOOK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_ends_too_soon_says_why() {
        let limit = Duration::from_secs(10);
        let mut command = shell("echo begins; echo 'no permission' >&2; exit 3");
        let error = Process::start_until_printed(&mut command, "ready", limit).err();
        let text = error.unwrap().to_string();
        assert_eq!(
            text,
            "sh: it ended before a line 'ready'; it printed:\nbegins\nno permission\n"
        );
    }

    #[test]
    fn a_program_that_is_never_ready_is_not_waited_for() {
        let limit = Duration::from_millis(50);
        let error = Process::start_until(&mut shell("exec sleep 30"), "ready", limit).err();
        let text = error.unwrap().to_string();
        assert!(text.starts_with("sh: 50ms passed without a line"), "{text}");
    }
}
