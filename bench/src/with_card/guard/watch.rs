//! Watches the program and the card until the program has ended.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{killpg, Signal};
use nix::sys::wait::WaitStatus;
use nix::unistd::{getpid, Pid};

use super::card::Card;
use super::process;
use super::terminal::Terminal;
use crate::usage::UsageError;
use crate::with_card::{family, STOPPED};

/// Time for the card to become ready.
const START: Duration = Duration::from_secs(120);
/// Pause between two looks at a card that starts.
const START_POLL: Duration = Duration::from_millis(1);
/// Time for the program to end after SIGTERM or SIGHUP. Then it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// The same, if the process that the user started was killed.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);
/// Time for the program to notice that the card has died.
const NOTICE: Duration = Duration::from_secs(1);
/// Time for the program's children to end after the program, by SIGTERM and then by SIGKILL.
const CHILDREN: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(2));
/// The same signal counts once in this time. `timeout` sends one to a process and to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(100);

/// What remains when the program has ended.
#[derive(Debug)]
pub struct Ending {
    /// The exit status for the user.
    pub status: u8,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The card, if this process started it.
    pub card: Option<Card>,
}

/// The processes that this one watches.
#[derive(Debug)]
pub struct Watch {
    control: Option<UnixStream>,
    /// A byte arrives for each change of a child.
    changes: UnixStream,
    /// The card, if this process started it.
    pub card: Option<Card>,
    program: Pid,
    program_end: Option<WaitStatus>,
    terminal: Option<Terminal>,
    last_signal: Option<(Signal, Instant)>,
    /// When the program gets SIGTERM.
    term_at: Option<Instant>,
    /// When the program is killed, and why.
    kill_at: Option<(Instant, String)>,
    notes: Vec<String>,
    card_died: bool,
}

