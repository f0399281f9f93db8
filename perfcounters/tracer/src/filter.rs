//! A filter of system calls: only those that the tracer must see stop the program.

use std::io;

use libc::{c_long, sock_filter, sock_fprog};

/// The calls: time, mappings of code, and the waits by which a driver shows that it sleeps.
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
/// `AUDIT_ARCH_X86_64` of `linux/audit.h`.
const X86_64: u32 = 0xc000_003e;
/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// The filter as a program of the kernel's packet filter.
pub(crate) fn program() -> Vec<sock_filter> {
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    let answer = |value| instruction(libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let equal =
        |value, yes, no| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, yes, no, value);
    // A jump skips as many instructions as it says.
    let count = SEEN.len() as u8;
    let mut program = vec![
        load(ARCHITECTURE),
        equal(X86_64, 0, count + 1),
        load(NUMBER),
    ];
    let tests = SEEN.iter().zip(0..count);
    program.extend(tests.map(|(call, nth)| equal(*call as u32, count - nth, 0)));
    program.extend([
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_TRACE),
    ]);
    program
}

fn instruction(code: u32, yes: u8, no: u8, value: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: yes,
        jf: no,
        k: value,
    }
}

/// Applies the filter to this process and its children. It only makes system calls, so a child may call
/// it between fork and exec.
pub(crate) fn apply(program: &mut [sock_filter]) -> io::Result<()> {
    let program = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter answers.
    fn answer(architecture: u32, number: u32) -> u32 {
        let program = program();
        let mut at = 0;
        let mut value = 0;
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            match u32::from(code) & 7 {
                libc::BPF_LD if k == NUMBER => value = number,
                libc::BPF_LD => value = architecture,
                libc::BPF_JMP => at += usize::from(if value == k { jt } else { jf }),
                _ => return k,
            }
        }
    }

    #[test]
    fn only_the_listed_calls_stop_the_program() {
        for call in SEEN {
            assert_eq!(answer(X86_64, call as u32), libc::SECCOMP_RET_TRACE);
        }
        for call in [libc::SYS_read, libc::SYS_sendmsg, libc::SYS_execve] {
            assert_eq!(answer(X86_64, call as u32), libc::SECCOMP_RET_ALLOW);
        }
        let other = answer(0x4000_0003, libc::SYS_mmap as u32);
        assert_eq!(other, libc::SECCOMP_RET_ALLOW);
    }
}
