//! Access to memory that the device also sees: registers and barriers.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{compiler_fence, fence, Ordering};

use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

/// A part of BAR0 that is mapped into this process.
pub struct Area {
    offset: u64,
    size: usize,
    memory: NonNull<u8>,
}

impl Area {
    /// Maps `size` bytes at `file_offset` of `fd`, which are those of BAR0 at `offset`.
    ///
    /// TRUST-BAR-FILE: the file must not become shorter. An access beyond its end is a signal
    /// (SIGBUS), which ends the process. The kernel's VFIO does not do that; a vfio-user server can.
    pub(crate) fn map(
        fd: BorrowedFd<'_>,
        file_offset: u64,
        offset: u64,
        size: usize,
    ) -> io::Result<Self> {
        // SAFETY: this is a new mapping at an address that the kernel chooses. Other mappings of the
        // file see volatile accesses to whole registers. Only this crate calls the function, with
        // the region of a device, which is not DMA memory.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                fd,
                file_offset,
            )?
        };
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            offset,
            size,
            memory,
        })
    }

    /// The 4-byte register at `offset` of BAR0, if this area holds it.
    pub fn register(self: &Rc<Self>, offset: u32) -> Option<Register> {
        let inside = usize::try_from(u64::from(offset).checked_sub(self.offset)?).ok()?;
        if inside % 4 != 0 || inside.checked_add(4)? > self.size {
            return None;
        }
        // SAFETY: the check above shows that these 4 bytes are inside the mapping.
        let pointer = unsafe { self.memory.add(inside) }.cast();
        Some(Register {
            pointer,
            _area: Rc::clone(self),
        })
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: every Register in this mapping holds the Area, so no Register is left.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), self.size) };
    }
}

/// A mapped register.
pub struct Register {
    /// Aligned to 4 and inside `_area`: [`Area::register`] checks both, and mappings are
    /// page-aligned.
    pointer: NonNull<u32>,
    _area: Rc<Area>,
}

impl Register {
    /// Reads the register.
    #[inline]
    pub fn load(&self) -> u32 {
        // SAFETY: the pointer is aligned and inside the mapping, which `_area` keeps alive.
        unsafe { self.pointer.read_volatile() }
    }

    /// Writes the register.
    #[inline]
    pub fn store(&self, value: u32) {
        // SAFETY: as for `load`.
        unsafe { self.pointer.write_volatile(value) }
    }
}

/// Completes the reads before it before the reads after it. x86 keeps the order of loads, so there
/// it only restrains the compiler.
#[inline]
pub fn dma_read_barrier() {
    if cfg!(target_arch = "x86_64") {
        compiler_fence(Ordering::Acquire);
    } else {
        fence(Ordering::Acquire);
    }
}

/// Makes the writes before it visible to the device before the writes after it. x86 keeps the order
/// of stores, even to uncached memory, so there it only restrains the compiler.
#[inline]
pub fn dma_write_barrier() {
    if cfg!(target_arch = "x86_64") {
        compiler_fence(Ordering::Release);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The time-stamp counter, or 0 on a processor without one.
#[inline]
pub fn tsc_read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and its only effect is its result.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return 0;
}
