//! Compares the emulation with the processor: each instruction runs on both, with random operands.

use iced_x86::{Decoder, DecoderOptions};

use super::*;
use crate::mmio::alu::AF;
use crate::sys;

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
struct Machine {
    rax: u64,
    rcx: u64,
    rdx: u64,
    rsi: u64,
    r8: u64,
    flags: u64,
    memory: [u8; 16],
}

const ARITHMETIC: u64 = CF | PF | AF | ZF | SF | OF;
/// Shifts by CL: a count of 0 keeps the flags, which a shift by another count leaves undefined.
const ANY_SHIFT: u64 = AF | OF | CF;

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// Runs an instruction on the processor. It lies at `code`, before a `ret`.
fn run(code: usize, machine: &mut Machine) {
    let flags = machine.flags | 2;
    // SAFETY: the instruction changes only the registers below and the memory at RDI.
    unsafe {
        std::arch::asm!(
            "push r10",
            "popfq",
            "call r9",
            "pushfq",
            "pop r10",
            inout("rax") machine.rax,
            inout("rcx") machine.rcx,
            inout("rdx") machine.rdx,
            inout("rsi") machine.rsi,
            inout("r8") machine.r8,
            in("rdi") machine.memory.as_mut_ptr(),
            in("r9") code,
            inout("r10") flags => machine.flags,
        );
    }
    machine.flags &= ARITHMETIC;
}

fn emulated(code: &[u8], machine: &mut Machine) -> bool {
    let mut general = [0_i64; 23];
    let registers = [
        (libc::REG_RAX, machine.rax),
        (libc::REG_RCX, machine.rcx),
        (libc::REG_RDX, machine.rdx),
        (libc::REG_RSI, machine.rsi),
        (libc::REG_R8, machine.r8),
        (libc::REG_EFL, machine.flags),
    ];
    registers
        .iter()
        .for_each(|(at, value)| general[*at as usize] = *value as i64);
    let mut context = Context::of(&mut general, std::ptr::null_mut());
    let instruction = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode();
    let mut memory = Memory(machine.memory);
    let known = emulate(&instruction, &mut context, &mut memory);
    assert_eq!(
        context.instruction(),
        if known { 0x1000 + code.len() as u64 } else { 0 }
    );
    let get = |at: i32| general[at as usize] as u64;
    *machine = Machine {
        rax: get(libc::REG_RAX),
        rcx: get(libc::REG_RCX),
        rdx: get(libc::REG_RDX),
        rsi: get(libc::REG_RSI),
        r8: get(libc::REG_R8),
        flags: get(libc::REG_EFL) & ARITHMETIC,
        memory: memory.0,
    };
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

    fn machine(&mut self) -> Machine {
        let mut memory = [0; 16];
        memory[..8].copy_from_slice(&self.next().to_le_bytes());
        memory[8..].copy_from_slice(&self.next().to_le_bytes());
        let rax = if self.next() % 8 == 0 {
            u64::from(memory[0])
        } else {
            self.next()
        };
        Machine {
            rax,
            rcx: self.next(),
            rdx: self.next(),
            rsi: self.next(),
            r8: self.next(),
            flags: self.next() & ARITHMETIC,
            memory,
        }
    }
}

#[test]
fn every_instruction_does_what_the_processor_does() {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new range.
    let page = unsafe { sys::mmap(0, 4096, protection, flags, -1, 0) }.unwrap();
    let mut random = Random(1);
    for (name, hex, undefined) in INSTRUCTIONS {
        let code = bytes(hex);
        let copy = [&code[..], &[0xc3]].concat();
        // SAFETY: the page is the test's.
        unsafe { std::ptr::copy_nonoverlapping(copy.as_ptr(), page as *mut u8, copy.len()) };
        for _ in 0..300 {
            let start = random.machine();
            let (mut real, mut ours) = (start, start);
            run(page, &mut real);
            assert!(emulated(&code, &mut ours), "{name} is unknown");
            real.flags &= !undefined;
            ours.flags &= !undefined;
            assert_eq!(ours, real, "{name} from {start:x?}");
        }
    }
}

