//! The executed stream: what a driver and its card did, in order.

use std::collections::HashMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use smallvec::SmallVec;

/// The longest x86 instruction in bytes.
pub const LONGEST_INSTRUCTION: usize = 15;

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

/// The kind of the memory that is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Normal memory, which the caches hold.
    WriteBack,
    /// Registers of the card. No cache holds them.
    Uncached,
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
    /// The kind of memory.
    pub memory: Memory,
}

/// The accesses of one instruction, in the order in which they happen.
///
/// A read-modify-write is one load and one store. The list is empty for most instructions.
pub type Accesses = SmallVec<[Access; 2]>;

/// One executed instruction of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The address of the instruction. [`Code::get`] finds the instruction.
    pub address: u64,
    /// The memory accesses. A repeated string instruction is one step per iteration.
    pub accesses: Accesses,
    /// Whether a conditional branch was taken; `None` for every other instruction.
    pub taken: Option<bool>,
    /// The address of the driver's next executed instruction.
    pub target: u64,
}

/// What a [`DeviceAccess`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceAccessKind {
    /// The card reads the memory.
    Read,
    /// The card writes the memory.
    Write,
}

/// One access of the card to the driver's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceAccess {
    /// The virtual address of the first byte, as the driver sees it.
    pub address: u64,
    /// The number of bytes, at least 1.
    pub bytes: u32,
    /// What the access does.
    pub kind: DeviceAccessKind,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The driver executed an instruction.
    Step(Step),
    /// The card accessed the driver's memory.
    Device(DeviceAccess),
}

/// A range of virtual addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first address.
    pub start: u64,
    /// The first address behind the region.
    pub end: u64,
}

/// An execution.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The instructions that were executed, by address.
    pub code: Code,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The index of the first event that counts. Those before it warm caches and predictor.
    pub measured_from: usize,
    /// The packets that the driver sent in the measured part.
    pub packets: u64,
    /// The memory that the card can reach, sorted by address, without overlaps. Each piece of it lies in pages
    /// of 2 MiB, on every machine. All other pages have 4 KiB.
    pub regions: Vec<Region>,
}

impl Stream {
    /// The steps and device accesses that count.
    pub fn measured(&self) -> &[Event] {
        self.events.get(self.measured_from..).unwrap_or_default()
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The instruction. Its address is [`Instruction::ip`].
    pub instruction: Instruction,
    /// The kind of branch, or `None` if the instruction is no branch.
    pub branch: Option<Branch>,
}

impl From<Instruction> for Decoded {
    fn from(instruction: Instruction) -> Self {
        let call = instruction.is_call_near() || instruction.is_call_far();
        let branch = match instruction.flow_control() {
            FlowControl::ConditionalBranch => Some(Branch::Conditional),
            FlowControl::UnconditionalBranch => Some(Branch::Jump),
            FlowControl::IndirectBranch => Some(Branch::IndirectJump),
            FlowControl::Call if call => Some(Branch::Call),
            FlowControl::IndirectCall => Some(Branch::IndirectCall),
            FlowControl::Return => Some(Branch::Return),
            _ => None,
        };
        Self {
            instruction,
            branch,
        }
    }
}

/// The kinds of branches, as predictors tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Branch {
    /// A jump that may fall through.
    Conditional,
    /// A direct jump.
    Jump,
    /// A jump through a register or memory.
    IndirectJump,
    /// A direct call.
    Call,
    /// A call through a register or memory.
    IndirectCall,
    /// A return from a call.
    Return,
}

/// Bytes that are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes at {0:#x} are no x86-64 instruction: give the bytes that the processor executed there")]
pub struct CodeError(pub u64);

/// The executed instructions by address. Only looked up, never iterated, so that no order can reach a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    instructions: HashMap<u64, Decoded>,
}

impl Code {
    /// Decodes the instruction at `address`. `bytes` starts there and may be longer than the instruction.
    ///
    /// # Errors
    /// The bytes are no instruction of 64-bit mode.
    pub fn insert(&mut self, address: u64, bytes: &[u8]) -> Result<Decoded, CodeError> {
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(CodeError(address));
        }
        let decoded = Decoded::from(instruction);
        self.instructions.insert(address, decoded);
        Ok(decoded)
    }

    /// The instruction at `address`.
    pub fn get(&self, address: u64) -> Option<&Decoded> {
        self.instructions.get(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_finds_instructions_and_tells_the_kinds_of_branches_apart() {
        let mut code = Code::default();
        let kinds: [(&[u8], Option<Branch>); 8] = [
            (&[0x75, 0xfe], Some(Branch::Conditional)),
            (&[0xeb, 0xfe], Some(Branch::Jump)),
            (&[0xff, 0xe0], Some(Branch::IndirectJump)),
            (&[0xe8, 0, 0, 0, 0], Some(Branch::Call)),
            (&[0xff, 0xd0], Some(Branch::IndirectCall)),
            (&[0xc3, 0x90], Some(Branch::Return)),
            (&[0x90], None),
            (&[0x0f, 0x05], None),
        ];
        for (address, (bytes, kind)) in (0x1000..).step_by(16).zip(kinds) {
            code.insert(address, bytes).unwrap();
            assert_eq!(code.get(address).unwrap().branch, kind, "{bytes:x?}");
        }
        assert_eq!(code.get(0x1050).unwrap().instruction.len(), 1);
        assert_eq!(code.get(0x1001), None);
    }

    #[test]
    fn code_refuses_bytes_that_are_no_instruction() {
        for bytes in [&[0x06][..], &[0x48], &[]] {
            assert_eq!(
                Code::default().insert(0x1000, bytes),
                Err(CodeError(0x1000))
            );
        }
    }
}
