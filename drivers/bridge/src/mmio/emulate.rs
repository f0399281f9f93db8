//! Carries out one instruction whose memory operand is a register of the card.
//!
//! It knows the instructions that gcc, clang and rustc emit to read, write and change memory, and refuses all
//! others. The test runs every form that is accepted here on the processor too, and compares the two.

use iced_x86::{ConditionCode, EncodingKind, Instruction, Mnemonic, OpKind, Register};

use crate::mmio::alu::{self, mask, Shift, CF, OF, PF, SF, ZF};
use crate::mmio::context::Context;

/// The memory operand. Offsets count from its first byte.
pub(crate) trait Bus {
    /// Reads 1, 2, 4 or 8 bytes.
    fn read(&mut self, offset: u64, size: usize) -> u64;
    /// Writes 1, 2, 4 or 8 bytes.
    fn write(&mut self, offset: u64, size: usize, value: u64);
}

/// An instruction, the processor's registers, and the memory operand.
struct Step<'a, 'b, B> {
    instruction: &'a Instruction,
    context: &'a mut Context<'b>,
    bus: &'a mut B,
    /// Bytes of the memory operand.
    size: usize,
    bits: u32,
}

/// Whether an instruction has no masks, segments, or registers of other kinds, and one memory operand of up to
/// 16 bytes. One mnemonic may stand for forms with and without them.
fn is_plain(instruction: &Instruction) -> bool {
    let mut memory = 0;
    let plain = (0..instruction.op_count()).all(|operand| match instruction.op_kind(operand) {
        OpKind::Memory => {
            memory += 1;
            true
        }
        OpKind::Register => {
            let register = instruction.op_register(operand);
            register.is_gpr() || register.is_xmm()
        }
        _ => instruction.try_immediate(operand).is_ok(),
    });
    let encoding = instruction.encoding();
    let size = instruction.memory_size().size();
    plain
        && memory == 1
        && matches!(encoding, EncodingKind::Legacy | EncodingKind::VEX)
        && matches!(size, 1 | 2 | 4 | 8 | 16)
}

/// Carries an instruction out, and moves on to the next one. False, without any effect, if the
/// instruction is unknown.
pub(crate) fn emulate<B: Bus>(
    instruction: &Instruction,
    context: &mut Context<'_>,
    bus: &mut B,
) -> bool {
    if !is_plain(instruction) {
        return false;
    }
    let size = instruction.memory_size().size();
    let mut step = Step {
        instruction,
        context,
        bus,
        size,
        bits: size as u32 * 8,
    };
    let known = if size == 16 {
        step.vector()
    } else {
        step.general() || step.vector()
    };
    if known {
        context.set_instruction(instruction.next_ip());
    }
    known
}

impl<B: Bus> Step<'_, '_, B> {
    fn is_memory(&self, operand: u32) -> bool {
        self.instruction.op_kind(operand) == OpKind::Memory
    }

    /// An operand's value: of the card's register, of a processor's register, or a constant.
    fn value(&mut self, operand: u32) -> u64 {
        match self.instruction.op_kind(operand) {
            OpKind::Memory => self.bus.read(0, self.size),
            OpKind::Register => self.context.get(self.instruction.op_register(operand)),
            _ => self.instruction.immediate(operand),
        }
    }

    /// Stores a value in an operand.
    fn store(&mut self, operand: u32, value: u64) {
        if self.is_memory(operand) {
            self.bus.write(0, self.size, value & mask(self.bits));
        } else {
            self.context
                .set(self.instruction.op_register(operand), value);
        }
    }

    /// Runs an operation that changes the flags.
    fn with_flags(&mut self, operation: impl FnOnce(&mut u64) -> u64) -> u64 {
        let mut flags = self.context.flags();
        let result = operation(&mut flags);
        self.context.set_flags(flags);
        result
    }

    fn general(&mut self) -> bool {
        let mnemonic = self.instruction.mnemonic();
        self.moves(mnemonic)
            || self.arithmetic(mnemonic)
            || self.exchanges(mnemonic)
            || self.bits(mnemonic)
            || self.shifts(mnemonic)
            || self.conditional()
    }

