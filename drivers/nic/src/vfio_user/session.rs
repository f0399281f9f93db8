//! Answers the messages of one client.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::config::MmioMode;
use crate::device::interrupts::vectors_of;
use crate::device::regions::{region_len, REGION_BAR0, REGION_IO};
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::device::shared_device::SharedDevice;
use crate::memory::map_request::{MapError, Permissions, MAX_MAPS, PAGE_SIZE};
use crate::pci_function::{IrqRequest, IRQ_KINDS, IRQ_MSIX, REGIONS};
use crate::report::ResetCause;
use crate::vfio_user::protocol::{
    broken, command, Connection, ConnectionError, Fields, Message, MAX_DATA_SIZE, OFFERED_FDS,
};

/// Bytes of the fixed part of a region read or write.
const ACCESS_LEN: usize = 16;

/// A client's session with the function that it drives.
pub(crate) struct Session<'a> {
    function: &'a SharedDevice,
}

impl<'a> Session<'a> {
    pub(crate) fn new(function: &'a SharedDevice) -> Self {
        Self { function }
    }

    /// Answers the first message, which has begun to arrive.
    pub(crate) fn agree_on_version(
        &self,
        connection: &Connection<'_>,
    ) -> Result<(), ConnectionError> {
        let Message {
            header, payload, ..
        } = connection.receive()?;
        // Major and minor version.
        let version = Fields(&payload)
            .words()
            .map(|[word]| (word & 0xffff, word >> 16));
        let (command::VERSION, Ok((major, minor))) = (header.command, version) else {
            connection.refuse(header, Errno::INVAL)?;
            return broken("the first message was not VERSION");
        };
        if major != 0 {
            connection.refuse(header, Errno::NOTSUP)?;
            return broken(format!("version {major}.{minor}: this server speaks 0.x"));
        }
        // The rest of the payload says what the client can do. Only servers that send commands to
        // their clients need it.
        let capabilities = serde_json::json!({"capabilities": {
            "max_msg_fds": OFFERED_FDS,
            "max_data_xfer_size": MAX_DATA_SIZE,
            "pgsizes": PAGE_SIZE,
            "max_dma_maps": MAX_MAPS,
        }});
        let version = (minor.min(1) << 16).to_le_bytes();
        let reply = [&version[..], capabilities.to_string().as_bytes(), &[0]].concat();
        // The session begins before the client learns that it was accepted.
        self.function.lock().begin_session();
        connection.reply(header, &reply, None)
    }

    /// Answers a message that has begun to arrive.
    pub(crate) fn answer_one(&self, connection: &Connection<'_>) -> Result<(), ConnectionError> {
        let Message {
            header,
            payload,
            fds,
        } = connection.receive()?;
        match self.answer(header.command, &payload, fds) {
            Ok(Answer { payload, fd }) => {
                connection.reply(header, &payload, fd.as_ref().map(AsFd::as_fd))
            }
            Err(errno) => connection.refuse(header, errno),
        }
    }

    fn answer(&self, number: u16, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        match number {
            command::VERSION => Err(Errno::INVAL),
            command::DMA_MAP => self.dma_map(payload, fds),
            command::DMA_UNMAP => self.dma_unmap(payload),
            command::DEVICE_GET_INFO => device_info(payload),
            command::DEVICE_GET_REGION_INFO => self.region_info(payload),
            command::DEVICE_GET_IRQ_INFO => irq_info(payload),
            command::DEVICE_SET_IRQS => self.set_irqs(payload, fds),
            command::REGION_READ => self.region_read(payload),
            command::REGION_WRITE => self.region_write(payload),
            command::DEVICE_RESET => {
                self.function.lock().reset(ResetCause::Function);
                Ok(Answer::default())
            }
            // The server does not offer it, or a client may not send it.
            _ => Err(Errno::NOTSUP),
        }
    }

