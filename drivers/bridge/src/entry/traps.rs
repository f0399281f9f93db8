//! The handler of SIGSYS: system calls that bypass the C library, as those of safe Rust do.

use crate::entry::memory;
use crate::mmio::fault::Outcome;
use crate::requests;
use crate::sys::{self, Errno};

/// `si_code` of a signal that a seccomp filter sent.
const SYS_SECCOMP: i32 = 1;

/// Answers a system call that the filter trapped.
///
/// # Safety
///
/// The signal's information and context must be the kernel's.
pub(super) unsafe fn handle(info: &libc::siginfo_t, context: &mut libc::ucontext_t) -> Outcome {
    if info.si_code != SYS_SECCOMP {
        return Outcome::NotOurs;
    }
    let registers = &mut context.uc_mcontext.gregs;
    let [number, a, b, c, d, e, f] = [
        libc::REG_RAX,
        libc::REG_RDI,
        libc::REG_RSI,
        libc::REG_RDX,
        libc::REG_R10,
        libc::REG_R8,
        libc::REG_R9,
    ]
    .map(|register| registers[register as usize] as u64);
    let arguments = [a, b, c, d, e, f];
    let answer = match number as i64 {
        libc::SYS_ioctl => requests::ioctl(a as i32, b, c),
        libc::SYS_pread64 => requests::pread(a as i32, b, c as usize, d),
        libc::SYS_pwrite64 => requests::pwrite(a as i32, b, c as usize, d),
        // SAFETY: the program vouches for its arguments.
        libc::SYS_mmap => Some(unsafe { memory::map(arguments) }),
        // Another filter, of the program's own, traps this call.
        _ => return Outcome::NotOurs,
    };
    // SAFETY: as above.
    let result = answer.unwrap_or_else(|| unsafe { sys::call(number as i64, arguments) });
    registers[libc::REG_RAX as usize] = match result {
        Ok(value) => value as i64,
        Err(Errno(error)) => -i64::from(error),
    };
    Outcome::Done
}