    fn moves(&mut self, mnemonic: Mnemonic) -> bool {
        match mnemonic {
            Mnemonic::Mov | Mnemonic::Movnti | Mnemonic::Movdiri | Mnemonic::Movzx => {
                let value = self.value(1);
                self.store(0, value);
            }
            Mnemonic::Movbe => {
                let value = self.value(1);
                self.store(0, value.swap_bytes() >> (64 - self.bits));
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let unused = 64 - self.bits;
                let value = ((self.value(1) << unused) as i64 >> unused) as u64;
                self.store(0, value);
            }
            _ => return false,
        }
        true
    }

    fn arithmetic(&mut self, mnemonic: Mnemonic) -> bool {
        let bits = self.bits;
        let carry = self.context.flags() & CF != 0;
        match mnemonic {
            Mnemonic::Inc | Mnemonic::Dec => {
                let value = self.value(0);
                let down = mnemonic == Mnemonic::Dec;
                let result = self.with_flags(|flags| alu::step(value, down, bits, flags));
                self.store(0, result);
                return true;
            }
            Mnemonic::Neg => {
                let value = self.value(0);
                let result = self.with_flags(|flags| alu::sub(0, value, false, bits, flags));
                self.store(0, result);
                return true;
            }
            Mnemonic::Not => {
                let value = self.value(0);
                self.store(0, !value);
                return true;
            }
            Mnemonic::Imul if self.instruction.op_count() > 1 => return self.multiply(),
            _ => {}
        }
        if !matches!(
            mnemonic,
            Mnemonic::Add
                | Mnemonic::Adc
                | Mnemonic::Sub
                | Mnemonic::Sbb
                | Mnemonic::Cmp
                | Mnemonic::And
                | Mnemonic::Or
                | Mnemonic::Xor
                | Mnemonic::Test
        ) {
            return false;
        }
        let (a, b) = (self.value(0), self.value(1));
        let result = self.with_flags(|flags| match mnemonic {
            Mnemonic::Add => alu::add(a, b, false, bits, flags),
            Mnemonic::Adc => alu::add(a, b, carry, bits, flags),
            Mnemonic::Sub | Mnemonic::Cmp => alu::sub(a, b, false, bits, flags),
            Mnemonic::Sbb => alu::sub(a, b, carry, bits, flags),
            Mnemonic::Or => alu::logic(a | b, bits, flags),
            Mnemonic::Xor => alu::logic(a ^ b, bits, flags),
            _ => alu::logic(a & b, bits, flags),
        });
        if !matches!(mnemonic, Mnemonic::Cmp | Mnemonic::Test) {
            self.store(0, result);
        }
        true
    }

    /// IMUL with two or three operands: CF and OF say that the product does not fit.
    fn multiply(&mut self) -> bool {
        let first = if self.instruction.op_count() == 3 {
            1
        } else {
            0
        };
        let (a, b) = (self.value(first), self.value(first + 1));
        let unused = 64 - self.bits;
        let signed = |value: u64| i128::from((value << unused) as i64 >> unused);
        let product = signed(a) * signed(b);
        let fits = product == signed(product as u64);
        let bits = self.bits;
        self.with_flags(|flags| {
            alu::replace(flags, alu::of_result(product as u64, bits) & (SF | PF));
            *flags |= if fits { 0 } else { CF | OF };
            0
        });
        self.store(0, product as u64);
        true
    }

