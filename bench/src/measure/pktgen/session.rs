//! A program that exchanges lines of text, on this machine or over SSH.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use perfcounters::Interrupt;

use super::error::PktgenError;

/// Longest time for a program to end. DPDK closes its ports meanwhile.
const END: Duration = Duration::from_secs(10);
/// Time between checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);
/// Number of last lines in an error message.
const TAIL: usize = 6;
/// Longest line in bytes; a longer one counts as several.
const LINE: u64 = 4096;
/// Number of lines that wait to be read. Older ones are dropped, because a program may print all the time.
const WAITING: usize = 1024;
/// Longest time to connect to another machine, seconds.
const CONNECT: u32 = 10;

/// The machine on which a program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// This machine.
    Here,
    /// A machine, by its name for SSH.
    Host(String),
}

impl Location {
    /// The name of the machine in messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Here => "this machine",
            Self::Host(name) => name,
        }
    }

    /// The command that runs a shell script on the machine. SSH never asks for a password, and
    /// detects within 15 s that the machine is gone.
    fn command(&self, script: &str) -> Command {
        match self {
            Self::Here => {
                let mut command = Command::new("sh");
                command.args(["-c", script]);
                command
            }
            Self::Host(name) => {
                let mut command = Command::new("ssh");
                command
                    .args(["-T", "-o", "BatchMode=yes"])
                    .args(["-o", &format!("ConnectTimeout={CONNECT}")])
                    .args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"])
                    .args(["--", name, script]);
                command
            }
        }
    }
}

/// Quotes `text` as one word of a shell command.
pub(super) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// The command that runs a shell script on a machine, as a shell would take it.
pub(super) fn command_line(place: &Location, script: &str) -> String {
    let command = place.command(script);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| quote(&word.to_string_lossy())).collect();
    words.join(" ")
}

/// A running program. It ends at the end of its input, so it never outlives this process, even if
/// this process is killed. Dropping the session also ends the program.
#[derive(Debug)]
pub(super) struct Session {
    place: Location,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Arc<Mutex<Receiver<String>>>,
    last: Arc<Mutex<VecDeque<String>>>,
    interrupt: Interrupt,
}

