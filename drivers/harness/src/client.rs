//! A client's connection to the card.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{eventfd, EventfdFlags};
use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};
use rustix::io::Errno;

use crate::codec::{
    command, get32, payload, receive, send, Message, BAR0, BAR0_LEN, CONFIG, FLAG_ERROR, FLAG_REPLY,
};

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

/// Makes a refusal an error.
///
/// # Errors
/// If the card refused.
pub fn accepted(answer: Answer) -> io::Result<Vec<u8>> {
    answer.map_err(|errno| {
        let cause = io::Error::from_raw_os_error(errno as i32);
        io::Error::other(format!("the card refuses: {cause}"))
    })
}

/// An eventfd with nothing to signal. Reading it does not block.
///
/// # Errors
/// If the process has too many files.
pub fn new_eventfd() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// Takes the signals out of an eventfd, which does not block from then on.
///
/// # Errors
/// If it is no eventfd.
pub fn signals(eventfd: &OwnedFd) -> io::Result<u64> {
    fcntl_setfl(eventfd, fcntl_getfl(eventfd)? | OFlags::NONBLOCK)?;
    let mut bytes = [0; 8];
    match rustix::io::read(eventfd, &mut bytes) {
        Err(Errno::AGAIN) => Ok(0),
        read => Ok(read.map(|_| u64::from_ne_bytes(bytes))?),
    }
}

/// Fills the counter of an eventfd, so that a signal blocks.
///
/// # Errors
/// If it is no eventfd.
pub fn fill(eventfd: &OwnedFd) -> io::Result<()> {
    signals(eventfd)?;
    rustix::io::write(eventfd, &(u64::MAX - 1).to_ne_bytes())?;
    Ok(fcntl_setfl(
        eventfd,
        fcntl_getfl(eventfd)? - OFlags::NONBLOCK,
    )?)
}

/// The errors of all methods are those of the socket: the card has closed the connection, or did not
/// answer in time, or its reply belongs to another request. Methods that return no [`Answer`] also fail if the
/// card refuses.
#[allow(clippy::missing_errors_doc)]
impl Session {
    /// Connects, and sends nothing.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, next: 1 })
    }

    /// Connects and agrees on the version.
    pub fn open(socket: &Path) -> io::Result<Self> {
        let mut session = Self::connect(socket)?;
        session.command(command::VERSION, &payload::version(), &[])?;
        Ok(session)
    }

    /// Opens a port that the client before may hold for a moment.
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

    fn exchange(&mut self, request: &Message, files: &[BorrowedFd<'_>]) -> io::Result<Message> {
        send(&self.stream, &request.bytes(), files)?;
        receive(&self.stream)
    }

    /// Sends a command and waits for the answer.
    pub fn call(
        &mut self,
        command: u16,
        payload: &[u8],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Answer> {
        let request = self.request(command, payload);
        let reply = self.exchange(&request, files)?;
        let (asked, header) = (request.header, reply.header);
        match header.flags {
            _ if (header.id, header.command) != (asked.id, asked.command) => {}
            FLAG_REPLY => return Ok(Ok(reply.payload)),
            flags if flags == FLAG_REPLY | FLAG_ERROR => return Ok(Err(header.error)),
            _ => {}
        }
        let text = format!("{header:?} answers {asked:?}");
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// Sends a command that the card must not refuse.
    pub fn command(
        &mut self,
        command: u16,
        payload: &[u8],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Vec<u8>> {
        accepted(self.call(command, payload, files)?)
    }

    /// Sends a command, and reads no answer.
    pub fn post(&mut self, command: u16, payload: &[u8]) -> io::Result<()> {
        let request = self.request(command, payload);
        send(&self.stream, &request.bytes(), &[])
    }

    /// Asks to map a part of a file.
    pub fn map(&mut self, file: &OwnedFd, offset: u64, iova: u64, size: u64) -> io::Result<Answer> {
        let payload = payload::map(payload::READ_WRITE, offset, iova, size);
        self.call(command::DMA_MAP, &payload, &[file.as_fd()])
    }

    /// Sends SET_IRQS for one vector, with these descriptors.
    pub fn interrupt(
        &mut self,
        flags: u32,
        kind: u32,
        vector: u32,
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Answer> {
        let payload = payload::interrupts(flags, kind, vector, 1);
        self.call(command::SET_IRQS, &payload, files)
    }

    /// Reads a register.
    pub fn get(&mut self, register: u32) -> io::Result<u32> {
        let payload = payload::access(u64::from(register), BAR0, 4);
        Ok(get32(
            &self.command(command::REGION_READ, &payload, &[])?,
            16,
        ))
    }

    /// Writes bytes of a region.
    pub fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let payload = payload::write(offset, region, data);
        self.command(command::REGION_WRITE, &payload, &[]).map(drop)
    }

    /// Writes a register.
    pub fn set(&mut self, register: u32, value: u32) -> io::Result<()> {
        self.write(BAR0, u64::from(register), &value.to_le_bytes())
    }

    /// Writes registers, each with its value.
    pub fn set_all(&mut self, writes: impl IntoIterator<Item = (u32, u32)>) -> io::Result<()> {
        let mut writes = writes.into_iter();
        writes.try_for_each(|(register, value)| self.set(register, value))
    }

    /// Lets the device use DMA.
    pub fn enable_dma(&mut self) -> io::Result<()> {
        self.write(CONFIG, 4, &[6, 0])
    }

    /// The file of the shared registers.
    pub fn register_file(&mut self) -> io::Result<OwnedFd> {
        let request = self.request(command::REGION_INFO, &payload::region_info(4096, BAR0));
        let file = self.exchange(&request, &[])?.files.pop();
        file.ok_or_else(|| {
            io::Error::other(format!("none of {BAR0_LEN} bytes of registers is shared"))
        })
    }
}
