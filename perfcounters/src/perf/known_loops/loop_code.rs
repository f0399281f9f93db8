//! The loops in assembler. An iteration of each contains what [`super::KnownLoop`] says.
//!
//! No loop uses the stack, and none is inlined, so that a simulator can count each by its name. An
//! instruction stands before each loop, because callgrind takes a jump to the entry of a function for
//! a call.

use std::arch::asm;

/// One of two texts, for x86-64 or for AArch64.
#[cfg(target_arch = "x86_64")]
macro_rules! either {
    ($x86_64:literal, $aarch64:literal) => {
        $x86_64
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! either {
    ($x86_64:literal, $aarch64:literal) => {
        $aarch64
    };
}

/// Repeats the instructions, decrements `n`, and begins again until `n` is 0.
macro_rules! repeat {
    ($n:expr, $x86_64:literal, $aarch64:literal, $($operands:tt)*) => {
        // SAFETY: each loop changes only the registers and the word that its operands name. It ends
        // after `n` iterations.
        unsafe {
            asm!(
                "nop",
                "2:",
                either!($x86_64, $aarch64),
                either!("dec {n}", "subs {n}, {n}, #1"),
                either!("jnz 2b", "b.ne 2b"),
                n = inout(reg) $n => _,
                $($operands)*
            )
        }
    };
}

/// Eight additions, each to the last result.
#[inline(never)]
pub fn additions(iterations: u64) {
    repeat!(
        iterations,
        ".rept 8; add {a}, {n}; .endr",
        ".rept 8; add {a}, {a}, {n}; .endr",
        a = inout(reg) 0u64 => _,
        options(nomem, nostack),
    );
}

/// Four loads of one word, each into a register of its own: a simulator may leave out a load whose
/// value is overwritten.
#[inline(never)]
pub fn loads(iterations: u64) {
    let word = 1u64;
    repeat!(
        iterations,
        "mov {a}, [{p}]; mov {b}, [{p}]; mov {c}, [{p}]; mov {d}, [{p}]",
        "ldr {a}, [{p}]; ldr {b}, [{p}]; ldr {c}, [{p}]; ldr {d}, [{p}]",
        p = in(reg) &word,
        a = out(reg) _,
        b = out(reg) _,
        c = out(reg) _,
        d = out(reg) _,
        options(readonly, nostack),
    );
}

/// Three stores to one word.
#[inline(never)]
pub fn stores(iterations: u64) {
    let mut word = 0u64;
    repeat!(
        iterations,
        ".rept 3; mov [{p}], {n}; .endr",
        ".rept 3; str {n}, [{p}]; .endr",
        p = in(reg) &mut word,
        options(nostack),
    );
}

/// A branch by the highest bit of a random number, and a jump on either path. The numbers are Knuth's
/// linear congruential generator, whose period is 2^64, so that no predictor learns it.
#[inline(never)]
pub fn random_branches(iterations: u64) {
    repeat!(
        iterations,
        "imul {x}, {c}; add {x}, {c}; js 3f; jmp 4f; 3: jmp 4f; 4:",
        "mul {x}, {x}, {c}; adds {x}, {x}, {c}; b.mi 3f; b 4f; 3: b 4f; 4:",
        x = inout(reg) 0u64 => _,
        c = in(reg) 6_364_136_223_846_793_005u64,
        options(nomem, nostack),
    );
}
