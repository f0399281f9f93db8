//! What the hierarchy counted.

/// The sums of a hierarchy since its start, or since [`super::Hierarchy::reset_counts`].
///
/// The loads are those of `MEM_LOAD_RETIRED` on Intel's processors. An access that crosses a line counts
/// once, at the slower of its two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads, each in one of the next six counts.
    pub loads: u64,
    /// Loads that L1 served.
    pub l1: u64,
    /// Loads of a line that an earlier instruction had just asked for.
    pub underway: u64,
    /// Loads that L2 served.
    pub l2: u64,
    /// Loads that L3 served.
    pub l3: u64,
    /// Loads that the main memory served: L3 misses.
    pub memory: u64,
    /// Loads from registers of the card.
    pub registers: u64,
}
