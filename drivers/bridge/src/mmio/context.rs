//! The processor's registers in a signal's context.

use iced_x86::Register;
use libc::{
    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_R8, REG_R9, REG_RAX, REG_RBP,
    REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RSI, REG_RSP,
};

/// Position of a general register in the kernel's `gregs`, by its number in instructions.
const POSITIONS: [i32; 16] = [
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9,
    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
];

/// The low `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The general registers of the thread that a signal interrupted, as the kernel's `gregs`.
pub(crate) struct Context<'a>(pub(crate) &'a mut [i64; 23]);

/// Where a register lies: its position, and its lowest bit and number of bits there.
fn place(register: Register) -> (usize, u32, u32) {
    let bits = register.size() as u32 * 8;
    // AH to BH have the numbers 4 to 7, and are bytes of the registers 0 to 3.
    let (number, low) = match register {
        Register::AH | Register::CH | Register::DH | Register::BH => (register.number() & 3, 8),
        _ => (register.full_register().number() % 16, 0),
    };
    (POSITIONS[number] as usize, low, bits)
}

impl Context<'_> {
    /// The value of a general register.
    pub(crate) fn get(&self, register: Register) -> u64 {
        let (at, low, bits) = place(register);
        self.0[at] as u64 >> low & mask(bits)
    }

    /// Sets a general register. One of 4 bytes clears the upper half, as the processor does.
    pub(crate) fn set(&mut self, register: Register, value: u64) {
        let (at, low, bits) = place(register);
        let kept = match bits {
            32 => 0,
            _ => self.0[at] as u64 & !(mask(bits) << low),
        };
        self.0[at] = (kept | (value & mask(bits)) << low) as i64;
    }

    /// The flags.
    pub(crate) fn flags(&self) -> u64 {
        self.0[libc::REG_EFL as usize] as u64
    }

    /// Sets the flags.
    pub(crate) fn set_flags(&mut self, flags: u64) {
        self.0[libc::REG_EFL as usize] = flags as i64;
    }

    /// The address of the instruction.
    pub(crate) fn instruction(&self) -> u64 {
        self.0[libc::REG_RIP as usize] as u64
    }

    /// Continues at another instruction.
    pub(crate) fn set_instruction(&mut self, address: u64) {
        self.0[libc::REG_RIP as usize] = address as i64;
    }
}
