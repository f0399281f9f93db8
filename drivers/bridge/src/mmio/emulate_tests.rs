//! Compares the emulation with the processor. The test goes through the encodings of instructions with a memory
//! operand. Each one that the emulation accepts runs on both, with random operands.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use iced_x86::{Code, CpuidFeature, Decoder, DecoderOptions, RflagsBits};

use super::*;
use crate::mmio::alu::AF;
use crate::mmio::context::{cpuid, offset_of_part, UPPER_PARTS};
use crate::sys;

/// Forms of instructions that the emulation accepts. The bridge's README names this number.
const FORMS: usize = 417;

/// The memory operand, as memory.
struct Memory([u8; 16]);

impl Bus for Memory {
    fn read(&mut self, offset: u64, size: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0[offset as usize..][..size]);
        u64::from_le_bytes(bytes)
    }

    fn write(&mut self, offset: u64, size: usize, value: u64) {
        assert!(size == 8 || value >> (8 * size) == 0);
        self.0[offset as usize..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// Everything that the instructions of the test may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
struct Machine {
    memory: [u8; 16],
    /// Vector register 1, as far as the processor has it.
    vector: [u8; 64],
    rax: u64,
    rcx: u64,
    rdx: u64,
    rsi: u64,
    r8: u64,
    flags: u64,
}

const ARITHMETIC: u64 = CF | PF | AF | ZF | SF | OF;

/// The vector registers, as XSAVE writes them to memory.
#[repr(C, align(64))]
struct Frame([u8; 4096]);

/// The parts of a frame that hold vector register 1: the bit in the header, the offset, and the bytes.
static PARTS: LazyLock<Vec<(u32, usize, Range<usize>)>> = LazyLock::new(|| {
    let mut parts = vec![(1, 160 + 16, 0..16)];
    let exist = [
        is_x86_feature_detected!("avx"),
        is_x86_feature_detected!("avx512f"),
    ];
    for ((part, bytes), _) in UPPER_PARTS
        .into_iter()
        .zip(exist)
        .filter(|(_, exists)| *exists)
    {
        parts.push((part, offset_of_part(part) + bytes, bytes..2 * bytes));
    }
    parts
});

impl Frame {
    fn new(vector: &[u8; 64]) -> Self {
        let mut frame = Self([0; 4096]);
        // The default of MXCSR, and the kernel's mark of a frame with a header.
        frame.0[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes());
        frame.0[464..468].copy_from_slice(&0x4650_5853_u32.to_le_bytes());
        for (part, at, bytes) in &*PARTS {
            frame.0[512] |= 1 << part;
            frame.0[*at..at + bytes.len()].copy_from_slice(&vector[bytes.clone()]);
        }
        frame
    }

    fn vector(&self) -> [u8; 64] {
        let mut vector = [0; 64];
        for (part, at, bytes) in &*PARTS {
            // A part without its bit is all zeros.
            if self.0[512] >> part & 1 == 1 {
                vector[bytes.clone()].copy_from_slice(&self.0[*at..at + bytes.len()]);
            }
        }
        vector
    }
}

/// Runs an instruction on the processor. It lies at `code`, before a `ret`.
fn run(code: usize, machine: &mut Machine) {
    let mut frame = Frame::new(&machine.vector);
    let flags = machine.flags | 2;
    // SAFETY: the instruction changes only the registers below and the memory at RDI. The mask 0x46 stands for the
    // parts of a frame.
    unsafe {
        std::arch::asm!(
            "push rax", "push rdx",
            "mov eax, 0x46", "xor edx, edx", "xrstor64 [r11]",
            "pop rdx", "pop rax",
            "push r10", "popfq",
            "call r9",
            "pushfq", "pop r10",
            "push rax", "push rdx",
            "mov eax, 0x46", "xor edx, edx", "xsave64 [r11]",
            "pop rdx", "pop rax",
            inout("rax") machine.rax,
            inout("rcx") machine.rcx,
            inout("rdx") machine.rdx,
            inout("rsi") machine.rsi,
            inout("r8") machine.r8,
            inout("rdi") machine.memory.as_mut_ptr() => _,
            inout("r9") code => _,
            inout("r10") flags => machine.flags,
            inout("r11") frame.0.as_mut_ptr() => _,
            clobber_abi("sysv64"),
        );
    }
    machine.flags &= ARITHMETIC;
    machine.vector = frame.vector();
}

fn emulated(instruction: &Instruction, machine: &mut Machine) -> bool {
    let mut general = [0_i64; 23];
    let mut registers = [
        (libc::REG_RAX, &mut machine.rax),
        (libc::REG_RCX, &mut machine.rcx),
        (libc::REG_RDX, &mut machine.rdx),
        (libc::REG_RSI, &mut machine.rsi),
        (libc::REG_R8, &mut machine.r8),
        (libc::REG_EFL, &mut machine.flags),
    ];
    for (at, value) in &registers {
        general[*at as usize] = **value as i64;
    }
    let mut frame = Frame::new(&machine.vector);
    let mut context = Context::of(&mut general, frame.0.as_mut_ptr());
    let mut memory = Memory(machine.memory);
    let known = emulate(instruction, &mut context, &mut memory);
    let next = if known { instruction.next_ip() } else { 0 };
    assert_eq!(context.instruction(), next);
    for (at, value) in &mut registers {
        **value = general[*at as usize] as u64;
    }
    machine.memory = memory.0;
    machine.vector = frame.vector();
    known
}

/// Random words, among them many that are small, large or equal.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let value = self.0 ^ self.0 >> 29;
        match value >> 60 {
            0 | 1 => value & 3,
            2 => u64::MAX,
            3 => 0x8000_8000_8000_8080,
            4 => 0,
            _ => value,
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let words = bytes.chunks_exact_mut(8);
        words.for_each(|word| word.copy_from_slice(&self.next().to_le_bytes()));
    }

    fn machine(&mut self) -> Machine {
        let (mut memory, mut vector) = ([0; 16], [0; 64]);
        self.fill(&mut memory);
        let parts = PARTS.iter();
        parts.for_each(|(_, _, bytes)| self.fill(&mut vector[bytes.clone()]));
        let rax = if self.next() % 8 == 0 {
            u64::from(memory[0])
        } else {
            self.next()
        };
        Machine {
            memory,
            vector,
            rax,
            rcx: self.next(),
            rdx: self.next(),
            rsi: self.next(),
            r8: self.next(),
            flags: self.next() & ARITHMETIC,
        }
    }
}

/// Calls `check` with the start of each encoding, up to the byte that names [RDI] as the memory operand: the legacy
/// encodings with their prefixes, VEX, and EVEX with and without masks.
fn each_encoding(mut check: impl FnMut(&[u8])) {
    let mut heads = Vec::new();
    for prefix in ["", "66", "f2", "f3", "66f3", "f0", "66f0"] {
        for rex in ["", "40", "44", "48"] {
            for map in ["", "0f", "0f38", "0f3a"] {
                heads.push(bytes(&[prefix, rex, map].concat()));
            }
        }
    }
    for map in 1..=3 {
        // W, the pp bits, and no second source or RCX as one.
        for (w, pp, source) in (0..16).map(|bits| (bits & 1, bits >> 1 & 3, 15 - (bits >> 3))) {
            let fields = w << 7 | source << 3 | pp;
            (0..2).for_each(|length| heads.push(vec![0xc4, 0xe0 | map, fields | length << 2]));
            for (length, mask) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                heads.push(vec![0x62, 0xf0 | map, fields | 4, length << 5 | 8 | mask]);
            }
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

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn decode(code: &[u8]) -> Instruction {
    Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode()
}

/// Whether the processor has an instruction.
fn exists(instruction: &Instruction) -> bool {
    instruction
        .cpuid_features()
        .iter()
        .all(|feature| match feature {
            CpuidFeature::AVX => is_x86_feature_detected!("avx"),
            CpuidFeature::BMI1 => is_x86_feature_detected!("bmi1"),
            CpuidFeature::BMI2 => is_x86_feature_detected!("bmi2"),
            CpuidFeature::LZCNT => is_x86_feature_detected!("lzcnt"),
            CpuidFeature::MOVBE => is_x86_feature_detected!("movbe"),
            CpuidFeature::MOVDIRI => cpuid(7, 0).ecx >> 27 & 1 == 1,
            CpuidFeature::POPCNT => is_x86_feature_detected!("popcnt"),
            _ => true,
        })
}

/// Whether all registers of an instruction belong to the [`Machine`].
fn fits(instruction: &Instruction) -> bool {
    let known = [
        Register::RAX,
        Register::RCX,
        Register::RDX,
        Register::RSI,
        Register::R8,
        Register::ZMM1,
    ];
    (0..instruction.op_count()).all(|operand| {
        instruction.op_kind(operand) != OpKind::Register
            || known.contains(&instruction.op_register(operand).full_register())
    })
}

/// The flags that an instruction leaves undefined.
fn undefined(instruction: &Instruction) -> u64 {
    let by_cl = instruction.op_count() == 2 && instruction.op_register(1) == Register::CL;
    let bits = [
        (RflagsBits::CF, CF),
        (RflagsBits::PF, PF),
        (RflagsBits::AF, AF),
        (RflagsBits::ZF, ZF),
        (RflagsBits::SF, SF),
        (RflagsBits::OF, OF),
    ];
    let named = instruction.rflags_undefined();
    let undefined = bits
        .iter()
        .filter(|(bit, _)| named & bit != 0)
        .map(|(_, flag)| flag)
        .sum();
    // A shift may be by more than the operand's bits.
    if by_cl && instruction.rflags_modified() != 0 {
        undefined | CF
    } else {
        undefined
    }
}

/// Runs one encoding with random operands, on both. Returns whether the emulation knows it.
fn compare(start: &[u8], page: usize, random: &mut Random) -> Option<Code> {
    let mut form = None;
    for _ in 0..30 {
        let mut machine = random.machine();
        // Constants are random. Instead of [RDI], MOV may have the address.
        let address = machine.memory.as_ptr() as u64;
        let mut code = [start, &random.next().to_le_bytes()].concat();
        let mut instruction = decode(&code);
        let is_rdi = |i: &Instruction| {
            (i.memory_base(), i.memory_index(), i.memory_displacement64())
                == (Register::RDI, Register::None, 0)
        };
        if !is_rdi(&instruction) {
            code = [&start[..start.len() - 1], &address.to_le_bytes()].concat();
            instruction = decode(&code);
            if instruction.memory_displacement64() != address {
                return None;
            }
        }
        form = Some(instruction.code());
        let before = machine;
        let known = emulated(&instruction, &mut machine);
        if !known {
            assert_eq!(machine, before, "{start:02x?} is refused and has an effect");
            return None;
        }
        if fits(&instruction) && exists(&instruction) {
            code.truncate(instruction.len());
            code.push(0xc3);
            // SAFETY: the page is the test's.
            unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), page as *mut u8, code.len()) };
            let ours = std::mem::replace(&mut machine, before);
            run(page, &mut machine);
            let defined = |machine: Machine| Machine {
                flags: machine.flags & !undefined(&instruction),
                ..machine
            };
            assert_eq!(
                defined(ours),
                defined(machine),
                "{code:02x?} from {before:x?}"
            );
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
    let mut random = Random(1);
    let mut forms = BTreeSet::new();
    each_encoding(|start| {
        if let Some(code) = compare(start, page, &mut random) {
            forms.insert(code as usize);
        }
    });
    assert_eq!(forms.len(), FORMS);
}