    fn exchanges(&mut self, mnemonic: Mnemonic) -> bool {
        let bits = self.bits;
        match mnemonic {
            Mnemonic::Xchg => {
                let (a, b) = (self.value(0), self.value(1));
                self.store(0, b);
                self.store(1, a);
            }
            Mnemonic::Xadd => {
                let (a, b) = (self.value(0), self.value(1));
                let sum = self.with_flags(|flags| alu::add(a, b, false, bits, flags));
                self.store(1, a);
                self.store(0, sum);
            }
            Mnemonic::Cmpxchg => {
                let accumulator = match self.size {
                    1 => Register::AL,
                    2 => Register::AX,
                    4 => Register::EAX,
                    _ => Register::RAX,
                };
                let (expected, found) = (self.context.get(accumulator), self.value(0));
                self.with_flags(|flags| alu::sub(expected, found, false, bits, flags));
                if expected == found {
                    let new = self.value(1);
                    self.store(0, new);
                } else {
                    // The processor writes the old value back.
                    self.store(0, found);
                    self.context.set(accumulator, found);
                }
            }
            _ => return false,
        }
        true
    }

    fn bits(&mut self, mnemonic: Mnemonic) -> bool {
        let bits = self.bits;
        match mnemonic {
            // A bit's number in a register may name a bit outside the operand.
            Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc
                if self.instruction.op_kind(1) != OpKind::Register =>
            {
                let bit = 1_u64 << (self.value(1) % u64::from(bits));
                let value = self.value(0);
                self.with_flags(|flags| {
                    *flags = *flags & !CF | if value & bit != 0 { CF } else { 0 };
                    0
                });
                match mnemonic {
                    Mnemonic::Bts => self.store(0, value | bit),
                    Mnemonic::Btr => self.store(0, value & !bit),
                    Mnemonic::Btc => self.store(0, value ^ bit),
                    _ => {}
                }
            }
            Mnemonic::Andn => {
                let (a, b) = (self.value(1), self.value(2));
                let result = self.with_flags(|flags| alu::logic(!a & b, bits, flags));
                self.store(0, result);
            }
            Mnemonic::Bextr => {
                let (value, control) = (self.value(1), self.value(2));
                let (start, len) = (control as u8, (control >> 8) as u8);
                let shifted = value.checked_shr(start.into()).unwrap_or(0);
                let kept = if len == 0 {
                    0
                } else {
                    shifted & mask(u32::from(len).min(64))
                };
                let result = self.with_flags(|flags| alu::logic(kept, bits, flags));
                self.store(0, result);
            }
            Mnemonic::Tzcnt | Mnemonic::Lzcnt => {
                let value = self.value(1);
                let count = match mnemonic {
                    Mnemonic::Tzcnt => value.trailing_zeros().min(bits),
                    _ => value.leading_zeros() - (64 - bits),
                };
                let flag = |set: bool, flag: u64| if set { flag } else { 0 };
                self.with_flags(|flags| {
                    alu::replace(flags, flag(value == 0, CF) | flag(count == 0, ZF));
                    0
                });
                self.store(0, count.into());
            }
            Mnemonic::Popcnt => {
                let value = self.value(1);
                self.with_flags(|flags| {
                    alu::replace(flags, if value == 0 { ZF } else { 0 });
                    0
                });
                self.store(0, value.count_ones().into());
            }
            Mnemonic::Bsf | Mnemonic::Bsr => {
                let value = self.value(1);
                self.with_flags(|flags| {
                    alu::replace(flags, if value == 0 { ZF } else { 0 });
                    0
                });
                match mnemonic {
                    _ if value == 0 => {}
                    Mnemonic::Bsf => self.store(0, value.trailing_zeros().into()),
                    _ => self.store(0, (63 - value.leading_zeros()).into()),
                }
            }
            _ => return false,
        }
        true
    }

    fn shifts(&mut self, mnemonic: Mnemonic) -> bool {
        let bits = self.bits;
        let kind = match mnemonic {
            Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shlx => Shift::Left,
            Mnemonic::Shr | Mnemonic::Shrx => Shift::Right,
            Mnemonic::Sar | Mnemonic::Sarx => Shift::Arithmetic,
            Mnemonic::Rorx => {
                let (value, count) = (self.value(1), self.value(2) as u32 % bits);
                let low = value.checked_shl(bits - count).unwrap_or(0);
                self.store(0, (value >> count | low) & mask(bits));
                return true;
            }
            _ => return false,
        };
        if matches!(mnemonic, Mnemonic::Shlx | Mnemonic::Shrx | Mnemonic::Sarx) {
            let (value, count) = (self.value(1), self.value(2) as u32);
            let result = alu::shift(value, count, kind, bits, &mut 0);
            self.store(0, result);
        } else {
            let (value, count) = (self.value(0), self.value(1) as u32);
            let result = self.with_flags(|flags| alu::shift(value, count, kind, bits, flags));
            self.store(0, result);
        }
        true
    }

