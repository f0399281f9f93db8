//! The connection to one port: one exchange at a time, in at most five seconds.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU16, Ordering};

use crate::card::stream::{connect, peek, receive, send, PATIENCE_MS};
use crate::lock::Lock;
use crate::say::warn;
use crate::sys::{self, Errno};

const HEADER: usize = 16;
const FLAG_ERROR: u32 = 1 << 5;

/// A file whose record locks the processes take that share connections; -1 before the first fork.
static TURN: AtomicI32 = AtomicI32::new(-1);

/// The number of the next request, before the first fork.
static FIRST_ID: AtomicU16 = AtomicU16::new(0);

/// The number of the next request, in memory of all processes that share connections. A process may be killed before it
/// takes its answer, so the next one must know that the answer is not its own.
static NEXT_ID: AtomicPtr<AtomicU16> = AtomicPtr::new((&raw const FIRST_ID).cast_mut());

/// What the port's owner knows of its connection.
struct Link {
    /// -1 without a connection.
    socket: i32,
    /// The socket's inode, which shows whether the program has closed the descriptor.
    inode: u64,
}

/// A port's connection.
pub(crate) struct Session {
    link: Lock<Link>,
    /// Set when the connection broke, until the next one begins.
    broken: AtomicBool,
    /// The eventfd for errors of the device, or -1.
    error_eventfd: AtomicI32,
}

/// One request to the card, and where its answer goes.
#[derive(Default)]
pub(crate) struct Exchange<'a> {
    /// Number of the command.
    pub(crate) command: u16,
    /// The fixed part of the request.
    pub(crate) head: &'a [u8],
    /// Data after the fixed part.
    pub(crate) data: &'a [u8],
    /// Descriptors for the card.
    pub(crate) fds: &'a [i32],
    /// Room for the fixed part of the answer.
    pub(crate) reply_head: &'a mut [u8],
    /// Room for the data after it.
    pub(crate) reply_data: &'a mut [u8],
}

/// What an answer held.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Bytes of the answer, which may be fewer or more than there was room.
    pub(crate) len: usize,
    /// A descriptor from the card. The caller closes it.
    pub(crate) fd: Option<i32>,
}

impl Session {
    pub(crate) const fn new() -> Self {
        Self {
            link: Lock::new(Link {
                socket: -1,
                inode: 0,
            }),
            broken: AtomicBool::new(false),
            error_eventfd: AtomicI32::new(-1),
        }
    }

    /// Connects to the port's socket.
    pub(crate) fn open(&self, path: &[u8]) -> Result<(), Errno> {
        let socket = connect(path)?;
        let inode = sys::file_id(socket)?.inode;
        let mut link = self.link.lock();
        if link.socket >= 0 {
            sys::close(link.socket);
        }
        *link = Link { socket, inode };
        self.broken.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the connection. The card then resets the port and withdraws its maps.
    pub(crate) fn close(&self) {
        let mut link = self.link.lock();
        if link.is_ours() {
            sys::close(link.socket);
        }
        link.socket = -1;
        let eventfd = self.error_eventfd.swap(-1, Ordering::Relaxed);
        if eventfd >= 0 {
            sys::close(eventfd);
        }
    }

    /// Whether this descriptor is the connection.
    pub(crate) fn owns(&self, fd: i32) -> bool {
        self.link.lock().socket == fd
    }

    /// Whether the connection broke.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Replaces the eventfd that a broken connection signals, or forgets it with -1.
    pub(crate) fn set_error_eventfd(&self, fd: i32) {
        let old = self.error_eventfd.swap(fd, Ordering::Relaxed);
        if old >= 0 {
            sys::close(old);
        }
    }

    /// Signals the eventfd for errors.
    pub(crate) fn signal_error(&self) {
        let eventfd = self.error_eventfd.load(Ordering::Relaxed);
        if eventfd >= 0 {
            sys::signal_eventfd(eventfd);
        }
    }

    /// Keeps other threads out, for a fork.
    pub(crate) fn acquire(&self) {
        self.link.acquire();
    }

    /// Lets them in again.
    pub(crate) fn release(&self) {
        self.link.release();
    }

    /// Whether there is a connection.
    pub(crate) fn is_open(&self) -> bool {
        self.link.lock().socket >= 0
    }

    /// Sends a request and waits for its answer. EIO if the card is gone or silent.
    pub(crate) fn exchange(&self, port: &str, exchange: Exchange<'_>) -> Result<Answer, Errno> {
        let mut link = self.link.lock();
        if link.socket < 0 || self.is_broken() {
            return Err(Errno(libc::EIO));
        }
        if !link.is_ours() {
            self.give_up(&mut link);
            warn(format_args!(
                "{port}: the program closed or replaced the bridge's connection to the card. \
                 Its registers are lost until it opens the device again"
            ));
            return Err(Errno(libc::EIO));
        }
        link.take_turn();
        let result = link.run(exchange);
        link.record_lock(libc::F_UNLCK);
        match result {
            Ok(answer) => answer,
            Err(error) => {
                self.give_up(&mut link);
                warn(format_args!(
                    "{port}: the card is gone ({error:?}). Requests fail with EIO, and registers read all ones"
                ));
                Err(Errno(libc::EIO))
            }
        }
    }

    fn give_up(&self, link: &mut Link) {
        self.broken.store(true, Ordering::Relaxed);
        if link.is_ours() {
            sys::close(link.socket);
        }
        link.socket = -1;
        self.signal_error();
    }
}

impl Link {
    fn is_ours(&self) -> bool {
        self.socket >= 0
            && sys::file_status(self.socket).is_ok_and(|status| {
                status.st_mode & libc::S_IFMT == libc::S_IFSOCK && status.st_ino == self.inode
            })
    }

