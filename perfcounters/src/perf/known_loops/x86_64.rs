//! The loops in assembler for x86-64. An iteration of each contains what [`super::KnownLoop`] says.
//!
//! No loop uses the stack, and none is inlined, so that a simulator can count each by its name. An
//! instruction stands before each loop, because callgrind takes a jump to the entry of a function for
//! a call.

use std::arch::asm;

/// Eight additions, and the decrement and branch of the loop.
#[inline(never)]
pub fn additions(iterations: u64) {
    // SAFETY: the loop changes only the registers that it names, and ends after `iterations`.
    unsafe {
        asm!(
            "nop",
            "2:",
            "add {a}, {n}", "add {b}, {n}", "add {a}, {n}", "add {b}, {n}",
            "add {a}, {n}", "add {b}, {n}", "add {a}, {n}", "add {b}, {n}",
            "dec {n}",
            "jnz 2b",
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
            "mov {a}, [{p}]", "mov {b}, [{p}]", "mov {c}, [{p}]", "mov {d}, [{p}]",
            "dec {n}",
            "jnz 2b",
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
            "mov [{p}], {n}", "mov [{p}], {n}", "mov [{p}], {n}",
            "dec {n}",
            "jnz 2b",
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
            "jmp 3f", "nop", "3:",
            "jmp 4f", "nop", "4:",
            "dec {n}",
            "jnz 2b",
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
            "test {n}, {n}",
            "jz 3f", "jz 3f",
            "dec {n}",
            "jnz 2b",
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
    // SAFETY: the loop changes only the registers that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "mov {t}, {x}", "shl {t}, 13", "xor {x}, {t}",
            "mov {t}, {x}", "shr {t}, 7", "xor {x}, {t}",
            "mov {t}, {x}", "shl {t}, 17", "xor {x}, {t}",
            "test {x:e}, 0x100000",
            "jz 3f", "nop", "3:",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            x = inout(reg) seed => _,
            t = out(reg) _,
            options(nomem, nostack),
        );
    }
}

/// Eight multiplications, each of the result before it. One takes three cycles on every processor of
/// `data/events.toml`.
#[inline(never)]
pub fn multiplications(iterations: u64) {
    // SAFETY: the loop changes only the registers that it names, and ends.
    unsafe {
        asm!(
            "nop",
            "2:",
            "imul {a:e}, {b:e}", "imul {a:e}, {b:e}", "imul {a:e}, {b:e}", "imul {a:e}, {b:e}",
            "imul {a:e}, {b:e}", "imul {a:e}, {b:e}", "imul {a:e}, {b:e}", "imul {a:e}, {b:e}",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            a = inout(reg) 3u64 => _,
            b = in(reg) 5u64,
            options(nomem, nostack),
        );
    }
}
