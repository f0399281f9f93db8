//! A client's connection to the card.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::payload;
use crate::message::{command, get32, receive, send, Message, FLAG_ERROR};

/// Longest wait for a reply.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A connection. Every command waits at most five seconds.
#[derive(Debug)]
pub struct Session {
    /// The socket.
    pub stream: UnixStream,
    next: u16,
}

/// What the card answered: the payload, or the error number.
pub type Answer = Result<Vec<u8>, u32>;

impl Session {
    /// Connects, and sends nothing.
    ///
    /// # Errors
    /// Those of `connect`.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, next: 1 })
    }

    /// Connects and agrees on the version.
    ///
    /// # Errors
    /// Those of `connect`; [`io::ErrorKind::ResourceBusy`] or another error if the card refuses.
    pub fn open(socket: &Path) -> io::Result<Self> {
        let mut session = Self::connect(socket)?;
        let answer = session.call(command::VERSION, &payload::version(), &[])?;
        expect("VERSION", answer)?;
        Ok(session)
    }

    /// Opens a port that the client before may hold for a moment.
    ///
    /// # Errors
    /// Those of [`Session::open`], if the port is not free within `limit`.
    pub fn open_when_free(socket: &Path, limit: Duration) -> io::Result<Self> {
        let start = Instant::now();
        loop {
            match Self::open(socket) {
                Err(_) if start.elapsed() < limit => thread::sleep(Duration::from_millis(20)),
                outcome => return outcome,
            }
        }
    }

    /// A request with the next id.
    pub fn request(&mut self, command: u16, payload: &[u8]) -> Message {
        self.next = self.next.wrapping_add(1);
        Message::request(self.next, command, payload)
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    /// If the card closes the connection or does not answer in time.
    pub fn call(
        &mut self,
        command: u16,
        payload: &[u8],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Answer> {
        let request = self.request(command, payload);
        send(&self.stream, &request.bytes(), files)?;
        let reply = receive(&self.stream)?;
        if reply.header.flags & FLAG_ERROR != 0 {
            return Ok(Err(reply.header.error));
        }
        Ok(Ok(reply.payload))
    }

    /// Sends a command, and reads no answer.
    ///
    /// # Errors
    /// If the card closes the connection, or reads nothing for five seconds.
    pub fn post(&mut self, command: u16, payload: &[u8]) -> io::Result<()> {
        let request = self.request(command, payload);
        send(&self.stream, &request.bytes(), &[])
    }

    /// Maps a file.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn map(&mut self, file: &OwnedFd, offset: u64, iova: u64, size: u64) -> io::Result<Answer> {
        let payload = payload::map(payload::READ_WRITE, offset, iova, size);
        self.call(command::DMA_MAP, &payload, &[file.as_fd()])
    }

    /// Reads a register.
    ///
    /// # Errors
    /// As [`Session::call`], and if the card refuses.
    pub fn get(&mut self, register: u32) -> io::Result<u32> {
        let payload = payload::access(u64::from(register), 0, 4);
        let answer = self.call(command::REGION_READ, &payload, &[])?;
        Ok(get32(&expect("REGION_READ", answer)?, 16))
    }

    /// Writes a register.
    ///
    /// # Errors
    /// As [`Session::call`], and if the card refuses.
    pub fn set(&mut self, register: u32, value: u32) -> io::Result<()> {
        let payload = payload::write(u64::from(register), 0, &value.to_le_bytes());
        let answer = self.call(command::REGION_WRITE, &payload, &[])?;
        expect("REGION_WRITE", answer).map(|_| ())
    }

    /// Lets the device use DMA.
    ///
    /// # Errors
    /// As [`Session::set`].
    pub fn enable_dma(&mut self) -> io::Result<()> {
        let answer = self.call(command::REGION_WRITE, &payload::write(4, 7, &[6, 0]), &[])?;
        expect("REGION_WRITE", answer).map(|_| ())
    }
}

/// Makes a refusal an error.
///
/// # Errors
/// If the card refused.
pub fn expect(what: &str, answer: Answer) -> io::Result<Vec<u8>> {
    answer.map_err(|errno| {
        let cause = io::Error::from_raw_os_error(errno as i32);
        io::Error::other(format!("{what} was refused: {cause}"))
    })
}
