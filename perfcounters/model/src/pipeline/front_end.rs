//! The supply of micro-operations from the micro-op cache to the rename stage.

use std::collections::VecDeque;

use crate::cpu::Core;

/// Fetches instructions in program order, ahead of the rename stage as far as the queue between them goes.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    width: u32,
    queue: u32,
    branch_interval: u64,
    cycle: u64,
    fetched: u32,
    /// The cycle in which the last target was fetched.
    last_target: u64,
    /// Dispatch and slots of the instructions that may still be in the queue.
    waiting: VecDeque<(u64, u32)>,
    slots_waiting: u32,
}

impl FrontEnd {
    pub fn new(core: &Core) -> Self {
        Self {
            width: core.fetch_width.max(1),
            queue: core.fetch_queue,
            branch_interval: u64::from(core.taken_branch_interval),
            cycle: 0,
            fetched: 0,
            last_target: 0,
            waiting: VecDeque::new(),
            slots_waiting: 0,
        }
    }

    /// Fetches the next instruction. Returns the cycle in which it may be dispatched.
    pub fn fetch(&mut self, slots: u32) -> u64 {
        while self.slots_waiting + slots > self.queue {
            let Some((dispatched, freed)) = self.waiting.pop_front() else {
                break;
            };
            self.slots_waiting -= freed;
            self.wait_until(dispatched);
        }
        if self.fetched > 0 && self.fetched + slots > self.width {
            self.wait_until(self.cycle + 1);
        }
        self.fetched += slots;
        while self.fetched > self.width {
            self.cycle += 1;
            self.fetched -= self.width;
        }
        self.cycle
    }

    /// The last fetched instruction left the queue in the cycle `at`.
    pub fn dispatched(&mut self, at: u64, slots: u32) {
        self.waiting.push_back((at, slots));
        self.slots_waiting += slots;
    }

    /// The last fetched instruction is a branch that was taken: its target comes in a later cycle.
    pub fn taken(&mut self) {
        self.wait_until((self.cycle + 1).max(self.last_target + self.branch_interval));
        self.last_target = self.cycle;
    }

    /// Nothing is fetched before `cycle`.
    pub fn wait_until(&mut self, cycle: u64) {
        if cycle > self.cycle {
            (self.cycle, self.fetched) = (cycle, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;

    fn front_end() -> FrontEnd {
        let mut core = Cpu::named("haswell").unwrap().core;
        (
            core.fetch_width,
            core.fetch_queue,
            core.taken_branch_interval,
        ) = (4, 8, 2);
        FrontEnd::new(&core)
    }

    #[test]
    fn a_cycle_supplies_as_many_as_the_width() {
        let mut front_end = front_end();
        let cycles: Vec<u64> = (0..6).map(|_| front_end.fetch(1)).collect();
        assert_eq!(cycles, [0, 0, 0, 0, 1, 1]);
    }

    #[test]
    fn the_target_of_a_branch_comes_in_a_later_cycle() {
        let mut front_end = front_end();
        front_end.fetch(1);
        front_end.taken();
        assert_eq!(front_end.fetch(1), 2);
        front_end.taken();
        assert_eq!(front_end.fetch(1), 4);
        for _ in 0..12 {
            front_end.fetch(1);
        }
        // The predictor was ahead during the long block.
        front_end.taken();
        assert_eq!(front_end.fetch(1), 8);
    }

    #[test]
    fn a_full_queue_stops_the_supply() {
        let mut front_end = front_end();
        for _ in 0..8 {
            front_end.fetch(1);
            front_end.dispatched(50, 1);
        }
        assert_eq!(front_end.fetch(1), 50);
    }
}
