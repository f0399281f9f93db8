//! Access to memory that the device also sees: registers and barriers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
#[cfg(miri)]
use std::sync::atomic::{compiler_fence, Ordering};
use std::sync::Arc;

use rustix::fs::{fcntl_get_seals, fstat, fstatfs, SealFlags};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

use super::ioctl::DeviceFile;
use super::memory;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the barriers are known only for x86-64 and AArch64");

// Of linux/magic.h.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// A file of device registers. No Rust object lies in it: it is a device of the kernel's VFIO, or shared memory that
/// is not the DMA memory of this process. No safe code maps a file in another way.
pub struct BarFile<'f> {
    fd: BorrowedFd<'f>,
    size: u64,
}

impl<'f> BarFile<'f> {
    /// That of a device. The kernel keeps the file as it is, and does not say how long it is.
    pub fn of_device(device: &'f DeviceFile) -> Self {
        Self {
            fd: device.as_fd(),
            size: u64::MAX,
        }
    }

    /// That of a server: ordinary shared memory, sealed against shrinking. `None` if `fd` is another file.
    ///
    /// TRUST-BAR-FILE: an access beyond the end of a file is a signal, and so is one to a huge page that the server
    /// has taken back.
    pub fn of_server(fd: BorrowedFd<'f>) -> Option<Self> {
        let sealed = fcntl_get_seals(fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        let ordinary = fstatfs(fd).is_ok_and(|system| system.f_type == TMPFS_MAGIC);
        let file = fstat(fd).ok()?;
        let is_ours = memory::is_dma_memory(file.st_dev, file.st_ino);
        let size = u64::try_from(file.st_size).unwrap_or_default();
        (sealed && ordinary && !is_ours).then_some(Self { fd, size })
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// A part of BAR0 that is mapped into this process.
pub struct Area {
    offset: u64,
    size: usize,
    memory: NonNull<u8>,
}

impl Area {
    /// Maps `size` bytes at `file_offset` of `file`, which are those of BAR0 at `offset`.
    ///
    /// TRUST-BAR-FILE: the file must not become shorter. An access beyond its end is a signal
    /// (SIGBUS), which ends the process. The kernel's VFIO does not do that.
    pub fn map(file: &BarFile<'_>, file_offset: u64, offset: u64, size: usize) -> io::Result<Self> {
        let end = file_offset.checked_add(size as u64);
        if end.is_none_or(|end| end > file.size) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: this is a new mapping at an address that the kernel chooses. Other mappings of the
        // file see volatile accesses to whole registers. `BarFile` shows that no Rust object is there.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file.fd,
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
    pub fn register(self: &Arc<Self>, offset: u32) -> Option<Register> {
        let inside = usize::try_from(u64::from(offset).checked_sub(self.offset)?).ok()?;
        if inside % 4 != 0 || inside.checked_add(4)? > self.size {
            return None;
        }
        // SAFETY: the check above shows that these 4 bytes are inside the mapping.
        let pointer = unsafe { self.memory.add(inside) }.cast();
        Some(Register {
            pointer,
            _area: Arc::clone(self),
        })
    }
}

// SAFETY: the mapping is of the process, not of a thread. Its bytes are no Rust objects. Another side writes to
// them at any time, and an access by another thread is no different.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

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
    _area: Arc<Area>,
}

// SAFETY: as for `Area`.
unsafe impl Send for Register {}
// SAFETY: as for `Area`.
unsafe impl Sync for Register {}

impl Register {
    /// Reads the register, before all later accesses. A card's registers are device memory, which
    /// keeps its order. The software card's are ordinary memory, which does not on AArch64.
    #[inline]
    pub fn load(&self) -> u32 {
        // SAFETY: the pointer is aligned and inside the mapping, which `_area` keeps alive.
        let value = unsafe { self.pointer.read_volatile() };
        if cfg!(target_arch = "aarch64") {
            dma_read_barrier();
        }
        value
    }

    /// Writes the register, after all earlier writes.
    #[inline]
    pub fn store(&self, value: u32) {
        if cfg!(target_arch = "aarch64") {
            dma_write_barrier();
        }
        self.store_relaxed(value);
    }

    /// Writes the register without a barrier: the caller adds one, for a whole batch.
    #[inline]
    pub fn store_relaxed(&self, value: u32) {
        // SAFETY: as for `load`.
        unsafe { self.pointer.write_volatile(value) }
    }
}

// The two barriers order this processor's accesses as the other side sees them: a card's DMA, or the
// thread of a software card. x86-64 keeps the order of loads and the order of stores, even to uncached
// memory. So there the barriers only restrain the compiler.
//
// AArch64 keeps neither order. "osh", outer shareable, reaches other processors and coherent devices.
// The "ish" of Rust's fences need not reach a device. "ld" and "st" say which earlier accesses wait.

/// Completes the loads before it, for example of DD, before the loads and stores after it, for
/// example of the packet that DD announces.
#[inline]
pub fn dma_read_barrier() {
    #[cfg(miri)]
    compiler_fence(Ordering::Acquire);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: there is no instruction. The compiler must assume that it reads and writes all memory.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}

/// Makes the stores before it, for example of descriptors, visible to the device before the stores
/// after it, for example of the tail.
#[inline]
pub fn dma_write_barrier() {
    #[cfg(miri)]
    compiler_fence(Ordering::Release);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: there is no instruction. The compiler must assume that it reads and writes all memory.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
}

/// Asks for the line at an address that the device has written. Without DDIO the line is in memory, and
/// the caller needs it soon. It is only a hint: it changes no data, and any address is allowed.
#[inline]
pub fn dma_prefetch(address: NonNull<u8>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    use core::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
    let address = address.as_ptr().cast_const();
    #[cfg(miri)]
    let _ = address;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes no data and faults at no address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(address.cast())
    };
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: the instruction changes no data and faults at no address.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly))
    };
}