    /// The outer error is the connection's, the inner one the card's refusal.
    fn run(&self, exchange: Exchange<'_>) -> Result<Result<Answer, Errno>, Errno> {
        let end = sys::now_ms() + PATIENCE_MS;
        // SAFETY: the number is static, or in memory that is never unmapped.
        let id = unsafe { &*NEXT_ID.load(Ordering::Acquire) }.fetch_add(1, Ordering::Relaxed);
        let size = HEADER + exchange.head.len() + exchange.data.len();
        let mut header = [0; HEADER];
        header[0..2].copy_from_slice(&id.to_le_bytes());
        header[2..4].copy_from_slice(&exchange.command.to_le_bytes());
        header[4..8].copy_from_slice(&(size as u32).to_le_bytes());
        send(
            self.socket,
            [&header, exchange.head, exchange.data],
            exchange.fds,
            end,
        )?;
        let mut fd = None;
        let result = self.receive_answer(id, exchange, &mut fd, end);
        if !matches!(result, Ok(Ok(_))) {
            sys::close_if_any(fd.take());
        }
        result.map(|inner| inner.map(|len| Answer { len, fd }))
    }

    fn receive_answer(
        &self,
        id: u16,
        exchange: Exchange<'_>,
        fd: &mut Option<i32>,
        end: u64,
    ) -> Result<Result<usize, Errno>, Errno> {
        let mut header = [0; HEADER];
        let (size, flags, error) = loop {
            peek(self.socket, &mut header, end)?;
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
            let (size, flags, error) = (word(4) as usize, word(8), word(12));
            if !(HEADER..=1 << 24).contains(&size) {
                return Err(Errno(libc::EPROTO));
            }
            if header[0..2] == id.to_le_bytes() {
                break (size, flags, error);
            }
            // The answer to a process that shared the connection and was killed.
            if TURN.load(Ordering::Acquire) < 0 || sys::now_ms() > end {
                return Err(Errno(libc::EPROTO));
            }
            receive(self.socket, [&mut [], &mut [], &mut []], size, fd, end)?;
            sys::close_if_any(fd.take());
        };
        let parts = [&mut header, exchange.reply_head, exchange.reply_data];
        receive(self.socket, parts, size, fd, end)?;
        if flags & FLAG_ERROR != 0 {
            let error = if error == 0 { libc::EIO } else { error as i32 };
            return Ok(Err(Errno(error)));
        }
        Ok(Ok(size - HEADER))
    }

    /// Waits for this process's turn if others share its connections.
    fn take_turn(&self) {
        let end = sys::now_ms() + PATIENCE_MS;
        while !self.record_lock(libc::F_WRLCK) && sys::now_ms() < end {
            sys::yield_processor();
        }
    }

    /// Locks or unlocks the link for this process, on a byte of the file that is this link's. The kernel frees the lock of
    /// a process that dies.
    fn record_lock(&self, kind: i32) -> bool {
        let fd = TURN.load(Ordering::Acquire);
        // SAFETY: all zeros is a lock.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as i16;
        lock.l_start = std::ptr::from_ref(self) as i64;
        lock.l_len = 1;
        let at = &raw const lock as u64;
        let arguments = [fd as u64, libc::F_SETLK as u64, at];
        // SAFETY: the kernel reads `lock`.
        fd < 0 || unsafe { sys::call(libc::SYS_fcntl, arguments) }.is_ok()
    }
}

/// Notes that this process is about to fork: relatives now take turns.
pub(crate) fn prepare_to_share() {
    if TURN.load(Ordering::Acquire) >= 0 {
        return;
    }
    let Ok(low) = sys::memory_file(4096, 0) else {
        return;
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let number = unsafe { sys::mmap(0, 4096, protection, libc::MAP_SHARED, low, 0) };
    if let (Ok(high), Ok(number)) = (sys::duplicate_high(low, 600), number) {
        NEXT_ID.store(number as *mut AtomicU16, Ordering::Release);
        TURN.store(high, Ordering::Release);
    }
    sys::close(low);
}

/// Whether a descriptor is the file of [`prepare_to_share`].
pub(crate) fn owns_turn(fd: i32) -> bool {
    TURN.load(Ordering::Acquire) == fd
}
