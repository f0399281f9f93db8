//! Prepares the driver at its first instruction: no clock without a system call, no randomness.

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use crate::error::TraceError;
use crate::memory::{write_word, Memory};

/// The machine code of SYSCALL.
const SYSCALL: u64 = 0x050f;
/// Most steps for one instruction: the kernel may report the end of the exec first.
const STEPS: u32 = 4;
/// `PR_SET_TSC` and `PR_TSC_SIGSEGV` of `linux/prctl.h`.
const SET_TSC: u64 = 26;
const TSC_SIGSEGV: u64 = 2;

/// Prepares the process, which must be stopped at the end of `execve`.
///
/// - RDTSC raises SIGSEGV from now on, so that the tracer can answer it.
/// - The program does not find the vDSO. It asks the kernel for the time, where the tracer answers.
/// - The 16 random bytes that the kernel gives to programs are fixed.
pub(crate) fn prepare(pid: Pid, memory: &Memory) -> Result<(), TraceError> {
    trap_counter(pid, memory)?;
    let registers = ptrace::getregs(pid).map_err(TraceError::ptrace("read the registers"))?;
    let mut at = registers.rsp;
    // The stack holds argc, the arguments and the variables, each list with a 0 behind it.
    let arguments = memory.word(at)?;
    at += 8 * (arguments + 2);
    while memory.word(at)? != 0 {
        at += 8;
    }
    at += 8;
    loop {
        match memory.word(at)? {
            libc::AT_NULL => return Ok(()),
            libc::AT_SYSINFO_EHDR => write_word(pid, at, libc::AT_IGNORE)?,
            libc::AT_RANDOM => {
                let place = memory.word(at + 8)?;
                write_word(pid, place, 0x0123_4567_89ab_cdef)?;
                write_word(pid, place + 8, 0xfedc_ba98_7654_3210)?;
            }
            _ => {}
        }
        at += 16;
    }
}

/// Lets the process call `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)`.
fn trap_counter(pid: Pid, memory: &Memory) -> Result<(), TraceError> {
    // `execve` has not returned yet, and would overwrite RAX.
    step(pid)?;
    let before = ptrace::getregs(pid).map_err(TraceError::ptrace("read the registers"))?;
    let code = memory.word(before.rip)?;
    write_word(pid, before.rip, code & !0xffff | SYSCALL)?;
    let mut call = before;
    call.orig_rax = u64::MAX;
    call.rax = libc::SYS_prctl as u64;
    (call.rdi, call.rsi) = (SET_TSC, TSC_SIGSEGV);
    set(pid, call)?;
    let mut after = call;
    for _ in 0..STEPS {
        step(pid)?;
        after = ptrace::getregs(pid).map_err(TraceError::ptrace("read the registers"))?;
        if after.rip != before.rip {
            break;
        }
    }
    write_word(pid, before.rip, code)?;
    let mut restored = before;
    restored.orig_rax = u64::MAX;
    set(pid, restored)?;
    match after.rax {
        0 => Ok(()),
        error => Err(TraceError::Ptrace {
            what: "trap the time-stamp counter",
            cause: nix::errno::Errno::from_raw((error as i32).wrapping_neg()),
        }),
    }
}

fn step(pid: Pid) -> Result<(), TraceError> {
    ptrace::step(pid, None).map_err(TraceError::ptrace("step through the code"))?;
    let status = waitpid(pid, Some(WaitPidFlag::__WALL));
    match status.map_err(TraceError::ptrace("wait for a step"))? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => Ok(()),
        other => {
            let text = format!("the program did not start: {other:?}");
            Err(TraceError::NoDriver(text))
        }
    }
}

fn set(pid: Pid, registers: libc::user_regs_struct) -> Result<(), TraceError> {
    ptrace::setregs(pid, registers).map_err(TraceError::ptrace("write the registers"))
}