/// A counter of fixed frequency: the time-stamp counter of x86-64, the virtual count of AArch64's
/// generic timer. The latter often counts only some ten million times a second.
#[inline]
pub fn tsc_read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and its only effect is its result.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let count;
        // SAFETY: the instructions change only `count`, and Linux lets every program read the timer.
        unsafe {
            core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags));
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags};

    use super::*;

    const PAGE: usize = 4096;

    /// Shared memory of a page.
    fn memfd(seals: SealFlags) -> std::os::fd::OwnedFd {
        let fd = memfd_create("registers", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&fd, PAGE as u64).unwrap();
        fcntl_add_seals(&fd, seals).unwrap();
        fd
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn only_a_sealed_memfd_has_registers() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(PAGE as u64).unwrap();
        assert!(BarFile::of_server(file.as_fd()).is_none());
        assert!(BarFile::of_server(memfd(SealFlags::GROW).as_fd()).is_none());
        assert!(BarFile::of_server(memfd(SealFlags::SHRINK).as_fd()).is_some());
    }

    /// A hostile server could pass the driver's own memory as its registers.
    #[test]
    #[cfg_attr(any(miri, feature = "fuzzing"), ignore = "heap memory has no file")]
    fn dma_memory_has_no_registers() {
        let memory = memory::Memory::alloc(PAGE).unwrap();
        assert!(BarFile::of_server(memory.fd().unwrap()).is_none());
        let copy = rustix::io::dup(memory.fd().unwrap()).unwrap();
        assert!(BarFile::of_server(copy.as_fd()).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn an_area_ends_with_its_file() {
        let fd = memfd(SealFlags::SHRINK);
        let file = BarFile::of_server(fd.as_fd()).unwrap();
        for (offset, size) in [(0, 2 * PAGE), (PAGE as u64, PAGE), (u64::MAX, PAGE)] {
            let refused = Area::map(&file, offset, 0, size).map(drop).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
