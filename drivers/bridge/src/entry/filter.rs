//! The seccomp filter that traps system calls for VFIO.
//!
//! It looks at numbers only: the requests' type, the mark in offsets of regions, and the flags of
//! huge pages. All other calls run at full speed. It survives exec; a program without the bridge
//! then notices it only if it makes VFIO requests itself.

use crate::sys::{self, Errno};
use crate::vfio::region::MARK;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const TRAP: u32 = 0x0003_0000;
const ARCH_X86_64: u32 = 0xc000_003e;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const INSTRUCTION: u32 = 8;

fn low(argument: u32) -> u32 {
    16 + 8 * argument
}

fn high(argument: u32) -> u32 {
    low(argument) + 4
}

/// An instruction: its code, how many instructions it skips if a comparison holds and if not, and its number.
type Step = (u16, u8, u8, u32);

/// Skips `otherwise` instructions if the loaded word is not `k`.
fn unless(k: u32, otherwise: u8) -> Step {
    (IF_EQUAL, 0, otherwise, k)
}

/// Traps if a word of an argument has this value under this mask; `number` is the system call.
fn rule(number: i64, word: u32, mask: u32, value: u32) -> [Step; 6] {
    [
        (LOAD, 0, 0, NUMBER),
        unless(number as u32, 4),
        (LOAD, 0, 0, word),
        (AND, 0, 0, mask),
        unless(value, 1),
        (RETURN, 0, 0, TRAP),
    ]
}

/// Traps a system call whose argument is the kernel's offset of a region: its number in bits 40 to
/// 43, and less than 4 GiB in the region.
fn offset_rule(number: i64, argument: u32) -> [Step; 7] {
    [
        (LOAD, 0, 0, NUMBER),
        unless(number as u32, 5),
        (LOAD, 0, 0, high(argument)),
        (IF_EQUAL, 3, 0, 0),
        (AND, 0, 0, 0xffff_f0ff),
        unless(0, 1),
        (RETURN, 0, 0, TRAP),
    ]
}

/// The filter. Calls from the instruction before `gate` pass.
fn program(gate: u64) -> Vec<libc::sock_filter> {
    const MARK_BITS: u32 = 0xffff_0000;
    let mark = (MARK as u32) << 16;
    let huge = (libc::MAP_ANONYMOUS | libc::MAP_HUGETLB) as u32;
    let mut filter = vec![
        (LOAD, 0, 0, ARCH),
        (IF_EQUAL, 1, 0, ARCH_X86_64),
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, INSTRUCTION),
        unless(gate as u32, 3),
        (LOAD, 0, 0, INSTRUCTION + 4),
        unless((gate >> 32) as u32, 1),
        (RETURN, 0, 0, ALLOW),
    ];
    let request = u32::from(b';') << 8;
    for (number, word, mask, value) in [
        (libc::SYS_ioctl, low(1), 0xffff_ff00, request),
        (libc::SYS_mmap, high(5), MARK_BITS, mark),
        (libc::SYS_mmap, low(3), huge, huge),
        (libc::SYS_pread64, high(3), MARK_BITS, mark),
        (libc::SYS_pwrite64, high(3), MARK_BITS, mark),
    ] {
        filter.extend(rule(number, word, mask, value));
    }
    filter.extend(offset_rule(libc::SYS_mmap, 5));
    filter.extend(offset_rule(libc::SYS_pread64, 3));
    filter.extend(offset_rule(libc::SYS_pwrite64, 3));
    filter.push((RETURN, 0, 0, ALLOW));
    let step = |(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k };
    filter.into_iter().map(step).collect()
}

/// Installs the filter for all threads of this process.
pub(super) fn install() -> Result<(), Errno> {
    const SET_MODE_FILTER: u64 = 1;
    const ALL_THREADS: u64 = 1;
    let mut filter = program(sys::make_gate()?);
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    let arguments = [SET_MODE_FILTER, ALL_THREADS, &raw const program as u64];
    // SAFETY: the program names `filter`, which outlives the call.
    let mut result = unsafe { sys::call(libc::SYS_seccomp, arguments) };
    if result == Err(Errno(libc::EACCES)) {
        // Without CAP_SYS_ADMIN, the kernel demands that set-user-ID programs lose their effect.
        let no_new_privileges = [libc::PR_SET_NO_NEW_PRIVS as u64, 1];
        // SAFETY: the arguments are numbers.
        unsafe { sys::call(libc::SYS_prctl, no_new_privileges)? };
        // SAFETY: as above.
        result = unsafe { sys::call(libc::SYS_seccomp, arguments) };
    }
    match result? {
        0 => Ok(()),
        // The number of a thread that has another filter.
        _ => Err(Errno(libc::EBUSY)),
    }
}
