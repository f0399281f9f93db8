//! The vfio-user server of one port: listens on its socket, serves one driver at a time, and is
//! ready for the next whatever became of the last.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::config::MmioMode;
use crate::device::card::{region_len, REGIONS, REGION_BAR0, REGION_IO};
use crate::device::interrupts::{self, vectors_of, INDICES};
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::error::NicError;
use crate::memory::dma::{MapError, Permissions, MAX_MAPS, PAGE_SIZE};
use crate::port::PortShared;
use crate::report::{ResetCause, SessionEnd};
use crate::vfio_user::protocol::{
    turn_away, wait, Command, Connection, ConnectionError, Fields, Message, MAX_DATA_SIZE,
    OFFERED_FDS, PEER_TIMEOUT,
};

/// Most clients that wait to be told that the port is busy.
const MAX_OTHERS: usize = 8;

/// A listening socket. Its file goes away with it.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file, so that only our own is removed.
    identity: (u64, u64),
}

impl Socket {
    /// Listens at `path`. A socket that nobody listens on any more is replaced.
    pub(crate) fn bind(path: &Path) -> Result<Self, NicError> {
        let failed = |reason| NicError::Socket {
            path: path.to_owned(),
            reason,
        };
        match std::fs::symlink_metadata(path) {
            Ok(file) if !file.file_type().is_socket() => {
                return Err(NicError::NotASocket {
                    path: path.to_owned(),
                })
            }
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(path).map_err(failed)?;
                }
                Err(error) => return Err(failed(error)),
                Ok(_) => {
                    return Err(NicError::SocketInUse {
                        path: path.to_owned(),
                    })
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let file = std::fs::symlink_metadata(path).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            identity: (file.dev(), file.ino()),
        })
    }

    /// What to wait for.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// A client that wants to connect, if there is one.
    pub(crate) fn accept(&self) -> Option<UnixStream> {
        // Errors here are the client's: it has given up before we came to it.
        self.listener.accept().ok().map(|(stream, _)| stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let ours = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|file| (file.dev(), file.ino()) == self.identity);
        if ours {
            // If it cannot be removed, the next server finds nobody listening, and replaces it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Starts the control thread of a port. It ends when `stop` becomes readable.
pub(crate) fn spawn(
    index: usize,
    socket: Socket,
    port: Arc<PortShared>,
    mmio: MmioMode,
    stop: OwnedFd,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(format!("nic port {index}"))
        .spawn(move || {
            let server = Server {
                socket: &socket,
                port: &port,
                mmio,
                stop: stop.as_fd(),
                others: RefCell::default(),
            };
            server.run();
        })
}

struct Server<'a> {
    socket: &'a Socket,
    port: &'a PortShared,
    mmio: MmioMode,
    stop: BorrowedFd<'a>,
    /// Clients that came while another was served, and since when they are here. When they say
    /// something, they are told that the port is busy.
    others: RefCell<Vec<(UnixStream, Instant)>>,
}

impl Server<'_> {
    fn run(&self) {
        loop {
            let listener = self.socket.listener.as_fd();
            // An error here would be one of our own descriptors; there is nothing left to serve
            // then.
            let Ok(ready) = wait(
                &[(listener, PollFlags::IN), (self.stop, PollFlags::IN)],
                None,
            ) else {
                return;
            };
            match ready[..] {
                [_, true] => return,
                [true, _] => {
                    let mut next = self.socket.accept();
                    while let Some(stream) = next {
                        self.serve(stream);
                        next = self.next_in_line();
                    }
                }
                _ => {}
            }
        }
    }

    /// Serves one driver to its end.
    fn serve(&self, stream: UnixStream) {
        let connection = Connection::new(stream, self.stop, PEER_TIMEOUT);
        let error = match self.converse(&connection) {
            Err(error) => error,
            Ok(never) => match never {},
        };
        let end = match error {
            ConnectionError::Closed => SessionEnd::Disconnected,
            ConnectionError::Stopping => SessionEnd::Stopped,
            other => SessionEnd::ProtocolError(other.to_string()),
        };
        self.port.lock().end_session(end);
    }

    /// Who came just before the last driver left, and has not been turned away yet.
    fn next_in_line(&self) -> Option<UnixStream> {
        let mut others = self.others.borrow_mut();
        (!others.is_empty()).then(|| others.remove(0).0)
    }

    fn converse(
        &self,
        connection: &Connection<'_>,
    ) -> Result<std::convert::Infallible, ConnectionError> {
        let session = Session {
            port: self.port,
            mmio: self.mmio,
        };
        self.wait_for_message(connection)?;
        session.agree_on_version(connection)?;
        loop {
            self.wait_for_message(connection)?;
            session.answer_one(connection)?;
        }
    }

    /// Waits until the driver says something, or leaves. Others who want to connect meanwhile are
    /// turned away.
    fn wait_for_message(&self, connection: &Connection<'_>) -> Result<(), ConnectionError> {
        let driver = (connection.fd(), PollFlags::IN);
        loop {
            let mut others = self.others.borrow_mut();
            others.retain(|(_, since)| since.elapsed() < PEER_TIMEOUT);
            let mut fds = vec![
                driver,
                (self.stop, PollFlags::IN),
                (self.socket.listener.as_fd(), PollFlags::IN),
            ];
            fds.extend(
                others
                    .iter()
                    .map(|(other, _)| (other.as_fd(), PollFlags::IN)),
            );
            let timeout = (!others.is_empty()).then_some(PEER_TIMEOUT);
            let ready = wait(&fds, timeout)?;
            if ready[1] {
                return Err(ConnectionError::Stopping);
            }
            if ready[0] {
                return Ok(());
            }
            let mut spoke = ready[3..].iter();
            others.retain(|(other, _)| {
                let spoke = spoke.next() == Some(&true);
                if spoke {
                    turn_away(other, Errno::BUSY);
                }
                !spoke
            });
            // Whoever comes now may be the next driver, and the last one just gone: look once more.
            if ready[2] && wait(&[driver], Some(Duration::ZERO))? == [false] {
                let newcomer = self.socket.accept();
                others.extend(newcomer.map(|other| (other, Instant::now())));
                if others.len() > MAX_OTHERS {
                    others.remove(0);
                }
            }
        }
    }
}

