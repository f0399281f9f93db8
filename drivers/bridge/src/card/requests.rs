//! The requests of the vfio-user protocol that the bridge makes.

use crate::card::connection::{Answer, Request, Room};
use crate::ports::Port;
use crate::sys::{refuse_if, Errno, Fd};
use crate::user_memory::halves;

const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const DMA_UNMAP: u16 = 3;
const REGION_INFO: u16 = 5;
const IRQ_INFO: u16 = 7;
const SET_IRQS: u16 = 8;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const RESET: u16 = 13;

/// Most bytes of one region access.
pub(crate) const MAX_TRANSFER: usize = 4096;

/// Neither data nor descriptors.
const NONE: (&[u8], &[i32]) = (&[], &[]);

/// Most areas of a region that may be mapped.
const MAX_AREAS: usize = 16;

/// A region of a port.
#[derive(Debug, Default)]
pub(crate) struct RegionInfo {
    /// Length in bytes; 0 if the port does not have the region.
    pub(crate) size: u64,
    /// The flags of `struct vfio_region_info`.
    pub(crate) flags: u32,
    /// The file behind the areas.
    pub(crate) file: Option<Fd>,
    /// Offset of the region in that file.
    pub(crate) file_offset: u64,
    /// Areas that the file holds: offset in the region, and length.
    pub(crate) areas: Vec<(u64, u64)>,
}

/// A range of IOVAs with the file behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DmaPiece {
    pub(crate) iova: u64,
    pub(crate) size: u64,
    pub(crate) fd: i32,
    pub(crate) offset: u64,
    /// 1 to read, 2 to write.
    pub(crate) access: u32,
}

/// A word of an answer.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]))
}

impl Port {
    /// Makes a request whose fixed part consists of these words.
    fn request(
        self,
        command: u16,
        words: &[u32],
        (data, fds): (&[u8], &[i32]),
        room: Room<'_>,
    ) -> Result<Answer, Errno> {
        // No memory is allocated: a signal handler may make the request.
        let mut head = [0; 32];
        for (to, word) in head.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let parts = [&head[..4 * words.len()], data];
        let request = Request {
            command,
            parts,
            fds,
        };
        self.connection().exchange(self.address(), request, room)
    }

    /// Makes a request whose answer holds nothing.
    fn order(self, command: u16, words: &[u32], rest: (&[u8], &[i32])) -> Result<(), Errno> {
        let room = [&mut [][..], &mut []];
        self.request(command, words, rest, room).map(drop)
    }

    /// Connects, and agrees on version 0.1.
    pub(crate) fn connect(self) -> Result<(), Errno> {
        const CAPABILITIES: &[u8] =
            b"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":4096}}\0";
        let socket = self.socket().as_os_str().as_encoded_bytes();
        self.connection().open(socket)?;
        self.order(VERSION, &[1 << 16], (CAPABILITIES, &[]))
            .inspect_err(|_| self.connection().close())
    }

    /// Describes a region.
    pub(crate) fn region_info(self, index: u32) -> Result<RegionInfo, Errno> {
        let mut reply = [0; 32 + 16 + 16 * MAX_AREAS];
        let words = [reply.len() as u32, 0, index, 0, 0, 0, 0, 0];
        let answer = self.request(REGION_INFO, &words, NONE, [&mut reply, &mut []])?;
        refuse_if(answer.len < 32, libc::EIO)?;
        let long = |at| u64::from(word(&reply, at)) | u64::from(word(&reply, at + 4)) << 32;
        let mut areas = Vec::new();
        // The only capability that a region of the card has is the list of its areas.
        if answer.len >= 48 && word(&reply, 12) == 32 {
            let most = MAX_AREAS.min((answer.len - 48) / 16);
            let count = most.min(word(&reply, 40) as usize);
            areas.extend((0..count).map(|area| (long(48 + 16 * area), long(56 + 16 * area))));
        }
        Ok(RegionInfo {
            size: long(16),
            flags: word(&reply, 4),
            file: answer.fd,
            file_offset: long(24),
            areas,
        })
    }

    /// The flags and the number of interrupts of a kind.
    pub(crate) fn irq_info(self, index: u32) -> Result<(u32, u32), Errno> {
        let mut reply = [0; 16];
        self.request(IRQ_INFO, &[16, 0, index, 0], NONE, [&mut reply, &mut []])?;
        Ok((word(&reply, 4), word(&reply, 12)))
    }

    /// Sets interrupts up: `words` are flags, index, start and count.
    pub(crate) fn set_irqs(self, words: [u32; 4], fds: &[i32]) -> Result<(), Errno> {
        let [flags, index, start, count] = words;
        self.order(SET_IRQS, &[20, flags, index, start, count], (&[], fds))
    }

    /// Reads at most [`MAX_TRANSFER`] bytes of a region.
    pub(crate) fn read(self, region: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let ([low, high], len) = (halves(offset), into.len());
        let (mut head, words) = ([0; 16], [low, high, region, len as u32]);
        let answer = self.request(REGION_READ, &words, NONE, [&mut head, into])?;
        refuse_if(answer.len != 16 + len, libc::EIO)
    }

    /// Writes at most [`MAX_TRANSFER`] bytes of a region.
    pub(crate) fn write(self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let [low, high] = halves(offset);
        let words = [low, high, region, data.len() as u32];
        self.order(REGION_WRITE, &words, (data, &[]))
    }

    /// Resets the function.
    pub(crate) fn reset(self) -> Result<(), Errno> {
        self.order(RESET, &[], NONE)
    }

    /// Lets the card reach a piece of memory.
    pub(crate) fn map(self, piece: &DmaPiece) -> Result<(), Errno> {
        let [[a, b], [c, d], [e, f]] = [piece.offset, piece.iova, piece.size].map(halves);
        let words = [32, piece.access, a, b, c, d, e, f];
        self.order(DMA_MAP, &words, (&[], &[piece.fd]))
    }

    /// Withdraws every map inside a range.
    pub(crate) fn unmap(self, iova: u64, size: u64) -> Result<(), Errno> {
        let [[a, b], [c, d]] = [iova, size].map(halves);
        self.order(DMA_UNMAP, &[24, 0, a, b, c, d], NONE)
    }
}
