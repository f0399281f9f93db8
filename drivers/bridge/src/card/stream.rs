//! Messages over a UNIX stream socket, with descriptors beside them. Every wait has a deadline.
//!
//! Nothing here needs memory: a trapped register access sends a message from a signal handler.

use std::cell::UnsafeCell;
use std::mem::{size_of, zeroed};

use crate::sys::{self, Errno};

/// Longest time for one exchange with the card, in milliseconds.
pub(crate) const PATIENCE_MS: u64 = 5000;

/// Most descriptors that one message carries. The server announces this number.
pub(crate) const MAX_FDS: usize = 16;

/// Room for the descriptors of one message: its header and the numbers, aligned.
#[repr(C, align(8))]
struct Control([u8; 16 + 4 * MAX_FDS]);

/// A new socket with a high number: the program gets the low ones, as if the bridge were not there.
pub(crate) fn socket() -> Result<i32, Errno> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let arguments = [libc::AF_UNIX as u64, kind as u64];
    // SAFETY: the arguments are numbers.
    let low = unsafe { sys::call(libc::SYS_socket, arguments)? } as i32;
    let high = sys::duplicate_high(low, 600);
    sys::close(low);
    high
}

/// Connects to a socket. Does not wait while the server's queue is full longer than the deadline.
pub(crate) fn connect(path: &[u8]) -> Result<i32, Errno> {
    // SAFETY: all zeros is an empty address.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    if path.len() >= address.sun_path.len() {
        return Err(Errno(libc::ENAMETOOLONG));
    }
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    let socket = socket()?;
    let end = sys::now_ms() + PATIENCE_MS;
    let len = size_of::<libc::sockaddr_un>() as u64;
    loop {
        let arguments = [socket as u64, &raw const address as u64, len];
        // SAFETY: the address is `len` bytes long.
        match unsafe { sys::call(libc::SYS_connect, arguments) } {
            Ok(_) => return Ok(socket),
            Err(Errno(libc::EAGAIN)) if sys::now_ms() < end => drop(sys::poll(-1, 0, 1)),
            Err(error) => {
                sys::close(socket);
                return Err(error);
            }
        }
    }
}

