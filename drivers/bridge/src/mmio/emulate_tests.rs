//! Compares the emulation with the processor. The test goes through the encodings of instructions with a memory
//! operand. Each one that the emulation accepts runs on both, with random operands.

use std::collections::BTreeSet;

use fastrand::Rng;
use iced_x86::{Code, Decoder, DecoderOptions, Register};

use super::*;
use crate::sys;

/// Forms of instructions that the emulation accepts. The bridge's README names this number.
const FORMS: usize = 77;

/// The memory operand, as memory.
struct Memory([u8; 8]);

impl Bus for Memory {
    fn read(&mut self, size: usize) -> u64 {
        u64::from_le_bytes(self.0) & mask(8 * size as u32)
    }

    fn write(&mut self, size: usize, value: u64) {
        assert_eq!(value, value & mask(8 * size as u32));
        self.0[..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// Everything that the instructions of the test may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    memory: [u8; 8],
    /// RAX, RCX, RDX, RSI and R8.
    general: [u64; 5],
    flags: u64,
}

const GENERAL: [(Register, i32); 5] = [
    (Register::RAX, libc::REG_RAX),
    (Register::RCX, libc::REG_RCX),
    (Register::RDX, libc::REG_RDX),
    (Register::RSI, libc::REG_RSI),
    (Register::R8, libc::REG_R8),
];

/// Runs an instruction on the processor. It lies at `code`, before a `ret`.
fn run(code: usize, machine: &mut Machine) {
    let [rax, rcx, rdx, rsi, r8] = &mut machine.general;
    let flags = machine.flags | 2;
    // SAFETY: the instruction changes only the registers below and the memory at RDI.
    unsafe {
        std::arch::asm!(
            "push r10", "popfq", "call r9", "pushfq", "pop r10",
            inout("rax") *rax,
            inout("rcx") *rcx,
            inout("rdx") *rdx,
            inout("rsi") *rsi,
            inout("r8") *r8,
            inout("rdi") machine.memory.as_mut_ptr() => _,
            inout("r9") code => _,
            inout("r10") flags => machine.flags,
            clobber_abi("sysv64"),
        );
    }
    machine.flags &= ARITHMETIC;
}

fn emulated(instruction: &Instruction, machine: &mut Machine) -> bool {
    let mut registers = [0_i64; 23];
    registers[libc::REG_EFL as usize] = machine.flags as i64;
    for ((_, at), value) in GENERAL.iter().zip(machine.general) {
        registers[*at as usize] = value as i64;
    }
    let mut context = Context(&mut registers);
    let mut memory = Memory(machine.memory);
    let known = emulate(instruction, &mut context, &mut memory);
    let next = if known { instruction.next_ip() } else { 0 };
    assert_eq!(context.instruction(), next);
    machine.memory = memory.0;
    machine.flags = context.flags();
    machine.general = GENERAL.map(|(_, at)| registers[at as usize] as u64);
    known
}

/// A random word: often one that is small, large or equal to others.
fn word(random: &mut Rng) -> u64 {
    match random.u8(0..16) {
        0 | 1 => random.u64(0..4),
        2 => u64::MAX,
        3 => 0x8000_8000_8000_8080,
        4 => 0,
        _ => random.u64(..),
    }
}

/// Calls `check` with the start of each encoding, up to the byte that names [RDI] as the memory operand: the legacy
/// encodings with their prefixes, and VEX.
fn each_encoding(mut check: impl FnMut(&[u8])) {
    let mut heads = Vec::new();
    for prefix in [&[][..], &[0x66], &[0xf2], &[0xf3], &[0xf0], &[0x66, 0xf0]] {
        for rex in [&[][..], &[0x40], &[0x44], &[0x48]] {
            for map in [&[][..], &[0x0f], &[0x0f, 0x38], &[0x0f, 0x3a]] {
                heads.push([prefix, rex, map].concat());
            }
        }
    }
    for map in 1..=3 {
        // W, the length, the pp bits, and no second source or RCX as one.
        for (w, bits) in (0..16).map(|bits| (bits & 1, bits >> 1)) {
            heads.push(vec![0xc4, 0xe0 | map, w << 7 | 0x78 | bits]);
            heads.push(vec![0xc4, 0xe0 | map, w << 7 | 0x70 | bits]);
        }
    }
    for head in heads {
        for opcode in 0..=255 {
            for register in 0..8 {
                check(&[&head[..], &[opcode, register << 3 | 7]].concat());
            }
        }
    }
}

fn decode(code: &[u8]) -> Instruction {
    Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode()
}

/// Whether the processor can run an instruction on a [`Machine`].
fn fits(instruction: &Instruction) -> bool {
    let known = |register: Register| GENERAL.iter().any(|(name, _)| *name == register);
    let fits = |operand| {
        instruction.op_kind(operand) != OpKind::Register
            || known(instruction.op_register(operand).full_register())
    };
    let exists = instruction.mnemonic() != Mnemonic::Andn || is_x86_feature_detected!("bmi1");
    exists && (0..instruction.op_count()).all(fits)
}

/// The flags that an instruction leaves undefined.
fn undefined(instruction: &Instruction) -> u64 {
    match instruction.mnemonic() {
        Mnemonic::And | Mnemonic::Test | Mnemonic::Or => AF,
        Mnemonic::Andn => AF | PF,
        _ => 0,
    }
}

/// Runs one encoding with random operands, on both. Returns its form if the emulation knows it.
fn compare(start: &[u8], page: usize, random: &mut Rng) -> Option<Code> {
    let mut form = None;
    for _ in 0..30 {
        let mut machine = Machine {
            memory: word(random).to_le_bytes(),
            general: [(); 5].map(|()| word(random)),
            flags: word(random) & ARITHMETIC,
        };
        let before = machine;
        // Constants are random.
        let mut code = [start, &word(random).to_le_bytes()].concat();
        let instruction = decode(&code);
        if instruction.memory_base() != Register::RDI {
            return None;
        }
        form = Some(instruction.code());
        if !emulated(&instruction, &mut machine) {
            assert_eq!(machine, before, "{start:02x?} is refused and has an effect");
            return None;
        }
        if fits(&instruction) {
            code.truncate(instruction.len());
            code.push(0xc3);
            // SAFETY: the page is the test's.
            unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), page as *mut u8, code.len()) };
            let mut ours = std::mem::replace(&mut machine, before);
            run(page, &mut machine);
            for machine in [&mut ours, &mut machine] {
                machine.flags &= !undefined(&instruction);
            }
            assert_eq!(ours, machine, "{code:02x?} from {before:x?}");
        }
    }
    form
}

#[test]
fn every_accepted_instruction_does_what_the_processor_does() {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new range.
    let page = unsafe { sys::mmap(0, 4096, protection, flags, -1, 0) }.unwrap();
    let mut random = Rng::with_seed(1);
    let mut forms = BTreeSet::new();
    each_encoding(|start| {
        if let Some(code) = compare(start, page, &mut random) {
            forms.insert(code as usize);
        }
    });
    assert_eq!(forms.len(), FORMS);
}
