//! Shares the data plane's processor time fairly among ports.
//!
//! [`Budget`](crate::device::budget::Budget) keeps rounds short, as far as work can be counted. It
//! cannot count everything: the first use of a page may cost a thousand times as much as the second,
//! and a driver can take its pages away and give them back for ever. So a data plane whose rounds
//! are long on average measures each port's time, and leaves ports out that have used more than
//! others with work. While rounds are short, nothing is measured but the duration of some rounds.

use std::time::{Duration, Instant};

use rustix::time::{clock_gettime, ClockId};

/// Rounds between two looks at the clock.
const LOOK_ROUNDS: u32 = 8;
/// Rounds that are longer on average are long.
const LONG_ROUND: Duration = Duration::from_micros(300);
/// Time of measuring after long rounds.
const MEASURED: Duration = Duration::from_millis(500);
/// Time that a port may be ahead of others.
const AHEAD: Duration = Duration::from_micros(200);
/// A longer turn counts as work even if it moved no frame.
const WORK: Duration = Duration::from_micros(5);
/// After so many turns without work, a port is not waited for: about half a millisecond.
const ACTIVE_TURNS: u32 = 1000;

/// One port's use of the data plane.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The processor time used, as far as it counts.
    used: Duration,
    /// Turns without work since the last one with work.
    idle_turns: u32,
    /// While it is left out: the end of that, at the latest.
    left_out_until: Option<Duration>,
}

impl Use {
    const NONE: Self = Self {
        used: Duration::ZERO,
        idle_turns: ACTIVE_TURNS,
        left_out_until: None,
    };

    fn is_active(&self) -> bool {
        self.idle_turns < ACTIVE_TURNS
    }
}

/// The shares of all ports.
#[derive(Debug)]
pub(super) struct Shares(Vec<Use>);

impl Shares {
    pub(super) fn new(ports: usize) -> Self {
        Self(vec![Use::NONE; ports])
    }

    /// The least use of the other ports that have work, and their number.
    fn others(&self, port: usize) -> Option<(Duration, u32)> {
        let others = self.0.iter().enumerate().filter(|(nth, _)| *nth != port);
        let active = others.filter(|(_, other)| other.is_active());
        let used = active.map(|(_, other)| other.used);
        used.fold(None, |least, used| match least {
            None => Some((used, 1)),
            Some((least, count)) => Some((used.min(least), count + 1)),
        })
    }

    /// Whether it is the port's turn. `now` is the processor time of the data plane, which spins while
    /// it leaves a port out.
    ///
    /// A port that is ahead waits until the others have caught up, but no longer than they need if
    /// they have work all the time. Without that limit, others with little work would take long, and
    /// a port that a single page fault or a busy machine delayed would lose its frames meanwhile.
    fn may_run(&mut self, port: usize, now: Duration) -> bool {
        let Some((least, others)) = self.others(port) else {
            return true;
        };
        let it = &mut self.0[port];
        let ahead = it.used.saturating_sub(least);
        if ahead <= AHEAD {
            it.left_out_until = None;
            return true;
        }
        if now < *it.left_out_until.get_or_insert(now + ahead * others) {
            return false;
        }
        (it.used, it.left_out_until) = (least, None);
        true
    }

    /// A port's turn has ended, and took so long.
    fn ran(&mut self, port: usize, took: Duration, worked: bool) {
        if !worked && took < WORK {
            let idle_turns = &mut self.0[port].idle_turns;
            *idle_turns = idle_turns.saturating_add(1);
            return;
        }
        // A port that comes back has saved nothing up.
        if !self.0[port].is_active() {
            let least = self.others(port).map(|(least, _)| least);
            self.0[port].used = self.0[port].used.max(least.unwrap_or_default());
        }
        self.0[port].used += took;
        self.0[port].idle_turns = 0;
    }
}

/// Watches the duration of rounds, and measures ports while rounds are long.
#[derive(Debug)]
pub(super) struct Fairness {
    shares: Shares,
    /// Rounds since the last look at the clock, and when that was.
    rounds: u32,
    looked: Instant,
    /// The end of measuring.
    until: Option<Instant>,
    /// The processor time at the end of the last port's turn, while measuring.
    now: Duration,
}

