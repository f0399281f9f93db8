//! Whether valgrind runs the program, and how a handler gives registers back to a program that it runs.
//!
//! Valgrind ignores the flags in a signal's context when the handler returns. A program that tests a
//! bit of a register would never see the result. So the program itself loads its flags: the handler
//! lets it go on at an IRETQ of the bridge, which takes flags, stack and address from memory of the
//! bridge. The memory below the program's stack is no place for them: the signal's frame lies there.

use std::arch::global_asm;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Linux's segments for 64-bit programs.
const CODE_SEGMENT: u64 = 0x33;
const STACK_SEGMENT: u64 = 0x2b;
/// Words of a place below those that IRETQ takes: room for a signal that arrives there.
const ROOM: usize = 2043;
/// Places for what IRETQ takes. A place is free again when its program has gone on.
const PLACES: usize = 16;

global_asm!(
    ".hidden triptych_bridge_go_on",
    ".globl triptych_bridge_go_on",
    "triptych_bridge_go_on:",
    "iretq",
);

extern "C" {
    fn triptych_bridge_go_on();
}

/// A stack that holds what IRETQ takes: instruction, code segment, flags, stack, stack segment.
#[repr(C, align(16))]
struct Place {
    room: [AtomicU64; ROOM],
    taken: [AtomicU64; 5],
}

static ALL: [Place; PLACES] = [const {
    Place {
        room: [const { AtomicU64::new(0) }; ROOM],
        taken: [const { AtomicU64::new(0) }; 5],
    }
}; PLACES];

/// The place for the next program.
static NEXT: AtomicUsize = AtomicUsize::new(0);

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

/// Where a program goes on to load its flags: its stack pointer and its next instruction there.
pub(crate) fn load_flags(flags: u64, stack: u64, next: u64) -> (u64, u64) {
    let place = &ALL[NEXT.fetch_add(1, Ordering::Relaxed) % PLACES];
    debug_assert_eq!(place.room.len(), ROOM);
    let words = [next, CODE_SEGMENT, flags, stack, STACK_SEGMENT];
    for (to, word) in place.taken.iter().zip(words) {
        to.store(word, Ordering::Relaxed);
    }
    (
        place.taken.as_ptr() as u64,
        triptych_bridge_go_on as *const () as u64,
    )
}
