//! Executes common instructions in the processor's place.
//!
//! A single step of the processor costs 10 to 20 µs in a virtual machine, and this a tenth of it. It
//! covers moves, integer arithmetic, branches and calls; the processor executes all others. With
//! [`Launch::check`](crate::Launch::check), the processor executes every instruction, and the tracer
//! compares.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use libc::user_regs_struct;

use crate::registers;

pub(crate) const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ADJUST: u64 = 1 << 4;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;
/// The flags that arithmetic changes.
const STATUS: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;

/// The memory of the program.
pub(crate) trait Store {
    /// The `size` bytes at an address; `None` if the processor must do it.
    fn load(&mut self, address: u64, size: usize) -> Option<u64>;
    /// Writes `size` bytes. Returns `None`, and changes nothing, if the processor must do it.
    fn store(&mut self, address: u64, size: usize, value: u64) -> Option<()>;
}

/// The registers after an instruction, and the flags that it leaves undefined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    pub(crate) registers: user_regs_struct,
    pub(crate) undefined: u64,
}

/// Executes an instruction. `None`: the processor must do it, and nothing has changed.
pub(crate) fn execute(
    instruction: &Instruction,
    before: &user_regs_struct,
    memory: &mut impl Store,
) -> Option<After> {
    if instruction.has_lock_prefix() || instruction.has_rep_prefix() && !is_plain(instruction) {
        return None;
    }
    let mut machine = Machine {
        instruction,
        registers: *before,
        memory,
        undefined: 0,
    };
    machine.registers.rip = instruction.next_ip();
    machine.run()?;
    Some(After {
        registers: machine.registers,
        undefined: machine.undefined,
    })
}

/// Whether a prefix REP means nothing: before a return, or as a part of another instruction's code.
fn is_plain(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Ret | Mnemonic::Endbr64 | Mnemonic::Pause
    )
}

struct Machine<'a, M> {
    instruction: &'a Instruction,
    registers: user_regs_struct,
    memory: &'a mut M,
    undefined: u64,
}

fn mask(size: usize) -> u64 {
    match size {
        8 => u64::MAX,
        size => (1 << (8 * size)) - 1,
    }
}

fn top(size: usize) -> u64 {
    1 << (8 * size - 1)
}

fn signed(value: u64, size: usize) -> i64 {
    let shift = 64 - 8 * size as u32;
    ((value << shift) as i64) >> shift
}

