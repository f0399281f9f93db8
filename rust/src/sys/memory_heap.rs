//! The same as `memory.rs` from the heap, for Miri, which has no memfd, and for fuzzing, where
//! AddressSanitizer then knows where the memory ends, to the byte. Nothing outside this process can
//! see it, so it is for a container without devices.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

/// As a mapping is aligned.
const ALIGNMENT: usize = 4096;

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
        // SAFETY: its size is not 0.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) });
        let address = address.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { address, layout })
    }

    /// There is none.
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
        // SAFETY: it was allocated with this layout, and nothing points into it that does not also
        // own it.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}
