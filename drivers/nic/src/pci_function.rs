//! A PCI function as a vfio-user server needs it.
//!
//! The server in [`vfio_user`](crate::vfio_user) speaks the protocol and knows no device. It serves
//! any type that implements [`PciFunction`]: the 82599 implements the trait in
//! `device/pci_function.rs`, and the server's tests implement it for a function with one scratch
//! BAR.
//!
//! All methods take `&self`, because other threads use the function while it is served: a function
//! locks what it has to.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use serde::Serialize;

use crate::memory::map_request::{MapError, Permissions};

/// Number of regions that VFIO defines for a PCI function: six BARs, the expansion ROM, the
/// configuration space and VGA.
pub(crate) const REGIONS: u32 = 9;
/// Region of the configuration space.
pub(crate) const REGION_CONFIG: u32 = 7;

/// Number of interrupt kinds that VFIO defines for a PCI function: the following three, errors and
/// requests.
pub(crate) const IRQ_KINDS: u32 = 5;
/// The interrupt line.
pub(crate) const IRQ_INTX: u32 = 0;
/// Message-signalled interrupts.
pub(crate) const IRQ_MSI: u32 = 1;
/// Message-signalled interrupts by table.
pub(crate) const IRQ_MSIX: u32 = 2;

/// A region, by its index in VFIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Length in bytes; 0 if the function does not have the region.
    pub(crate) len: u64,
    /// Most bytes of one access.
    pub(crate) max_access: u64,
    /// Parts of the region that a client may map into its memory.
    pub(crate) mappable: &'static [MappableArea],
}

impl Region {
    /// A region of `len` bytes, with accesses of any size and nothing to map. A region that the
    /// function does not have is a region of no bytes.
    pub(crate) const fn of_len(len: u64) -> Self {
        Self {
            len,
            max_access: len,
            mappable: &[],
        }
    }
}

/// A part of a region that a client may map: whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MappableArea {
    /// First byte, counted from the start of the region and of the file behind it.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) len: u64,
}

/// A client's request about the interrupts of one kind.
#[derive(Debug)]
pub(crate) enum IrqRequest {
    /// Signal nothing for now.
    Mask,
    /// Signal again.
    Unmask,
    /// Forget all eventfds.
    Disable,
    /// Signal these vectors now.
    Trigger(Range<usize>),
    /// Signal these vectors through these eventfds. A vector beyond the last eventfd loses its own.
    Connect {
        vectors: Range<usize>,
        eventfds: Vec<OwnedFd>,
    },
}

/// How a driver's session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// The driver closed the connection, or died.
    Disconnected,
    /// The driver broke the protocol, and the server closed the connection.
    ProtocolError(String),
    /// The NIC was stopped.
    Stopped,
}

/// A PCI function that a vfio-user server can serve.
pub(crate) trait PciFunction: Send + Sync {
    /// A client has connected and agreed on the version. Its reply is not sent yet.
    fn begin_session(&self);

    /// The client is gone. The function withdraws all DMA maps and eventfds and resets itself.
    /// Does nothing if no session has begun.
    fn end_session(&self, end: SessionEnd);

    /// A function-level reset.
    fn reset(&self);

    /// Describes a region.
    fn region(&self, region: u32) -> Region;

    /// Reads a range of a region. `EINVAL` if the range is not inside the region.
    fn region_read(&self, region: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes a range of a region. `EINVAL` if the range is not inside the region.
    fn region_write(&self, region: u32, offset: u64, from: &[u8]) -> Result<(), Errno>;

    /// The file behind the mappable areas of a region.
    fn region_file(&self, region: u32) -> io::Result<OwnedFd>;

    /// Number of interrupt vectors of a kind; 0 if the function does not have that kind.
    fn irq_vectors(&self, kind: u32) -> u32;

    /// Sets interrupts of a kind up. The server has checked that the vectors exist.
    fn set_irqs(&self, kind: u32, request: IrqRequest) -> Result<(), Errno>;

    /// Lets the function reach `size` bytes of `file` from `offset` on, as IOVAs from `iova` on.
    /// Without a file, the IOVAs are taken but have no memory.
    fn dma_map(
        &self,
        iova: u64,
        size: u64,
        permissions: Permissions,
        file: Option<OwnedFd>,
        offset: u64,
    ) -> Result<(), MapError>;

    /// Withdraws every map inside the range.
    fn dma_unmap(&self, iova: u64, size: u64) -> Result<(), MapError>;

    /// Withdraws all maps.
    fn dma_unmap_all(&self);
}
