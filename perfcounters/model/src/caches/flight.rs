//! Lines that are on their way, and the clock that says for how long.
//!
//! The caches see instructions and no cycles. This clock stands in for the pipeline: an instruction takes one slot of the
//! core's width, and an instruction cannot enter the reorder buffer before the one that left its entry has its data. It knows
//! no dependences between instructions, so its time is a lower bound.

use std::collections::VecDeque;

/// A moment, in slots: cycles times the core's width.
pub(super) type Slots = u64;

/// The clock of the core.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    now: Slots,
    instruction: u64,
    window: u64,
    width: u64,
    /// The first instruction that cannot enter before the load has its data, and the moment of the data.
    blocking: VecDeque<(u64, Slots)>,
}

impl Clock {
    pub(super) fn new(width: u32, window: u32) -> Self {
        let (width, window) = (u64::from(width.max(1)), u64::from(window));
        Self {
            now: 0,
            instruction: 0,
            window,
            width,
            blocking: VecDeque::new(),
        }
    }

    /// The next instruction enters the reorder buffer.
    pub(super) fn step(&mut self) {
        self.instruction += 1;
        self.now += 1;
        while let Some((first, ready)) = self.blocking.front() {
            if *first > self.instruction {
                break;
            }
            self.now = self.now.max(*ready);
            self.blocking.pop_front();
        }
    }

    /// The current instruction keeps its entry until `ready`.
    pub(super) fn block(&mut self, ready: Slots) {
        if ready > self.now {
            self.blocking
                .push_back((self.instruction + self.window, ready));
        }
    }

    pub(super) fn now(&self) -> Slots {
        self.now
    }

    /// The slots of a number of cycles.
    pub(super) fn slots(&self, cycles: u32) -> Slots {
        u64::from(cycles) * self.width
    }

    /// The cycles from now to `moment`, rounded up.
    pub(super) fn cycles_to(&self, moment: Slots) -> u32 {
        u32::try_from(moment.saturating_sub(self.now).div_ceil(self.width)).unwrap_or(u32::MAX)
    }
}

/// A bounded number of requests for lines. Each remembers its `Origin`: who has the line.
#[derive(Clone, Debug)]
pub(super) struct Buffers<Origin> {
    entries: Vec<Request<Origin>>,
    latest: Slots,
}

#[derive(Clone, Copy, Debug)]
struct Request<Origin> {
    line: u64,
    ready: Slots,
    origin: Origin,
}

impl<Origin: Copy> Buffers<Origin> {
    /// `count` free buffers. `origin` is a placeholder in them.
    pub(super) fn new(count: u32, origin: Origin) -> Self {
        let free = Request {
            line: u64::MAX,
            ready: 0,
            origin,
        };
        Self {
            entries: vec![free; count.max(1) as usize],
            latest: 0,
        }
    }

    /// When the line arrives and from where, if it is on its way at `now`.
    pub(super) fn arrival(&self, line: u64, now: Slots) -> Option<(Slots, Origin)> {
        if self.latest <= now {
            return None;
        }
        let found = self
            .entries
            .iter()
            .find(|request| request.line == line && request.ready > now);
        found.map(|request| (request.ready, request.origin))
    }

    /// Requests a line that takes `latency` from its start. Returns when it arrives.
    ///
    /// If all buffers are busy, the request starts when the first of them is free.
    pub(super) fn request(
        &mut self,
        line: u64,
        now: Slots,
        latency: Slots,
        origin: Origin,
    ) -> Slots {
        let oldest = (0..self.entries.len())
            .min_by_key(|index| self.entries[*index].ready)
            .unwrap_or(0);
        let ready = now.max(self.entries[oldest].ready) + latency;
        self.entries[oldest] = Request {
            line,
            ready,
            origin,
        };
        self.latest = self.latest.max(ready);
        ready
    }

    /// Whether a buffer is free.
    pub(super) fn free(&self, now: Slots) -> bool {
        self.latest <= now || self.entries.iter().any(|request| request.ready <= now)
    }

    /// The line is no longer on its way, because the card took it.
    pub(super) fn cancel(&mut self, line: u64) {
        for request in &mut self.entries {
            if request.line == line {
                request.line = u64::MAX;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_stops_behind_a_load_that_waits() {
        let mut clock = Clock::new(4, 8);
        clock.step();
        clock.block(clock.now() + clock.slots(100));
        for _ in 0..7 {
            clock.step();
        }
        assert_eq!(clock.now(), 8);
        clock.step();
        assert_eq!(clock.now(), 401);
        clock.step();
        assert_eq!(clock.now(), 402);
    }

    #[test]
    fn requests_beyond_the_buffers_wait() {
        let mut buffers = Buffers::new(2, 'a');
        assert_eq!(buffers.request(1, 0, 40, 'b'), 40);
        assert_eq!(buffers.request(2, 4, 40, 'b'), 44);
        assert!(!buffers.free(5));
        assert_eq!(buffers.request(3, 5, 40, 'b'), 80);
        assert_eq!(buffers.arrival(2, 43), Some((44, 'b')));
        assert_eq!(buffers.arrival(2, 44), None);
        assert_eq!(buffers.arrival(1, 5), None);
        assert!(buffers.free(44));
    }

    #[test]
    fn a_cancelled_line_is_not_on_its_way() {
        let mut buffers = Buffers::new(2, 'a');
        buffers.request(1, 0, 40, 'b');
        buffers.cancel(1);
        assert_eq!(buffers.arrival(1, 1), None);
    }
}