/// The processor may lack MOVDIRI, so the expected memory is written here.
#[test]
fn direct_stores_write_4_or_8_bytes() {
    // movdiri [rdi], eax; movdiri [rdi], rax.
    for (hex, size) in [("0f38f907", 4), ("480f38f907", 8)] {
        let start = Random(3).machine();
        let mut machine = start;
        assert!(emulated(&bytes(hex), &mut machine), "{hex} is unknown");
        let mut wanted = start;
        wanted.memory[..size].copy_from_slice(&start.rax.to_le_bytes()[..size]);
        assert_eq!(machine, wanted, "{hex}");
    }
}

#[test]
fn unknown_instructions_have_no_effect() {
    // cpuid; div dword ptr [rdi]; call [rdi]; rep movsb; vmovups ymm0, [rdi]; fld dword ptr [rdi];
    // movdir64b rax, [rdi].
    for hex in [
        "0fa2",
        "f737",
        "ff17",
        "f3a4",
        "c5fc1007",
        "d907",
        "660f38f807",
    ] {
        let start = Random(7).machine();
        let mut machine = start;
        assert!(!emulated(&bytes(hex), &mut machine), "{hex}");
        assert_eq!(machine, start, "{hex}");
    }
}

#[test]
fn vector_registers_move_to_and_from_memory() {
    // Text, bytes of the operand, and whether it is a load; the register is XMM1.
    let moves = [
        ("f30f6f0f", 16, true),  // movdqu xmm1, [rdi]
        ("0f100f", 16, true),    // movups xmm1, [rdi]
        ("660f6e0f", 4, true),   // movd xmm1, [rdi]
        ("f30f7e0f", 8, true),   // movq xmm1, [rdi]
        ("f30f100f", 4, true),   // movss xmm1, [rdi]
        ("c5f8100f", 16, true),  // vmovups xmm1, [rdi]
        ("f30f7f0f", 16, false), // movdqu [rdi], xmm1
        ("660f7e0f", 4, false),  // movd [rdi], xmm1
        ("660fd60f", 8, false),  // movq [rdi], xmm1
        ("c5f8110f", 16, false), // vmovups [rdi], xmm1
        ("660fe70f", 16, false), // movntdq [rdi], xmm1
    ];
    let content: [u8; 16] = std::array::from_fn(|at| at as u8 + 1);
    for (hex, size, load) in moves {
        let mut area = [0xee_u8; 576 + 256];
        let mut general = [0_i64; 23];
        area[176..192].copy_from_slice(&if load { [0xee; 16] } else { content });
        let mut memory = Memory(if load { content } else { [0xdd; 16] });
        let code = bytes(hex);
        let instruction = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).decode();
        let mut context = Context::of(&mut general, area.as_mut_ptr());
        assert!(emulate(&instruction, &mut context, &mut memory), "{hex}");
        let (to, rest) = if load {
            (&area[176..192], 0)
        } else {
            (&memory.0[..], 0xdd)
        };
        assert_eq!(to[..size], content[..size], "{hex}");
        assert!(to[size..].iter().all(|byte| *byte == rest), "{hex}");
    }
}

#[test]
fn a_vex_load_clears_the_upper_half() {
    let mut area = [0_u8; 576 + 256];
    area[464..468].copy_from_slice(&0x4650_5853_u32.to_le_bytes());
    area[512] = 4;
    area[592..608].fill(0xee);
    let mut general = [0_i64; 23];
    let mut context = Context::of(&mut general, area.as_mut_ptr());
    let code = bytes("c5f8100f");
    let instruction = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).decode();
    assert!(emulate(&instruction, &mut context, &mut Memory([7; 16])));
    assert_eq!(area[512], 6);
    assert_eq!(area[176..192], [7; 16]);
    assert_eq!(area[592..608], [0; 16]);
}

