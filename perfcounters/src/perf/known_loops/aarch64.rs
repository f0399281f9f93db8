//! The loops in assembler for AArch64. An iteration of each contains what [`super::KnownLoop`] says.
//!
//! No loop uses the stack, and none is inlined, so that a simulator can count each by its name.

use std::arch::asm;

/// Eight additions, and the decrement and branch of the loop.
#[inline(never)]
pub fn additions(iterations: u64) {
    // SAFETY: the loop changes only the registers that it names, and ends after `iterations`.
    unsafe {
        asm!(
            "nop",
            "2:",
            "add {a}, {a}, {n}", "add {b}, {b}, {n}", "add {a}, {a}, {n}", "add {b}, {b}, {n}",
            "add {a}, {a}, {n}", "add {b}, {b}, {n}", "add {a}, {a}, {n}", "add {b}, {b}, {n}",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            a = inout(reg) 0u64 => _,
            b = inout(reg) 0u64 => _,
            options(nomem, nostack),
        );
    }
}

/// Four loads of one word, each into a register of its own: a simulator may leave out a load whose
/// value is overwritten.
#[inline(never)]
pub fn loads(iterations: u64) {
    let word = 1u64;
    // SAFETY: the loop reads only `word`, changes only the registers that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "ldr {a}, [{p}]", "ldr {b}, [{p}]", "ldr {c}, [{p}]", "ldr {d}, [{p}]",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            p = in(reg) &word,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
            options(readonly, nostack),
        );
    }
}

/// Three stores to one word.
#[inline(never)]
pub fn stores(iterations: u64) {
    let mut word = 0u64;
    // SAFETY: the loop writes only `word` and the registers that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "str {n}, [{p}]", "str {n}, [{p}]", "str {n}, [{p}]",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            p = in(reg) &mut word,
            options(nostack),
        );
    }
}

/// Two unconditional jumps, each over one instruction.
#[inline(never)]
pub fn jumps(iterations: u64) {
    // SAFETY: the loop changes only the register that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "b 3f", "nop", "3:",
            "b 4f", "nop", "4:",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            options(nomem, nostack),
        );
    }
}

/// Two conditional branches that are never taken.
#[inline(never)]
pub fn untaken(iterations: u64) {
    // SAFETY: the loop changes only the register that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "tst {n}, {n}",
            "b.eq 3f", "b.eq 3f",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            "3:",
            n = inout(reg) iterations => _,
            options(nomem, nostack),
        );
    }
}

/// One branch over one instruction, taken where bit 20 of the generator's next number is 0. The
/// generator is that of [`super::next_random`].
#[inline(never)]
pub fn random_branches(iterations: u64, seed: u64) {
    // SAFETY: the loop changes only the registers that it names, and ends. The moves keep the number
    // of instructions that of x86-64.
    unsafe {
        asm!(
            "nop",
            "2:",
            "mov {t}, {x}", "lsl {t}, {t}, #13", "eor {x}, {x}, {t}",
            "mov {t}, {x}", "lsr {t}, {t}, #7", "eor {x}, {x}, {t}",
            "mov {t}, {x}", "lsl {t}, {t}, #17", "eor {x}, {x}, {t}",
            "tst {x}, #0x100000",
            "b.eq 3f", "nop", "3:",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            x = inout(reg) seed => _,
            t = out(reg) _,
            options(nomem, nostack),
        );
    }
}

/// Eight multiplications, each of the result before it.
#[inline(never)]
pub fn multiplications(iterations: u64) {
    // SAFETY: the loop changes only the registers that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "mul {a:w}, {a:w}, {b:w}", "mul {a:w}, {a:w}, {b:w}", "mul {a:w}, {a:w}, {b:w}",
            "mul {a:w}, {a:w}, {b:w}", "mul {a:w}, {a:w}, {b:w}", "mul {a:w}, {a:w}, {b:w}",
            "mul {a:w}, {a:w}, {b:w}", "mul {a:w}, {a:w}, {b:w}",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) iterations => _,
            a = inout(reg) 3u64 => _,
            b = in(reg) 5u64,
            options(nomem, nostack),
        );
    }
}
