//! Carries out one instruction whose memory operand is a register of the card.
//!
//! It knows moves, comparisons and the logic of two values: what compilers make of the register accesses of our drivers,
//! ixy, ixy.rs, DPDK and others alike. It refuses all other instructions. The test runs every form that is accepted here on the processor too, and
//! compares the two.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::mmio::context::{mask, Context};

/// Carry.
const CF: u64 = 1 << 0;
/// Parity of the low byte.
const PF: u64 = 1 << 2;
/// Carry from bit 3.
const AF: u64 = 1 << 4;
/// Zero.
const ZF: u64 = 1 << 6;
/// Sign.
const SF: u64 = 1 << 7;
/// Overflow.
const OF: u64 = 1 << 11;
const ARITHMETIC: u64 = CF | PF | AF | ZF | SF | OF;

/// The memory operand.
pub(crate) trait Bus {
    /// Reads 1, 2, 4 or 8 bytes.
    fn read(&mut self, size: usize) -> u64;
    /// Writes 1, 2, 4 or 8 bytes.
    fn write(&mut self, size: usize, value: u64);
}

/// Whether an instruction has one memory operand of up to 8 bytes at a register, and else general registers and constants.
fn is_plain(instruction: &Instruction) -> bool {
    let mut memory = 0;
    let plain = (0..instruction.op_count()).all(|operand| match instruction.op_kind(operand) {
        OpKind::Memory => {
            memory += 1;
            true
        }
        OpKind::Register => instruction.op_register(operand).is_gpr(),
        _ => instruction.try_immediate(operand).is_ok(),
    });
    plain
        && memory == 1
        && instruction.memory_base() != Register::None
        && matches!(instruction.memory_size().size(), 1 | 2 | 4 | 8)
}

/// Carries an instruction out, and moves on to the next one. False, without any effect, if the
/// instruction is unknown.
pub(crate) fn emulate(
    instruction: &Instruction,
    context: &mut Context<'_>,
    bus: &mut impl Bus,
) -> bool {
    if !is_plain(instruction) {
        return false;
    }
    let size = instruction.memory_size().size();
    let mut value = |operand| match instruction.op_kind(operand) {
        OpKind::Memory => bus.read(size),
        OpKind::Register => context.get(instruction.op_register(operand)),
        _ => instruction.immediate(operand),
    };
    let mnemonic = instruction.mnemonic();
    let mut borrows = 0;
    let result = match mnemonic {
        Mnemonic::Mov | Mnemonic::Movzx => value(1),
        Mnemonic::And | Mnemonic::Test => value(0) & value(1),
        Mnemonic::Andn => !value(1) & value(2),
        Mnemonic::Or => value(0) | value(1),
        Mnemonic::Cmp => {
            let [a, b] = [0, 1].map(|operand| value(operand) & mask(size as u32 * 8));
            borrows = borrows_of(a, b, size);
            a.wrapping_sub(b)
        }
        _ => return false,
    };
    let result = result & mask(size as u32 * 8);
    if !matches!(mnemonic, Mnemonic::Mov | Mnemonic::Movzx) {
        let flags = flags_of(result, size) | borrows;
        context.set_flags(context.flags() & !ARITHMETIC | flags);
    }
    match instruction.op_kind(0) {
        _ if matches!(mnemonic, Mnemonic::Test | Mnemonic::Cmp) => {}
        OpKind::Memory => bus.write(size, result),
        _ => context.set(instruction.op_register(0), result),
    }
    context.set_instruction(instruction.next_ip());
    true
}

/// The flags that a result of so many bytes has after any instruction. After logic, CF and OF are 0, and hardware leaves
/// AF undefined.
fn flags_of(result: u64, size: usize) -> u64 {
    let negative = result >> (size * 8 - 1) == 1;
    let even = (result as u8).count_ones() % 2 == 0;
    sum([(result == 0, ZF), (negative, SF), (even, PF)])
}

/// The other flags after the subtraction of `b` from `a`.
fn borrows_of(a: u64, b: u64, size: usize) -> u64 {
    let result = a.wrapping_sub(b);
    let overflow = ((a ^ b) & (a ^ result)) >> (size * 8 - 1) & 1 == 1;
    let half = (a ^ b ^ result) & 0x10 != 0;
    sum([(a < b, CF), (half, AF), (overflow, OF)])
}

fn sum(flags: [(bool, u64); 3]) -> u64 {
    flags.iter().map(|(set, flag)| u64::from(*set) * flag).sum()
}

#[cfg(test)]
#[path = "emulate_tests.rs"]
mod tests;
