//! Decoded instructions, and the addresses that each execution accesses.

use caches::stream::{AccessKind, Accesses, Step};
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, Register,
    UsedMemory,
};
use libc::user_regs_struct;

use crate::error::TraceError;

/// What matters of an instruction while it is traced.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub(crate) instruction: Instruction,
    /// The address of the instruction behind it.
    pub(crate) next: u64,
    /// Whether it is SYSCALL.
    pub(crate) system_call: bool,
    /// Whether it is a conditional branch.
    conditional: bool,
    operands: Vec<Operand>,
    /// It does nothing if RCX is 0.
    repeated: bool,
}

#[derive(Clone, Debug)]
struct Operand {
    memory: UsedMemory,
    bytes: u16,
    kind: AccessKind,
}

/// An address that an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) address: u64,
    pub(crate) bytes: u16,
    pub(crate) kind: AccessKind,
}

/// Analyses instructions.
#[derive(Debug)]
pub(crate) struct Analyser(InstructionInfoFactory);

impl Analyser {
    pub(crate) fn new() -> Self {
        Self(InstructionInfoFactory::new())
    }

    /// What matters of an instruction.
    ///
    /// # Errors
    /// It takes addresses from a vector register.
    pub(crate) fn analyse(&mut self, instruction: &Instruction) -> Result<Traced, TraceError> {
        let mut loads = Vec::new();
        if is_prefetch(instruction.mnemonic()) {
            loads.push(prefetched(instruction));
        }
        let mut stores = Vec::new();
        for memory in self.0.info(instruction).used_memory() {
            if memory.index().is_vector_register() {
                return Err(TraceError::Unexpected(format!(
                    "the instruction at {:#x} uses addresses in a vector register, which the tracer \
                     cannot follow",
                    instruction.ip()
                )));
            }
            // A repeated instruction tells no size of its single accesses.
            let size = match memory.memory_size().size() {
                0 => instruction.memory_size().size(),
                size => size,
            };
            let operand = |kind| Operand {
                memory: *memory,
                bytes: u16::try_from(size.max(1)).unwrap_or(u16::MAX),
                kind,
            };
            let (reads, writes) = directions(memory.access());
            if reads {
                loads.push(operand(AccessKind::Load));
            }
            if writes {
                stores.push(operand(AccessKind::Store));
            }
        }
        loads.append(&mut stores);
        Ok(Traced {
            instruction: *instruction,
            next: instruction.next_ip(),
            system_call: instruction.mnemonic() == Mnemonic::Syscall,
            conditional: instruction.flow_control() == FlowControl::ConditionalBranch,
            operands: loads,
            repeated: instruction.is_string_instruction()
                && (instruction.has_rep_prefix() || instruction.has_repne_prefix()),
        })
    }
}

impl Traced {
    /// The step that an execution is, given its address and the address of the next instruction.
    pub(crate) fn step(&self, address: u64, accesses: Accesses, target: u64) -> Step {
        Step {
            address,
            accesses,
            taken: self.conditional.then_some(target != self.next),
            target,
        }
    }

    /// The accesses of one execution, with the registers before it: the loads first, then the stores.
    /// A repeated string instruction is executed one iteration at a time.
    pub(crate) fn touched<'a>(
        &'a self,
        registers: &'a user_regs_struct,
    ) -> impl Iterator<Item = Touched> + 'a {
        let idle = self.repeated && registers.rcx == 0;
        self.operands.iter().filter(move |_| !idle).map(|operand| {
            let value = |register: Register, _, _| value_of(registers, register);
            Touched {
                address: operand.memory.virtual_address(0, value).unwrap_or(0),
                bytes: operand.bytes,
                kind: operand.kind,
            }
        })
    }
}

/// The value of a general register, or the base of a segment; `None` for other registers.
pub(crate) fn value_of(registers: &user_regs_struct, register: Register) -> Option<u64> {
    let value = match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    };
    // An address has 64 bits, or 32 with a prefix.
    match register.size() {
        4 => Some(value & 0xffff_ffff),
        _ => Some(value),
    }
}

fn directions(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        OpAccess::None | OpAccess::NoMemAccess => (false, false),
    }
}

/// The operand of a prefetch, which the analysis does not count as an access.
fn prefetched(instruction: &Instruction) -> Operand {
    // The displacement of an address relative to RIP is the whole address.
    let base = match instruction.is_ip_rel_memory_operand() {
        true => Register::None,
        false => instruction.memory_base(),
    };
    let memory = UsedMemory::new(
        instruction.memory_segment(),
        base,
        instruction.memory_index(),
        instruction.memory_index_scale(),
        instruction.memory_displacement64(),
        MemorySize::UInt8,
        OpAccess::Read,
    );
    Operand {
        memory,
        bytes: 1,
        kind: AccessKind::Prefetch,
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
    use iced_x86::{Decoder, DecoderOptions};

    fn registers() -> user_regs_struct {
        // SAFETY: a struct of integers may be all zeros.
        let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
        (registers.rax, registers.rcx, registers.rdx) = (0x1_0000_0010, 2, 0x3000);
        (registers.rsi, registers.rdi, registers.rsp) = (0x5000, 0x6000, 0x7000);
        registers.fs_base = 0x9000;
        registers
    }

    fn accesses(bytes: &[u8], registers: &user_regs_struct) -> Vec<(u64, u16, AccessKind)> {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        let traced = Analyser::new().analyse(&instruction).unwrap();
        let touched = traced.touched(registers);
        touched
            .map(|touched| (touched.address, touched.bytes, touched.kind))
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
    fn gathers_are_refused() {
        // vpgatherdd xmm0, [rax+xmm1*4], xmm2
        let bytes = [0xc4, 0xe2, 0x69, 0x90, 0x04, 0x88];
        let instruction = Decoder::with_ip(64, &bytes, 0x1000, DecoderOptions::NONE).decode();
        let error = Analyser::new().analyse(&instruction).unwrap_err();
        assert!(error.to_string().contains("0x1000"), "{error}");
    }
}