impl Watch {
    /// Watches children; `control` leads to the process that the user started.
    ///
    /// # Errors
    /// The system refuses a signal handler or a socket.
    pub fn new(control: UnixStream) -> Result<Self> {
        let (changes, handler) = UnixStream::pair().context("cannot make a socket")?;
        changes
            .set_nonblocking(true)
            .context("cannot prepare a socket")?;
        control
            .set_nonblocking(true)
            .context("cannot prepare a socket")?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, handler)
            .context("cannot handle signals")?;
        Ok(Self {
            control: Some(control),
            changes,
            card: None,
            program: Pid::from_raw(0),
            program_end: None,
            terminal: None,
            last_signal: None,
            term_at: None,
            kill_at: None,
            notes: Vec::new(),
            card_died: false,
        })
    }

    /// Waits until drivers may connect to the card, if this process started one.
    ///
    /// # Errors
    /// The card refused its options, failed, or was not ready in time; or the user has gone.
    pub fn wait_for_card(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            self.reap();
            let Some(card) = &self.card else {
                return Ok(());
            };
            if card.refused_options() {
                let errors = card.errors();
                let text = errors.split("\n\nFor more").next().unwrap_or_default();
                let text = text.trim().trim_start_matches("error: ");
                return Err(UsageError(format!("the card refuses its options: {text}")).into());
            }
            if let Some(how) = card.end() {
                bail!(
                    "the card ended {how} while it was starting: {}",
                    card.errors().trim()
                );
            }
            if card.is_ready() {
                return Ok(());
            }
            if start.elapsed() > START {
                bail!("the card was not ready within {} s", START.as_secs());
            }
            if let Some(signal) = self.received()? {
                bail!("{} arrived before the program started", signal.as_str());
            }
            std::thread::sleep(START_POLL);
        }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_program(
        &mut self,
        command: Command,
        input: Stdio,
        terminal: Option<Terminal>,
    ) -> Result<()> {
        self.program = process::spawn(command, input).context("cannot start the program")?;
        self.terminal = terminal;
        Ok(())
    }

    /// Passes signals on until the program has ended, then ends the processes that it left. The program
    /// gets SIGTERM after `duration`.
    pub fn until_end(mut self, duration: Option<Duration>) -> Ending {
        self.term_at = duration.map(|duration| Instant::now() + duration);
        while self.program_end.is_none() {
            self.wait();
            self.pass_signals();
            self.reap();
            self.check_card();
            self.check_time();
        }
        self.end_children();
        if let Some(terminal) = &self.terminal {
            terminal.take_back(self.program);
        }
        let status = match self.program_end {
            _ if self.card_died => 1,
            Some(WaitStatus::Exited(_, code)) => u8::try_from(code).unwrap_or(1),
            Some(WaitStatus::Signaled(_, signal, core)) => {
                let core = if core { " (core dumped)" } else { "" };
                self.notes.push(format!(
                    "the program ended by signal {}{core}",
                    signal.as_str()
                ));
                u8::try_from(128 + signal as i32).unwrap_or(1)
            }
            _ => 1,
        };
        Ending {
            status,
            notes: std::mem::take(&mut self.notes),
            card: self.card.take(),
        }
    }

    /// Waits for a signal, a change of a child, or the next deadline.
    fn wait(&mut self) {
        let deadlines = [self.term_at, self.kill_at.as_ref().map(|(at, _)| *at)];
        let next = deadlines.into_iter().flatten().min();
        let timeout = next.map_or(PollTimeout::NONE, |at| {
            let left = at.saturating_duration_since(Instant::now());
            PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = vec![PollFd::new(self.changes.as_fd(), PollFlags::POLLIN)];
        if let Some(control) = &self.control {
            fds.push(PollFd::new(control.as_fd(), PollFlags::POLLIN));
        }
        // An error such as EINTR means that there may be work to do.
        let _ = poll(&mut fds, timeout);
        let mut waste = [0; 64];
        while matches!((&self.changes).read(&mut waste), Ok(1..)) {}
    }

    /// The next signal for the program. After the end of the process that the user started, it is an
    /// error.
    fn received(&mut self) -> Result<Option<Signal>> {
        let Some(control) = &mut self.control else {
            return Ok(None);
        };
        let mut byte = [0];
        match control.read(&mut byte) {
            Ok(0) => Err(anyhow!("`triptych with-card` was killed")),
            Ok(_) => Ok(Signal::try_from(i32::from(byte[0])).ok()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn pass_signals(&mut self) {
        loop {
            match self.received() {
                Ok(Some(signal)) => self.pass(signal),
                Ok(None) => return,
                Err(_) => {
                    self.control = None;
                    self.term_at = Some(Instant::now());
                    self.kill_after(ORPHAN_GRACE, "`triptych with-card` was killed");
                }
            }
        }
    }

    /// Passes a signal on to the program's process group.
    fn pass(&mut self, signal: Signal) {
        if signal == Signal::SIGCONT {
            if let Some(terminal) = &self.terminal {
                terminal.give(self.program);
            }
        } else if let Some((last, at)) = self.last_signal {
            if last == signal && at.elapsed() < SAME_SIGNAL {
                return;
            }
        }
        self.last_signal = Some((signal, Instant::now()));
        let _ = killpg(self.program, signal);
        if matches!(signal, Signal::SIGTERM | Signal::SIGHUP) {
            // A stopped process handles these only when it continues.
            let _ = killpg(self.program, Signal::SIGCONT);
            let why = format!(
                "the program did not end within {} s of {}",
                GRACE.as_secs(),
                signal.as_str()
            );
            self.kill_after(GRACE, &why);
        }
    }

    fn kill_after(&mut self, time: Duration, why: &str) {
        let at = Instant::now() + time;
        if self
            .kill_at
            .as_ref()
            .is_none_or(|(earlier, _)| at < *earlier)
        {
            self.kill_at = Some((at, why.to_owned()));
        }
    }

    /// Notes what happened to the children.
    fn reap(&mut self) {
        while let Some(status) = family::next_change() {
            let ended = matches!(status, WaitStatus::Exited(..) | WaitStatus::Signaled(..));
            match status.pid() {
                Some(pid) if pid == self.program && ended => self.program_end = Some(status),
                Some(pid) if pid == self.program => self.stopped(),
                Some(pid) if ended => {
                    if let Some(card) = self.card.as_mut().filter(|card| card.process() == pid) {
                        card.note_end(status);
                    }
                }
                _ => {}
            }
        }
    }

    /// The program was stopped. On a terminal, the whole job stops, so that the shell continues.
    fn stopped(&mut self) {
        if let (Some(terminal), Some(control)) = (&self.terminal, &mut self.control) {
            terminal.take_back(self.program);
            let _ = control.write_all(&[STOPPED]);
        }
    }

    fn check_card(&mut self) {
        if self.card_died || self.program_end.is_some() {
            return;
        }
        if let Some(how) = self.card.as_ref().and_then(Card::end) {
            self.card_died = true;
            self.notes
                .push(format!("the card ended {how} while the program ran"));
            self.term_at = Some(Instant::now() + NOTICE);
        }
    }

    /// Ends the program when its time is over.
    fn check_time(&mut self) {
        let now = Instant::now();
        if self.term_at.is_some_and(|at| at <= now) {
            self.term_at = None;
            self.pass(Signal::SIGTERM);
        }
        if let Some((_, why)) = self.kill_at.take_if(|(at, _)| *at <= now) {
            self.notes.push(format!("{why}; it was killed"));
            let _ = killpg(self.program, Signal::SIGKILL);
        }
    }

    /// Ends the processes that the program left.
    fn end_children(&mut self) {
        let card: Vec<_> = self.card.iter().map(Card::process).collect();
        let count = family::end(getpid(), &card, CHILDREN.0, CHILDREN.1);
        if count > 0 {
            let what = if count == 1 { "a process" } else { "processes" };
            self.notes.push(format!(
                "ended {what} that the program left behind ({count})"
            ));
        }
        // A card that died meanwhile is noted before it is stopped.
        self.reap();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.program_end.is_some() {
            return; // All processes have ended, and the card has another owner.
        }
        let card: Vec<_> = self.card.iter().map(Card::process).collect();
        family::end(getpid(), &card, Duration::ZERO, CHILDREN.1);
    }
}