impl Fairness {
    pub(super) fn new(ports: usize) -> Self {
        Self {
            shares: Shares::new(ports),
            rounds: 0,
            looked: Instant::now(),
            until: None,
            now: Duration::ZERO,
        }
    }

    /// A round begins.
    #[inline(always)]
    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= LOOK_ROUNDS {
            self.look();
        }
        if self.until.is_some() {
            self.now = processor_time();
        }
    }

    #[inline(never)]
    fn look(&mut self) {
        let now = Instant::now();
        if now - self.looked > LONG_ROUND * self.rounds {
            if self.until.is_none() {
                self.shares = Shares::new(self.shares.0.len());
            }
            self.until = Some(now + MEASURED);
        } else if self.until.is_some_and(|until| now > until) {
            self.until = None;
        }
        (self.rounds, self.looked) = (0, now);
    }

    /// Whether it is a port's turn.
    #[inline(always)]
    pub(super) fn may_run(&mut self, port: usize) -> bool {
        self.until.is_none() || self.shares.may_run(port, self.now)
    }

    /// A port's turn has ended, with or without work.
    #[inline(always)]
    pub(super) fn ran(&mut self, port: usize, worked: bool) {
        if self.until.is_some() {
            let now = processor_time();
            self.shares.ran(port, now.saturating_sub(self.now), worked);
            self.now = now;
        }
    }
}

/// The processor time of this thread. It stands still while the thread is interrupted.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lets ports take turns for a second. Each port's rounds with work take its time; every port
    /// has work in the given share of its rounds. Returns each port's time.
    fn share(costs: &[u64], work: &[u32]) -> Vec<Duration> {
        let mut shares = Shares::new(costs.len());
        let mut used = vec![Duration::ZERO; costs.len()];
        let (mut now, mut round) = (Duration::ZERO, 0_u32);
        while now < Duration::from_secs(1) {
            round += 1;
            for port in 0..costs.len() {
                if !shares.may_run(port, now) {
                    continue;
                }
                let worked = round % 100 < work[port];
                let took = match worked {
                    true => Duration::from_nanos(costs[port]),
                    false => Duration::from_nanos(100),
                };
                now += took;
                shares.ran(port, took, worked);
                used[port] += took;
            }
        }
        used
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Whatever the other ports' rounds take, a port that always has work gets its share of the
        /// time.
        #[test]
        fn a_port_with_work_gets_its_share(
            own in 1_000..100_000_u64,
            others in prop::collection::vec((1_000..30_000_000_u64, 1..=100_u32), 1..8),
        ) {
            let costs: Vec<_> = [own].into_iter().chain(others.iter().map(|(cost, _)| *cost)).collect();
            let work: Vec<_> = [100].into_iter().chain(others.iter().map(|(_, work)| *work)).collect();
            let used = share(&costs, &work);
            let fair = 1.0 / costs.len() as f64;
            let got = used[0].as_secs_f64() / used.iter().sum::<Duration>().as_secs_f64();
            prop_assert!(got > 0.8 * fair - 0.03, "{got} of {fair}: {used:?}");
        }
    }

    #[test]
    fn a_port_alone_is_never_left_out() {
        let mut shares = Shares::new(2);
        for _ in 0..100 {
            assert!(shares.may_run(0, Duration::ZERO));
            shares.ran(0, Duration::from_millis(20), true);
            shares.ran(1, Duration::from_nanos(100), false);
        }
        // The other port comes, and has saved nothing up.
        shares.ran(1, Duration::from_micros(10), true);
        assert!(shares.may_run(0, Duration::ZERO));
    }

    #[test]
    fn one_long_turn_leaves_a_port_out_no_longer_than_it_took() {
        let mut shares = Shares::new(2);
        let mut now = Duration::ZERO;
        for port in 0..2 {
            shares.ran(port, Duration::from_micros(10), true);
        }
        shares.ran(0, Duration::from_millis(50), true);
        // The other port has work, but little.
        let mut waited = Duration::ZERO;
        while !shares.may_run(0, now) {
            shares.ran(1, Duration::from_micros(1), true);
            now += Duration::from_micros(10);
            waited += Duration::from_micros(10);
        }
        let limits = Duration::from_millis(40)..=Duration::from_millis(50);
        assert!(limits.contains(&waited), "{waited:?}");
        shares.ran(0, Duration::from_micros(10), true);
        assert!(shares.may_run(0, now), "it owes nothing any more");
    }
}
