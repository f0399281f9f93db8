//! What the model knows of a processor.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::policy::Policy;

/// The bytes of a cache line on all modelled processors.
pub const LINE: u64 = 64;

/// The longest history of a branch predictor, in branches.
pub const LONGEST_HISTORY: u32 = 1024;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A public document and the place in it.
    Source(String),
    /// No document gives the value. The text says why this value was taken.
    Assumption(String),
}

/// A parameter of a CPU file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Section and key: `l3.latency`.
    pub name: String,
    /// The value as TOML writes it.
    pub value: String,
    /// Where the value comes from.
    pub basis: Basis,
}

impl Parameter {
    /// The value, if it is a whole number.
    pub fn number(&self) -> Option<u32> {
        self.value.parse().ok()
    }
}

/// A processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The short name, which is the name of the file: `haswell`.
    pub name: String,
    /// The name for people: `Intel Xeon E3-1230 v3 (Haswell)`.
    pub title: String,
    /// The name for `llvm-mca -mcpu=`.
    pub llvm_mca: String,
    /// Which processors the file describes.
    pub identity: Identity,
    /// The core: clock, window and buffers.
    pub core: Core,
    /// The L1 data cache.
    pub l1d: Cache,
    /// The L2 cache.
    pub l2: Cache,
    /// The L3 cache.
    pub l3: LastLevel,
    /// The main memory.
    pub memory: MainMemory,
    /// The accesses of cards to the caches.
    pub ddio: Ddio,
    /// The TLBs for data.
    pub tlb: Tlb,
    /// The hardware prefetchers.
    pub prefetchers: Prefetchers,
    /// The branch predictor.
    pub branches: Branches,
    /// The documents, by the keys that the parameters name.
    pub sources: BTreeMap<String, String>,
    pub(crate) parameters: Vec<Parameter>,
}

/// The processors that a file describes, as `/proc/cpuinfo` names them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// `vendor_id`: `GenuineIntel` or `AuthenticAMD`.
    pub vendor: String,
    /// `cpu family`, in decimal.
    pub family: u32,
    /// All values of `model` that belong to it, in decimal.
    pub models: Vec<u32>,
}

/// The core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// The nominal clock in MHz, to which all cycles of the file refer.
    pub clock_mhz: u32,
    /// Instructions that the core renames per cycle.
    pub width: u32,
    /// Micro-operations that the micro-op cache supplies per cycle.
    pub fetch_width: u32,
    /// Entries of the queue between fetch and rename, in micro-operations.
    pub fetch_queue: u32,
    /// Cycles between two taken branches, at least.
    pub taken_branch_interval: u32,
    /// Entries of the reorder buffer, in micro-operations.
    pub reorder_buffer: u32,
    /// Entries of the load buffer.
    pub load_buffer: u32,
    /// Entries of the store buffer.
    pub store_buffer: u32,
    /// L1 misses that may be on their way at a time.
    pub fill_buffers: u32,
    /// L2 misses that may be on their way at a time.
    pub superqueue: u32,
    /// Cycles from a mispredicted branch to the next instruction of the right path.
    pub mispredict_penalty: u32,
    /// Whether a store that hits L1 keeps the requests of stores that miss before and after it apart. The misses then follow
    /// one another, and no longer overlap.
    pub hits_part_store_misses: bool,
    /// The low bits of its address by which a load looks for an earlier store that is still in the store buffer. If the
    /// rest of the address differs, the load waits until the store retires. 0: no load waits so.
    pub aliasing_bits: u32,
    /// Cycles of a load that takes its data from the store buffer.
    pub store_forwarding: u32,
    /// Time in ns for which a store to a register of the card holds the head of the store buffer.
    pub uncached_store_ns: u32,
    /// Time in ns of a load from a register of the card.
    pub uncached_load_ns: u32,
}

/// A cache of one core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The size in KiB. The model rounds the number of sets down.
    pub size_kib: u32,
    /// The ways of a set.
    pub ways: u32,
    /// Cycles from the address to the data.
    pub latency: u32,
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
    /// Cycles from the address to the data, at [`Core::clock_mhz`].
    pub latency: u32,
    /// Which line a new line replaces.
    pub policy: Policy,
    /// Whether it contains all lines of L1 and L2.
    pub contents: Contents,
    /// Whether its clock follows the core's. If not, its latency beyond L2 is constant in ns.
    pub scales_with_core: bool,
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

/// The main memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MainMemory {
    /// Nanoseconds from the miss in L3 to the data.
    pub beyond_l3_ns: u32,
}

/// Where the card's accesses go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ddio {
    /// The ways of each L3 set in which a write of the card may allocate a line. 0: writes go to memory.
    pub ways: u32,
}

/// The TLBs for data.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    /// Entries of the first level for pages of 4 KiB.
    pub small_entries: u32,
    /// Its ways.
    pub small_ways: u32,
    /// Entries of the first level for pages of 2 MiB.
    pub large_entries: u32,
    /// Its ways.
    pub large_ways: u32,
    /// Entries of the first level for pages of 1 GiB, fully associative.
    pub huge_entries: u32,
    /// Entries of the second level.
    pub second_entries: u32,
    /// Its ways.
    pub second_ways: u32,
    /// Whether the second level holds pages of 2 MiB too.
    pub second_holds_large: bool,
    /// Cycles that a hit in the second level adds.
    pub second_latency: u32,
    /// Cycles that a walk through the page tables adds.
    pub walk: u32,
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
    /// Pages whose requests to L2 the streamer follows. 0: no streamer.
    pub streams: u32,
    /// Lines that the streamer may run ahead.
    pub stream_distance: u32,
    /// Lines that the streamer fetches per request.
    pub stream_lines: u32,
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
    /// Loops whose number of iterations the predictor knows. 0: no loop predictor.
    pub loop_entries: u32,
    /// Entries of the table for targets of indirect branches, a power of two.
    pub target_entries: u32,
    /// Entries of the return stack.
    pub return_stack: u32,
}

/// The latencies of loads in core cycles, at one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// A hit in L1.
    pub l1: u32,
    /// A hit in L2.
    pub l2: u32,
    /// A hit in L3.
    pub l3: u32,
    /// A miss in L3.
    pub memory: u32,
    /// A store to a register of the card.
    pub uncached_store: u32,
    /// A load from a register of the card.
    pub uncached_load: u32,
}

impl Cpu {
    /// The latencies at a clock of `mhz`.
    pub fn latencies(&self, mhz: u32) -> Latencies {
        let cycles = |ns: u32| (u64::from(ns) * u64::from(mhz)).div_ceil(1000) as u32;
        let beyond_l2 = self.l3.latency.saturating_sub(self.l2.latency);
        let l3 = if self.l3.scales_with_core {
            self.l3.latency
        } else {
            let scaled = u64::from(beyond_l2) * u64::from(mhz);
            self.l2.latency + scaled.div_ceil(u64::from(self.core.clock_mhz)) as u32
        };
        Latencies {
            l1: self.l1d.latency,
            l2: self.l2.latency,
            l3,
            memory: l3 + cycles(self.memory.beyond_l3_ns),
            uncached_store: cycles(self.core.uncached_store_ns),
            uncached_load: cycles(self.core.uncached_load_ns),
        }
    }

    /// The latencies at the nominal clock.
    pub fn nominal_latencies(&self) -> Latencies {
        self.latencies(self.core.clock_mhz)
    }

    /// All parameters, in the order of sections and keys, each with its source or its assumption.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}
