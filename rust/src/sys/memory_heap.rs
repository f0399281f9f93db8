//! Heap memory in place of `memory.rs`, for Miri, which has no memfd, and for fuzzing, where
//! AddressSanitizer then finds every access beyond its end. Other processes cannot see this memory,
//! so it is for a container without devices.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

/// The alignment of a mapping.
const ALIGNMENT: usize = 4096;

/// No file is: this is heap memory.
pub(super) fn is_dma_memory(_device: u64, _inode: u64) -> bool {
    false
}

/// An allocation.
pub(super) struct Memory {
    address: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// Allocates `size` zeroed bytes.
    pub(super) fn alloc(size: usize) -> io::Result<Self> {
        if size == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let layout = Layout::from_size_align(size, ALIGNMENT)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // SAFETY: the size of the layout is not 0.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) });
        let address = address.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { address, layout })
    }

    /// Nothing: no other process has the memory.
    pub(super) fn keep_pages(&self) -> io::Result<()> {
        Ok(())
    }

    /// No file: this is heap memory.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Aligned to a page, and valid for `size` bytes while `self` lives.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        self.layout.size()
    }

    /// Whether it is on 2 MiB pages.
    pub(super) fn is_huge(&self) -> bool {
        false
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and every pointer into it belongs to an owner
        // of this value.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}
