//! A filter of system calls: only those that the tracer must see stop the program.

use std::io;

use libc::{c_long, sock_filter, sock_fprog};

/// The calls: time, the mappings of registers, and waits for interrupts.
const SEEN: [c_long; 9] = [
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_mmap,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
];

/// The filter as a program of the kernel's packet filter.
pub(crate) fn program() -> Vec<sock_filter> {
    let instruction = |code: u32, jt, k| sock_filter {
        code: code as u16,
        jt,
        jf: 0,
        k,
    };
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    // The number of the call is the first word. Calls of 32-bit programs may stop without need.
    let mut program = vec![instruction(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
    )];
    // A jump skips as many instructions as it says: the other tests, and the first answer.
    let skips = (1..=SEEN.len() as u8).rev();
    let tests = SEEN.iter().zip(skips);
    program.extend(tests.map(|(call, skip)| instruction(equal, skip, *call as u32)));
    program.push(instruction(answer, 0, libc::SECCOMP_RET_ALLOW));
    program.push(instruction(answer, 0, libc::SECCOMP_RET_TRACE));
    program
}

/// Applies the filter to this process and its children. It only makes system calls, so a child may call
/// it between fork and exec.
pub(crate) fn apply(program: &mut [sock_filter]) -> io::Result<()> {
    let program = sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the calls take numbers, and a pointer to a program that lives until they return.
    let applied = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    match applied {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}