    fn dma_map(&self, payload: &[u8], mut fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let mut fields = Fields(payload);
        let [_argsz, flags] = fields.words()?;
        let [offset, iova, size] = fields.longs()?;
        if fds.len() > 1 {
            return Err(Errno::INVAL);
        }
        let permissions = Permissions {
            read: flags & 1 != 0,
            write: flags & 2 != 0,
        };
        let mut device = self.function.lock();
        let mapped = device
            .dma
            .table
            .map(iova, size, permissions, fds.pop(), offset);
        mapped.map_err(|error| {
            device.note(format!("DMA_MAP refused: {error}"));
            match error {
                MapError::Overlap { .. } => Errno::EXIST,
                MapError::TooMany | MapError::TooManyParts => Errno::NOSPC,
                MapError::TooMuch { .. } => Errno::NOMEM,
                MapError::ReadOnlyFile => Errno::ACCESS,
                MapError::Os(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
                _ => Errno::INVAL,
            }
        })?;
        Ok(Answer::default())
    }

    fn dma_unmap(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const UNMAP_ALL: u32 = 1 << 2;
        let mut fields = Fields(payload);
        let [_argsz, flags] = fields.words()?;
        let [iova, size] = fields.longs()?;
        let mut device = self.function.lock();
        // A queue that was disabled in shared registers still has to write its descriptors back.
        device.observe_queues();
        match flags {
            0 => {
                let unmapped = device.dma.table.unmap(iova, size);
                unmapped.map_err(|error| {
                    device.note(format!("DMA_UNMAP refused: {error}"));
                    Errno::INVAL
                })?;
            }
            UNMAP_ALL if iova == 0 && size == 0 => {
                device.dma.table.unmap_all();
            }
            UNMAP_ALL => return Err(Errno::INVAL),
            _ => return Err(Errno::NOTSUP),
        }
        Ok(Answer::with(payload[..24].to_vec()))
    }

    /// The pages of a region that a client may map.
    fn mappable(&self, region: u32) -> &'static [u32] {
        match (region, self.function.mmio) {
            (REGION_BAR0, MmioMode::Shared) => &SHARED_PAGES,
            _ => &[],
        }
    }

    fn region_info(&self, payload: &[u8]) -> Result<Answer, Errno> {
        const READ: u32 = 1 << 0;
        const WRITE: u32 = 1 << 1;
        const MMAP: u32 = 1 << 2;
        const CAPABILITIES: u32 = 1 << 3;
        const INFO_LEN: u32 = 32;
        const SPARSE_MMAP: u32 = 1;
        const VERSION: u32 = 1 << 16;
        let [room, _flags, index] = Fields(payload).words()?;
        if index >= REGIONS {
            return Err(Errno::INVAL);
        }
        let (len, pages) = (region_len(index), self.mappable(index));
        let mut flags = if len > 0 { READ | WRITE } else { 0 };
        let (mut capability, mut at) = (Vec::new(), 0);
        if !pages.is_empty() {
            flags |= MMAP | CAPABILITIES;
            // The reply always says where the capability would be: QEMU treats the flag without an offset as an
            // error.
            at = INFO_LEN;
            // Identifier and version, no next capability, number of areas, reserved.
            capability = vec![SPARSE_MMAP | VERSION, 0, pages.len() as u32, 0];
            // Offset and length of each area, 64 bits each.
            capability.extend(pages.iter().flat_map(|page| [*page, 0, PAGE, 0]));
        }
        let full = INFO_LEN + 4 * capability.len() as u32;
        let mut words = vec![full, flags, index, at, len as u32, (len >> 32) as u32, 0, 0];
        let mut fd = None;
        // A client without room for the capability learns how much room it needs, and asks again.
        if at > 0 && room >= full {
            words.extend(capability);
            let device = self.function.lock();
            let file = device.registers.memory().file().try_clone();
            fd = Some(file.map_err(|_| Errno::MFILE)?);
        }
        Ok(Answer {
            fd,
            ..Answer::words(&words)
        })
    }

    fn set_irqs(&self, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let [_argsz, flags, kind, start, count] = Fields(payload).words()?;
        let request = irq_request(vectors_of(kind), flags, start, count, fds)?;
        self.function.lock().set_irqs(kind, request)?;
        Ok(Answer::default())
    }

