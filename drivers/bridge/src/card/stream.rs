//! Messages over a UNIX stream socket, with descriptors beside them. Every wait has a deadline.
//!
//! Nothing here needs memory: a trapped register access sends a message from a signal handler.

use std::cell::UnsafeCell;
use std::mem::{size_of, zeroed};
use std::time::{Duration, Instant};

use crate::sys::{self, refuse_if, Errno, Fd};

/// Longest time for one exchange with the card.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Most descriptors that one message carries. The server announces this number.
pub(crate) const MAX_FDS: usize = 16;

/// Room for the descriptors of one message: its header and the numbers, aligned.
#[repr(C, align(8))]
struct Control([u8; 16 + 4 * MAX_FDS]);

/// A new socket.
pub(crate) fn socket(flags: i32) -> Result<Fd, Errno> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags;
    let arguments = [libc::AF_UNIX as u64, kind as u64];
    // SAFETY: the arguments are numbers.
    unsafe { sys::call(libc::SYS_socket, arguments) }.map(Fd::new)
}

/// Connects to a socket. Does not wait while the server's queue is full longer than the deadline.
pub(crate) fn connect(path: &[u8]) -> Result<Fd, Errno> {
    // SAFETY: all zeros is an empty address.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    refuse_if(path.len() >= address.sun_path.len(), libc::ENAMETOOLONG)?;
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    let socket = socket(libc::SOCK_NONBLOCK)?.raise()?;
    let end = Instant::now() + PATIENCE;
    let len = size_of::<libc::sockaddr_un>() as u64;
    loop {
        let arguments = [socket.number() as u64, &raw const address as u64, len];
        // SAFETY: the address is `len` bytes long.
        match unsafe { sys::call(libc::SYS_connect, arguments) } {
            Ok(_) => return Ok(socket),
            Err(Errno(libc::EAGAIN)) if Instant::now() < end => drop(sys::poll(-1, 0, 1)),
            Err(error) => return Err(error),
        }
    }
}

/// Waits until the socket is ready.
fn wait(socket: i32, events: i16, end: Instant) -> Result<(), Errno> {
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_millis();
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

/// Makes the system call that sends or receives a message, as soon as the socket is ready. Returns the number of bytes.
///
/// # Safety
///
/// The message must name valid buffers, which the kernel may write to when it receives.
unsafe fn exchange(
    (call, events): (libc::c_long, i16),
    socket: i32,
    message: &mut libc::msghdr,
    flags: i32,
    end: Instant,
) -> Result<usize, Errno> {
    let flags = flags | libc::MSG_DONTWAIT;
    let arguments = [
        socket as u64,
        std::ptr::from_mut(message) as u64,
        flags as u64,
    ];
    loop {
        // SAFETY: as above.
        match unsafe { sys::call(call, arguments) } {
            Ok(0) => return Err(Errno(libc::ECONNRESET)),
            Err(Errno(libc::EAGAIN)) => wait(socket, events, end)?,
            Err(Errno(libc::EINTR)) => {}
            other => return other.map(|count| count as usize),
        }
    }
}

const SEND: (libc::c_long, i16) = (libc::SYS_sendmsg, libc::POLLOUT);
const RECEIVE: (libc::c_long, i16) = (libc::SYS_recvmsg, libc::POLLIN);

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
pub(crate) fn send(socket: i32, parts: [&[u8]; 3], fds: &[i32], end: Instant) -> Result<(), Errno> {
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
        // SAFETY: the message names buffers of this function.
        sent += unsafe { exchange(SEND, socket, &mut message, libc::MSG_NOSIGNAL, end)? };
    }
    Ok(())
}

/// Looks at the next bytes without taking them.
pub(crate) fn peek(socket: i32, into: &mut [u8], end: Instant) -> Result<(), Errno> {
    let vectors = rest([(into.as_mut_ptr(), into.len())], 0);
    let mut message = message(&vectors);
    loop {
        // SAFETY: the message names a buffer of the caller.
        let count = unsafe { exchange(RECEIVE, socket, &mut message, libc::MSG_PEEK, end)? };
        if count == into.len() {
            return Ok(());
        }
        refuse_if(Instant::now() > end, libc::ETIMEDOUT)?;
        std::thread::yield_now();
    }
}

/// Bytes that the program does not want. Only the kernel writes here.
struct Sink(UnsafeCell<[u8; 8192]>);

// SAFETY: the bytes are never read.
unsafe impl Sync for Sink {}

static SINK: Sink = Sink(UnsafeCell::new([0; 8192]));

/// Takes `size` bytes, in one system call if they have arrived: a process that is killed takes all or none. The parts
/// get the first ones. Returns the first descriptor that comes with them.
pub(crate) fn receive(
    socket: i32,
    parts: [&mut [u8]; 3],
    size: usize,
    end: Instant,
) -> Result<Option<Fd>, Errno> {
    let mut fd = None;
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
        let flags = libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the message names buffers of the caller, and the sink.
        filled += unsafe { exchange(RECEIVE, socket, &mut message, flags, end)? };
        take_descriptors(&control, message.msg_controllen, &mut fd);
    }
    Ok(fd)
}

/// Takes the first descriptor of a message, and closes the others.
fn take_descriptors(control: &Control, len: usize, fd: &mut Option<Fd>) {
    let rights = &control.0[..len.min(control.0.len())];
    if rights.len() < 20 || rights[12..16] != libc::SCM_RIGHTS.to_ne_bytes() {
        return;
    }
    let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| rights[at + byte]));
    let end = (word(0) as usize).min(rights.len());
    for at in (16..end.saturating_sub(3)).step_by(4) {
        let number = Fd::new(word(at).into());
        fd.get_or_insert(number);
    }
}
