//! The work that one port may do in a round of the data plane, so that other ports get their turn.
//!
//! A driver decides how much work a descriptor is: 60 bytes to copy, or 256 KiB to cut into tens of
//! thousands of segments. So the card counts work, and stops in the middle of a frame if it must.
//! A unit of work is about a nanosecond of a release build.

/// A frame of 60 bytes on the fast paths.
pub(crate) const SMALL_FRAME: usize = 16;
/// A descriptor on the general path, besides its bytes.
pub(crate) const DESCRIPTOR: usize = 64;
/// A frame on the general path, besides its bytes.
pub(crate) const FRAME: usize = 256;
/// A frame that is kept for a cable or for the program that runs the card.
pub(crate) const KEPT_FRAME: usize = 512;
/// A signal, a note or a look at the clock.
pub(crate) const EVENT: usize = 1024;

/// The work that is left in this round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(usize);

impl Budget {
    /// For a data plane that is stepped by hand, which does all work at once.
    pub(crate) const UNLIMITED: Self = Self(usize::MAX);

    /// So many units of work.
    pub(crate) const fn of(units: usize) -> Self {
        Self(units)
    }

    /// Work was done.
    #[inline(always)]
    pub(crate) fn spend(&mut self, units: usize) {
        if self.0 != usize::MAX {
            self.0 = self.0.saturating_sub(units);
        }
    }

    /// Whether the rest must wait for the next round.
    #[inline(always)]
    pub(crate) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_until_nothing_is_left() {
        let mut budget = Budget::of(100);
        budget.spend(99);
        assert!(!budget.is_spent());
        budget.spend(usize::MAX);
        assert!(budget.is_spent());
        let mut budget = Budget::UNLIMITED;
        budget.spend(usize::MAX);
        assert!(!budget.is_spent());
    }
}
