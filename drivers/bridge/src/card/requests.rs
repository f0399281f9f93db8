//! The requests of the vfio-user protocol that the bridge makes.

use crate::card::session::{Answer, Exchange, Session};
use crate::sys::{self, Errno};

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

/// Most areas of a region that may be mapped.
const MAX_AREAS: usize = 16;

/// A region of a port.
#[derive(Debug, Default)]
pub(crate) struct RegionInfo {
    /// Length in bytes; 0 if the port does not have the region.
    pub(crate) size: u64,
    /// The flags of `struct vfio_region_info`.
    pub(crate) flags: u32,
    /// The file behind the areas. The caller closes it.
    pub(crate) file: Option<i32>,
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

/// A port of the card, as the bridge reaches it.
#[derive(Clone, Copy)]
pub(crate) struct Card<'a> {
    /// The port's PCI address, for messages.
    pub(crate) name: &'a str,
    pub(crate) session: &'a Session,
}

impl Card<'_> {
    fn request(self, exchange: Exchange<'_>) -> Result<Answer, Errno> {
        self.session.exchange(self.name, exchange)
    }

    /// Connects, and agrees on version 0.1.
    pub(crate) fn open(self, socket: &[u8]) -> Result<(), Errno> {
        const CAPABILITIES: &[u8] =
            b"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":4096}}\0";
        self.session.open(socket)?;
        let result = self.request(Exchange {
            command: VERSION,
            head: &[0, 0, 1, 0],
            data: CAPABILITIES,
            ..Exchange::default()
        });
        if result.is_err() {
            self.session.close();
        }
        result.map(drop)
    }

    /// Describes a region.
    pub(crate) fn region_info(self, index: u32) -> Result<RegionInfo, Errno> {
        let mut reply = [0; 32 + 16 + 16 * MAX_AREAS];
        let mut head = [0; 32];
        head[0..4].copy_from_slice(&(reply.len() as u32).to_le_bytes());
        head[8..12].copy_from_slice(&index.to_le_bytes());
        let answer = self.request(Exchange {
            command: REGION_INFO,
            head: &head,
            reply_head: &mut reply,
            ..Exchange::default()
        })?;
        if answer.len < 32 {
            sys::close_if_any(answer.fd);
            return Err(Errno(libc::EIO));
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| reply[at + byte]));
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let mut areas = Vec::new();
        // The only capability that a region of the card has is the list of its areas.
        if answer.len >= 48 && word(12) == 32 {
            let count = (word(40) as usize)
                .min(MAX_AREAS)
                .min((answer.len - 48) / 16);
            areas.extend((0..count).map(|area| (long(48 + 16 * area), long(56 + 16 * area))));
        }
        Ok(RegionInfo {
            size: long(16),
            flags: word(4),
            file: answer.fd,
            file_offset: long(24),
            areas,
        })
    }

    /// The flags and the number of interrupts of a kind.
    pub(crate) fn irq_info(self, index: u32) -> Result<(u32, u32), Errno> {
        let mut reply = [0; 16];
        let mut head = [0; 16];
        head[0] = 16;
        head[8..12].copy_from_slice(&index.to_le_bytes());
        self.request(Exchange {
            command: IRQ_INFO,
            head: &head,
            reply_head: &mut reply,
            ..Exchange::default()
        })?;
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| reply[at + byte]));
        Ok((word(4), word(12)))
    }

    /// Sets interrupts up: `words` are flags, index, start and count.
    pub(crate) fn set_irqs(self, words: [u32; 4], data: &[u8], fds: &[i32]) -> Result<(), Errno> {
        let mut head = [0; 20];
        head[0..4].copy_from_slice(&(20 + data.len() as u32).to_le_bytes());
        for (to, word) in head[4..].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let request = Exchange {
            command: SET_IRQS,
            head: &head,
            data,
            fds,
            ..Exchange::default()
        };
        self.request(request).map(drop)
    }

    fn access(region: u32, offset: u64, count: usize) -> [u8; 16] {
        let mut head = [0; 16];
        head[0..8].copy_from_slice(&offset.to_le_bytes());
        head[8..12].copy_from_slice(&region.to_le_bytes());
        head[12..16].copy_from_slice(&(count as u32).to_le_bytes());
        head
    }

    /// Reads at most [`MAX_TRANSFER`] bytes of a region.
    pub(crate) fn read(self, region: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let head = Self::access(region, offset, into.len());
        let wanted = head.len() + into.len();
        let mut reply = [0; 16];
        let answer = self.request(Exchange {
            command: REGION_READ,
            head: &head,
            reply_head: &mut reply,
            reply_data: into,
            ..Exchange::default()
        })?;
        if answer.len == wanted {
            Ok(())
        } else {
            Err(Errno(libc::EIO))
        }
    }

    /// Writes at most [`MAX_TRANSFER`] bytes of a region.
    pub(crate) fn write(self, region: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        let request = Exchange {
            command: REGION_WRITE,
            head: &Self::access(region, offset, from.len()),
            data: from,
            ..Exchange::default()
        };
        self.request(request).map(drop)
    }

    /// Resets the function.
    pub(crate) fn reset(self) -> Result<(), Errno> {
        let request = Exchange {
            command: RESET,
            ..Exchange::default()
        };
        self.request(request).map(drop)
    }

    /// Lets the card reach a piece of memory.
    pub(crate) fn map(self, piece: &DmaPiece) -> Result<(), Errno> {
        let mut head = [0; 32];
        head[0..4].copy_from_slice(&32_u32.to_le_bytes());
        head[4..8].copy_from_slice(&piece.access.to_le_bytes());
        for (to, value) in head[8..]
            .chunks_exact_mut(8)
            .zip([piece.offset, piece.iova, piece.size])
        {
            to.copy_from_slice(&value.to_le_bytes());
        }
        let request = Exchange {
            command: DMA_MAP,
            head: &head,
            fds: &[piece.fd],
            ..Exchange::default()
        };
        self.request(request).map(drop)
    }

    /// Withdraws every map inside a range.
    pub(crate) fn unmap(self, iova: u64, size: u64) -> Result<(), Errno> {
        let mut head = [0; 24];
        head[0..4].copy_from_slice(&24_u32.to_le_bytes());
        head[8..16].copy_from_slice(&iova.to_le_bytes());
        head[16..24].copy_from_slice(&size.to_le_bytes());
        let request = Exchange {
            command: DMA_UNMAP,
            head: &head,
            ..Exchange::default()
        };
        self.request(request).map(drop)
    }
}