/// What one driver is answered.
pub(crate) struct Session<'a> {
    pub(crate) port: &'a PortShared,
    pub(crate) mmio: MmioMode,
}

impl Session<'_> {
    /// Answers the first message, which has begun to arrive.
    pub(crate) fn agree_on_version(
        &self,
        connection: &Connection<'_>,
    ) -> Result<(), ConnectionError> {
        let Message {
            header, payload, ..
        } = connection.receive()?;
        let mut fields = Fields(&payload);
        let version = (fields.u16(), fields.u16());
        let (Command::Version, (Ok(major), Ok(minor))) = (header.command(), version) else {
            connection.refuse(header, Errno::INVAL)?;
            return Err(ConnectionError::NoVersion);
        };
        if major != 0 {
            connection.refuse(header, Errno::NOTSUP)?;
            return Err(ConnectionError::Version(major, minor));
        }
        // What the client can do (the rest of the payload) matters only to servers that send it
        // commands.
        let capabilities = serde_json::json!({"capabilities": {
            "max_msg_fds": OFFERED_FDS,
            "max_data_xfer_size": MAX_DATA_SIZE,
            "pgsizes": PAGE_SIZE,
            "max_dma_maps": MAX_MAPS,
        }});
        let mut reply = [0_u16.to_le_bytes(), minor.min(1).to_le_bytes()].concat();
        reply.extend_from_slice(capabilities.to_string().as_bytes());
        reply.push(0);
        // Before the driver knows that it is in.
        self.port.lock().begin_session();
        connection.reply(header, &reply, None)
    }

    /// Answers a message that has begun to arrive.
    pub(crate) fn answer_one(&self, connection: &Connection<'_>) -> Result<(), ConnectionError> {
        let Message {
            header,
            payload,
            fds,
        } = connection.receive()?;
        match self.answer(header.command(), &payload, fds) {
            Ok(Answer { payload, fd: None }) => connection.reply(header, &payload, None),
            Ok(Answer {
                payload,
                fd: Some(fd),
            }) => connection.reply(header, &payload, Some(fd.as_fd())),
            Err(errno) => connection.refuse(header, errno),
        }
    }

    fn answer(&self, command: Command, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        match command {
            Command::Version => Err(Errno::INVAL),
            Command::DmaMap => self.dma_map(payload, fds),
            Command::DmaUnmap => self.dma_unmap(payload),
            Command::DeviceGetInfo => self.device_info(payload),
            Command::DeviceGetRegionInfo => self.region_info(payload),
            Command::DeviceGetIrqInfo => self.irq_info(payload),
            Command::DeviceSetIrqs => self.set_irqs(payload, fds),
            Command::RegionRead => self.region_read(payload),
            Command::RegionWrite => self.region_write(payload),
            Command::DeviceReset => {
                self.port.lock().reset(ResetCause::Function);
                Ok(Answer::empty())
            }
            Command::NotOffered => Err(Errno::NOTSUP),
        }
    }

    fn dma_map(&self, payload: &[u8], mut fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let mut fields = Fields(payload);
        let (_argsz, flags) = (fields.u32()?, fields.u32()?);
        let (offset, iova, size) = (fields.u64()?, fields.u64()?, fields.u64()?);
        if fds.len() > 1 {
            return Err(Errno::INVAL);
        }
        let permissions = Permissions {
            read: flags & 1 != 0,
            write: flags & 2 != 0,
        };
        let mut device = self.port.lock();
        device
            .dma
            .map(iova, size, permissions, fds.pop(), offset)
            .map_err(|error| {
                device.note(format!("DMA_MAP refused: {error}"));
                match error {
                    MapError::Overlap { .. } => Errno::EXIST,
                    MapError::TooMany | MapError::TooManyFiles => Errno::NOSPC,
                    MapError::ReadOnlyFile => Errno::ACCESS,
                    MapError::Os(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
                    _ => Errno::INVAL,
                }
            })?;
        Ok(Answer::empty())
    }

    fn dma_unmap(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const UNMAP_ALL: u32 = 1 << 2;
        let mut fields = Fields(payload);
        let (_argsz, flags) = (fields.u32()?, fields.u32()?);
        let (iova, size) = (fields.u64()?, fields.u64()?);
        let mut device = self.port.lock();
        match flags {
            0 => {
                device.dma.unmap(iova, size).map_err(|error| {
                    device.note(format!("DMA_UNMAP refused: {error}"));
                    Errno::INVAL
                })?;
            }
            UNMAP_ALL if iova == 0 && size == 0 => {
                device.dma.unmap_all();
            }
            UNMAP_ALL => return Err(Errno::INVAL),
            _ => return Err(Errno::NOTSUP),
        }
        Ok(Answer::with(payload[..24].to_vec()))
    }

    fn device_info(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const RESET: u32 = 1 << 0;
        const PCI: u32 = 1 << 1;
        Fields(payload).u32()?;
        Ok(Answer::words(&[16, RESET | PCI, REGIONS, INDICES]))
    }

    fn region_info(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const READ: u32 = 1 << 0;
        const WRITE: u32 = 1 << 1;
        const MMAP: u32 = 1 << 2;
        const CAPABILITIES: u32 = 1 << 3;
        const INFO_LEN: u32 = 32;
        const SPARSE_MMAP: u32 = 1;
        let mut fields = Fields(payload);
        let (room, _flags, index) = (fields.u32()?, fields.u32()?, fields.u32()?);
        if index >= REGIONS {
            return Err(Errno::INVAL);
        }
        let size = region_len(index);
        let mut flags = if size > 0 { READ | WRITE } else { 0 };
        let mut capability = Vec::new();
        if index == REGION_BAR0 && self.mmio == MmioMode::Shared {
            flags |= MMAP | CAPABILITIES;
            // id 1, version 1, no next capability; number of areas, reserved
            capability.extend(
                [SPARSE_MMAP | 1 << 16, 0, SHARED_PAGES.len() as u32, 0]
                    .map(u32::to_le_bytes)
                    .concat(),
            );
            for page in SHARED_PAGES {
                capability.extend(
                    [u64::from(page), u64::from(PAGE)]
                        .map(u64::to_le_bytes)
                        .concat(),
                );
            }
        }
        let full = INFO_LEN + capability.len() as u32;
        // A client without room for the capability learns how much it needs, and asks again. It
        // learns where the capability would be as well: QEMU takes the flag without it for an
        // error.
        let fits = !capability.is_empty() && room >= full;
        let at = if capability.is_empty() { 0 } else { INFO_LEN };
        let mut reply = [full, flags, index, at].map(u32::to_le_bytes).concat();
        reply.extend([size, 0].map(u64::to_le_bytes).concat());
        if !fits {
            return Ok(Answer::with(reply));
        }
        reply.extend(capability);
        let file = self
            .port
            .lock()
            .registers
            .memory()
            .file()
            .try_clone()
            .map_err(|_| Errno::MFILE)?;
        Ok(Answer {
            payload: reply,
            fd: Some(file),
        })
    }

    fn irq_info(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const EVENTFD: u32 = 1 << 0;
        const NO_RESIZE: u32 = 1 << 3;
        let mut fields = Fields(payload);
        let (_argsz, _flags, index) = (fields.u32()?, fields.u32()?, fields.u32()?);
        if index >= INDICES {
            return Err(Errno::INVAL);
        }
        let flags = if index == interrupts::MSIX {
            EVENTFD
        } else {
            EVENTFD | NO_RESIZE
        };
        Ok(Answer::words(&[16, flags, index, vectors_of(index)]))
    }

    fn set_irqs(&self, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let mut fields = Fields(payload);
        let (_argsz, flags, index) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (start, count) = (fields.u32()?, fields.u32()?);
        self.port.lock().set_irqs(index, flags, start, count, fds)?;
        Ok(Answer::empty())
    }

    fn region_read(&self, payload: &[u8]) -> Result<Answer, Errno> {
        let access = RegionAccess::of(payload)?;
        let mut reply = payload[..RegionAccess::LEN].to_vec();
        reply.resize(RegionAccess::LEN + access.count, 0);
        let into = &mut reply[RegionAccess::LEN..];
        self.port
            .lock()
            .region_read(access.region, access.offset, into)?;
        Ok(Answer::with(reply))
    }

    fn region_write(&self, payload: &[u8]) -> Result<Answer, Errno> {
        let access = RegionAccess::of(payload)?;
        let data = &payload[RegionAccess::LEN..];
        if data.len() != access.count {
            return Err(Errno::INVAL);
        }
        self.port
            .lock()
            .region_write(access.region, access.offset, data)?;
        self.port.alarm.ring();
        Ok(Answer::with(payload[..RegionAccess::LEN].to_vec()))
    }
}

/// The fixed part of a region read or write.
struct RegionAccess {
    offset: u64,
    region: u32,
    count: usize,
}

impl RegionAccess {
    const LEN: usize = 16;

    fn of(payload: &[u8]) -> Result<Self, Errno> {
        let mut fields = Fields(payload);
        let (offset, region, count) = (fields.u64()?, fields.u32()?, fields.u32()? as usize);
        // Nothing is allocated for a size that no region has.
        if count > MAX_DATA_SIZE
            || count as u64 > region_len(region)
            || (region == REGION_IO && count > 4)
        {
            return Err(Errno::INVAL);
        }
        Ok(Self {
            offset,
            region,
            count,
        })
    }
}

/// What a command is answered with.
struct Answer {
    payload: Vec<u8>,
    fd: Option<OwnedFd>,
}

impl Answer {
    fn empty() -> Self {
        Self::with(Vec::new())
    }

    fn with(payload: Vec<u8>) -> Self {
        Self { payload, fd: None }
    }

    fn words(words: &[u32]) -> Self {
        Self::with(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
