//! What the hierarchy counted.

/// The sums of a hierarchy since its start, or since [`super::Hierarchy::reset_counts`].
///
/// The loads are those of `MEM_LOAD_RETIRED` on Intel's processors. An access that crosses a line counts once, at the
/// slower of its two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub steps: u64,
    /// Loads, each in one of the next six counts.
    pub loads: u64,
    /// Loads that L1 or the store buffer served.
    pub load_l1: u64,
    /// Loads that L2 served.
    pub load_l2: u64,
    /// Loads that L3 served.
    pub load_l3: u64,
    /// Loads that the main memory served: L3 misses.
    pub load_memory: u64,
    /// Loads of a line that was already on its way to L1.
    pub load_fill_buffer: u64,
    /// Loads from registers of the card.
    pub load_uncached: u64,
    /// Stores, including those to registers of the card.
    pub stores: u64,
    /// Stores to registers of the card.
    pub store_uncached: u64,
    /// Stores whose line was not in L1 and not on its way. Each requests ownership of its line.
    pub stores_missing: u64,
    /// Those of [`Self::stores_missing`] that L2 served.
    pub store_l2: u64,
    /// Those of [`Self::stores_missing`] that L3 served.
    pub store_l3: u64,
    /// Those of [`Self::stores_missing`] that the main memory served.
    pub store_memory: u64,
    /// Prefetch instructions.
    pub prefetches: u64,
    /// Those of [`Self::prefetches`] whose line was not in L1 and not on its way.
    pub prefetches_missing: u64,
    /// Lines that the L1 prefetchers fetched.
    pub hardware_l1: u64,
    /// Lines that the L2 prefetchers fetched.
    pub hardware_l2: u64,
    /// Loads and stores that missed the first TLB and hit the second.
    pub tlb_second: u64,
    /// Loads and stores that walked through the page tables.
    pub tlb_walks: u64,
    /// Lines that the card read.
    pub device_reads: u64,
    /// Lines that the card wrote.
    pub device_writes: u64,
    /// Those of [`Self::device_writes`] that L3 already held.
    pub device_write_hits: u64,
    /// Those of [`Self::device_writes`] that took their line away from L1 or L2.
    pub device_taken: u64,
}

impl Counts {
    /// A count per packet; 0 if there are no packets.
    pub fn per_packet(count: u64, packets: u64) -> f64 {
        if packets == 0 {
            0.0
        } else {
            count as f64 / packets as f64
        }
    }
}