    fn region_read(&self, payload: &[u8]) -> Result<Answer, Errno> {
        let (region, offset, count) = self.region_access(payload)?;
        let mut reply = payload[..ACCESS_LEN].to_vec();
        reply.resize(ACCESS_LEN + count, 0);
        let into = &mut reply[ACCESS_LEN..];
        let mut device = self.function.lock();
        device.region_read(region, offset, into)?;
        Ok(Answer::with(reply))
    }

    fn region_write(&self, payload: &[u8]) -> Result<Answer, Errno> {
        let (region, offset, count) = self.region_access(payload)?;
        let (head, data) = payload.split_at(ACCESS_LEN);
        if data.len() != count {
            return Err(Errno::INVAL);
        }
        let written = self.function.lock().region_write(region, offset, data);
        written?;
        self.function.alarm.ring();
        Ok(Answer::with(head.to_vec()))
    }

    /// Reads the fixed part of a region access: region, offset and count. Refuses sizes that the region does not
    /// allow, so that the server allocates nothing for them.
    fn region_access(&self, payload: &[u8]) -> Result<(u32, u64, usize), Errno> {
        let mut fields = Fields(payload);
        let [offset] = fields.longs()?;
        let [index, count] = fields.words()?;
        let most = match index {
            REGION_IO => 4,
            _ => region_len(index).min(MAX_DATA_SIZE as u64),
        };
        if u64::from(count) > most {
            return Err(Errno::INVAL);
        }
        Ok((index, offset, count as usize))
    }
}

fn device_info(payload: &[u8]) -> Result<Answer, Errno> {
    const RESET: u32 = 1 << 0;
    const PCI: u32 = 1 << 1;
    let [_argsz] = Fields(payload).words()?;
    Ok(Answer::words(&[16, RESET | PCI, REGIONS, IRQ_KINDS]))
}

fn irq_info(payload: &[u8]) -> Result<Answer, Errno> {
    const EVENTFD: u32 = 1 << 0;
    const NO_RESIZE: u32 = 1 << 3;
    let [_argsz, _flags, kind] = Fields(payload).words()?;
    let flags = match kind {
        IRQ_KINDS.. => return Err(Errno::INVAL),
        IRQ_MSIX => EVENTFD,
        _ => EVENTFD | NO_RESIZE,
    };
    Ok(Answer::words(&[16, flags, kind, vectors_of(kind)]))
}

/// Reads the flags of a request to set interrupts up, of a kind with so many vectors.
fn irq_request(
    vectors: u32,
    flags: u32,
    start: u32,
    count: u32,
    eventfds: Vec<OwnedFd>,
) -> Result<IrqRequest, Errno> {
    const DATA_NONE: u32 = 1 << 0;
    const DATA_EVENTFD: u32 = 1 << 2;
    const ACTION_MASK: u32 = 1 << 3;
    const ACTION_UNMASK: u32 = 1 << 4;
    const ACTION_TRIGGER: u32 = 1 << 5;
    if vectors == 0 {
        return Err(Errno::INVAL);
    }
    if flags & ACTION_UNMASK != 0 {
        return Ok(IrqRequest::Unmask);
    }
    if flags & ACTION_MASK != 0 {
        return Ok(IrqRequest::Mask);
    }
    let end = start.checked_add(count).ok_or(Errno::INVAL)?;
    if flags & ACTION_TRIGGER == 0 || end > vectors {
        return Err(Errno::INVAL);
    }
    let vectors = start as usize..end as usize;
    match flags & (DATA_NONE | DATA_EVENTFD) {
        DATA_NONE if count == 0 => Ok(IrqRequest::Disable),
        DATA_NONE => Ok(IrqRequest::Trigger(vectors)),
        DATA_EVENTFD => Ok(IrqRequest::Connect { vectors, eventfds }),
        _ => Err(Errno::INVAL),
    }
}

/// The answer to a command.
#[derive(Default)]
struct Answer {
    payload: Vec<u8>,
    fd: Option<OwnedFd>,
}

impl Answer {
    fn with(payload: Vec<u8>) -> Self {
        Self { payload, fd: None }
    }

    fn words(words: &[u32]) -> Self {
        Self::with(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
