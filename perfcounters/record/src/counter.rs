//! The time-stamp counter: the unsafe code of this crate.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the time-stamp counter is known only for x86-64 and AArch64");

/// Its name.
pub(crate) const COUNTER: &str = if cfg!(target_arch = "aarch64") {
    "CNTVCT_EL0"
} else {
    "TSC"
};

/// Reads the time-stamp counter after all earlier instructions and before all later ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn tsc_ordered() -> u64 {
    use std::arch::x86_64::{__rdtscp, _mm_lfence};
    let mut cpu = 0;
    // SAFETY: LFENCE and RDTSCP write only registers and the local variable `cpu`. RDTSCP waits for
    // earlier instructions; LFENCE keeps later instructions from starting early.
    unsafe {
        _mm_lfence();
        let now = __rdtscp(&mut cpu);
        _mm_lfence();
        now
    }
}

/// Reads the virtual count of the generic timer after all earlier instructions and before all later
/// ones. It is AArch64's time-stamp counter, but counts fewer times a second than x86-64's.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn tsc_ordered() -> u64 {
    let now;
    // SAFETY: ISB and MRS change only a register, and Linux lets every program read this counter.
    // The barriers have no `nomem`, so the compiler moves no access to memory across them.
    unsafe {
        std::arch::asm!(
            "isb",
            "mrs {}, cntvct_el0",
            "isb",
            out(reg) now,
            options(nostack, preserves_flags),
        );
    }
    now
}
