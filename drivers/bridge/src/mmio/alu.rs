//! Arithmetic with the flags of x86.

/// Carry.
pub(crate) const CF: u64 = 1 << 0;
/// Parity of the low byte.
pub(crate) const PF: u64 = 1 << 2;
/// Carry from bit 3.
pub(crate) const AF: u64 = 1 << 4;
/// Zero.
pub(crate) const ZF: u64 = 1 << 6;
/// Sign.
pub(crate) const SF: u64 = 1 << 7;
/// Overflow.
pub(crate) const OF: u64 = 1 << 11;
const ALL: u64 = CF | PF | AF | ZF | SF | OF;

/// The low `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn top(value: u64, bits: u32) -> bool {
    value >> (bits - 1) & 1 == 1
}

fn flag(set: bool, flag: u64) -> u64 {
    if set {
        flag
    } else {
        0
    }
}

/// ZF, SF and PF of a result.
pub(crate) fn of_result(result: u64, bits: u32) -> u64 {
    flag(result & mask(bits) == 0, ZF)
        | flag(top(result, bits), SF)
        | flag((result as u8).count_ones() % 2 == 0, PF)
}

/// Replaces all arithmetic flags.
pub(crate) fn replace(flags: &mut u64, new: u64) {
    *flags = *flags & !ALL | new;
}

/// `a + b + carry`.
pub(crate) fn add(a: u64, b: u64, carry: bool, bits: u32, flags: &mut u64) -> u64 {
    let wide = u128::from(a & mask(bits)) + u128::from(b & mask(bits)) + u128::from(carry);
    let result = wide as u64 & mask(bits);
    let new = of_result(result, bits)
        | flag(wide >> bits != 0, CF)
        | flag((a ^ b ^ result) & 0x10 != 0, AF)
        | flag(top(!(a ^ b) & (a ^ result), bits), OF);
    replace(flags, new);
    result
}

/// `a - b - borrow`.
pub(crate) fn sub(a: u64, b: u64, borrow: bool, bits: u32, flags: &mut u64) -> u64 {
    let (a, b) = (a & mask(bits), b & mask(bits));
    let result = a.wrapping_sub(b).wrapping_sub(u64::from(borrow)) & mask(bits);
    let new = of_result(result, bits)
        | flag(u128::from(a) < u128::from(b) + u128::from(borrow), CF)
        | flag((a ^ b ^ result) & 0x10 != 0, AF)
        | flag(top((a ^ b) & (a ^ result), bits), OF);
    replace(flags, new);
    result
}

/// The flags of AND, OR, XOR and TEST. Hardware leaves AF undefined; it is 0 here.
pub(crate) fn logic(result: u64, bits: u32, flags: &mut u64) -> u64 {
    let result = result & mask(bits);
    replace(flags, of_result(result, bits));
    result
}

/// `value + 1` or, with `down`, `value - 1`. Keeps CF.
pub(crate) fn step(value: u64, down: bool, bits: u32, flags: &mut u64) -> u64 {
    let carry = *flags & CF;
    let result = if down {
        sub(value, 1, false, bits, flags)
    } else {
        add(value, 1, false, bits, flags)
    };
    *flags = *flags & !CF | carry;
    result
}

/// Which way a shift goes, and what comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Left,
    Right,
    Arithmetic,
}

/// A shift by an instruction's count. OF is defined for a count of 1 only.
pub(crate) fn shift(value: u64, count: u32, kind: Shift, bits: u32, flags: &mut u64) -> u64 {
    let count = count & if bits == 64 { 63 } else { 31 };
    let value = value & mask(bits);
    if count == 0 {
        return value;
    }
    let signed = ((value << (64 - bits)) as i64) >> (64 - bits);
    let (result, carry) = match kind {
        Shift::Left => {
            let wide = u128::from(value) << count;
            (wide as u64, wide >> bits & 1 == 1)
        }
        Shift::Right => (value >> count, value >> (count - 1) & 1 == 1),
        Shift::Arithmetic => (
            signed.wrapping_shr(count) as u64,
            signed.wrapping_shr(count - 1) & 1 == 1,
        ),
    };
    let result = result & mask(bits);
    let overflow = match kind {
        Shift::Left => top(result, bits) != carry,
        Shift::Right => top(value, bits),
        Shift::Arithmetic => false,
    };
    replace(
        flags,
        of_result(result, bits) | flag(carry, CF) | flag(overflow, OF),
    );
    result
}
