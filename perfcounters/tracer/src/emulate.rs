//! Executes common instructions in the processor's place.
//!
//! A single step of the processor costs 10 to 40 µs in a virtual machine, and this a tenth of it. It
//! covers the instructions that drivers execute most; the processor executes all others. With
//! [`Plan::check`](crate::Plan::check), the processor executes every instruction, and the tracer
//! compares.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use libc::user_regs_struct;

use crate::decode::{place, value_of};

const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ADJUST: u64 = 1 << 4;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;
/// The flags that arithmetic changes.
const STATUS: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) value: u64,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// The registers after it.
    pub(crate) registers: user_regs_struct,
    /// The flags that it leaves undefined.
    pub(crate) undefined: u64,
    /// What it stores.
    pub(crate) stored: Option<Stored>,
}

/// The effect of an instruction. `None`: the processor must execute it. `load` reads some bytes at an
/// address.
pub(crate) fn execute(
    instruction: &Instruction,
    before: &user_regs_struct,
    load: impl Fn(u64, usize) -> Option<u64>,
) -> Option<Effect> {
    if instruction.has_lock_prefix() {
        return None;
    }
    let mut machine = Machine {
        instruction,
        load,
        effect: Effect {
            registers: *before,
            undefined: 0,
            stored: None,
        },
    };
    machine.effect.registers.rip = instruction.next_ip();
    machine.run()?;
    Some(machine.effect)
}

struct Machine<'a, L> {
    instruction: &'a Instruction,
    load: L,
    effect: Effect,
}

fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

fn top(size: usize) -> u64 {
    1 << (8 * size - 1)
}

