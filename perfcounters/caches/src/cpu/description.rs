//! What the simulation knows of a processor.

use serde::Deserialize;

use super::policy::Policy;

/// The bytes of a cache line on all processors.
pub const LINE: u64 = 64;

/// The longest history of a branch predictor, in branches.
pub const LONGEST_HISTORY: u32 = 1024;

/// A processor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The short name, which is the name of the file: `haswell`.
    pub name: String,
    /// The name for people: `Intel Xeon E3-1230 v3 (Haswell)`.
    pub title: String,
    /// Sizes of the core's buffers.
    pub core: Core,
    /// The L1 data cache.
    pub l1d: Cache,
    /// The L2 cache.
    pub l2: Cache,
    /// The L3 cache.
    pub l3: LastLevel,
    /// The card's writes to L3.
    pub ddio: Ddio,
    /// The hardware prefetchers.
    pub prefetchers: Prefetchers,
    /// The branch predictor.
    pub branches: Branches,
}

/// Sizes of the core's buffers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Entries of the reorder buffer. For so many instructions, a line counts as on its way.
    pub reorder_buffer: u32,
    /// L1 misses at a time. So many lines count as loaded lately for the next-line prefetcher.
    pub fill_buffers: u32,
}

/// A cache of one core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The size in KiB. The number of sets is rounded down.
    pub size_kib: u32,
    /// The ways of a set.
    pub ways: u32,
    /// Which line a new line replaces.
    pub policy: Policy,
}

/// The cache that all cores and the card share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastLevel {
    /// The size in KiB, of all slices that one core uses.
    pub size_kib: u32,
    /// The ways of a set.
    pub ways: u32,
    /// The slices. An address belongs to one of them.
    pub slices: u32,
    /// Which line a new line replaces.
    pub policy: Policy,
    /// Whether it contains all lines of L1 and L2.
    pub contents: Contents,
}

/// Which lines an L3 cache contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// All lines of L1 and L2. If it drops a line, L1 and L2 lose the line too.
    Inclusive,
    /// Lines that L2 dropped. A line that a core takes leaves the cache.
    Victims,
}

/// The card's writes to L3.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ddio {
    /// The ways of each L3 set in which a write of the card may allocate a line. 0: the maker documents
    /// no such writes.
    pub ways: u32,
}

/// The hardware prefetchers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetchers {
    /// Whether an L2 miss also fetches the other line of the aligned pair of lines into L2.
    pub adjacent_line: bool,
    /// Whether loads that ascend within recently loaded data fetch the next line into L1.
    pub next_line: bool,
    /// Load instructions whose strides the L1 prefetcher knows. 0: no such prefetcher.
    pub stride_entries: u32,
    /// The longest stride in bytes that it follows.
    pub longest_stride: u32,
}

/// The branch predictor, of the TAGE class.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branches {
    /// Entries of the table without history, a power of two.
    pub base_entries: u32,
    /// Tables with history.
    pub tables: u32,
    /// Entries of each of them, a power of two.
    pub table_entries: u32,
    /// Bits of a tag.
    pub tag_bits: u32,
    /// Branches in the shortest history.
    pub shortest_history: u32,
    /// Branches in the longest history. The lengths between form a geometric series.
    pub longest_history: u32,
    /// Entries of the table for targets of indirect branches.
    pub target_entries: u32,
    /// Entries of the return stack.
    pub return_stack: u32,
}
