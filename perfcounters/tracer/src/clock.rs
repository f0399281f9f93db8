//! The virtual clock of a traced program.
//!
//! It stands still while the program computes. Each look at it moves it by a microsecond, and each
//! sleep by its duration. All clocks of the program are this one, also the time-stamp counter, which
//! counts nanoseconds. Sleeps still take their time, because other processes work meanwhile.

use libc::c_long;

/// Nanoseconds by which a look moves the clock.
const LOOK: u64 = 1_000;
/// Nanoseconds since its epoch that a clock shows at the program's start: 1,000 s.
const START: u64 = 1_000_000_000_000;
/// Nanoseconds from 1970 to the program's start, for clocks that show the date: 1 January 2026.
const DATE: u64 = 1_767_225_600_000_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

/// A system call that has to do with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockCall {
    /// `clock_gettime`: the clock, and the address of the result.
    Get(u64, u64),
    /// `gettimeofday`: the address of the result.
    TimeOfDay(u64),
    /// `time`: the address of the result, or 0.
    Time(u64),
    /// `nanosleep`: the address of the duration.
    Sleep(u64),
    /// `clock_nanosleep`: whether the time is absolute, the clock, and the address of the time.
    SleepOn(bool, u64, u64),
}

impl ClockCall {
    /// The call with this number and these arguments, if it has to do with time.
    pub(crate) fn of(number: u64, arguments: [u64; 3]) -> Option<Self> {
        let [first, second, third] = arguments;
        match number as c_long {
            libc::SYS_clock_gettime => Some(Self::Get(first, second)),
            libc::SYS_gettimeofday => Some(Self::TimeOfDay(first)),
            libc::SYS_time => Some(Self::Time(first)),
            libc::SYS_nanosleep => Some(Self::Sleep(first)),
            libc::SYS_clock_nanosleep => {
                let absolute = second & libc::TIMER_ABSTIME as u64 != 0;
                Some(Self::SleepOn(absolute, first, third))
            }
            _ => None,
        }
    }
}

/// The result of a call: words to write to memory, and the value to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Where the words go, unless there are none.
    pub(crate) place: Option<(u64, [u64; 2], usize)>,
    /// The return value.
    pub(crate) value: u64,
}

/// The clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct VirtualClock {
    nanoseconds: u64,
}

impl VirtualClock {
    fn look(&mut self) -> u64 {
        self.nanoseconds += LOOK;
        self.nanoseconds
    }

    /// The value of the time-stamp counter.
    pub(crate) fn counter(&mut self) -> u64 {
        START + self.look()
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
        let dated = [
            libc::CLOCK_REALTIME,
            libc::CLOCK_REALTIME_COARSE,
            libc::CLOCK_TAI,
        ];
        let origin = match dated.iter().any(|dated| *dated as u64 == clock) {
            true => DATE,
            false => START,
        };
        origin + self.look()
    }

    /// Answers a call that asks for the time; `None` for a sleep.
    pub(crate) fn answer(&mut self, call: ClockCall) -> Option<Answer> {
        let pair = |time: u64, unit: u64| [time / SECOND, time % SECOND / unit];
        let written = |at: u64, words, count| (at != 0).then_some((at, words, count));
        match call {
            ClockCall::Get(clock, at) => Some(Answer {
                place: written(at, pair(self.time(clock), 1), 2),
                value: 0,
            }),
            ClockCall::TimeOfDay(at) => {
                let time = self.time(libc::CLOCK_REALTIME as u64);
                Some(Answer {
                    place: written(at, pair(time, 1_000), 2),
                    value: 0,
                })
            }
            ClockCall::Time(at) => {
                let seconds = self.time(libc::CLOCK_REALTIME as u64) / SECOND;
                Some(Answer {
                    place: written(at, [seconds, 0], 1),
                    value: seconds,
                })
            }
            ClockCall::Sleep(_) | ClockCall::SleepOn(..) => None,
        }
    }

    /// Nanoseconds of a sleep until `time` on a clock.
    pub(crate) fn until(&self, clock: u64, time: u64) -> u64 {
        let mut copy = self.clone();
        time.saturating_sub(copy.time(clock) - LOOK)
    }
}

/// Nanoseconds of a time in two words.
pub(crate) fn nanoseconds(words: [u64; 2]) -> u64 {
    words[0].saturating_mul(SECOND).saturating_add(words[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_moves_the_clock_and_a_sleep_does() {
        let mut clock = VirtualClock::default();
        assert_eq!(clock.counter(), START + LOOK);
        clock.sleep(5 * SECOND);
        assert_eq!(clock.counter(), START + 5 * SECOND + 2 * LOOK);
        let call = ClockCall::of(libc::SYS_clock_gettime as u64, [1, 0x10, 0]).unwrap();
        let answer = clock.answer(call).unwrap();
        assert_eq!(answer.place, Some((0x10, [1005, 3 * LOOK], 2)));
    }

    #[test]
    fn starts_that_differ_a_little_end_at_the_same_minute() {
        let after = |looks| {
            let mut clock = VirtualClock::default();
            (0..looks).for_each(|_| clock.sleep(1_000_000));
            clock.round_up_to_a_minute();
            clock.counter()
        };
        assert_eq!(after(3), after(700));
        assert_eq!(after(0), START + MINUTE + LOOK);
    }

    #[test]
    fn dates_and_null_pointers_are_answered() {
        let mut clock = VirtualClock::default();
        let time = clock.answer(ClockCall::Time(0)).unwrap();
        assert_eq!((time.place, time.value), (None, DATE / SECOND));
        let day = clock.answer(ClockCall::TimeOfDay(8)).unwrap();
        assert_eq!(day.place, Some((8, [DATE / SECOND, 2], 2)));
        assert_eq!(ClockCall::of(libc::SYS_read as u64, [0; 3]), None);
    }

    #[test]
    fn an_absolute_sleep_lasts_until_its_time() {
        let clock = VirtualClock::default();
        assert_eq!(clock.until(1, START + 7), 7);
        assert_eq!(clock.until(1, 0), 0);
        assert_eq!(nanoseconds([2, 5]), 2_000_000_005);
    }
}
