//! The connection to one port: one exchange at a time, in at most five seconds.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU16, Ordering};
use std::time::Instant;

use crate::card::stream::{connect, peek, receive, send, PATIENCE};
use crate::lock::Lock;
use crate::say::warn;
use crate::sys::{self, refuse_if, Errno, Fd};

const HEADER: usize = 16;
const FLAG_ERROR: u32 = 1 << 5;

/// A file whose record locks the processes take that share connections; -1 before the first fork.
static TURN: AtomicI32 = AtomicI32::new(-1);

/// The number of the next request, before the first fork.
static FIRST_ID: AtomicU16 = AtomicU16::new(0);

/// The number of the next request, in memory of all processes that share connections. A process may be killed before it
/// takes its answer, so the next one must know that the answer is not its own.
static NEXT_ID: AtomicPtr<AtomicU16> = AtomicPtr::new((&raw const FIRST_ID).cast_mut());

/// The socket to the card, with its inode: that shows whether the program has closed the descriptor.
pub(crate) struct Channel {
    socket: i32,
    inode: u64,
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.is_ours() {
            sys::close(self.socket);
        }
    }
}

/// A port's connection.
pub(crate) struct Connection {
    pub(crate) channel: Lock<Option<Channel>>,
    /// Set when the connection broke, until the next one begins.
    broken: AtomicBool,
    /// The eventfd for errors of the device.
    error_eventfd: Lock<Option<Fd>>,
}

/// One request to the card.
pub(crate) struct Request<'a> {
    /// Number of the command.
    pub(crate) command: u16,
    /// The fixed part, and the data after it.
    pub(crate) parts: [&'a [u8]; 2],
    /// Descriptors for the card.
    pub(crate) fds: &'a [i32],
}

/// Room for the fixed part of an answer, and for the data after it.
pub(crate) type Room<'a> = [&'a mut [u8]; 2];

/// What an answer held.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Bytes of the answer, which may be fewer or more than there was room.
    pub(crate) len: usize,
    /// A descriptor from the card.
    pub(crate) fd: Option<Fd>,
}

impl Connection {
    pub(crate) const fn new() -> Self {
        Self {
            channel: Lock::new(None),
            broken: AtomicBool::new(false),
            error_eventfd: Lock::new(None),
        }
    }

    /// Connects to the port's socket.
    pub(crate) fn open(&self, path: &[u8]) -> Result<(), Errno> {
        let socket = connect(path)?;
        let inode = sys::file_id(socket.number())?.inode;
        let socket = socket.into_number();
        *self.channel.lock() = Some(Channel { socket, inode });
        self.broken.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the connection. The card then resets the port and withdraws its maps.
    pub(crate) fn close(&self) {
        *self.channel.lock() = None;
        self.set_error_eventfd(None);
    }

    /// Whether this descriptor is the connection.
    pub(crate) fn owns(&self, fd: i32) -> bool {
        let channel = self.channel.lock();
        channel.as_ref().is_some_and(|channel| channel.socket == fd)
    }

    /// Whether the connection broke.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Replaces the eventfd that a broken connection signals.
    pub(crate) fn set_error_eventfd(&self, eventfd: Option<Fd>) {
        *self.error_eventfd.lock() = eventfd;
    }

    /// Signals the eventfd for errors.
    pub(crate) fn signal_error(&self) {
        if let Some(eventfd) = &*self.error_eventfd.lock() {
            sys::signal_eventfd(eventfd.number());
        }
    }

    /// Whether there is a connection.
    pub(crate) fn is_open(&self) -> bool {
        self.channel.lock().is_some()
    }

    /// Sends a request and waits for its answer. EIO if the card is gone or silent.
    pub(crate) fn exchange(
        &self,
        port: &str,
        request: Request<'_>,
        room: Room<'_>,
    ) -> Result<Answer, Errno> {
        let mut guard = self.channel.lock();
        let channel = guard.as_ref().ok_or(Errno(libc::EIO))?;
        let result = channel.is_ours().then(|| {
            channel.take_turn();
            let result = channel.run(request, room);
            channel.record_lock(libc::F_UNLCK);
            result
        });
        if let Some(Ok(answer)) = result {
            return answer;
        }
        *guard = None;
        self.broken.store(true, Ordering::Relaxed);
        self.signal_error();
        match result {
            Some(Err(error)) => warn(format_args!(
                "{port}: the card is gone ({error:?}). Requests fail with EIO, and registers read all ones"
            )),
            _ => warn(format_args!(
                "{port}: the program closed or replaced the bridge's connection to the card. \
                 Its registers are lost until it opens the device again"
            )),
        }
        Err(Errno(libc::EIO))
    }
}

impl Channel {
    fn is_ours(&self) -> bool {
        sys::file_status(self.socket).is_ok_and(|status| {
            status.st_mode & libc::S_IFMT == libc::S_IFSOCK && status.st_ino == self.inode
        })
    }

