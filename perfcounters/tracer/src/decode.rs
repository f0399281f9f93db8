//! Decoded instructions, and the addresses that each execution accesses.

use std::collections::HashMap;
use std::rc::Rc;

use caches::stream::{Access, AccessKind, Accesses};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register, UsedMemory,
};
use libc::user_regs_struct;
use nix::unistd::Pid;

use crate::error::TraceError;
use crate::target;

/// The executed instructions of a program so far, by address.
#[derive(Debug, Default)]
pub(crate) struct Code(HashMap<u64, Rc<Traced>>);

impl Code {
    /// What matters of the instruction at an address of a stopped thread.
    pub(crate) fn at(&mut self, thread: Pid, address: u64) -> Result<Rc<Traced>, TraceError> {
        if let Some(traced) = self.0.get(&address) {
            return Ok(traced.clone());
        }
        let code = target::code(thread, address);
        let traced = Rc::new(Traced::decode(address, &code)?);
        self.0.insert(address, traced.clone());
        Ok(traced)
    }
}

/// An instruction, and what it accesses.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub(crate) instruction: Instruction,
    pub(crate) branch: Option<FlowControl>,
    operands: Vec<Operand>,
}

#[derive(Clone, Debug)]
struct Operand {
    /// `None` for what a prefetch asks for, which is no access to the decoder.
    memory: Option<UsedMemory>,
    bytes: u16,
    kind: AccessKind,
}

impl Traced {
    /// Decodes the instruction at `address`. `bytes` starts there and may be longer than the instruction.
    ///
    /// # Errors
    /// The bytes are no instruction, or it takes addresses from a vector register.
    pub(crate) fn decode(address: u64, bytes: &[u8]) -> Result<Self, TraceError> {
        let refused = |why| {
            let text =
                format!("the instruction at {address:#x} {why}, which the tracer cannot follow");
            TraceError::Unexpected(text)
        };
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(refused("is none of x86-64"));
        }
        let mut operands = Vec::new();
        if is_prefetch(instruction.mnemonic()) {
            operands.push(Operand {
                memory: None,
                bytes: 1,
                kind: AccessKind::Prefetch,
            });
        }
        let mut factory = InstructionInfoFactory::new();
        for memory in factory.info(&instruction).used_memory() {
            if memory.index().is_vector_register() {
                return Err(refused("uses addresses in a vector register"));
            }
            // A repeated instruction tells no size of its single accesses.
            let size = match memory.memory_size().size() {
                0 => instruction.memory_size().size(),
                size => size,
            };
            operands.extend(directions(memory.access()).iter().map(|kind| Operand {
                memory: Some(*memory),
                bytes: u16::try_from(size.max(1)).unwrap_or(u16::MAX),
                kind: *kind,
            }));
        }
        operands.sort_by_key(|operand| operand.kind == AccessKind::Store);
        Ok(Self {
            instruction,
            branch: branch(&instruction),
            operands,
        })
    }

    /// The accesses of one execution, with the registers before it: the loads first, then the stores. A repeated string
    /// instruction is executed one iteration at a time.
    pub(crate) fn accesses(
        &self,
        registers: &user_regs_struct,
        is_register_of_card: impl Fn(u64) -> bool,
    ) -> Accesses {
        let instruction = &self.instruction;
        let repeated = instruction.is_string_instruction()
            && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
        if repeated && registers.rcx == 0 {
            return Accesses::new();
        }
        let value = |register: Register, _, _| value_of(registers, register);
        let access = |operand: &Operand| {
            let address = match &operand.memory {
                Some(memory) => memory.virtual_address(0, value),
                None => instruction.virtual_address(0, 0, value),
            };
            let address = address.unwrap_or(0);
            Access {
                address,
                bytes: operand.bytes,
                kind: operand.kind,
                register: is_register_of_card(address),
            }
        };
        self.operands.iter().map(access).collect()
    }
}

/// The value of a general register, or the base of a segment; `None` for other registers.
pub(crate) fn value_of(registers: &user_regs_struct, register: Register) -> Option<u64> {
    let value = match register.full_register() {
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        general => *place(&mut registers.clone(), general)?,
    };
    // An address has 64 bits, or 32 with a prefix.
    match register.size() {
        4 => Some(value & 0xffff_ffff),
        _ => Some(value),
    }
}

/// The place of a general register of 64 bits; `None` for other registers.
pub(crate) fn place(registers: &mut user_regs_struct, register: Register) -> Option<&mut u64> {
    Some(match register {
        Register::RAX => &mut registers.rax,
        Register::RBX => &mut registers.rbx,
        Register::RCX => &mut registers.rcx,
        Register::RDX => &mut registers.rdx,
        Register::RSI => &mut registers.rsi,
        Register::RDI => &mut registers.rdi,
        Register::RBP => &mut registers.rbp,
        Register::RSP => &mut registers.rsp,
        Register::R8 => &mut registers.r8,
        Register::R9 => &mut registers.r9,
        Register::R10 => &mut registers.r10,
        Register::R11 => &mut registers.r11,
        Register::R12 => &mut registers.r12,
        Register::R13 => &mut registers.r13,
        Register::R14 => &mut registers.r14,
        Register::R15 => &mut registers.r15,
        _ => return None,
    })
}

