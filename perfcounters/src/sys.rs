//! The unsafe code of this crate, except the assembler of `perf::known_loops`: the system calls of a
//! child process between `fork` and `exec`.
//!
//! The public functions of this module are safe for every caller.

use std::os::unix::process::CommandExt;
use std::process::Command;

pub use record::tsc_ordered;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::thread::CpuSet;

/// The frequency of AArch64's generic timer, Hz; `None` on x86-64, where every time-stamp counter ticks
/// fast enough for all measurements here.
pub fn counter_hz() -> Option<u64> {
    #[cfg(target_arch = "aarch64")]
    {
        let hz;
        // SAFETY: the instruction only reads a register, which Linux lets every program read.
        unsafe {
            std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags));
        }
        Some(hz)
    }
    #[cfg(not(target_arch = "aarch64"))]
    None
}

/// Pins the calling thread to one CPU. Threads that it started before stay where they are.
pub fn pin_this_thread(cpu: usize) -> std::io::Result<()> {
    Ok(rustix::thread::sched_setaffinity(None, &only(cpu))?)
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// The highest priority of ordinary scheduling.
const NICEST: i32 = -20;

/// Prepares a child process. It dies with the thread that starts it, and leads its own session and
/// process group. It runs on `cpu`, if one is given, and the kernel gives it memory of that CPU's
/// node while there is some. Its priority is high, if the system permits that.
pub fn prepare_child(command: &mut Command, cpu: Option<usize>) {
    let set = cpu.map(only);
    // SAFETY: the closure runs in the child between fork and exec, where it may call only
    // async-signal-safe functions. It makes plain system calls, allocates no memory and takes no
    // locks; an `io::Error` from a system call stores only a number.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            rustix::process::setsid()?;
            if let Some(set) = &set {
                rustix::thread::sched_setaffinity(None, set)?;
            }
            // Only root may do this. Without it a busy machine disturbs the measurement more, and the
            // backends report that.
            let _ = raise_priority();
            Ok(())
        });
    }
}

/// Raises the priority of this process within its session, and of the session among others. A kernel
/// that groups processes by session divides the time among sessions first.
fn raise_priority() -> rustix::io::Result<()> {
    rustix::process::setpriority_process(None, NICEST)?;
    let group = rustix::fs::open(
        c"/proc/self/autogroup",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    rustix::io::write(&group, b"-20")?;
    Ok(())
}
