//! Executes common instructions in the processor's place.
//!
//! A single step of the processor costs 10 to 40 µs in a virtual machine, and this a tenth of it. It
//! covers the instructions that drivers execute most; the processor executes all others, and all without
//! [`Plan::emulate`](crate::Plan::emulate).

use std::arch::asm;

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use libc::user_regs_struct;

use crate::decode::{place, value_of};

const CARRY: u64 = 1;
const ZERO: u64 = 1 << 6;
/// The flags that arithmetic changes: carry, parity, adjust, zero, sign and overflow.
const STATUS: u64 = 0x8d5;

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) value: u64,
}

/// The registers after an instruction, and what it stores. `None`: the processor must execute it. `load`
/// reads some bytes at an address.
pub(crate) fn execute(
    instruction: &Instruction,
    before: &user_regs_struct,
    load: impl Fn(u64, usize) -> Option<u64>,
) -> Option<(user_regs_struct, Option<Stored>)> {
    if instruction.has_lock_prefix() {
        return None;
    }
    let mut machine = Machine {
        instruction,
        load,
        registers: *before,
        stored: None,
    };
    machine.registers.rip = instruction.next_ip();
    machine.run()?;
    Some((machine.registers, machine.stored))
}

struct Machine<'a, L> {
    instruction: &'a Instruction,
    load: L,
    registers: user_regs_struct,
    stored: Option<Stored>,
}

fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
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
            M::Inc | M::Dec => self.compute(0),
            M::Add | M::Sub | M::Cmp | M::And | M::Or | M::Xor | M::Test | M::Shl | M::Shr => {
                let right = self.read(1)?;
                self.compute(right)
            }
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
        self.registers.rip = self.instruction.near_branch_target();
    }

    fn condition(&self) -> Option<bool> {
        use ConditionCode as C;
        let flag = |flag| self.registers.eflags & flag != 0;
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

    /// Executes arithmetic on the tracer's own processor, so that all flags are the processor's.
    fn compute(&mut self, right: u64) -> Option<()> {
        let (size, mut value) = (self.size(0)?, self.read(0)?);
        let mut flags = self.registers.eflags & STATUS;
        macro_rules! execute {
            ($($code:tt)*) => {
                // SAFETY: the code changes these registers and flags only, and pops what it pushes.
                unsafe {
                    asm!("push {flags}", "popfq", $($code)*, "pushfq", "pop {flags}",
                        flags = inout(reg) flags, inout("rax") value, in("rcx") right)
                }
            };
        }
        macro_rules! sized {
            ($name:literal, $byte:literal, $word:literal, $double:literal, $quad:literal) => {
                match size {
                    1 => execute!(concat!($name, " al", $byte)),
                    2 => execute!(concat!($name, " ax", $word)),
                    4 => execute!(concat!($name, " eax", $double)),
                    _ => execute!(concat!($name, " rax", $quad)),
                }
            };
            ($name:literal) => {
                sized!($name, ", cl", ", cx", ", ecx", ", rcx")
            };
        }
        let mnemonic = self.instruction.mnemonic();
        match mnemonic {
            Mnemonic::Add => sized!("add"),
            Mnemonic::Sub => sized!("sub"),
            Mnemonic::Cmp => sized!("cmp"),
            Mnemonic::And => sized!("and"),
            Mnemonic::Or => sized!("or"),
            Mnemonic::Xor => sized!("xor"),
            Mnemonic::Test => sized!("test"),
            Mnemonic::Inc => sized!("inc", "", "", "", ""),
            Mnemonic::Dec => sized!("dec", "", "", "", ""),
            Mnemonic::Shl => sized!("shl", ", cl", ", cl", ", cl", ", cl"),
            Mnemonic::Shr => sized!("shr", ", cl", ", cl", ", cl", ", cl"),
            _ => return None,
        }
        self.registers.eflags = self.registers.eflags & !STATUS | flags & STATUS;
        match mnemonic {
            Mnemonic::Cmp | Mnemonic::Test => Some(()),
            _ => self.write(0, value),
        }
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
        let value = |register: Register, _, _| value_of(&self.registers, register);
        self.instruction.virtual_address(operand, 0, value)
    }

    /// The value of an operand. Immediate values have the sign of their operand in all 64 bits.
    fn read(&self, operand: u32) -> Option<u64> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let register = general(self.instruction.op_register(operand))?;
                Some(value_of(&self.registers, register)? & mask(register.size()))
            }
            OpKind::Memory => (self.load)(self.address(operand)?, self.size(operand)?),
            _ => self.instruction.try_immediate(operand).ok(),
        }
    }

    fn write(&mut self, operand: u32, value: u64) -> Option<()> {
        if self.instruction.op_kind(operand) == OpKind::Memory {
            let size = self.size(operand)?;
            self.stored = Some(Stored {
                address: self.address(operand)?,
                size,
                value: value & mask(size),
            });
            return Some(());
        }
        let register = general(self.instruction.op_register(operand))?;
        let full = place(&mut self.registers, register.full_register())?;
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
