//! The virtual clock of a traced program.
//!
//! It stands still while the program computes. Each look at it moves it by a microsecond, and each
//! sleep by its duration. All clocks of the program are this one, also the time-stamp counter, which
//! counts nanoseconds. Sleeps still take their time, because other processes work meanwhile.

use libc::c_long;
use nix::unistd::Pid;

use crate::error::TraceError;
use crate::target::{word, write_word};

/// Nanoseconds by which a look moves the clock.
const LOOK: u64 = 1_000;
/// Nanoseconds since its epoch that a clock shows at the program's start: 1,000 s.
const START: u64 = 1_000_000_000_000;
/// Nanoseconds from 1970 to the program's start, for clocks that show the date: 1 January 2026.
const DATE: u64 = 1_767_225_600_000_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

/// The clock.
#[derive(Debug, Default)]
pub(crate) struct VirtualClock {
    nanoseconds: u64,
}

impl VirtualClock {
    /// The value of the time-stamp counter.
    pub(crate) fn counter(&mut self) -> u64 {
        self.nanoseconds += LOOK;
        START + self.nanoseconds
    }

    /// Nanoseconds since the program's start. This is no look.
    pub(crate) fn now(&self) -> u64 {
        self.nanoseconds
    }

    /// Moves the clock by a sleep.
    pub(crate) fn sleep(&mut self, nanoseconds: u64) {
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds);
    }

    /// Moves the clock to the next full minute. The start of a program waits for other processes, and
    /// the number of its looks and sleeps may vary.
    pub(crate) fn round_up_to_a_minute(&mut self) {
        self.nanoseconds = (self.nanoseconds + 1).next_multiple_of(MINUTE);
    }

    /// The time that a clock of the system shows.
    fn time(&mut self, clock: u64) -> u64 {
        match clock as i32 {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
                self.counter() - START + DATE
            }
            _ => self.counter(),
        }
    }

    /// Answers a system call that has to do with time, in the kernel's place. `None`: the kernel must
    /// execute it. `pid` must be stopped.
    pub(crate) fn answer(
        &mut self,
        pid: Pid,
        number: u64,
        [first, second, third]: [u64; 3],
    ) -> Result<Option<u64>, TraceError> {
        let show = |at, time, unit| {
            if at == 0 {
                return Ok(());
            }
            write_word(pid, at, time / SECOND)?;
            write_word(pid, at + 8, time % SECOND / unit)
        };
        let asked = |at| -> Result<u64, TraceError> {
            let seconds = word(pid, at)?.saturating_mul(SECOND);
            Ok(seconds.saturating_add(word(pid, at + 8)?))
        };
        match number as c_long {
            libc::SYS_clock_gettime => show(second, self.time(first), 1)?,
            libc::SYS_gettimeofday => show(first, self.time(libc::CLOCK_REALTIME as u64), 1_000)?,
            libc::SYS_time => {
                let seconds = self.time(libc::CLOCK_REALTIME as u64) / SECOND;
                if first != 0 {
                    write_word(pid, first, seconds)?;
                }
                return Ok(Some(seconds));
            }
            libc::SYS_clock_nanosleep if second & libc::TIMER_ABSTIME as u64 != 0 => {
                let now = self.time(first);
                self.sleep(asked(third)?.saturating_sub(now));
            }
            libc::SYS_clock_nanosleep => {
                self.sleep(asked(third)?);
                return Ok(None);
            }
            libc::SYS_nanosleep => {
                self.sleep(asked(first)?);
                return Ok(None);
            }
            _ => return Ok(None),
        }
        Ok(Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_and_sleeps_move_all_clocks() {
        let mut clock = VirtualClock::default();
        assert_eq!(clock.counter(), START + LOOK);
        clock.sleep(5 * SECOND);
        assert_eq!(clock.counter(), START + 5 * SECOND + 2 * LOOK);
        assert_eq!(clock.time(0), DATE + 5 * SECOND + 3 * LOOK);
        assert_eq!(clock.time(1), START + 5 * SECOND + 4 * LOOK);
    }

    #[test]
    fn starts_that_differ_a_little_end_at_the_same_minute() {
        let after = |sleeps: u64| {
            let mut clock = VirtualClock::default();
            clock.sleep(sleeps * 1_000_000);
            clock.round_up_to_a_minute();
            clock.counter()
        };
        assert_eq!(after(3), after(700));
        assert_eq!(after(0), START + MINUTE + LOOK);
    }
}
