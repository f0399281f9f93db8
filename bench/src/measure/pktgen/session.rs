//! A program that exchanges lines of text, on this machine or over SSH.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use perfcounters::Interrupt;
use regex::Regex;

use super::dialect::Exchange;
use super::PktgenError;

/// Longest time for a program to end. DPDK closes its ports meanwhile.
const END: Duration = Duration::from_secs(10);
/// Time between checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);
/// Number of last lines in an error message.
const TAIL: usize = 6;
/// Longest line in bytes; a longer one counts as several.
const LINE: u64 = 4096;
/// Number of lines that are kept. Older ones are dropped, because a program may print all the time.
const KEPT: usize = 1024;

/// What a program has printed.
#[derive(Debug, Default)]
struct Output {
    lines: VecDeque<String>,
    /// The number of lines that are not read yet.
    unread: usize,
    ended: bool,
}

/// A running program. It ends at the end of its input, so it never outlives this process, even if
/// this process is killed. Dropping the session also ends the program.
#[derive(Debug)]
pub(super) struct Session {
    place: String,
    child: Child,
    stdin: Option<ChildStdin>,
    output: Arc<(Mutex<Output>, Condvar)>,
    interrupt: Interrupt,
}

impl Session {
    /// Starts a command on the machine `place`.
    pub(super) fn start(
        place: &str,
        mut command: Command,
        interrupt: &Interrupt,
    ) -> Result<Self, PktgenError> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C must reach only this process, which then ends the program in order.
            .process_group(0)
            .spawn()
            .map_err(|cause| {
                let why = format!("cannot start a load generator on {place}: {cause}");
                PktgenError::Failed(why)
            })?;
        let output = Arc::<(Mutex<Output>, Condvar)>::default();
        if let Some(stdout) = child.stdout.take() {
            let output = Arc::clone(&output);
            // The thread ends with the program's output.
            thread::spawn(move || keep_lines(stdout, &output));
        }
        Ok(Self {
            place: place.to_owned(),
            stdin: child.stdin.take(),
            child,
            output,
            interrupt: interrupt.clone(),
        })
    }

    /// Sends what an exchange says, with these values, and waits for the answer. Returns its words.
    pub(super) fn ask(
        &mut self,
        limit: Duration,
        exchange: &Exchange,
        ports: usize,
        values: &[(&str, String)],
    ) -> Result<Vec<String>, PktgenError> {
        let mut text = String::new();
        for line in exchange.send.lines() {
            let count = if line.contains("{port}") { ports } else { 1 };
            for port in 0..count {
                text += &line.replace("{port}", &port.to_string());
                text += "\n";
            }
        }
        for (name, value) in values {
            text = text.replace(name, value);
        }
        self.send(&text)?;
        let wrong = |error: regex::Error| PktgenError::Failed(error.to_string());
        let answer = Regex::new(exchange.answer).map_err(wrong)?;
        let refusal = exchange
            .refusal
            .map(Regex::new)
            .transpose()
            .map_err(wrong)?;
        let wanted = exchange.words_per_port * ports;
        let mut words = Vec::new();
        let order = text.lines().next().unwrap_or("its start");
        self.read(order, limit, |line| {
            if let Some(refused) = refusal.as_ref().and_then(|it| it.captures(line)) {
                let reason = refused.get(1).map_or(line, |group| group.as_str());
                let why = format!("the load generator refused `{order}`: {}", reason.trim());
                return Some(Err(PktgenError::Failed(why)));
            }
            let found = answer.captures(line)?;
            for group in found.iter().skip(1).flatten() {
                words.extend(group.as_str().split_whitespace().map(str::to_owned));
            }
            (words.len() >= wanted).then(|| Ok(std::mem::take(&mut words)))
        })?
    }

    fn send(&mut self, text: &str) -> Result<(), PktgenError> {
        let sent = self.stdin.as_mut().map(|stdin| write!(stdin, "{text}"));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// Reads lines until `take` has what it wants of them.
    fn read<T>(
        &mut self,
        what: &str,
        limit: Duration,
        mut take: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, PktgenError> {
        let start = Instant::now();
        let shared = Arc::clone(&self.output);
        let mut output = lock(&shared.0);
        while start.elapsed() < limit {
            if self.interrupt.is_set() {
                return Err(PktgenError::Interrupted);
            }
            while output.unread > 0 {
                let index = output.lines.len() - output.unread;
                output.unread -= 1;
                if let Some(found) = output.lines.get(index).and_then(|line| take(line)) {
                    return Ok(found);
                }
            }
            if output.ended {
                drop(output);
                return Err(self.ended());
            }
            output = match shared.1.wait_timeout(output, POLL) {
                Ok((output, _)) => output,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        drop(output);
        Err(PktgenError::Failed(format!(
            "the load generator on {} did not answer `{what}` within {} s; {}",
            self.place,
            limit.as_secs_f64(),
            self.said()
        )))
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

    /// The last output.
    fn said(&self) -> String {
        let output = lock(&self.output.0);
        let lines = output.lines.iter().filter(|line| !line.trim().is_empty());
        let mut last: Vec<&str> = lines.rev().take(TAIL).map(String::as_str).collect();
        last.reverse();
        match last.is_empty() {
            true => "it printed nothing".to_owned(),
            false => format!("its last output:\n  {}", last.join("\n  ")),
        }
    }

    /// The error for a program that has ended.
    fn ended(&mut self) -> PktgenError {
        let status = self.wait(Duration::from_secs(2));
        // Its last output may still arrive.
        thread::sleep(POLL);
        let status = status.unwrap_or_else(|| "no exit status".to_owned());
        let (place, said) = (&self.place, self.said());
        PktgenError::Failed(format!(
            "the load generator on {place} ended ({status}); {said}"
        ))
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

fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(|error| error.into_inner())
}

/// Keeps the last lines until the program's output ends.
fn keep_lines(input: impl Read, (output, news): &(Mutex<Output>, Condvar)) {
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    while matches!(
        input.by_ref().take(LINE).read_until(b'\n', &mut bytes),
        Ok(1..)
    ) {
        let line = plain(&String::from_utf8_lossy(&bytes));
        bytes.clear();
        let mut output = lock(output);
        if output.lines.len() == KEPT {
            output.lines.pop_front();
        }
        output.lines.push_back(line);
        output.unread = (output.unread + 1).min(KEPT);
        news.notify_all();
    }
    lock(output).ended = true;
    news.notify_all();
}

/// A line without escape sequences and control characters. `console` strips the sequences of terminals.
fn plain(line: &str) -> String {
    let line = console::strip_ansi_codes(line);
    let printed = line.chars().filter(|c| !c.is_control() || *c == '\t');
    printed.collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Session {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Session::start("this machine", command, &Interrupt::new()).unwrap()
    }

    #[test]
    fn control_codes_are_removed() {
        assert_eq!(
            plain("\u{1b}[2J\u{1b}[1;32mready\u{1b}[0m 2\r\n"),
            "ready 2"
        );
    }

    #[test]
    fn output_without_newlines_or_readers_takes_bounded_memory() {
        let shared = Default::default();
        keep_lines(std::io::repeat(b'x').take(3 * LINE), &shared);
        let lengths: Vec<_> = lock(&shared.0).lines.iter().map(String::len).collect();
        assert_eq!(lengths, [LINE as usize; 3]);
        let numbers: String = (0..100_000).map(|number| format!("{number}\n")).collect();
        keep_lines(numbers.as_bytes(), &shared);
        let output = lock(&shared.0);
        assert_eq!((output.lines.len(), output.unread), (KEPT, KEPT));
        assert_eq!(output.lines.back().unwrap(), "99999");
    }

    #[test]
    fn a_program_that_is_silent_or_ends_is_an_error_with_its_last_output() {
        for (script, limit, parts) in [
            (
                "echo so far; cat >/dev/null",
                200,
                ["did not answer `a line`", "so far"],
            ),
            ("echo no hugepages; exit 3", 10_000, ["no hugepages", "3"]),
        ] {
            let limit = Duration::from_millis(limit);
            let error = shell(script).read("a line", limit, |_| None::<()>);
            let error = error.unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn a_program_ends_at_the_end_of_its_input() {
        let mut session = shell("cat");
        session.send("hello\n").unwrap();
        let line = session.read("a line", END, |line| Some(line.to_owned()));
        assert_eq!(line.unwrap(), "hello");
        let start = Instant::now();
        drop(session);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
