//! Where the cycles went.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Index, IndexMut, Sub};

/// What the core waited for in a cycle in which it could have retired something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Nothing: the core retired as fast as it can, or waited for units and for results of other instructions.
    Core,
    /// The front end, which a taken branch interrupts.
    FrontEnd,
    /// The right path after a mispredicted branch.
    Mispredict,
    /// A load from L2.
    L2,
    /// A load from L3.
    L3,
    /// A load from memory.
    Memory,
    /// A free fill buffer, because too many misses were on their way, or a line that a prefetcher had requested.
    FillBuffers,
    /// A free entry of the store buffer.
    StoreBuffer,
    /// A load from a register of the card.
    Uncached,
    /// A fence or a locked instruction.
    Order,
}

impl Cause {
    /// All causes, in the order of reports.
    pub const ALL: [Cause; 10] = [
        Cause::Core,
        Cause::FrontEnd,
        Cause::Mispredict,
        Cause::L2,
        Cause::L3,
        Cause::Memory,
        Cause::FillBuffers,
        Cause::StoreBuffer,
        Cause::Uncached,
        Cause::Order,
    ];

    /// The name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Core => "core",
            Cause::FrontEnd => "front end",
            Cause::Mispredict => "mispredicts",
            Cause::L2 => "loads from L2",
            Cause::L3 => "loads from L3",
            Cause::Memory => "loads from memory",
            Cause::FillBuffers => "fill buffers",
            Cause::StoreBuffer => "store buffer",
            Cause::Uncached => "register reads",
            Cause::Order => "fences",
        }
    }
}

/// Cycles by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([u64; Cause::ALL.len()]);

impl Causes {
    /// All cycles.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Index<Cause> for Causes {
    type Output = u64;

    fn index(&self, cause: Cause) -> &u64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Causes {
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.0[cause as usize]
    }
}

impl AddAssign for Causes {
    fn add_assign(&mut self, other: Self) {
        for (sum, cycles) in self.0.iter_mut().zip(other.0) {
            *sum += cycles;
        }
    }
}

impl Sub for Causes {
    type Output = Self;

    /// The cycles that came after `earlier`, of the same execution.
    fn sub(mut self, earlier: Self) -> Self {
        for (sum, cycles) in self.0.iter_mut().zip(earlier.0) {
            *sum -= cycles;
        }
        self
    }
}

/// How long an execution took, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Core cycles from the first dispatch to the last retirement.
    pub cycles: u64,
    /// Instructions that retired.
    pub instructions: u64,
    /// All cycles by cause. Their sum is `cycles`.
    pub causes: Causes,
    /// The cycles of each instruction by its address, in order of the address. Their sum is `cycles`.
    ///
    /// An instruction gets the cycles from the retirement of the one before it to its own.
    pub by_address: BTreeMap<u64, Causes>,
}
