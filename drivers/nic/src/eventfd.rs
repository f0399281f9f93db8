//! Signals a client's eventfds without ever waiting for the client.
//!
//! A `write` to an eventfd blocks while its counter is full, unless O_NONBLOCK is set. That flag
//! belongs to the client as much as to this process: both share the file description, so the client
//! may clear the flag at any time and fill the counter. Checking before each `write` leaves a race.
//!
//! So the kernel signals, at the end of a request of its asynchronous I/O (IOCB_FLAG_RESFD). Its
//! signal adds 1 to the counter, or leaves a full counter as it is, and never waits. The request
//! reads no bytes of an empty memory file of this process, so it ends within `io_submit`.
//! `io_submit` refuses descriptors that are no eventfds.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{c_long, c_ulong, syscall};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;

/// Requests that the kernel keeps room for. It rounds up.
const REQUESTS: c_long = 128;
/// Finished requests that are collected together. Uncollected ones take the room of new ones.
const COLLECTED: usize = 32;

/// From linux/aio_abi.h: the request to read, and the flag for an eventfd.
const IOCB_CMD_PREAD: u16 = 0;
const IOCB_FLAG_RESFD: u32 = 1;

/// A request; `struct iocb` of linux/aio_abi.h.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Request {
    data: u64,
    /// Key and flags of the read, in an order that depends on the byte order. The kernel ignores the key.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    len: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    eventfd: u32,
}

/// Signals eventfds, and tells them from other descriptors.
#[derive(Debug)]
pub(crate) struct Signaller {
    context: c_ulong,
    /// An empty memory file, which every request reads.
    empty: OwnedFd,
    /// Finished requests that have not been collected.
    finished: usize,
}

impl Signaller {
    /// # Errors
    /// The kernel has no asynchronous I/O (ENOSYS), a filter of system calls forbids it (EPERM), or
    /// all its contexts are in use (EAGAIN; see /proc/sys/fs/aio-max-nr).
    pub(crate) fn new() -> io::Result<Self> {
        let empty = rustix::fs::memfd_create("signals", MemfdFlags::CLOEXEC)?;
        let mut context: c_ulong = 0;
        // SAFETY: the kernel writes one word to `context`, which is 0 as it must be.
        if unsafe { syscall(libc::SYS_io_setup, REQUESTS, &raw mut context) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            context,
            empty,
            finished: 0,
        })
    }

    /// Whether a descriptor is an eventfd. Does not signal it.
    pub(crate) fn is_eventfd(&self, fd: impl AsFd) -> bool {
        // The kernel refuses these flags, but only after it has looked at the eventfd.
        self.submit([u32::MAX; 2], fd.as_fd()) == Err(Errno::OPNOTSUPP)
    }

    /// Adds 1 to the counter of an eventfd, unless the counter is full. Never waits.
    pub(crate) fn signal(&mut self, eventfd: &OwnedFd) {
        if self.finished >= COLLECTED {
            self.collect();
        }
        if self.submit([0; 2], eventfd.as_fd()) == Err(Errno::AGAIN) {
            self.collect();
            // The room is free now. Without memory for a request, the signal is lost.
            let _ = self.submit([0; 2], eventfd.as_fd());
        }
        self.finished += 1;
    }

    fn submit(&self, key_and_flags: [u32; 2], eventfd: BorrowedFd<'_>) -> Result<(), Errno> {
        let request = Request {
            key_and_flags,
            opcode: IOCB_CMD_PREAD,
            file: self.empty.as_raw_fd() as u32,
            flags: IOCB_FLAG_RESFD,
            eventfd: eventfd.as_raw_fd() as u32,
            ..Request::default()
        };
        let (count, requests) = (1 as c_long, [&raw const request]);
        // SAFETY: the context lives as long as `self`. The kernel reads one request, writes its key,
        // and has finished with it when the call returns, because reading no bytes does not wait.
        match unsafe { syscall(libc::SYS_io_submit, self.context, count, requests.as_ptr()) } {
            1 => Ok(()),
            _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
        }
    }

    /// Collects the finished requests, which makes room for new ones.
    fn collect(&mut self) {
        // `struct io_event` of linux/aio_abi.h has four words.
        let mut finished = [[0_u64; 4]; 2 * COLLECTED];
        // SAFETY: the context lives as long as `self`. The kernel writes at most that many elements,
        // and at least 0: it does not wait.
        unsafe {
            syscall(
                libc::SYS_io_getevents,
                self.context,
                0 as c_long,
                finished.len() as c_long,
                finished.as_mut_ptr(),
                std::ptr::null::<libc::timespec>(),
            );
        }
        self.finished = 0;
    }
}

impl Drop for Signaller {
    fn drop(&mut self) {
        // SAFETY: `new` made the context, and no request is under way.
        unsafe { syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{eventfd, EventfdFlags};

    fn counter(fd: &OwnedFd) -> u64 {
        let mut bytes = [0; 8];
        match rustix::io::read(fd, &mut bytes) {
            Ok(_) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }

    #[test]
    fn more_signals_than_the_kernel_has_room_for_arrive() {
        let mut signaller = Signaller::new().unwrap();
        let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        (0..5000).for_each(|_| signaller.signal(&fd));
        assert_eq!(counter(&fd), 5000);
    }

    #[test]
    fn the_signals_of_a_full_counter_return_at_once_and_later_ones_arrive() {
        let mut signaller = Signaller::new().unwrap();
        // Without EFD_NONBLOCK, a write would block for ever.
        let fd = eventfd(0, EventfdFlags::empty()).unwrap();
        rustix::io::write(&fd, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        (0..1000).for_each(|_| signaller.signal(&fd));
        assert!(counter(&fd) >= u64::MAX - 1);
        signaller.signal(&fd);
        assert_eq!(counter(&fd), 1);
    }

    #[test]
    fn the_check_for_eventfds_signals_none() {
        let signaller = Signaller::new().unwrap();
        for flags in [
            EventfdFlags::NONBLOCK,
            EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK,
        ] {
            let fd = eventfd(0, flags).unwrap();
            (0..500).for_each(|_| assert!(signaller.is_eventfd(&fd)));
            assert_eq!(counter(&fd), 0);
        }
        let socket = OwnedFd::from(std::os::unix::net::UnixStream::pair().unwrap().0);
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        let memory = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        for other in [socket, file, memory] {
            assert!(!signaller.is_eventfd(&other));
        }
    }
}
