//! The executed stream: what a driver and its card did, in order.

use std::collections::BTreeMap;

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

/// A decoded instruction and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The instruction. Its address is [`Instruction::ip`].
    pub instruction: Instruction,
    bytes: [u8; LONGEST_INSTRUCTION],
}

impl Decoded {
    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.instruction.len().min(LONGEST_INSTRUCTION)]
    }

    /// The kind of branch, or `None` if the instruction is no branch.
    pub fn branch(&self) -> Option<Branch> {
        match self.instruction.flow_control() {
            FlowControl::ConditionalBranch => Some(Branch::Conditional),
            FlowControl::UnconditionalBranch => Some(Branch::Jump),
            FlowControl::IndirectBranch => Some(Branch::IndirectJump),
            FlowControl::Call
                if self.instruction.is_call_near() || self.instruction.is_call_far() =>
            {
                Some(Branch::Call)
            }
            FlowControl::IndirectCall => Some(Branch::IndirectCall),
            FlowControl::Return => Some(Branch::Return),
            _ => None,
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

/// Why bytes are not the instruction at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The bytes are no instruction.
    #[error("the bytes at {0:#x} are no x86-64 instruction: give the bytes that the processor executed there")]
    Invalid(u64),
    /// The address already has another instruction.
    #[error("the instruction at {0:#x} changed while the driver ran: the code must not change")]
    Changed(u64),
}

/// The executed instructions by address, in order of the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    instructions: BTreeMap<u64, Decoded>,
}

impl Code {
    /// Code without instructions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the instruction at `address`. `bytes` starts there and may be longer than the instruction.
    ///
    /// # Errors
    /// The bytes are no instruction of 64-bit mode, or the address holds another instruction already.
    pub fn insert(&mut self, address: u64, bytes: &[u8]) -> Result<&Decoded, CodeError> {
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(CodeError::Invalid(address));
        }
        let mut own = [0; LONGEST_INSTRUCTION];
        let length = instruction.len();
        own[..length].copy_from_slice(&bytes[..length]);
        let new = Decoded {
            instruction,
            bytes: own,
        };
        let entry = self
            .instructions
            .entry(address)
            .or_insert_with(|| new.clone());
        if *entry != new {
            return Err(CodeError::Changed(address));
        }
        Ok(entry)
    }

    /// The instruction at `address`.
    pub fn get(&self, address: u64) -> Option<&Decoded> {
        self.instructions.get(&address)
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// All instructions in order of their address.
    pub fn iter(&self) -> impl Iterator<Item = &Decoded> {
        self.instructions.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_finds_an_instruction_and_its_bytes() {
        let mut code = Code::new();
        code.insert(0x1000, &[0x48, 0x8b, 0x07, 0xc3]).unwrap();
        code.insert(0x1003, &[0xc3]).unwrap();
        assert_eq!(code.get(0x1000).unwrap().bytes(), [0x48, 0x8b, 0x07]);
        assert_eq!(code.get(0x1003).unwrap().branch(), Some(Branch::Return));
        assert_eq!(code.get(0x1001), None);
        assert_eq!(code.len(), 2);
    }

    #[test]
    fn code_tells_the_kinds_of_branches_apart() {
        let mut code = Code::new();
        let kinds: [(&[u8], Option<Branch>); 8] = [
            (&[0x75, 0xfe], Some(Branch::Conditional)),
            (&[0xeb, 0xfe], Some(Branch::Jump)),
            (&[0xff, 0xe0], Some(Branch::IndirectJump)),
            (&[0xe8, 0, 0, 0, 0], Some(Branch::Call)),
            (&[0xff, 0xd0], Some(Branch::IndirectCall)),
            (&[0xc3], Some(Branch::Return)),
            (&[0x90], None),
            (&[0x0f, 0x05], None),
        ];
        for (index, (bytes, kind)) in kinds.into_iter().enumerate() {
            let decoded = code.insert(0x1000 + 16 * index as u64, bytes).unwrap();
            assert_eq!(decoded.branch(), kind, "{bytes:x?}");
        }
    }

    #[test]
    fn code_refuses_bytes_that_are_no_instruction() {
        let mut code = Code::new();
        assert_eq!(
            code.insert(0x1000, &[0x06]).unwrap_err(),
            CodeError::Invalid(0x1000)
        );
        assert_eq!(
            code.insert(0x1000, &[0x48]).unwrap_err(),
            CodeError::Invalid(0x1000)
        );
        assert_eq!(
            code.insert(0x1000, &[]).unwrap_err(),
            CodeError::Invalid(0x1000)
        );
    }

    #[test]
    fn code_refuses_an_instruction_that_changed() {
        let mut code = Code::new();
        code.insert(0x1000, &[0x90]).unwrap();
        code.insert(0x1000, &[0x90]).unwrap();
        assert_eq!(
            code.insert(0x1000, &[0xc3]).unwrap_err(),
            CodeError::Changed(0x1000)
        );
    }
}
