//! Watchpoints: the processor's debug registers stop a thread at an access.

use std::mem::offset_of;

use nix::sys::ptrace;
use nix::unistd::Pid;

/// Watchpoints of one thread: DR0 to DR3 have their addresses.
pub(crate) const MOST: usize = 4;
/// The registers with what has happened, and with what is watched.
const STATUS: usize = 6;
const CONTROL: usize = 7;

/// What a thread stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// After a store to these 4 bytes.
    Store(u64),
    /// Before the instruction at this address.
    Execution(u64),
}

fn place(register: usize) -> ptrace::AddressType {
    (offset_of!(libc::user, u_debugreg) + 8 * register) as ptrace::AddressType
}

/// Sets the watchpoints of a stopped thread, and removes all others.
pub(crate) fn set(thread: Pid, watches: &[Watch]) -> nix::Result<()> {
    ptrace::write_user(thread, place(CONTROL), 0)?;
    let mut control = 0;
    for (nth, watch) in watches.iter().enumerate() {
        // Bits 0 and 1 say what is watched, and bits 2 and 3 how many bytes.
        let (address, kind) = match watch {
            Watch::Store(address) => (*address, 0b1101),
            Watch::Execution(address) => (*address, 0),
        };
        ptrace::write_user(thread, place(nth), address as i64)?;
        control |= 1 << (2 * nth) | kind << (16 + 4 * nth);
    }
    ptrace::write_user(thread, place(CONTROL), control)
}

/// The number of the watchpoint at which a thread has stopped, if it was one.
pub(crate) fn hit(thread: Pid) -> nix::Result<Option<usize>> {
    let status = ptrace::read_user(thread, place(STATUS))?;
    ptrace::write_user(thread, place(STATUS), 0)?;
    Ok((0..MOST).find(|nth| status >> nth & 1 == 1))
}
