//! Lines that an instruction has just asked for.
//!
//! Intel counts a load neither as an L1 hit nor as a hit of another level if its line is on its way
//! already. The caches see instructions and no time. So a line counts as on its way for as many
//! instructions as the core holds at a time: a later one enters only when the load is done.

use std::collections::VecDeque;

use super::level::Level;

/// Lines on their way.
#[derive(Clone, Debug)]
pub(super) struct Underway {
    /// Instructions for which a line is on its way.
    window: u64,
    /// The requests, oldest first: instruction, line, and who has it.
    requests: VecDeque<(u64, u64, Level)>,
}

impl Underway {
    pub(super) fn new(window: u32) -> Self {
        Self {
            window: u64::from(window),
            requests: VecDeque::new(),
        }
    }

    /// The next instruction is number `now`.
    pub(super) fn step(&mut self, now: u64) {
        let arrived = |at: &u64| at + self.window <= now;
        while self.requests.front().is_some_and(|(at, ..)| arrived(at)) {
            self.requests.pop_front();
        }
    }

    /// Instruction `now` asks for a line that `origin` has.
    pub(super) fn request(&mut self, now: u64, line: u64, origin: Level) {
        self.requests.push_back((now, line, origin));
    }

    /// Who has the line, if it is on its way.
    pub(super) fn origin(&self, line: u64) -> Option<Level> {
        let mut requests = self.requests.iter();
        requests
            .find(|request| request.1 == line)
            .map(|request| request.2)
    }

    /// The line is no longer on its way, because the card took it.
    pub(super) fn cancel(&mut self, line: u64) {
        self.requests.retain(|request| request.1 != line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_underway_until_the_window_has_passed_or_the_card_takes_it() {
        let mut underway = Underway::new(8);
        underway.request(1, 7, Level::Memory);
        underway.step(8);
        assert_eq!(underway.origin(7), Some(Level::Memory));
        underway.step(9);
        assert_eq!(underway.origin(7), None);
        underway.request(9, 7, Level::L3);
        underway.cancel(7);
        assert_eq!(underway.origin(7), None);
    }
}
