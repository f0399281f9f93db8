//! The executed stream: what a driver and its card did, in order.

use std::ops::Range;

use iced_x86::FlowControl;
use smallvec::SmallVec;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// The instruction reads memory.
    Load,
    /// The instruction writes memory.
    Store,
    /// The instruction asks for a line and reads no data (`prefetcht0` and its relatives).
    Prefetch,
}

/// One memory access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The virtual address of the first byte.
    pub address: u64,
    /// The number of bytes, at least 1.
    pub bytes: u16,
    /// What the access does.
    pub kind: AccessKind,
    /// Whether this is a register of the card. No cache holds those.
    pub register: bool,
}

/// The accesses of one instruction, in the order in which they happen.
///
/// A read-modify-write is one load and one store. The list is empty for most instructions.
pub type Accesses = SmallVec<[Access; 2]>;

/// One executed instruction of the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The address of the instruction.
    pub address: u64,
    /// The address behind the instruction.
    pub next: u64,
    /// The kind of the branch, if the instruction is one.
    pub branch: Option<FlowControl>,
    /// The memory accesses. A repeated string instruction is one step per iteration.
    pub accesses: Accesses,
    /// The address of the driver's next executed instruction.
    pub target: u64,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The driver executed an instruction.
    Step(Step),
    /// The card accessed the driver's memory.
    Device {
        /// The virtual address of the first byte, as the driver sees it.
        address: u64,
        /// The number of bytes, at least 1.
        bytes: u32,
        /// Whether the card wrote them.
        write: bool,
    },
}

/// An execution.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The index of the first event that counts. Those before it warm caches and predictor.
    pub measured_from: usize,
    /// The packets that the driver sent in the measured part.
    pub packets: u64,
    /// The memory that the card can reach, sorted by address, without overlaps. Each piece of it lies in pages
    /// of 2 MiB, on every machine. All other pages have 4 KiB.
    pub regions: Vec<Range<u64>>,
}

impl Stream {
    /// The steps and device accesses that count.
    pub fn measured(&self) -> &[Event] {
        self.events.get(self.measured_from..).unwrap_or_default()
    }
}
