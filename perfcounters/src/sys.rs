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
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// The highest priority of ordinary scheduling.
const NICEST: i32 = -20;

/// Prepares a child process. It dies with the thread that starts it, and leads its own session and
/// process group. It runs on `cpu` and takes memory from `node`, where these are given. Its priority
/// is high, if the system permits that.
pub fn prepare_child(command: &mut Command, cpu: Option<usize>, node: Option<u32>) {
    let set = cpu.map(|cpu| {
        let mut set = CpuSet::new();
        set.set(cpu);
        set
    });
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
            if let Some(node) = node {
                match bind_memory(node) {
                    // Some containers forbid this call. Memory then comes from the node of the CPU
                    // that asks for it, while that node has some.
                    Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
                    result => result?,
                }
            }
            // Only root may do this. Without it a busy machine disturbs the measurement more, and the
            // backends report that.
            let _ = raise_priority();
            Ok(())
        });
    }
}

/// Takes all memory of this process from one NUMA node, as `numactl --membind` does.
fn bind_memory(node: u32) -> std::io::Result<()> {
    // The most nodes that a kernel can be configured for.
    let mut mask = [0 as libc::c_ulong; 1024 / libc::c_ulong::BITS as usize];
    let (word, bit) = (node / libc::c_ulong::BITS, node % libc::c_ulong::BITS);
    *mask
        .get_mut(word as usize)
        .ok_or(rustix::io::Errno::INVAL)? |= 1 << bit;
    // SAFETY: the system call reads `mask`, which has the given number of bits (the kernel reads one
    // bit less). It changes only the node that this process gets memory from.
    let result = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::MPOL_BIND,
            mask.as_ptr(),
            8 * size_of_val(&mask) + 1,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
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