/// Instructions with the memory operand [RDI], their bytes, and the flags that they leave
/// undefined.
#[rustfmt::skip]
const INSTRUCTIONS: &[(&str, &str, u64)] = &[
    ("mov byte ptr [rdi], al", "8807", 0),
    ("mov al, byte ptr [rdi]", "8a07", 0),
    ("add byte ptr [rdi], al", "0007", 0),
    ("add al, byte ptr [rdi]", "0207", 0),
    ("add byte ptr [rdi], 0x55", "800755", 0),
    ("or byte ptr [rdi], al", "0807", AF),
    ("or al, byte ptr [rdi]", "0a07", AF),
    ("or byte ptr [rdi], 0x55", "800f55", AF),
    ("adc byte ptr [rdi], al", "1007", 0),
    ("adc al, byte ptr [rdi]", "1207", 0),
    ("adc byte ptr [rdi], 0x55", "801755", 0),
    ("sbb byte ptr [rdi], al", "1807", 0),
    ("sbb al, byte ptr [rdi]", "1a07", 0),
    ("sbb byte ptr [rdi], 0x55", "801f55", 0),
    ("and byte ptr [rdi], al", "2007", AF),
    ("and al, byte ptr [rdi]", "2207", AF),
    ("and byte ptr [rdi], 0x55", "802755", AF),
    ("sub byte ptr [rdi], al", "2807", 0),
    ("sub al, byte ptr [rdi]", "2a07", 0),
    ("sub byte ptr [rdi], 0x55", "802f55", 0),
    ("xor byte ptr [rdi], al", "3007", AF),
    ("xor al, byte ptr [rdi]", "3207", AF),
    ("xor byte ptr [rdi], 0x55", "803755", AF),
    ("cmp byte ptr [rdi], al", "3807", 0),
    ("cmp al, byte ptr [rdi]", "3a07", 0),
    ("cmp byte ptr [rdi], 0x55", "803f55", 0),
    ("test byte ptr [rdi], al", "8407", AF),
    ("test byte ptr [rdi], 0x11", "f60711", AF),
    ("inc byte ptr [rdi]", "fe07", 0),
    ("dec byte ptr [rdi]", "fe0f", 0),
    ("neg byte ptr [rdi]", "f61f", 0),
    ("not byte ptr [rdi]", "f617", 0),
    ("xchg byte ptr [rdi], al", "8607", 0),
    ("lock xadd byte ptr [rdi], al", "f00fc007", 0),
    ("lock cmpxchg byte ptr [rdi], cl", "f00fb00f", 0),
    ("mov byte ptr [rdi], 0x5a", "c6075a", 0),
    ("shl byte ptr [rdi], 1", "d027", AF),
    ("shl byte ptr [rdi], 5", "c02705", AF | OF),
    ("shl byte ptr [rdi], cl", "d227", ANY_SHIFT),
    ("shr byte ptr [rdi], 1", "d02f", AF),
    ("shr byte ptr [rdi], 5", "c02f05", AF | OF),
    ("shr byte ptr [rdi], cl", "d22f", ANY_SHIFT),
    ("sar byte ptr [rdi], 1", "d03f", AF),
    ("sar byte ptr [rdi], 5", "c03f05", AF | OF),
    ("sar byte ptr [rdi], cl", "d23f", ANY_SHIFT),
    ("mov word ptr [rdi], ax", "668907", 0),
    ("mov ax, word ptr [rdi]", "668b07", 0),
    ("add word ptr [rdi], ax", "660107", 0),
    ("add ax, word ptr [rdi]", "660307", 0),
    ("add word ptr [rdi], 0x55", "66830755", 0),
    ("or word ptr [rdi], ax", "660907", AF),
    ("or ax, word ptr [rdi]", "660b07", AF),
    ("or word ptr [rdi], 0x55", "66830f55", AF),
    ("adc word ptr [rdi], ax", "661107", 0),
    ("adc ax, word ptr [rdi]", "661307", 0),
    ("adc word ptr [rdi], 0x55", "66831755", 0),
    ("sbb word ptr [rdi], ax", "661907", 0),
    ("sbb ax, word ptr [rdi]", "661b07", 0),
    ("sbb word ptr [rdi], 0x55", "66831f55", 0),
    ("and word ptr [rdi], ax", "662107", AF),
    ("and ax, word ptr [rdi]", "662307", AF),
    ("and word ptr [rdi], 0x55", "66832755", AF),
    ("sub word ptr [rdi], ax", "662907", 0),
    ("sub ax, word ptr [rdi]", "662b07", 0),
    ("sub word ptr [rdi], 0x55", "66832f55", 0),
    ("xor word ptr [rdi], ax", "663107", AF),
    ("xor ax, word ptr [rdi]", "663307", AF),
    ("xor word ptr [rdi], 0x55", "66833755", AF),
    ("cmp word ptr [rdi], ax", "663907", 0),
    ("cmp ax, word ptr [rdi]", "663b07", 0),
    ("cmp word ptr [rdi], 0x55", "66833f55", 0),
    ("test word ptr [rdi], ax", "668507", AF),
    ("test word ptr [rdi], 0x11", "66f7071100", AF),
    ("inc word ptr [rdi]", "66ff07", 0),
    ("dec word ptr [rdi]", "66ff0f", 0),
    ("neg word ptr [rdi]", "66f71f", 0),
    ("not word ptr [rdi]", "66f717", 0),
    ("xchg word ptr [rdi], ax", "668707", 0),
    ("lock xadd word ptr [rdi], ax", "66f00fc107", 0),
    ("lock cmpxchg word ptr [rdi], cx", "66f00fb10f", 0),
    ("mov word ptr [rdi], 0x5a", "66c7075a00", 0),
    ("shl word ptr [rdi], 1", "66d127", AF),
    ("shl word ptr [rdi], 5", "66c12705", AF | OF),
    ("shl word ptr [rdi], cl", "66d327", ANY_SHIFT),
    ("shr word ptr [rdi], 1", "66d12f", AF),
    ("shr word ptr [rdi], 5", "66c12f05", AF | OF),
    ("shr word ptr [rdi], cl", "66d32f", ANY_SHIFT),
    ("sar word ptr [rdi], 1", "66d13f", AF),
    ("sar word ptr [rdi], 5", "66c13f05", AF | OF),
    ("sar word ptr [rdi], cl", "66d33f", ANY_SHIFT),
    ("mov dword ptr [rdi], eax", "8907", 0),
    ("mov eax, dword ptr [rdi]", "8b07", 0),
    ("add dword ptr [rdi], eax", "0107", 0),
    ("add eax, dword ptr [rdi]", "0307", 0),
    ("add dword ptr [rdi], 0x55", "830755", 0),
    ("or dword ptr [rdi], eax", "0907", AF),
    ("or eax, dword ptr [rdi]", "0b07", AF),
    ("or dword ptr [rdi], 0x55", "830f55", AF),
    ("adc dword ptr [rdi], eax", "1107", 0),
    ("adc eax, dword ptr [rdi]", "1307", 0),
    ("adc dword ptr [rdi], 0x55", "831755", 0),
    ("sbb dword ptr [rdi], eax", "1907", 0),
    ("sbb eax, dword ptr [rdi]", "1b07", 0),
    ("sbb dword ptr [rdi], 0x55", "831f55", 0),
    ("and dword ptr [rdi], eax", "2107", AF),
    ("and eax, dword ptr [rdi]", "2307", AF),
    ("and dword ptr [rdi], 0x55", "832755", AF),
    ("sub dword ptr [rdi], eax", "2907", 0),
    ("sub eax, dword ptr [rdi]", "2b07", 0),
    ("sub dword ptr [rdi], 0x55", "832f55", 0),
    ("xor dword ptr [rdi], eax", "3107", AF),
    ("xor eax, dword ptr [rdi]", "3307", AF),
    ("xor dword ptr [rdi], 0x55", "833755", AF),
    ("cmp dword ptr [rdi], eax", "3907", 0),
    ("cmp eax, dword ptr [rdi]", "3b07", 0),
    ("cmp dword ptr [rdi], 0x55", "833f55", 0),
    ("test dword ptr [rdi], eax", "8507", AF),
    ("test dword ptr [rdi], 0x11", "f70711000000", AF),
    ("inc dword ptr [rdi]", "ff07", 0),
    ("dec dword ptr [rdi]", "ff0f", 0),
    ("neg dword ptr [rdi]", "f71f", 0),
    ("not dword ptr [rdi]", "f717", 0),
    ("xchg dword ptr [rdi], eax", "8707", 0),
    ("lock xadd dword ptr [rdi], eax", "f00fc107", 0),
    ("lock cmpxchg dword ptr [rdi], ecx", "f00fb10f", 0),
    ("mov dword ptr [rdi], 0x5a", "c7075a000000", 0),
    ("shl dword ptr [rdi], 1", "d127", AF),
    ("shl dword ptr [rdi], 5", "c12705", AF | OF),
    ("shl dword ptr [rdi], cl", "d327", ANY_SHIFT),
    ("shr dword ptr [rdi], 1", "d12f", AF),
    ("shr dword ptr [rdi], 5", "c12f05", AF | OF),
    ("shr dword ptr [rdi], cl", "d32f", ANY_SHIFT),
    ("sar dword ptr [rdi], 1", "d13f", AF),
    ("sar dword ptr [rdi], 5", "c13f05", AF | OF),
    ("sar dword ptr [rdi], cl", "d33f", ANY_SHIFT),
    ("mov qword ptr [rdi], rax", "488907", 0),
    ("mov rax, qword ptr [rdi]", "488b07", 0),
    ("add qword ptr [rdi], rax", "480107", 0),
    ("add rax, qword ptr [rdi]", "480307", 0),
    ("add qword ptr [rdi], 0x55", "48830755", 0),
    ("or qword ptr [rdi], rax", "480907", AF),
    ("or rax, qword ptr [rdi]", "480b07", AF),
    ("or qword ptr [rdi], 0x55", "48830f55", AF),
    ("adc qword ptr [rdi], rax", "481107", 0),
    ("adc rax, qword ptr [rdi]", "481307", 0),
    ("adc qword ptr [rdi], 0x55", "48831755", 0),
    ("sbb qword ptr [rdi], rax", "481907", 0),
    ("sbb rax, qword ptr [rdi]", "481b07", 0),
    ("sbb qword ptr [rdi], 0x55", "48831f55", 0),
    ("and qword ptr [rdi], rax", "482107", AF),
    ("and rax, qword ptr [rdi]", "482307", AF),
    ("and qword ptr [rdi], 0x55", "48832755", AF),
    ("sub qword ptr [rdi], rax", "482907", 0),
    ("sub rax, qword ptr [rdi]", "482b07", 0),
    ("sub qword ptr [rdi], 0x55", "48832f55", 0),
    ("xor qword ptr [rdi], rax", "483107", AF),
    ("xor rax, qword ptr [rdi]", "483307", AF),
    ("xor qword ptr [rdi], 0x55", "48833755", AF),
    ("cmp qword ptr [rdi], rax", "483907", 0),
    ("cmp rax, qword ptr [rdi]", "483b07", 0),
    ("cmp qword ptr [rdi], 0x55", "48833f55", 0),
    ("test qword ptr [rdi], rax", "488507", AF),
    ("test qword ptr [rdi], 0x11", "48f70711000000", AF),
    ("inc qword ptr [rdi]", "48ff07", 0),
    ("dec qword ptr [rdi]", "48ff0f", 0),
    ("neg qword ptr [rdi]", "48f71f", 0),
    ("not qword ptr [rdi]", "48f717", 0),
    ("xchg qword ptr [rdi], rax", "488707", 0),
    ("lock xadd qword ptr [rdi], rax", "f0480fc107", 0),
    ("lock cmpxchg qword ptr [rdi], rcx", "f0480fb10f", 0),
    ("mov qword ptr [rdi], 0x5a", "48c7075a000000", 0),
    ("shl qword ptr [rdi], 1", "48d127", AF),
    ("shl qword ptr [rdi], 5", "48c12705", AF | OF),
    ("shl qword ptr [rdi], cl", "48d327", ANY_SHIFT),
    ("shr qword ptr [rdi], 1", "48d12f", AF),
    ("shr qword ptr [rdi], 5", "48c12f05", AF | OF),
    ("shr qword ptr [rdi], cl", "48d32f", ANY_SHIFT),
    ("sar qword ptr [rdi], 1", "48d13f", AF),
    ("sar qword ptr [rdi], 5", "48c13f05", AF | OF),
    ("sar qword ptr [rdi], cl", "48d33f", ANY_SHIFT),
    ("mov ah, byte ptr [rdi]", "8a27", 0),
    ("mov byte ptr [rdi], ch", "882f", 0),
    ("mov r8b, byte ptr [rdi]", "448a07", 0),
    ("mov byte ptr [rdi], sil", "408837", 0),
    ("add byte ptr [rdi], dh", "0037", 0),
    ("movzx cx, byte ptr [rdi]", "660fb60f", 0),
    ("movsx cx, byte ptr [rdi]", "660fbe0f", 0),
    ("movzx ecx, byte ptr [rdi]", "0fb60f", 0),
    ("movsx ecx, byte ptr [rdi]", "0fbe0f", 0),
    ("movzx rcx, byte ptr [rdi]", "480fb60f", 0),
    ("movsx rcx, byte ptr [rdi]", "480fbe0f", 0),
    ("movzx ecx, word ptr [rdi]", "0fb70f", 0),
    ("movsx ecx, word ptr [rdi]", "0fbf0f", 0),
    ("movzx rcx, word ptr [rdi]", "480fb70f", 0),
    ("movsx rcx, word ptr [rdi]", "480fbf0f", 0),
    ("movsxd rcx, dword ptr [rdi]", "48630f", 0),
    ("movnti dword ptr [rdi], eax", "0fc307", 0),
    ("movnti qword ptr [rdi], rax", "480fc307", 0),
    ("movbe ax, [rdi]", "660f38f007", 0),
    ("movbe [rdi], ax", "660f38f107", 0),
    ("movbe eax, [rdi]", "0f38f007", 0),
    ("movbe [rdi], eax", "0f38f107", 0),
    ("movbe rax, [rdi]", "480f38f007", 0),
    ("movbe [rdi], rax", "480f38f107", 0),
    ("bt word ptr [rdi], 7", "660fba2707", OF | SF | AF | PF),
    ("bts word ptr [rdi], 7", "660fba2f07", OF | SF | AF | PF),
    ("btr word ptr [rdi], 7", "660fba3707", OF | SF | AF | PF),
    ("btc word ptr [rdi], 7", "660fba3f07", OF | SF | AF | PF),
    ("imul ax, word ptr [rdi]", "660faf07", SF | ZF | AF | PF),
    ("imul ax, word ptr [rdi], 0x33", "666b0733", SF | ZF | AF | PF),
    ("tzcnt ax, word ptr [rdi]", "66f30fbc07", OF | SF | AF | PF),
    ("lzcnt ax, word ptr [rdi]", "66f30fbd07", OF | SF | AF | PF),
    ("popcnt ax, word ptr [rdi]", "66f30fb807", 0),
    ("bsf ax, word ptr [rdi]", "660fbc07", OF | SF | AF | PF | CF),
    ("bsr ax, word ptr [rdi]", "660fbd07", OF | SF | AF | PF | CF),
    ("cmovo ax, word ptr [rdi]", "660f4007", 0),
    ("cmovno ax, word ptr [rdi]", "660f4107", 0),
    ("cmovb ax, word ptr [rdi]", "660f4207", 0),
    ("cmovae ax, word ptr [rdi]", "660f4307", 0),
    ("cmove ax, word ptr [rdi]", "660f4407", 0),
    ("cmovne ax, word ptr [rdi]", "660f4507", 0),
    ("cmovbe ax, word ptr [rdi]", "660f4607", 0),
    ("cmova ax, word ptr [rdi]", "660f4707", 0),
    ("cmovs ax, word ptr [rdi]", "660f4807", 0),
    ("cmovns ax, word ptr [rdi]", "660f4907", 0),
    ("cmovp ax, word ptr [rdi]", "660f4a07", 0),
    ("cmovnp ax, word ptr [rdi]", "660f4b07", 0),
    ("cmovl ax, word ptr [rdi]", "660f4c07", 0),
    ("cmovge ax, word ptr [rdi]", "660f4d07", 0),
    ("cmovle ax, word ptr [rdi]", "660f4e07", 0),
    ("cmovg ax, word ptr [rdi]", "660f4f07", 0),
    ("bt dword ptr [rdi], 7", "0fba2707", OF | SF | AF | PF),
    ("bts dword ptr [rdi], 7", "0fba2f07", OF | SF | AF | PF),
    ("btr dword ptr [rdi], 7", "0fba3707", OF | SF | AF | PF),
    ("btc dword ptr [rdi], 7", "0fba3f07", OF | SF | AF | PF),
    ("imul eax, dword ptr [rdi]", "0faf07", SF | ZF | AF | PF),
    ("imul eax, dword ptr [rdi], 0x33", "6b0733", SF | ZF | AF | PF),
    ("tzcnt eax, dword ptr [rdi]", "f30fbc07", OF | SF | AF | PF),
    ("lzcnt eax, dword ptr [rdi]", "f30fbd07", OF | SF | AF | PF),
    ("popcnt eax, dword ptr [rdi]", "f30fb807", 0),
    ("bsf eax, dword ptr [rdi]", "0fbc07", OF | SF | AF | PF | CF),
    ("bsr eax, dword ptr [rdi]", "0fbd07", OF | SF | AF | PF | CF),
    ("cmovo eax, dword ptr [rdi]", "0f4007", 0),
    ("cmovno eax, dword ptr [rdi]", "0f4107", 0),
    ("cmovb eax, dword ptr [rdi]", "0f4207", 0),
    ("cmovae eax, dword ptr [rdi]", "0f4307", 0),
    ("cmove eax, dword ptr [rdi]", "0f4407", 0),
    ("cmovne eax, dword ptr [rdi]", "0f4507", 0),
    ("cmovbe eax, dword ptr [rdi]", "0f4607", 0),
    ("cmova eax, dword ptr [rdi]", "0f4707", 0),
    ("cmovs eax, dword ptr [rdi]", "0f4807", 0),
    ("cmovns eax, dword ptr [rdi]", "0f4907", 0),
    ("cmovp eax, dword ptr [rdi]", "0f4a07", 0),
    ("cmovnp eax, dword ptr [rdi]", "0f4b07", 0),
    ("cmovl eax, dword ptr [rdi]", "0f4c07", 0),
    ("cmovge eax, dword ptr [rdi]", "0f4d07", 0),
    ("cmovle eax, dword ptr [rdi]", "0f4e07", 0),
    ("cmovg eax, dword ptr [rdi]", "0f4f07", 0),
    ("bt qword ptr [rdi], 7", "480fba2707", OF | SF | AF | PF),
    ("bts qword ptr [rdi], 7", "480fba2f07", OF | SF | AF | PF),
    ("btr qword ptr [rdi], 7", "480fba3707", OF | SF | AF | PF),
    ("btc qword ptr [rdi], 7", "480fba3f07", OF | SF | AF | PF),
    ("imul rax, qword ptr [rdi]", "480faf07", SF | ZF | AF | PF),
    ("imul rax, qword ptr [rdi], 0x33", "486b0733", SF | ZF | AF | PF),
    ("tzcnt rax, qword ptr [rdi]", "f3480fbc07", OF | SF | AF | PF),
    ("lzcnt rax, qword ptr [rdi]", "f3480fbd07", OF | SF | AF | PF),
    ("popcnt rax, qword ptr [rdi]", "f3480fb807", 0),
    ("bsf rax, qword ptr [rdi]", "480fbc07", OF | SF | AF | PF | CF),
    ("bsr rax, qword ptr [rdi]", "480fbd07", OF | SF | AF | PF | CF),
    ("cmovo rax, qword ptr [rdi]", "480f4007", 0),
    ("cmovno rax, qword ptr [rdi]", "480f4107", 0),
    ("cmovb rax, qword ptr [rdi]", "480f4207", 0),
    ("cmovae rax, qword ptr [rdi]", "480f4307", 0),
    ("cmove rax, qword ptr [rdi]", "480f4407", 0),
    ("cmovne rax, qword ptr [rdi]", "480f4507", 0),
    ("cmovbe rax, qword ptr [rdi]", "480f4607", 0),
    ("cmova rax, qword ptr [rdi]", "480f4707", 0),
    ("cmovs rax, qword ptr [rdi]", "480f4807", 0),
    ("cmovns rax, qword ptr [rdi]", "480f4907", 0),
    ("cmovp rax, qword ptr [rdi]", "480f4a07", 0),
    ("cmovnp rax, qword ptr [rdi]", "480f4b07", 0),
    ("cmovl rax, qword ptr [rdi]", "480f4c07", 0),
    ("cmovge rax, qword ptr [rdi]", "480f4d07", 0),
    ("cmovle rax, qword ptr [rdi]", "480f4e07", 0),
    ("cmovg rax, qword ptr [rdi]", "480f4f07", 0),
    ("seto byte ptr [rdi]", "0f9007", 0),
    ("setno byte ptr [rdi]", "0f9107", 0),
    ("setb byte ptr [rdi]", "0f9207", 0),
    ("setae byte ptr [rdi]", "0f9307", 0),
    ("sete byte ptr [rdi]", "0f9407", 0),
    ("setne byte ptr [rdi]", "0f9507", 0),
    ("setbe byte ptr [rdi]", "0f9607", 0),
    ("seta byte ptr [rdi]", "0f9707", 0),
    ("sets byte ptr [rdi]", "0f9807", 0),
    ("setns byte ptr [rdi]", "0f9907", 0),
    ("setp byte ptr [rdi]", "0f9a07", 0),
    ("setnp byte ptr [rdi]", "0f9b07", 0),
    ("setl byte ptr [rdi]", "0f9c07", 0),
    ("setge byte ptr [rdi]", "0f9d07", 0),
    ("setle byte ptr [rdi]", "0f9e07", 0),
    ("setg byte ptr [rdi]", "0f9f07", 0),
    ("andn eax, ecx, dword ptr [rdi]", "c4e270f207", AF | PF),
    ("bextr eax, dword ptr [rdi], ecx", "c4e270f707", AF | PF | SF),
    ("shlx eax, dword ptr [rdi], ecx", "c4e271f707", 0),
    ("shrx eax, dword ptr [rdi], ecx", "c4e273f707", 0),
    ("sarx eax, dword ptr [rdi], ecx", "c4e272f707", 0),
    ("rorx eax, dword ptr [rdi], 9", "c4e37bf00709", 0),
    ("andn rax, rcx, qword ptr [rdi]", "c4e2f0f207", AF | PF),
    ("bextr rax, qword ptr [rdi], rcx", "c4e2f0f707", AF | PF | SF),
    ("shlx rax, qword ptr [rdi], rcx", "c4e2f1f707", 0),
    ("shrx rax, qword ptr [rdi], rcx", "c4e2f3f707", 0),
    ("sarx rax, qword ptr [rdi], rcx", "c4e2f2f707", 0),
    ("rorx rax, qword ptr [rdi], 9", "c4e3fbf00709", 0),
    ("mov edx, dword ptr [rdi+0x0]", "8b17", 0),
];
