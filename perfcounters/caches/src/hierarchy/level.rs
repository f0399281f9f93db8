//! The levels that serve accesses.

/// Who served an access, from the nearest to the furthest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The L1 cache.
    L1,
    /// The line was on its way to L1 for an earlier access.
    Underway,
    /// The L2 cache.
    L2,
    /// The L3 cache.
    L3,
    /// The main memory.
    Memory,
    /// A register of the card.
    Register,
}
