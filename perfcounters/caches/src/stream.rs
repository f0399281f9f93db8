//! The executed stream: what a driver and its card did, in order.

use std::ops::Range;

use iced_x86::{FlowControl, Instruction, Mnemonic};
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The kind of a branch, or `None` if the instruction is no branch.
pub fn branch(instruction: &Instruction) -> Option<FlowControl> {
    use FlowControl as Flow;
    let flow = instruction.flow_control();
    match flow {
        Flow::Next | Flow::Interrupt | Flow::Exception | Flow::XbeginXabortXend => None,
        // System calls are of this kind, too.
        Flow::Call if instruction.mnemonic() != Mnemonic::Call => None,
        _ => Some(flow),
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    #[test]
    fn each_kind_of_branch_is_known() {
        let kinds: [(&[u8], Option<FlowControl>); 8] = [
            (&[0x75, 0xfe], Some(FlowControl::ConditionalBranch)),
            (&[0xeb, 0xfe], Some(FlowControl::UnconditionalBranch)),
            (&[0xff, 0xe0], Some(FlowControl::IndirectBranch)),
            (&[0xe8, 0, 0, 0, 0], Some(FlowControl::Call)),
            (&[0xff, 0xd0], Some(FlowControl::IndirectCall)),
            (&[0xc3], Some(FlowControl::Return)),
            (&[0x90], None),
            (&[0x0f, 0x05], None),
        ];
        for (bytes, kind) in kinds {
            let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
            assert_eq!(branch(&instruction), kind, "{bytes:x?}");
        }
    }
}