    /// CMOVcc and SETcc. CMOVcc reads its operand in any case.
    fn conditional(&mut self) -> bool {
        let code = self.instruction.condition_code();
        let holds = holds(code, self.context.flags());
        match self.instruction.op_count() {
            _ if code == ConditionCode::None => return false,
            1 => self.store(0, holds.into()),
            2 => {
                let (new, old) = (self.value(1), self.value(0));
                // A register of 4 bytes loses its upper half even if it keeps its value.
                self.store(0, if holds { new } else { old });
            }
            _ => return false,
        }
        true
    }

    /// Loads and stores of vector registers, up to 16 bytes.
    fn vector(&mut self) -> bool {
        let vex = match self.instruction.mnemonic() {
            Mnemonic::Movd
            | Mnemonic::Movq
            | Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movups
            | Mnemonic::Movaps
            | Mnemonic::Movupd
            | Mnemonic::Movapd
            | Mnemonic::Movdqu
            | Mnemonic::Movdqa
            | Mnemonic::Lddqu
            | Mnemonic::Movntdq
            | Mnemonic::Movntps
            | Mnemonic::Movntpd => false,
            Mnemonic::Vmovd
            | Mnemonic::Vmovq
            | Mnemonic::Vmovss
            | Mnemonic::Vmovsd
            | Mnemonic::Vmovups
            | Mnemonic::Vmovaps
            | Mnemonic::Vmovupd
            | Mnemonic::Vmovapd
            | Mnemonic::Vmovdqu
            | Mnemonic::Vmovdqa
            | Mnemonic::Vlddqu
            | Mnemonic::Vmovntdq
            | Mnemonic::Vmovntps
            | Mnemonic::Vmovntpd => true,
            _ => return false,
        };
        let to_memory = self.is_memory(0);
        let register = self.instruction.op_register(u32::from(to_memory));
        if to_memory {
            let Some(value) = self.context.vector(register) else {
                return false;
            };
            for part in (0..self.size).step_by(8) {
                let word = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| value[part + at]));
                let size = self.size.min(8);
                self.bus
                    .write(part as u64, size, word & mask(size as u32 * 8));
            }
            return true;
        }
        if self.context.vector(register).is_none() {
            return false;
        }
        let mut value = [0; 16];
        for part in (0..self.size).step_by(8) {
            let word = self.bus.read(part as u64, self.size.min(8));
            value[part..part + 8].copy_from_slice(&word.to_le_bytes());
        }
        self.context.set_vector(register, value, vex)
    }
}

/// Whether a condition holds.
fn holds(code: ConditionCode, flags: u64) -> bool {
    let set = |flag: u64| flags & flag != 0;
    let less = set(SF) != set(OF);
    match code {
        ConditionCode::None => false,
        ConditionCode::o => set(OF),
        ConditionCode::no => !set(OF),
        ConditionCode::b => set(CF),
        ConditionCode::ae => !set(CF),
        ConditionCode::e => set(ZF),
        ConditionCode::ne => !set(ZF),
        ConditionCode::be => set(CF) || set(ZF),
        ConditionCode::a => !set(CF) && !set(ZF),
        ConditionCode::s => set(SF),
        ConditionCode::ns => !set(SF),
        ConditionCode::p => set(PF),
        ConditionCode::np => !set(PF),
        ConditionCode::l => less,
        ConditionCode::ge => !less,
        ConditionCode::le => less || set(ZF),
        ConditionCode::g => !less && !set(ZF),
    }
}

#[cfg(test)]
#[path = "emulate_tests.rs"]
mod tests;