    /// The outer error is the connection's, the inner one the card's refusal.
    fn run(&self, request: Request<'_>, room: Room<'_>) -> Result<Result<Answer, Errno>, Errno> {
        let end = Instant::now() + PATIENCE;
        // SAFETY: the number is static, or in memory that is never unmapped.
        let id = unsafe { &*NEXT_ID.load(Ordering::Acquire) }.fetch_add(1, Ordering::Relaxed);
        let [head, data] = request.parts;
        let size = HEADER + head.len() + data.len();
        let mut header = [0; HEADER];
        header[0..2].copy_from_slice(&id.to_le_bytes());
        header[2..4].copy_from_slice(&request.command.to_le_bytes());
        header[4..8].copy_from_slice(&(size as u32).to_le_bytes());
        send(self.socket, [&header, head, data], request.fds, end)?;
        self.receive_answer(id, room, end)
    }

    fn receive_answer(
        &self,
        id: u16,
        [head, data]: Room<'_>,
        end: Instant,
    ) -> Result<Result<Answer, Errno>, Errno> {
        let mut header = [0; HEADER];
        let (size, flags, error) = loop {
            peek(self.socket, &mut header, end)?;
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
            let (size, flags, error) = (word(4) as usize, word(8), word(12));
            refuse_if(!(HEADER..=1 << 24).contains(&size), libc::EPROTO)?;
            if header[0..2] == id.to_le_bytes() {
                break (size, flags, error);
            }
            // The answer to a process that shared the connection and was killed.
            refuse_if(
                TURN.load(Ordering::Acquire) < 0 || Instant::now() > end,
                libc::EPROTO,
            )?;
            receive(self.socket, [&mut [], &mut [], &mut []], size, end)?;
        };
        let fd = receive(self.socket, [&mut header, head, data], size, end)?;
        Ok(match (flags & FLAG_ERROR, error) {
            (0, _) => Ok(Answer {
                len: size - HEADER,
                fd,
            }),
            (_, 0) => Err(Errno(libc::EIO)),
            _ => Err(Errno(error as i32)),
        })
    }

    /// Waits for this process's turn if others share its connections.
    fn take_turn(&self) {
        let end = Instant::now() + PATIENCE;
        while !self.record_lock(libc::F_WRLCK) && Instant::now() < end {
            std::thread::yield_now();
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
    let Ok(file) = sys::memory_file(4096, 0).and_then(Fd::raise) else {
        return;
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let number = unsafe { sys::mmap(0, 4096, protection, libc::MAP_SHARED, file.number(), 0) };
    if let Ok(number) = number {
        NEXT_ID.store(number as *mut AtomicU16, Ordering::Release);
        TURN.store(file.into_number(), Ordering::Release);
    }
}

/// Whether a descriptor is the file of [`prepare_to_share`].
pub(crate) fn owns_turn(fd: i32) -> bool {
    TURN.load(Ordering::Acquire) == fd
}