impl Session {
    /// Starts a shell command.
    pub(super) fn start(
        place: &Location,
        script: &str,
        interrupt: &Interrupt,
    ) -> Result<Self, PktgenError> {
        let mut child = place
            .command(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C must reach only this process, which then ends the program in order.
            .process_group(0)
            .spawn()
            .map_err(|cause| PktgenError::Start {
                place: place.name().to_owned(),
                cause,
            })?;
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, lines) = mpsc::sync_channel(WAITING);
        let lines = Arc::new(Mutex::new(lines));
        // Both threads end with the program's output.
        if let Some(stdout) = child.stdout.take() {
            let (last, lines) = (Arc::clone(&last), Arc::clone(&lines));
            thread::spawn(move || {
                each_line(stdout, |mut line| {
                    remember(&last, &line);
                    // Read on, so that the program does not block.
                    while let Err(TrySendError::Full(again)) = sender.try_send(line) {
                        let _ = lock(&lines).try_recv();
                        line = again;
                    }
                });
            });
        }
        if let Some(stderr) = child.stderr.take() {
            let last = Arc::clone(&last);
            thread::spawn(move || each_line(stderr, |line| remember(&last, &line)));
        }
        Ok(Self {
            place: place.clone(),
            stdin: child.stdin.take(),
            child,
            lines,
            last,
            interrupt: interrupt.clone(),
        })
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: &str) -> Result<(), PktgenError> {
        let sent = match &mut self.stdin {
            Some(stdin) => stdin
                .write_all(format!("{line}\n").as_bytes())
                .and_then(|()| stdin.flush()),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        sent.map_err(|_| self.ended())
    }

    /// Reads lines until `take` has what it wants of them.
    pub(super) fn read<T>(
        &mut self,
        what: &str,
        limit: Duration,
        mut take: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, PktgenError> {
        let start = Instant::now();
        loop {
            if self.interrupt.is_set() {
                return Err(PktgenError::Interrupted);
            }
            let line = lock(&self.lines).recv_timeout(POLL);
            match line {
                Ok(line) => {
                    if let Some(found) = take(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if start.elapsed() > limit {
                return Err(PktgenError::Silent {
                    place: self.place.name().to_owned(),
                    what: what.to_owned(),
                    seconds: limit.as_secs(),
                    said: self.said(),
                });
            }
        }
    }

    /// Waits while the program runs.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), PktgenError> {
        let start = Instant::now();
        while start.elapsed() < time {
            if self.interrupt.is_set() {
                return Err(PktgenError::Interrupted);
            }
            thread::sleep(POLL.min(time.saturating_sub(start.elapsed())));
        }
        Ok(())
    }

    fn said(&self) -> String {
        let last = lock(&self.last);
        match last.is_empty() {
            true => "it printed nothing".to_owned(),
            false => format!(
                "its last output:\n  {}",
                last.iter().cloned().collect::<Vec<_>>().join("\n  ")
            ),
        }
    }

    /// The error for a program that has ended.
    fn ended(&mut self) -> PktgenError {
        // Its last output may still arrive.
        let status = self.wait(Duration::from_secs(2));
        thread::sleep(POLL);
        PktgenError::Ended {
            place: self.place.name().to_owned(),
            status: status.unwrap_or_else(|| "no exit status".to_owned()),
            said: self.said(),
        }
    }

    fn wait(&mut self, limit: Duration) -> Option<String> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The end of its input ends the program, also on another machine.
        self.stdin = None;
        if self.wait(END).is_none() {
            // On another machine, `timeout` ends the program.
            let pid = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Calls `take` with each line, without terminal control codes.
fn each_line(input: impl Read, mut take: impl FnMut(String)) {
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    while matches!(
        input.by_ref().take(LINE).read_until(b'\n', &mut bytes),
        Ok(1..)
    ) {
        take(plain(&String::from_utf8_lossy(&bytes)));
        bytes.clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

fn remember(last: &Mutex<VecDeque<String>>, line: &str) {
    if line.trim().is_empty() {
        return;
    }
    let mut last = lock(last);
    if last.len() == TAIL {
        last.pop_front();
    }
    last.push_back(line.to_owned());
}

/// A line without escape sequences, carriage returns and blanks at its end.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
            }
            '\u{1b}' => {
                chars.next();
            }
            c if c.is_control() && c != '\t' => {}
            c => out.push(c),
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (text, quoted) in [
            ("0000:03:00.0", "0000:03:00.0"),
            ("", "''"),
            ("(0-2)@(0-1)", "'(0-2)@(0-1)'"),
            ("it's", "'it'\\''s'"),
            ("$(reboot)", "'$(reboot)'"),
        ] {
            assert_eq!(quote(text), quoted);
        }
    }

    #[test]
    fn control_codes_are_removed() {
        assert_eq!(
            plain("\u{1b}[2J\u{1b}[1;32mready\u{1b}[0m 2\r\n"),
            "ready 2"
        );
        assert_eq!(plain("\u{1b}7\u{1b}[5;1Hx\u{1b}8"), "x");
    }

    #[test]
    fn output_without_newlines_or_readers_takes_bounded_memory() {
        let mut lengths = Vec::new();
        each_line(std::io::repeat(b'x').take(3 * LINE), |line| {
            lengths.push(line.len() as u64);
        });
        assert_eq!(lengths, [LINE; 3]);
        let mut session =
            Session::start(&Location::Here, "seq 100000; cat", &Interrupt::new()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while lock(&session.last)
            .back()
            .is_none_or(|line| line != "100000")
        {
            assert!(Instant::now() < deadline, "{}", session.said());
            thread::sleep(POLL);
        }
        let mut count = 0;
        let all = session.read("the last line", Duration::from_secs(10), |line| {
            count += 1;
            (line == "100000").then_some(())
        });
        assert!(all.is_ok() && count <= WAITING + 1, "{count}: {all:?}");
    }

    #[test]
    fn a_program_ends_at_the_end_of_its_input() {
        let mut session =
            Session::start(&Location::Here, "cat; echo ended >&2", &Interrupt::new()).unwrap();
        session.send("hello").unwrap();
        let line = session
            .read("a line", Duration::from_secs(10), |line| {
                Some(line.to_owned())
            })
            .unwrap();
        assert_eq!(line, "hello");
        let start = Instant::now();
        drop(session);
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_silent_or_ended_program_is_an_error_with_its_last_output() {
        let mut session =
            Session::start(&Location::Here, "echo so far; cat", &Interrupt::new()).unwrap();
        let error = session
            .read("an answer", Duration::from_millis(200), |_| None::<()>)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("an answer") && error.contains("so far"),
            "{error}"
        );
        let mut session = Session::start(
            &Location::Here,
            "echo no hugepages >&2; exit 3",
            &Interrupt::new(),
        )
        .unwrap();
        let error = session
            .read("an answer", Duration::from_secs(10), |_| None::<()>)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no hugepages") && error.contains("3"),
            "{error}"
        );
    }
}