impl<L: Fn(u64, usize) -> Option<u64>> Machine<'_, L> {
    fn run(&mut self) -> Option<()> {
        use Mnemonic as M;
        match self.instruction.mnemonic() {
            M::Nop | M::Prefetcht0 | M::Prefetcht1 => Some(()),
            M::Mov | M::Movzx => {
                let value = self.read(1)?;
                self.write(0, value)
            }
            M::Lea => {
                let address = self.address(1)?;
                self.write(0, address)
            }
            M::Add | M::Sub | M::Cmp | M::Inc | M::Dec => self.add_or_subtract(),
            M::And | M::Or | M::Xor | M::Test => self.logic(),
            M::Shl | M::Shr => self.shift(),
            M::Jmp if self.instruction.op_kind(0) == OpKind::NearBranch64 => {
                self.jump();
                Some(())
            }
            _ if self.instruction.is_jcc_short_or_near() => {
                if self.condition()? {
                    self.jump();
                }
                Some(())
            }
            _ => None,
        }
    }

    fn jump(&mut self) {
        self.effect.registers.rip = self.instruction.near_branch_target();
    }

    fn condition(&self) -> Option<bool> {
        use ConditionCode as C;
        let flag = |flag| self.effect.registers.eflags & flag != 0;
        Some(match self.instruction.condition_code() {
            C::b => flag(CARRY),
            C::ae => !flag(CARRY),
            C::e => flag(ZERO),
            C::ne => !flag(ZERO),
            C::be => flag(CARRY | ZERO),
            C::a => !flag(CARRY | ZERO),
            _ => return None,
        })
    }

    fn add_or_subtract(&mut self) -> Option<()> {
        use Mnemonic as M;
        let mnemonic = self.instruction.mnemonic();
        let size = self.size(0)?;
        let left = self.read(0)?;
        let right = match mnemonic {
            M::Inc | M::Dec => 1,
            _ => self.read(1)? & mask(size),
        };
        let adds = matches!(mnemonic, M::Add | M::Inc);
        let result = match adds {
            true => left.wrapping_add(right),
            false => left.wrapping_sub(right),
        } & mask(size);
        let carry = if adds { result < left } else { left < right };
        let overflow = match adds {
            true => (left ^ result) & (right ^ result),
            false => (left ^ right) & (left ^ result),
        } & top(size);
        if mnemonic != M::Cmp {
            self.write(0, result)?;
        }
        let mut flags = result_flags(result, size) | (left ^ right ^ result) & ADJUST;
        flags |= if overflow != 0 { OVERFLOW } else { 0 };
        flags |= if carry { CARRY } else { 0 };
        let changed = match mnemonic {
            M::Inc | M::Dec => STATUS & !CARRY,
            _ => STATUS,
        };
        self.set_flags(changed, flags);
        Some(())
    }

    fn logic(&mut self) -> Option<()> {
        let size = self.size(0)?;
        let (left, right) = (self.read(0)?, self.read(1)?);
        let mnemonic = self.instruction.mnemonic();
        let result = match mnemonic {
            Mnemonic::Or => left | right,
            Mnemonic::Xor => left ^ right,
            _ => left & right,
        } & mask(size);
        if mnemonic != Mnemonic::Test {
            self.write(0, result)?;
        }
        self.set_flags(STATUS, result_flags(result, size));
        self.effect.undefined = ADJUST;
        Some(())
    }

    fn shift(&mut self) -> Option<()> {
        let size = self.size(0)?;
        let bits = 8 * size as u32;
        let limit = if size == 8 { 63 } else { 31 };
        let count = (self.read(1)? & limit) as u32;
        // A count of 0 keeps the flags. One beyond the operand leaves the carry undefined.
        if count == 0 || count >= bits {
            return None;
        }
        let value = self.read(0)?;
        let (result, carry) = match self.instruction.mnemonic() {
            Mnemonic::Shl => (value << count & mask(size), value >> (bits - count) & 1),
            _ => (value >> count, value >> (count - 1) & 1),
        };
        self.write(0, result)?;
        // The overflow is defined for a count of 1 only: the sign changes.
        let overflow = match (value ^ result) & top(size) {
            0 => 0,
            _ => OVERFLOW,
        };
        self.set_flags(STATUS, result_flags(result, size) | carry | overflow);
        self.effect.undefined = ADJUST | if count == 1 { 0 } else { OVERFLOW };
        Some(())
    }

    fn set_flags(&mut self, changed: u64, flags: u64) {
        let all = &mut self.effect.registers.eflags;
        *all = *all & !changed | flags & changed;
    }

    /// Bytes of a register or of a place in memory.
    fn size(&self, operand: u32) -> Option<usize> {
        let size = match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size(),
            _ => self.instruction.memory_size().size(),
        };
        matches!(size, 1 | 2 | 4 | 8).then_some(size)
    }

    fn address(&self, operand: u32) -> Option<u64> {
        let value = |register: Register, _, _| value_of(&self.effect.registers, register);
        self.instruction.virtual_address(operand, 0, value)
    }

    /// The value of an operand. Immediate values have the sign of their operand in all 64 bits.
    fn read(&self, operand: u32) -> Option<u64> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let register = general(self.instruction.op_register(operand))?;
                Some(value_of(&self.effect.registers, register)? & mask(register.size()))
            }
            OpKind::Memory => (self.load)(self.address(operand)?, self.size(operand)?),
            _ => self.instruction.try_immediate(operand).ok(),
        }
    }

    fn write(&mut self, operand: u32, value: u64) -> Option<()> {
        if self.instruction.op_kind(operand) == OpKind::Memory {
            let size = self.size(operand)?;
            self.effect.stored = Some(Stored {
                address: self.address(operand)?,
                size,
                value: value & mask(size),
            });
            return Some(());
        }
        let register = general(self.instruction.op_register(operand))?;
        let full = place(&mut self.effect.registers, register.full_register())?;
        *full = match register.size() {
            // A write of 32 bits clears the upper half.
            4 => value & mask(4),
            size => *full & !mask(size) | value & mask(size),
        };
        Some(())
    }
}

/// A general register, but not the second byte of one.
fn general(register: Register) -> Option<Register> {
    use Register as R;
    let second = matches!(register, R::AH | R::BH | R::CH | R::DH);
    (register.is_gpr() && !second).then_some(register)
}

fn result_flags(result: u64, size: usize) -> u64 {
    let mut flags = 0;
    if result == 0 {
        flags |= ZERO;
    }
    if result & top(size) != 0 {
        flags |= SIGN;
    }
    if (result as u8).count_ones() % 2 == 0 {
        flags |= PARITY;
    }
    flags
}