impl<M: Store> Machine<'_, M> {
    fn run(&mut self) -> Option<()> {
        use Mnemonic as M;
        match self.instruction.mnemonic() {
            M::Nop | M::Endbr64 | M::Prefetcht0 | M::Prefetchw | M::Prefetchnta => Some(()),
            M::Mov => self.mov(),
            M::Movzx => {
                let value = self.read(1)?;
                self.write(0, value)
            }
            M::Movsx | M::Movsxd => {
                let value = signed(self.read(1)?, self.size(1)?);
                self.write(0, value as u64)
            }
            M::Lea => {
                let address = self.address(1)?;
                self.write(0, address)
            }
            M::Add | M::Sub | M::Cmp | M::Inc | M::Dec | M::Neg => self.add_or_subtract(),
            M::And | M::Or | M::Xor | M::Test | M::Andn => self.logic(),
            M::Not => {
                let value = self.read(0)?;
                self.write(0, !value)
            }
            M::Shl | M::Shr | M::Sar => self.shift(),
            M::Shlx | M::Shrx | M::Sarx => self.shift_without_flags(),
            M::Imul => self.multiply(),
            M::Bswap => self.swap_bytes(),
            M::Push => {
                let value = match self.instruction.op_kind(0) {
                    OpKind::Register if self.size(0)? == 8 => self.read(0)?,
                    OpKind::Immediate8to64 | OpKind::Immediate32to64 => {
                        self.instruction.immediate(0)
                    }
                    _ => return None,
                };
                self.push(value)
            }
            M::Pop => {
                if self.instruction.op_kind(0) != OpKind::Register || self.size(0)? != 8 {
                    return None;
                }
                let value = self.pop()?;
                self.write(0, value)
            }
            M::Call => {
                let target = self.target()?;
                self.push(self.registers.rip)?;
                self.registers.rip = target;
                Some(())
            }
            M::Ret if self.instruction.op_count() == 0 => {
                self.registers.rip = self.pop()?;
                Some(())
            }
            M::Jmp => {
                self.registers.rip = self.target()?;
                Some(())
            }
            _ => self.conditional(),
        }
    }

    fn mov(&mut self) -> Option<()> {
        let special = |operand: u32| {
            self.instruction.op_kind(operand) == OpKind::Register
                && !self.instruction.op_register(operand).is_gpr()
        };
        if special(0) || special(1) {
            return None;
        }
        let value = self.read(1)?;
        self.write(0, value)
    }

    /// Jcc, SETcc and CMOVcc.
    fn conditional(&mut self) -> Option<()> {
        if self.instruction.is_loopcc() {
            return None;
        }
        let holds = self.condition(self.instruction.condition_code())?;
        if self.instruction.is_jcc_short_or_near() {
            if holds {
                self.registers.rip = self.instruction.near_branch_target();
            }
            return Some(());
        }
        match self.instruction.op_count() {
            1 => self.write(0, holds.into()),
            2 => {
                let value = self.read(1)?;
                let kept = self.read(0)?;
                self.write(0, if holds { value } else { kept })
            }
            _ => None,
        }
    }

    fn condition(&self, code: ConditionCode) -> Option<bool> {
        use ConditionCode as C;
        let flag = |flag| self.registers.eflags & flag != 0;
        let less = flag(SIGN) != flag(OVERFLOW);
        Some(match code {
            C::None => return None,
            C::o => flag(OVERFLOW),
            C::no => !flag(OVERFLOW),
            C::b => flag(CARRY),
            C::ae => !flag(CARRY),
            C::e => flag(ZERO),
            C::ne => !flag(ZERO),
            C::be => flag(CARRY) || flag(ZERO),
            C::a => !flag(CARRY) && !flag(ZERO),
            C::s => flag(SIGN),
            C::ns => !flag(SIGN),
            C::p => flag(PARITY),
            C::np => !flag(PARITY),
            C::l => less,
            C::ge => !less,
            C::le => less || flag(ZERO),
            C::g => !less && !flag(ZERO),
        })
    }

    fn add_or_subtract(&mut self) -> Option<()> {
        use Mnemonic as M;
        let mnemonic = self.instruction.mnemonic();
        let size = self.size(0)?;
        let first = self.read(0)?;
        let (left, right) = match mnemonic {
            M::Inc | M::Dec => (first, 1),
            M::Neg => (0, first),
            _ => (first, self.read(1)? & mask(size)),
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
        } & top(size)
            != 0;
        if mnemonic != M::Cmp {
            self.write(0, result)?;
        }
        let mut flags = result_flags(result, size);
        flags |= (left ^ right ^ result) & ADJUST;
        flags |= if overflow { OVERFLOW } else { 0 };
        flags |= if carry { CARRY } else { 0 };
        let changed = match mnemonic {
            M::Inc | M::Dec => STATUS & !CARRY,
            _ => STATUS,
        };
        self.set_flags(changed, flags);
        Some(())
    }

    fn logic(&mut self) -> Option<()> {
        use Mnemonic as M;
        let size = self.size(0)?;
        let result = match self.instruction.mnemonic() {
            M::Andn => !self.read(1)? & self.read(2)?,
            M::Or => self.read(0)? | self.read(1)?,
            M::Xor => self.read(0)? ^ self.read(1)?,
            _ => self.read(0)? & self.read(1)?,
        } & mask(size);
        if self.instruction.mnemonic() != M::Test {
            self.write(0, result)?;
        }
        self.set_flags(STATUS, result_flags(result, size));
        self.undefined = match self.instruction.mnemonic() {
            M::Andn => ADJUST | PARITY,
            _ => ADJUST,
        };
        Some(())
    }

    fn shift(&mut self) -> Option<()> {
        use Mnemonic as M;
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
            M::Shl => (value << count, value >> (bits - count) & 1),
            M::Shr => (value >> count, value >> (count - 1) & 1),
            _ => {
                let value = signed(value, size);
                ((value >> count) as u64, (value >> (count - 1)) as u64 & 1)
            }
        };
        let result = result & mask(size);
        let sign = |value: u64| value & top(size) != 0;
        let overflow = match self.instruction.mnemonic() {
            M::Shl => sign(result) != (carry == 1),
            M::Shr => sign(value),
            _ => false,
        };
        self.write(0, result)?;
        let overflow = if overflow { OVERFLOW } else { 0 };
        self.set_flags(STATUS, result_flags(result, size) | carry | overflow);
        self.undefined = ADJUST | if count == 1 { 0 } else { OVERFLOW };
        Some(())
    }

    fn shift_without_flags(&mut self) -> Option<()> {
        let size = self.size(0)?;
        let limit = if size == 8 { 63 } else { 31 };
        let (value, count) = (self.read(1)?, self.read(2)? & limit);
        let result = match self.instruction.mnemonic() {
            Mnemonic::Shlx => value << count,
            Mnemonic::Shrx => value >> count,
            _ => (signed(value, size) >> count) as u64,
        };
        self.write(0, result)
    }

    fn multiply(&mut self) -> Option<()> {
        let (left, right) = match self.instruction.op_count() {
            2 => (0, 1),
            3 => (1, 2),
            _ => return None,
        };
        let size = self.size(0)?;
        let left = i128::from(signed(self.read(left)?, size));
        let right = i128::from(signed(self.read(right)? & mask(size), size));
        let product = left * right;
        let result = product as u64 & mask(size);
        let overflow = i128::from(signed(result, size)) != product;
        self.write(0, result)?;
        let flags = if overflow { CARRY | OVERFLOW } else { 0 };
        self.set_flags(CARRY | OVERFLOW, flags);
        self.undefined = STATUS & !(CARRY | OVERFLOW);
        Some(())
    }

    fn swap_bytes(&mut self) -> Option<()> {
        let value = self.read(0)?;
        let result = match self.size(0)? {
            8 => value.swap_bytes(),
            4 => u64::from((value as u32).swap_bytes()),
            _ => return None,
        };
        self.write(0, result)
    }

    fn set_flags(&mut self, changed: u64, flags: u64) {
        self.registers.eflags = self.registers.eflags & !changed | flags & changed;
    }

    /// The target of a jump or call.
    fn target(&mut self) -> Option<u64> {
        match self.instruction.op_kind(0) {
            OpKind::NearBranch64 => Some(self.instruction.near_branch64()),
            OpKind::Register | OpKind::Memory if self.size(0)? == 8 => self.read(0),
            _ => None,
        }
    }

    fn push(&mut self, value: u64) -> Option<()> {
        let place = self.registers.rsp.wrapping_sub(8);
        self.memory.store(place, 8, value)?;
        self.registers.rsp = place;
        Some(())
    }

    fn pop(&mut self) -> Option<u64> {
        let value = self.memory.load(self.registers.rsp, 8)?;
        self.registers.rsp = self.registers.rsp.wrapping_add(8);
        Some(value)
    }

    /// Bytes of an operand.
    fn size(&self, operand: u32) -> Option<usize> {
        let size = match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size(),
            OpKind::Memory => self.instruction.memory_size().size(),
            _ => 8,
        };
        matches!(size, 1 | 2 | 4 | 8).then_some(size)
    }

    fn address(&self, operand: u32) -> Option<u64> {
        // The addresses count from the registers before the instruction; only RIP has moved, and iced
        // knows it.
        let value = |register: Register, _, _| registers::value(&self.registers, register);
        self.instruction.virtual_address(operand, 0, value)
    }

    /// The value of an operand. Immediate values have the sign of their operand in all 64 bits.
    fn read(&mut self, operand: u32) -> Option<u64> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => self.register(self.instruction.op_register(operand)),
            OpKind::Memory => {
                let size = self.size(operand)?;
                let address = self.address(operand)?;
                self.memory.load(address, size)
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(self.instruction.immediate(operand)),
            _ => None,
        }
    }

    fn register(&self, register: Register) -> Option<u64> {
        if !register.is_gpr() {
            return None;
        }
        match is_high(register) {
            true => Some(registers::value(&self.registers, register.full_register())? >> 8 & 0xff),
            false => registers::value(&self.registers, register),
        }
    }

    fn write(&mut self, operand: u32, value: u64) -> Option<()> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let register = self.instruction.op_register(operand);
                if !register.is_gpr() {
                    return None;
                }
                let (size, high) = (register.size(), is_high(register));
                let full = registers::place(&mut self.registers, register.full_register())?;
                *full = match (size, high) {
                    (8, _) => value,
                    (4, _) => value & 0xffff_ffff,
                    (_, true) => *full & !0xff00 | (value & 0xff) << 8,
                    (size, _) => *full & !mask(size) | value & mask(size),
                };
                Some(())
            }
            OpKind::Memory => {
                let size = self.size(operand)?;
                let address = self.address(operand)?;
                self.memory.store(address, size, value & mask(size))
            }
            _ => None,
        }
    }
}

fn is_high(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
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
