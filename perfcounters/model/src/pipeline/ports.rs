//! The execution units: which of them is free in which cycle.

use std::collections::VecDeque;

use super::llvm::Use;

/// The units that are occupied, for the cycles from `first` on.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    first: u64,
    busy: VecDeque<u64>,
    /// How often each unit was taken, to spread the work over a group.
    taken: Vec<u64>,
}

impl Ports {
    pub fn new() -> Self {
        Self {
            taken: vec![0; 64],
            ..Self::default()
        }
    }

    /// Forgets the cycles before `cycle`, in which nothing is issued any more.
    pub fn forget_before(&mut self, cycle: u64) {
        while self.first < cycle && self.busy.pop_front().is_some() {
            self.first += 1;
        }
        self.first = self.first.max(cycle);
    }

    /// Takes the units for all `uses`, each as early as possible from `ready` on. Returns the cycle of the last one.
    pub fn take(&mut self, uses: &[Use], ready: u64) -> u64 {
        let mut last = ready;
        for item in uses {
            let mut from = ready;
            for _ in 0..item.count {
                from = self.take_one(item.units, from);
                last = last.max(from);
            }
        }
        last
    }

    fn take_one(&mut self, units: u64, ready: u64) -> u64 {
        let mut cycle = ready.max(self.first);
        loop {
            let index = (cycle - self.first) as usize;
            if index >= self.busy.len() {
                self.busy.resize(index + 1, 0);
            }
            let free = units & !self.busy[index];
            if let Some(unit) = self.least_taken(free) {
                self.busy[index] |= 1 << unit;
                self.taken[unit] += 1;
                return cycle;
            }
            cycle += 1;
        }
    }

    /// The unit of a set that was taken least often, the first of equals.
    fn least_taken(&self, set: u64) -> Option<usize> {
        (0..64)
            .filter(|unit| set & (1 << unit) != 0)
            .min_by_key(|unit| self.taken[*unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(units: u64) -> Use {
        Use { units, count: 1 }
    }

    #[test]
    fn a_group_takes_as_many_operations_a_cycle_as_it_has_units() {
        let mut ports = Ports::new();
        let cycles: Vec<u64> = (0..6).map(|_| ports.take(&[one(0b11)], 5)).collect();
        assert_eq!(cycles, [5, 5, 6, 6, 7, 7]);
    }

    #[test]
    fn an_operation_fills_a_gap_before_later_ones() {
        let mut ports = Ports::new();
        assert_eq!(ports.take(&[one(1)], 9), 9);
        assert_eq!(ports.take(&[one(1)], 5), 5);
        assert_eq!(ports.take(&[Use { units: 1, count: 3 }], 7), 10);
    }

    #[test]
    fn forgotten_cycles_are_not_taken() {
        let mut ports = Ports::new();
        ports.take(&[one(1)], 3);
        ports.forget_before(20);
        assert_eq!(ports.take(&[one(1)], 3), 20);
    }
}