/// The kind of a branch, if the instruction is one.
fn branch(instruction: &Instruction) -> Option<FlowControl> {
    use FlowControl as Flow;
    let flow = instruction.flow_control();
    match flow {
        Flow::Next | Flow::Interrupt | Flow::Exception | Flow::XbeginXabortXend => None,
        // System calls are of this kind, too.
        Flow::Call if instruction.mnemonic() != Mnemonic::Call => None,
        _ => Some(flow),
    }
}

fn directions(access: OpAccess) -> &'static [AccessKind] {
    match access {
        OpAccess::Read | OpAccess::CondRead => &[AccessKind::Load],
        OpAccess::Write | OpAccess::CondWrite => &[AccessKind::Store],
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => &[AccessKind::Load, AccessKind::Store],
        OpAccess::None | OpAccess::NoMemAccess => &[],
    }
}

fn is_prefetch(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Prefetch
            | Mnemonic::Prefetchnta
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchw
            | Mnemonic::Prefetchwt1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers() -> user_regs_struct {
        // SAFETY: a struct of integers may be all zeros.
        let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
        (registers.rax, registers.rcx, registers.rdx) = (0x1_0000_0010, 2, 0x3000);
        (registers.rsi, registers.rdi, registers.rsp) = (0x5000, 0x6000, 0x7000);
        registers.fs_base = 0x9000;
        registers
    }

    fn accesses(bytes: &[u8], registers: &user_regs_struct) -> Vec<(u64, u16, AccessKind)> {
        let traced = Traced::decode(0x1000, bytes).unwrap();
        let accesses = traced.accesses(registers, |_| false).into_iter();
        accesses
            .map(|access| (access.address, access.bytes, access.kind))
            .collect()
    }

    use AccessKind::{Load, Prefetch, Store};

    #[test]
    fn operands_give_addresses() {
        type Expected = &'static [(u64, u16, AccessKind)];
        let cases: [(&[u8], Expected); 13] = [
            // mov rax, [rdx+rcx*8+0x10]
            (&[0x48, 0x8b, 0x44, 0xca, 0x10], &[(0x3020, 8, Load)]),
            // mov [rip+0x20], eax: relative to the next instruction
            (&[0x89, 0x05, 0x20, 0, 0, 0], &[(0x1026, 4, Store)]),
            // add word [rdi], 1: a load and a store
            (
                &[0x66, 0x83, 0x07, 0x01],
                &[(0x6000, 2, Load), (0x6000, 2, Store)],
            ),
            // mov rax, fs:[0x28]
            (
                &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
                &[(0x9028, 8, Load)],
            ),
            // mov eax, [eax]: 32-bit addresses
            (&[0x67, 0x8b, 0x00], &[(0x10, 4, Load)]),
            // push rdi, pop rdi, call +0, ret
            (&[0x57], &[(0x6ff8, 8, Store)]),
            (&[0x5f], &[(0x7000, 8, Load)]),
            (&[0xe8, 0, 0, 0, 0], &[(0x6ff8, 8, Store)]),
            (&[0xc3], &[(0x7000, 8, Load)]),
            // lea rax, [rdx], and nop [rax]: none
            (&[0x48, 0x8d, 0x02], &[]),
            (&[0x0f, 0x1f, 0x00], &[]),
            // prefetcht0 [rdx]
            (&[0x0f, 0x18, 0x0a], &[(0x3000, 1, Prefetch)]),
            // vmovdqu ymm0, [rdx]
            (&[0xc5, 0xfe, 0x6f, 0x02], &[(0x3000, 32, Load)]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(accesses(bytes, &registers()), expected, "{bytes:x?}");
        }
    }

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
            let traced = Traced::decode(0x1000, bytes).unwrap();
            assert_eq!(traced.branch, kind, "{bytes:x?}");
        }
    }

    #[test]
    fn string_instructions_access_one_element_an_iteration() {
        // rep movsq
        let moves: &[u8] = &[0xf3, 0x48, 0xa5];
        let expected = [(0x5000, 8, Load), (0x6000, 8, Store)];
        assert_eq!(accesses(moves, &registers()), expected);
        // rep stosb
        assert_eq!(accesses(&[0xf3, 0xaa], &registers()), [(0x6000, 1, Store)]);
        let mut done = registers();
        done.rcx = 0;
        assert_eq!(accesses(moves, &done), []);
    }

    #[test]
    fn gathers_and_bytes_that_are_no_instruction_are_refused() {
        // vpgatherdd xmm0, [rax+xmm1*4], xmm2
        for bytes in [&[0xc4, 0xe2, 0x69, 0x90, 0x04, 0x88][..], &[0x06], &[]] {
            let error = Traced::decode(0x1000, bytes).unwrap_err();
            assert!(error.to_string().contains("0x1000"), "{error}");
        }
    }
}
