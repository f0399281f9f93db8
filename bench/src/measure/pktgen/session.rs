//! A program that exchanges lines of text, on this machine or over SSH.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use perfcounters::process::wait_at_most;
use perfcounters::{Interrupt, MeasureError};
use regex::Regex;

use super::dialect::Exchange;

/// Longest time for a program to end. DPDK closes its ports meanwhile.
const END: Duration = Duration::from_secs(10);
/// Time between checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);
/// Number of last lines in an error message.
const TAIL: usize = 6;
/// Longest line in bytes; a longer one counts as several.
const LINE: u64 = 4096;
/// Number of unread lines that are kept, because a program may print all the time.
const KEPT: usize = 1024;

/// A running program. It ends at the end of its input, so it never outlives this process, even if
/// this process is killed. Dropping the session also ends the program.
#[derive(Debug)]
pub(super) struct Session {
    place: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The last lines that were read.
    said: VecDeque<String>,
    interrupt: Interrupt,
}

impl Session {
    /// Starts a command on the machine `place`.
    pub(super) fn start(
        place: &str,
        mut command: Command,
        interrupt: &Interrupt,
    ) -> Result<Self, MeasureError> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C must reach only this process, which then ends the program in order.
            .process_group(0)
            .spawn()
            .map_err(|cause| format!("cannot start a load generator on {place}: {cause}"))?;
        let (sender, lines) = sync_channel(KEPT);
        if let Some(stdout) = child.stdout.take() {
            // The thread ends with the program's output.
            thread::spawn(move || pass_lines(stdout, &sender));
        }
        Ok(Self {
            place: place.to_owned(),
            stdin: child.stdin.take(),
            child,
            lines,
            said: VecDeque::new(),
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
    ) -> Result<Vec<String>, MeasureError> {
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
        if !text.is_empty() {
            // What the program said before is no answer, and would leave the answer no room.
            while let Ok(line) = self.lines.try_recv() {
                self.remember(line);
            }
            let stdin = self.stdin.as_mut();
            if !stdin.is_some_and(|stdin| write!(stdin, "{text}").is_ok()) {
                return Err(self.ended());
            }
        }
        let pattern = |text| Regex::new(text).map_err(|error| error.to_string());
        let answer = pattern(exchange.answer)?;
        let refusal = pattern(exchange.refusal)?;
        let mut words = Vec::new();
        let order = text.lines().next().unwrap_or("its start");
        let start = Instant::now();
        loop {
            let line = self.line(order, start, limit)?;
            if let Some(refused) = refusal.captures(&line) {
                let reason = refused.get(1).map_or(line.as_str(), |group| group.as_str());
                let why = format!("the load generator refused `{order}`: {}", reason.trim());
                return Err(MeasureError::Other(why));
            }
            let Some(found) = answer.captures(&line) else {
                continue;
            };
            for group in found.iter().skip(1).flatten() {
                words.extend(group.as_str().split_whitespace().map(str::to_owned));
            }
            if words.len() >= exchange.words_per_port * ports {
                return Ok(words);
            }
        }
    }

    /// The next line of the answer to an order that began at `start`.
    fn line(
        &mut self,
        order: &str,
        start: Instant,
        limit: Duration,
    ) -> Result<String, MeasureError> {
        loop {
            if self.interrupt.is_set() {
                return Err(MeasureError::Interrupted);
            }
            let left = limit.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(POLL.min(left)) {
                Ok(line) => {
                    self.remember(line.clone());
                    return Ok(line);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(MeasureError::Other(format!(
                        "the load generator on {} did not answer `{order}` within {} s; {}",
                        self.place,
                        limit.as_secs_f64(),
                        self.said()
                    )))
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits while the program runs.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), MeasureError> {
        let start = Instant::now();
        while start.elapsed() < time {
            if self.interrupt.is_set() {
                return Err(MeasureError::Interrupted);
            }
            thread::sleep(POLL.min(time.saturating_sub(start.elapsed())));
        }
        Ok(())
    }

    fn remember(&mut self, line: String) {
        self.said.push_back(line);
        if self.said.len() > TAIL {
            self.said.pop_front();
        }
    }

    /// The last output.
    fn said(&self) -> String {
        if self.said.is_empty() {
            return "it printed nothing".to_owned();
        }
        let lines: Vec<&str> = self.said.iter().map(String::as_str).collect();
        format!("its last output:\n  {}", lines.join("\n  "))
    }

    /// The error for a program that has ended.
    fn ended(&mut self) -> MeasureError {
        let status = wait_at_most(&mut self.child, Duration::from_secs(2));
        let status = status.ok().flatten();
        let status = status.map_or("no exit status".to_owned(), |status| status.to_string());
        // Its last output may still arrive.
        while let Ok(line) = self.lines.recv_timeout(POLL) {
            self.remember(line);
        }
        let (place, said) = (&self.place, self.said());
        MeasureError::Other(format!(
            "the load generator on {place} ended ({status}); {said}"
        ))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The end of its input ends the program, also on another machine.
        self.stdin = None;
        if !matches!(wait_at_most(&mut self.child, END), Ok(Some(_))) {
            // On another machine, `timeout` ends the program.
            let pid = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Passes the lines on until the program's output ends. Drops those that find no room.
fn pass_lines(input: impl Read, lines: &SyncSender<String>) {
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    while matches!(
        input.by_ref().take(LINE).read_until(b'\n', &mut bytes),
        Ok(1..)
    ) {
        // Without the sequences of terminals, and other control characters.
        let text = String::from_utf8_lossy(&bytes);
        let text = console::strip_ansi_codes(&text);
        let printed = text.chars().filter(|c| !c.is_control() || *c == '\t');
        let line = printed.collect::<String>().trim_end().to_owned();
        bytes.clear();
        let no_reader = |error| matches!(error, TrySendError::Disconnected(_));
        if !line.is_empty() && lines.try_send(line).is_err_and(no_reader) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_without_newlines_or_readers_takes_bounded_memory() {
        let (sender, lines) = sync_channel(KEPT);
        pass_lines(
            "\u{1b}[2J\u{1b}[1;32mready\u{1b}[0m 2\r\n".as_bytes(),
            &sender,
        );
        assert_eq!(lines.recv().unwrap(), "ready 2");
        pass_lines(std::io::repeat(b'x').take(3 * LINE * KEPT as u64), &sender);
        let lengths: Vec<_> = lines.try_iter().map(|line| line.len()).collect();
        assert_eq!(lengths, [LINE as usize; KEPT]);
    }

    #[test]
    fn a_silent_program_is_an_error_with_its_last_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo so far; cat >/dev/null"]);
        let mut session = Session::start("this machine", command, &Interrupt::new()).unwrap();
        let line = session.line("a line", Instant::now(), END);
        assert_eq!(line.unwrap(), "so far");
        let line = session.line("a line", Instant::now(), Duration::from_millis(200));
        let error = line.unwrap_err().to_string();
        let end = "did not answer `a line` within 0.2 s; its last output:\n  so far";
        assert!(error.ends_with(end), "{error}");
    }
}
