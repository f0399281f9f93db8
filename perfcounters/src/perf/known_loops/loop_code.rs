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

/// Repeats the instructions, decrements `n`, and begins again until `n` is 0. Label 5 is behind the loop.
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
                "5:",
                n = inout(reg) $n => _,
                $($operands)*
            )
        }
    };
}

/// Eight additions.
#[inline(never)]
pub fn additions(iterations: u64) {
    repeat!(
        iterations,
        ".rept 4; add {a}, {n}; add {b}, {n}; .endr",
        ".rept 4; add {a}, {a}, {n}; add {b}, {b}, {n}; .endr",
        a = inout(reg) 0u64 => _,
        b = inout(reg) 0u64 => _,
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

/// Two unconditional jumps, each over one instruction.
#[inline(never)]
pub fn jumps(iterations: u64) {
    repeat!(
        iterations,
        "jmp 3f; nop; 3: jmp 4f; nop; 4:",
        "b 3f; nop; 3: b 4f; nop; 4:",
        options(nomem, nostack),
    );
}

/// Two conditional branches that are never taken.
#[inline(never)]
pub fn untaken(iterations: u64) {
    repeat!(
        iterations,
        "test {n}, {n}; jz 5f; jz 5f",
        "tst {n}, {n}; b.eq 5f; b.eq 5f",
        options(nomem, nostack),
    );
}

/// One branch over one instruction, taken where bit 20 of the generator's next number is 0. The
/// generator is that of [`super::next_random`]. AArch64's moves make its instructions as many as
/// those of x86-64.
#[inline(never)]
pub fn random_branches(iterations: u64, seed: u64) {
    repeat!(
        iterations,
        "mov {t}, {x}; shl {t}, 13; xor {x}, {t}
         mov {t}, {x}; shr {t}, 7; xor {x}, {t}
         mov {t}, {x}; shl {t}, 17; xor {x}, {t}
         test {x:e}, 0x100000; jz 3f; nop; 3:",
        "mov {t}, {x}; lsl {t}, {t}, #13; eor {x}, {x}, {t}
         mov {t}, {x}; lsr {t}, {t}, #7; eor {x}, {x}, {t}
         mov {t}, {x}; lsl {t}, {t}, #17; eor {x}, {x}, {t}
         tst {x}, #0x100000; b.eq 3f; nop; 3:",
        x = inout(reg) seed => _,
        t = out(reg) _,
        options(nomem, nostack),
    );
}

/// Eight multiplications, each of the result before it. On every x86-64 processor of `data/events.toml`
/// one takes three cycles.
#[inline(never)]
pub fn multiplications(iterations: u64) {
    repeat!(
        iterations,
        ".rept 8; imul {a:e}, {b:e}; .endr",
        ".rept 8; mul {a:w}, {a:w}, {b:w}; .endr",
        a = inout(reg) 3u64 => _,
        b = in(reg) 5u64,
        options(nomem, nostack),
    );
}
