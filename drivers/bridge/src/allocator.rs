//! Memory of the bridge's own.
//!
//! The program's allocator may call `mmap`, and then the bridge runs while that allocator holds its
//! lock. Therefore the bridge never uses the program's allocator.

use std::alloc::{GlobalAlloc, Layout};

use dlmalloc::{Allocator, Dlmalloc};

use crate::lock::Lock;
use crate::sys;

pub(crate) struct Pages;

// SAFETY: every range comes from mmap, and no two ranges overlap.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: without MAP_FIXED, the kernel picks a free range.
        match unsafe { sys::mmap(0, size, protection, flags, -1, 0) } {
            Ok(at) => (at as *mut u8, size, 0),
            Err(_) => (std::ptr::null_mut(), 0, 0),
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, at: *mut u8, size: usize) -> bool {
        // SAFETY: the allocator gives back a range that `alloc` returned.
        unsafe { sys::munmap(at as usize, size) }.is_ok()
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

/// The allocator of all Rust code in this library.
pub(crate) struct Own(pub(crate) Lock<Dlmalloc<Pages>>);

impl Own {
    pub(crate) const fn new() -> Self {
        Self(Lock::new(Dlmalloc::new_with_allocator(Pages)))
    }
}

// SAFETY: all calls go to an allocator behind a lock, with the sizes and alignments unchanged.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller gives a valid layout.
        unsafe { self.0.lock().malloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller gives back what `alloc` returned for this layout.
        unsafe { self.0.lock().free(at, layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let mut inner = self.0.lock();
        // SAFETY: the caller gives what `alloc` returned for this layout.
        unsafe { inner.realloc(at, layout.size(), layout.align(), size) }
    }
}
