//! Watches the program and the card until the program has ended.

use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{killpg, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::{getpgrp, Pid};

use super::card::Card;
use super::signals::Signals;
use super::terminal::Terminal;

/// Time for the program to end after SIGTERM or SIGHUP. Then it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// Time for the program to notice that the card has died.
const NOTICE: Duration = Duration::from_secs(1);
/// The same signal counts once in this time. `timeout` sends one to a process and to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(100);

/// The processes that this one watches.
pub(super) struct Watch {
    program: Pid,
    signals: Signals,
    terminal: Option<Terminal>,
    /// The card, if this process started it.
    pub(super) card: Option<Card>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
    card_died: bool,
    last_signal: Option<(Signal, Instant)>,
    /// When the program gets SIGTERM.
    term_at: Option<Instant>,
    /// When the program is killed, because it did not end by this signal.
    kill_at: Option<(Instant, Signal)>,
}

impl Watch {
    /// Passes the terminal to the program, which has just started.
    pub(super) fn new(
        program: Child,
        signals: Signals,
        terminal: Option<Terminal>,
        card: Option<Card>,
    ) -> Self {
        let program = Pid::from_raw(program.id() as i32);
        if let Some(terminal) = &terminal {
            terminal.give(program);
        }
        Self {
            program,
            signals,
            terminal,
            card,
            notes: Vec::new(),
            card_died: false,
            last_signal: None,
            term_at: None,
            kill_at: None,
        }
    }

    /// Passes signals on until the program has ended. Returns the status for the user. The program gets SIGTERM after
    /// `duration`.
    pub(super) fn until_end(&mut self, duration: Option<Duration>) -> u8 {
        self.term_at = duration.and_then(|duration| Instant::now().checked_add(duration));
        let status = loop {
            if let Some(status) = self.changed() {
                break status;
            }
            self.check_card();
            self.check_time();
            let kill_at = self.kill_at.map(|(at, _)| at);
            self.signals
                .wait(self.term_at.into_iter().chain(kill_at).min());
            for signal in self.signals.arrived() {
                self.pass(signal);
            }
        };
        if let Some(terminal) = &self.terminal {
            terminal.take_back(self.program);
        }
        if self.card_died {
            1
        } else {
            status
        }
    }

    /// Looks at the program. Returns its status if it has ended.
    fn changed(&mut self) -> Option<u8> {
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        match waitpid(self.program, Some(flags)) {
            Ok(WaitStatus::Exited(_, code)) => Some(u8::try_from(code).unwrap_or(1)),
            Ok(WaitStatus::Signaled(_, signal, core)) => {
                let core = if core { " (core dumped)" } else { "" };
                self.notes
                    .push(format!("the program ended by signal {signal}{core}"));
                Some(u8::try_from(128 + signal as i32).unwrap_or(1))
            }
            Ok(WaitStatus::Stopped(_, signal)) => {
                self.stopped(signal);
                None
            }
            Ok(_) => None,
            Err(error) => {
                self.notes
                    .push(format!("cannot wait for the program: {error}"));
                Some(1)
            }
        }
    }

    /// The program was stopped. On a terminal, the whole job stops, so that the shell continues.
    fn stopped(&self, signal: Signal) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let asks = matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU);
        if asks && terminal.shows(self.program) {
            // It used the terminal before it was in the foreground.
            let _ = killpg(self.program, Signal::SIGCONT);
            return;
        }
        terminal.take_back(self.program);
        // After `fg`, SIGCONT arrives and is passed on.
        let _ = killpg(getpgrp(), Signal::SIGSTOP);
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
            self.kill_at.get_or_insert((Instant::now() + GRACE, signal));
        }
    }

    fn check_card(&mut self) {
        let card = self.card.as_mut().filter(|_| !self.card_died);
        if let Some(how) = card.and_then(Card::ended) {
            self.card_died = true;
            self.notes
                .push(format!("the card ended with {how} while the program ran"));
            self.term_at = Some(Instant::now() + NOTICE);
        }
    }

    /// Ends the program when its time is over.
    fn check_time(&mut self) {
        let now = Instant::now();
        if self.term_at.take_if(|at| *at <= now).is_some() {
            self.pass(Signal::SIGTERM);
        }
        if let Some((_, signal)) = self.kill_at.take_if(|(at, _)| *at <= now) {
            let seconds = GRACE.as_secs();
            self.notes.push(format!(
                "the program did not end within {seconds} s of {signal}; it was killed"
            ));
            let _ = killpg(self.program, Signal::SIGKILL);
        }
    }
}
