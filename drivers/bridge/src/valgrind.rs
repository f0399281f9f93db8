//! Whether valgrind runs the program, and how a handler gives registers back to a program that it runs.
//!
//! Valgrind ignores the flags in a signal's context when the handler returns. A program that tests a
//! bit of a register would never see the result. So the program itself loads its flags: the handler
//! lets it go on at two instructions of the bridge, which take flags and address from below the stack.

use std::arch::global_asm;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::user_memory;

/// Bytes below the stack pointer that belong to the program (System V ABI, AMD64 supplement, 3.2.2).
const RED_ZONE: u64 = 128;
/// Bytes of the flags and of the address.
const SAVED: u64 = 16;

global_asm!(
    ".hidden triptych_bridge_load_flags",
    ".globl triptych_bridge_load_flags",
    "triptych_bridge_load_flags:",
    "popfq",
    "ret {red_zone}",
    red_zone = const RED_ZONE,
);

extern "C" {
    fn triptych_bridge_load_flags();
}

static RUNS: AtomicBool = AtomicBool::new(false);

/// Finds out whether valgrind runs the program, by the request that valgrind.h defines. A processor's own
/// registers come out unchanged.
pub(crate) fn detect() {
    const RUNNING_ON_VALGRIND: u64 = 0x1001;
    let request = [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: the rotations add up to 128 bits, so that RDI keeps its value.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") answer,
            in("rdi") 0,
        );
    }
    RUNS.store(answer != 0, Ordering::Relaxed);
}

/// Whether valgrind runs the program, as [`detect`] found out.
pub(crate) fn runs_program() -> bool {
    RUNS.load(Ordering::Relaxed)
}

/// Where a program goes on to load its flags: its stack pointer and its next instruction. `None` if
/// the memory below its stack cannot be written.
pub(crate) fn load_flags(flags: u64, stack: u64, next: u64) -> Option<(u64, u64)> {
    let below = stack.checked_sub(RED_ZONE + SAVED)?;
    let mut saved = [0; SAVED as usize];
    saved[..8].copy_from_slice(&flags.to_le_bytes());
    saved[8..].copy_from_slice(&next.to_le_bytes());
    user_memory::write_bytes(below, &saved).ok()?;
    Some((below, triptych_bridge_load_flags as *const () as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes on at `instruction` with the stack at `stack`, and returns the flags and the stack there.
    fn go_on(prepare: impl Fn(u64, u64) -> Option<(u64, u64)>) -> (u64, bool) {
        let mut memory = vec![0_u64; 512];
        // The program's stack lies in the middle of the memory.
        let stack = &raw mut memory[256] as u64;
        let (flags, after): (u64, u64);
        let next: u64;
        // SAFETY: it only takes an address.
        unsafe {
            std::arch::asm!("lea {}, [rip + 77f]", "jmp 78f", "77:", "jmp r15", "78:", out(reg) next)
        };
        let (below, instruction) = prepare(stack, next).unwrap();
        // SAFETY: the code at 77 comes back here by r15, with the stack pointer under test in RSP.
        unsafe {
            std::arch::asm!(
                "mov {own}, rsp",
                "lea r15, [rip + 79f]",
                "mov rsp, {below}",
                "jmp {instruction}",
                "79:",
                "mov {after}, rsp",
                "mov rsp, {own}",
                "pushfq",
                "pop {flags}",
                own = out(reg) _,
                below = in(reg) below,
                instruction = in(reg) instruction,
                after = lateout(reg) after,
                flags = lateout(reg) flags,
                out("r15") _,
            );
        }
        (flags, after == stack)
    }

    #[test]
    fn a_program_loads_its_flags_and_keeps_its_stack() {
        const ZERO: u64 = 0x40;
        const CARRY: u64 = 1;
        for wanted in [0, ZERO, CARRY, ZERO | CARRY] {
            // Bit 1 is always set, and bit 9 allows interrupts.
            let (flags, same_stack) = go_on(|stack, next| load_flags(wanted | 0x202, stack, next));
            assert_eq!(flags & (ZERO | CARRY), wanted);
            assert!(same_stack);
        }
    }

    #[test]
    fn a_stack_without_memory_is_refused() {
        assert_eq!(load_flags(0x202, 4096, 0), None);
        assert_eq!(load_flags(0x202, 8, 0), None);
    }

    #[test]
    fn no_valgrind_runs_the_tests() {
        detect();
        assert!(!runs_program());
    }
}
