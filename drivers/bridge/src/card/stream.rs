//! Messages over a UNIX stream socket, with descriptors beside them. Every wait has a deadline.
//!
//! Nothing here needs memory: a trapped register access sends a message from a signal handler.

use std::mem::{size_of, zeroed};

use crate::sys::{self, Errno};

/// Longest time for one exchange with the card, in milliseconds.
pub(crate) const PATIENCE_MS: u64 = 5000;

/// Most descriptors that one message carries. The server announces this number.
pub(crate) const MAX_FDS: usize = 16;

/// Room for the descriptors of one message: its header and the numbers, aligned.
#[repr(C, align(8))]
struct Control([u8; 16 + 4 * MAX_FDS]);

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
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the arguments are numbers.
    let low = unsafe {
        sys::call(
            libc::SYS_socket,
            [libc::AF_UNIX as u64, kind as u64, 0, 0, 0, 0],
        )?
    };
    // The program gets the low numbers, as if the bridge were not there.
    let socket = sys::duplicate_high(low as i32, 600)?;
    sys::close(low as i32);
    let end = sys::now_ms() + PATIENCE_MS;
    let len = size_of::<libc::sockaddr_un>() as u64;
    loop {
        let arguments = [socket as u64, &raw const address as u64, len, 0, 0, 0];
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
    unsafe { sys::call(call, [socket as u64, at, flags as u64, 0, 0, 0]) }
}

/// Sends all parts, and the descriptors with the first byte.
pub(crate) fn send(socket: i32, parts: [&[u8]; 3], fds: &[i32], end: u64) -> Result<(), Errno> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let mut sent = 0;
    let mut control = Control([0; 16 + 4 * MAX_FDS]);
    while sent < total {
        let mut skip = sent;
        let vectors = parts.map(|part| {
            let left = &part[skip.min(part.len())..];
            skip -= part.len() - left.len();
            libc::iovec {
                iov_base: left.as_ptr() as *mut _,
                iov_len: left.len(),
            }
        });
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

/// Fills a buffer. Descriptors that come with it go to `fd`, or are closed if it has one.
pub(crate) fn receive(
    socket: i32,
    into: &mut [u8],
    fd: &mut Option<i32>,
    end: u64,
) -> Result<(), Errno> {
    let mut filled = 0;
    while filled < into.len() {
        let mut control = Control([0; 16 + 4 * MAX_FDS]);
        let rest = &mut into[filled..];
        let vector = libc::iovec {
            iov_base: rest.as_mut_ptr().cast(),
            iov_len: rest.len(),
        };
        let mut message = message(std::slice::from_ref(&vector));
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        // SAFETY: the message names buffers of this function.
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
