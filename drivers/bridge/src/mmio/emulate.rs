//! Carries out one instruction whose memory operand is a register of the card.
//!
//! It knows moves, and arithmetic of two values: what compilers make of volatile loads and stores. It refuses all
//! other instructions. The test runs every form that is accepted here on the processor too, and compares the two.

use iced_x86::{Instruction, Mnemonic, OpKind};

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

/// Whether an instruction has one memory operand of up to 8 bytes, and else general registers and constants.
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
    plain && memory == 1 && matches!(instruction.memory_size().size(), 1 | 2 | 4 | 8)
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
    let bits = size as u32 * 8;
    let mut value = |operand| match instruction.op_kind(operand) {
        OpKind::Memory => bus.read(size),
        OpKind::Register => context.get(instruction.op_register(operand)),
        _ => instruction.immediate(operand),
    };
    let mnemonic = instruction.mnemonic();
    let (result, flags) = match mnemonic {
        Mnemonic::Mov | Mnemonic::Movzx => (value(1), None),
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            let unused = 64 - bits;
            (((value(1) << unused) as i64 >> unused) as u64, None)
        }
        Mnemonic::Add => add(value(0), value(1), bits),
        Mnemonic::Sub | Mnemonic::Cmp => subtract(value(0), value(1), bits),
        Mnemonic::And | Mnemonic::Test => logic(value(0) & value(1), bits),
        Mnemonic::Andn => logic(!value(1) & value(2), bits),
        Mnemonic::Or => logic(value(0) | value(1), bits),
        Mnemonic::Xor => logic(value(0) ^ value(1), bits),
        _ => return false,
    };
    if let Some(flags) = flags {
        context.set_flags(context.flags() & !ARITHMETIC | flags);
    }
    match instruction.op_kind(0) {
        _ if matches!(mnemonic, Mnemonic::Cmp | Mnemonic::Test) => {}
        OpKind::Memory => bus.write(size, result & mask(bits)),
        _ => context.set(instruction.op_register(0), result),
    }
    context.set_instruction(instruction.next_ip());
    true
}

/// A result, and its flags.
type Computed = (u64, Option<u64>);

fn top(value: u64, bits: u32) -> bool {
    value >> (bits - 1) & 1 == 1
}

/// A result with ZF, SF and PF, and with those of the other flags that are set.
fn with_flags<const N: usize>(result: u64, bits: u32, others: [(bool, u64); N]) -> Computed {
    let own = [
        (result == 0, ZF),
        (top(result, bits), SF),
        ((result as u8).count_ones() % 2 == 0, PF),
    ];
    let set = own.into_iter().chain(others).filter(|(set, _)| *set);
    (result, Some(set.map(|(_, flag)| flag).sum()))
}

fn add(a: u64, b: u64, bits: u32) -> Computed {
    let (a, b) = (a & mask(bits), b & mask(bits));
    let result = a.wrapping_add(b) & mask(bits);
    let others = [
        (result < a, CF),
        ((a ^ b ^ result) & 0x10 != 0, AF),
        (top(!(a ^ b) & (a ^ result), bits), OF),
    ];
    with_flags(result, bits, others)
}

fn subtract(a: u64, b: u64, bits: u32) -> Computed {
    let (a, b) = (a & mask(bits), b & mask(bits));
    let result = a.wrapping_sub(b) & mask(bits);
    let others = [
        (a < b, CF),
        ((a ^ b ^ result) & 0x10 != 0, AF),
        (top((a ^ b) & (a ^ result), bits), OF),
    ];
    with_flags(result, bits, others)
}

/// The result of AND, OR and XOR. Hardware leaves AF undefined; it is 0 here.
fn logic(result: u64, bits: u32) -> Computed {
    with_flags(result & mask(bits), bits, [])
}

#[cfg(test)]
#[path = "emulate_tests.rs"]
mod tests;
