//! The processor's registers in a signal's context.

use iced_x86::Register;

use crate::mmio::alu::mask;
use crate::valgrind;

/// Offset of the header of XSAVE, whose first word says which parts are valid.
const XSAVE_HEADER: usize = 512;
/// The kernel's mark in a frame that has more than FXSAVE's 512 bytes, at this offset.
const SOFTWARE_BYTES: usize = 464;
const MAGIC: u32 = 0x4650_5853;
/// The header's bit for the low 16 bytes of vector registers.
const LOW_BYTES: u64 = 2;
/// The parts of XSAVE with the rest of vector registers 0 to 15, and each part's bytes of a register: bytes 16 to 31
/// (YMM), and bytes 32 to 63 (ZMM).
pub(crate) const UPPER_PARTS: [(u32, usize); 2] = [(2, 16), (6, 32)];

/// What CPUID says about a subject. New versions of Rust take the function for safe, and old ones do not.
#[allow(unused_unsafe)]
pub(crate) fn cpuid(leaf: u32, part: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every processor of 64 bits has CPUID.
    unsafe { std::arch::x86_64::__cpuid_count(leaf, part) }
}

/// Offset of a part in the standard form of XSAVE.
pub(crate) fn offset_of_part(part: u32) -> usize {
    cpuid(0xd, part).ebx as usize
}

/// The registers of the thread that a signal interrupted.
pub(crate) struct Context<'a> {
    general: &'a mut [i64; 23],
    /// The area of FXSAVE or XSAVE; null if there is none.
    vector: *mut u8,
}

/// Position of a general register in the kernel's `gregs`, by its number in instructions.
const POSITIONS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

impl<'a> Context<'a> {
    /// The registers in a signal's context.
    pub(crate) fn new(context: &'a mut libc::ucontext_t) -> Self {
        Self {
            // Valgrind does not give vector registers back to the program.
            vector: match valgrind::runs_program() {
                true => std::ptr::null_mut(),
                false => context.uc_mcontext.fpregs.cast(),
            },
            general: &mut context.uc_mcontext.gregs,
        }
    }

    /// Registers without a signal, for tests.
    #[cfg(test)]
    pub(crate) fn of(general: &'a mut [i64; 23], vector: *mut u8) -> Self {
        Self { general, vector }
    }

    fn position(register: Register) -> usize {
        POSITIONS[register.full_register().number() % 16] as usize
    }

    fn is_high_byte(register: Register) -> bool {
        matches!(
            register,
            Register::AH | Register::CH | Register::DH | Register::BH
        )
    }

    /// The value of a general register.
    pub(crate) fn get(&self, register: Register) -> u64 {
        if Self::is_high_byte(register) {
            // AH to BH have the numbers 4 to 7, and are bytes of the registers 0 to 3.
            let full = POSITIONS[register.number() & 3] as usize;
            return self.general[full] as u64 >> 8 & 0xff;
        }
        self.general[Self::position(register)] as u64 & mask(register.size() as u32 * 8)
    }

    /// Sets a general register. One of 4 bytes clears the upper half, as the processor does.
    pub(crate) fn set(&mut self, register: Register, value: u64) {
        if Self::is_high_byte(register) {
            let full = &mut self.general[POSITIONS[register.number() & 3] as usize];
            *full = *full & !0xff00 | ((value & 0xff) << 8) as i64;
            return;
        }
        let full = &mut self.general[Self::position(register)];
        *full = match register.size() {
            8 => value as i64,
            4 => i64::from(value as u32),
            size => (*full as u64 & !mask(size as u32 * 8) | value & mask(size as u32 * 8)) as i64,
        };
    }

    /// The flags.
    pub(crate) fn flags(&self) -> u64 {
        self.general[libc::REG_EFL as usize] as u64
    }

    /// Sets the flags.
    pub(crate) fn set_flags(&mut self, flags: u64) {
        self.general[libc::REG_EFL as usize] = flags as i64;
    }

    /// The address of the instruction.
    pub(crate) fn instruction(&self) -> u64 {
        self.general[libc::REG_RIP as usize] as u64
    }

    /// Continues at another instruction.
    pub(crate) fn set_instruction(&mut self, address: u64) {
        self.general[libc::REG_RIP as usize] = address as i64;
    }

    /// The low 16 bytes of a vector register, if the kernel saved it.
    pub(crate) fn vector(&self, register: Register) -> Option<[u8; 16]> {
        let number = register.number();
        if self.vector.is_null() {
            return None;
        }
        let mut value = [0; 16];
        // SAFETY: FXSAVE holds 16 registers of 16 bytes from byte 160 on.
        let from = unsafe { self.vector.add(160 + 16 * number) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from, value.as_mut_ptr(), 16) };
        Some(value)
    }

    /// Sets the low 16 bytes of a vector register. With `clear`, zeroes the rest, as instructions
    /// with a VEX prefix do. False if the kernel did not save the register.
    pub(crate) fn set_vector(&mut self, register: Register, value: [u8; 16], clear: bool) -> bool {
        let number = register.number();
        if self.vector.is_null() {
            return false;
        }
        // SAFETY: as in `vector`.
        let to = unsafe { self.vector.add(160 + 16 * number) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), to, 16) };
        let Some(valid) = self.valid_parts() else {
            return true;
        };
        // SAFETY: the header says which parts count, and the low bytes now do.
        let parts = unsafe {
            valid.write_unaligned(valid.read_unaligned() | LOW_BYTES);
            valid.read_unaligned()
        };
        for (part, bytes) in UPPER_PARTS {
            if clear && parts >> part & 1 == 1 {
                let at = offset_of_part(part) + bytes * number;
                // SAFETY: the frame has each part that the header names.
                unsafe { std::ptr::write_bytes(self.vector.add(at), 0, bytes) };
            }
        }
        true
    }

    /// The word of the header that says which parts of the frame count, if there is a header.
    fn valid_parts(&self) -> Option<*mut u64> {
        // SAFETY: FXSAVE's last bytes are the software's.
        let magic = unsafe {
            self.vector
                .add(SOFTWARE_BYTES)
                .cast::<u32>()
                .read_unaligned()
        };
        // SAFETY: the mark says that a header follows.
        (magic == MAGIC).then(|| unsafe { self.vector.add(XSAVE_HEADER).cast() })
    }
}
