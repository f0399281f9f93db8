//! The description of memory that a container maps for its devices.

use std::os::fd::BorrowedFd;

/// Bytes of a page of memory. rustix looks into the vDSO for it, which valgrind hides: since Linux 6.4 the
/// program would end there.
pub(crate) fn page_size() -> u64 {
    // SAFETY: the function only reads a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    bytes.unsigned_abs()
}

/// Memory and the IOVA at which devices reach it. Only this folder makes one, so `address` is
/// always that of `size` bytes that no Rust object but a [`super::dma::DmaMemory`] uses.
pub struct DmaMapping<'a> {
    fd: BorrowedFd<'a>,
    address: u64,
    iova: u64,
    size: u64,
}

impl<'a> DmaMapping<'a> {
    /// `fd` is the file of the memory, which is mapped at `address` in this process.
    pub(super) fn new(fd: BorrowedFd<'a>, address: u64, iova: u64, size: u64) -> Self {
        Self {
            fd,
            address,
            iova,
            size,
        }
    }

    /// The file of the memory, which starts at offset 0. Nothing uses the memory yet, and then the seals of the
    /// file refuse writes.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd
    }

    /// The memory's address in this process.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The memory's address for the device.
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}