/// Waits until the socket is ready.
fn wait(socket: i32, events: i16, end: u64) -> Result<(), Errno> {
    loop {
        let left = end.saturating_sub(sys::now_ms());
        match sys::poll(socket, events, left as i32) {
            Ok(0) if left == 0 => return Err(Errno(libc::ETIMEDOUT)),
            Ok(0) | Err(Errno(libc::EINTR)) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// A message of these parts, without descriptors.
fn message(parts: &[libc::iovec]) -> libc::msghdr {
    // SAFETY: all zeros is an empty message.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_ptr().cast_mut();
    message.msg_iovlen = parts.len();
    message
}

/// Makes the system call that sends or receives a message. Returns the number of bytes.
///
/// # Safety
///
/// The message must name valid buffers, which the kernel may write to when it receives.
unsafe fn exchange(
    call: libc::c_long,
    socket: i32,
    message: &mut libc::msghdr,
    flags: i32,
) -> Result<u64, Errno> {
    let at = std::ptr::from_mut(message) as u64;
    // SAFETY: as above.
    unsafe { sys::call(call, [socket as u64, at, flags as u64]) }
}

/// What is left of some parts after their first `done` bytes.
fn rest<const N: usize>(parts: [(*mut u8, usize); N], mut done: usize) -> [libc::iovec; N] {
    parts.map(|(at, len)| {
        let skip = done.min(len);
        done -= skip;
        libc::iovec {
            iov_base: at.wrapping_add(skip).cast(),
            iov_len: len - skip,
        }
    })
}

/// Sends all parts, and the descriptors with the first byte.
pub(crate) fn send(socket: i32, parts: [&[u8]; 3], fds: &[i32], end: u64) -> Result<(), Errno> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let mut sent = 0;
    let mut control = Control([0; 16 + 4 * MAX_FDS]);
    while sent < total {
        let vectors = rest(
            parts.map(|part| (part.as_ptr().cast_mut(), part.len())),
            sent,
        );
        let mut message = message(&vectors);
        if sent == 0 && !fds.is_empty() {
            let len = 16 + 4 * fds.len();
            control.0[0..8].copy_from_slice(&(len as u64).to_ne_bytes());
            control.0[8..12].copy_from_slice(&libc::SOL_SOCKET.to_ne_bytes());
            control.0[12..16].copy_from_slice(&libc::SCM_RIGHTS.to_ne_bytes());
            for (to, fd) in control.0[16..].chunks_exact_mut(4).zip(fds) {
                to.copy_from_slice(&fd.to_ne_bytes());
            }
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = len.next_multiple_of(8);
        }
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the message names buffers of this function.
        match unsafe { exchange(libc::SYS_sendmsg, socket, &mut message, flags) } {
            Ok(count) => sent += count as usize,
            Err(Errno(libc::EAGAIN)) => wait(socket, libc::POLLOUT, end)?,
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Looks at the next bytes without taking them.
pub(crate) fn peek(socket: i32, into: &mut [u8], end: u64) -> Result<(), Errno> {
    let vectors = rest([(into.as_mut_ptr(), into.len())], 0);
    let mut message = message(&vectors);
    loop {
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        // SAFETY: the message names a buffer of the caller.
        match unsafe { exchange(libc::SYS_recvmsg, socket, &mut message, flags) } {
            Ok(0) => return Err(Errno(libc::ECONNRESET)),
            Ok(count) if count as usize == into.len() => return Ok(()),
            Ok(_) if sys::now_ms() > end => return Err(Errno(libc::ETIMEDOUT)),
            Ok(_) => sys::yield_processor(),
            Err(Errno(libc::EAGAIN)) => wait(socket, libc::POLLIN, end)?,
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Bytes that the program does not want. Only the kernel writes here.
struct Sink(UnsafeCell<[u8; 8192]>);

// SAFETY: the bytes are never read.
unsafe impl Sync for Sink {}

static SINK: Sink = Sink(UnsafeCell::new([0; 8192]));

/// Takes `size` bytes, in one system call if they have arrived: a process that is killed takes all or none. The parts
/// get the first ones. Descriptors that come with them go to `fd`, or are closed if it has one.
pub(crate) fn receive(
    socket: i32,
    parts: [&mut [u8]; 3],
    size: usize,
    fd: &mut Option<i32>,
    end: u64,
) -> Result<(), Errno> {
    let mut left = size;
    let [a, b, c] = parts.map(|part| {
        let len = part.len().min(left);
        left -= len;
        (part.as_mut_ptr(), len)
    });
    let mut filled = 0;
    while filled < size {
        let sink = (SINK.0.get().cast(), (size - filled).min(left).min(8192));
        let mut control = Control([0; 16 + 4 * MAX_FDS]);
        let vectors = rest([a, b, c, sink], filled.min(size - left));
        let mut message = message(&vectors);
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        // SAFETY: the message names buffers of the caller, and the sink.
        match unsafe { exchange(libc::SYS_recvmsg, socket, &mut message, flags) } {
            Ok(0) => return Err(Errno(libc::ECONNRESET)),
            Ok(count) => filled += count as usize,
            Err(Errno(libc::EAGAIN)) => {
                wait(socket, libc::POLLIN, end)?;
                continue;
            }
            Err(Errno(libc::EINTR)) => continue,
            Err(error) => return Err(error),
        }
        take_descriptors(&control, message.msg_controllen, fd);
    }
    Ok(())
}

fn take_descriptors(control: &Control, len: usize, fd: &mut Option<i32>) {
    let Some(rights) = control.0[..len.min(control.0.len())].get(..) else {
        return;
    };
    if rights.len() < 20 || rights[12..16] != libc::SCM_RIGHTS.to_ne_bytes() {
        return;
    }
    let end = u64::from_ne_bytes([
        rights[0], rights[1], rights[2], rights[3], rights[4], rights[5], rights[6], rights[7],
    ]) as usize;
    for number in rights[16..end.min(rights.len())].chunks_exact(4) {
        let number = i32::from_ne_bytes([number[0], number[1], number[2], number[3]]);
        if fd.is_none() {
            *fd = Some(number);
        } else {
            sys::close(number);
        }
    }
}
