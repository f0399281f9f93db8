//! Memory for DMA.

use std::os::fd::OwnedFd;

use rustix::mm::{MapFlags, ProtFlags};

/// Memory that other processes share by its file.
pub struct Memory {
    base: *mut u8,
    len: usize,
    pub file: OwnedFd,
}

// SAFETY: the memory is only used through raw volatile accesses.
unsafe impl Send for Memory {}

impl Memory {
    pub fn new(len: usize) -> Self {
        use rustix::fs::MemfdFlags;
        let file = rustix::fs::memfd_create("driver", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, len as u64).unwrap();
        Self::of_file(file, len)
    }

    /// Memory in huge pages, if the machine has enough free ones.
    pub fn huge(len: usize) -> Option<Self> {
        use rustix::fs::MemfdFlags;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
        let file = rustix::fs::memfd_create("driver", flags).ok()?;
        rustix::fs::ftruncate(&file, len as u64).ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let (any, flags) = (std::ptr::null_mut(), MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: the kernel chooses an unused address for the mapping.
        let base = unsafe { rustix::mm::mmap(any, len, protection, flags, &file, 0) }.ok()?;
        Some(Self {
            base: base.cast(),
            len,
            file,
        })
    }

    pub fn of_file(file: OwnedFd, len: usize) -> Self {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let any = std::ptr::null_mut();
        // SAFETY: the kernel chooses an unused address for the mapping.
        let base = unsafe { rustix::mm::mmap(any, len, protection, MapFlags::SHARED, &file, 0) };
        Self {
            base: base.unwrap().cast(),
            len,
            file,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of `len` bytes at `offset`.
    #[inline(always)]
    pub fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset + len <= self.len);
        self.base.wrapping_add(offset)
    }

    #[inline(always)]
    pub fn read_u64(&self, offset: usize) -> u64 {
        // SAFETY: inside the mapping; tests keep their offsets aligned.
        unsafe { self.at(offset, 8).cast::<u64>().read_volatile() }
    }

    #[inline(always)]
    pub fn write_u64(&self, offset: usize, value: u64) {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 8).cast::<u64>().write_volatile(value) }
    }

    #[inline(always)]
    pub fn read_u32(&self, offset: usize) -> u32 {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 4).cast::<u32>().read_volatile() }
    }

    #[inline(always)]
    pub fn write_u32(&self, offset: usize, value: u32) {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 4).cast::<u32>().write_volatile(value) }
    }

    pub fn bytes(&self, offset: usize, len: usize) -> Vec<u8> {
        let from = self.at(offset, len);
        // SAFETY: inside the mapping.
        (0..len)
            .map(|n| unsafe { from.add(n).read_volatile() })
            .collect()
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        for (n, byte) in bytes.iter().enumerate() {
            // SAFETY: inside the mapping.
            unsafe { to.add(n).write_volatile(*byte) }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `of_file` or `huge` has mapped this length.
        unsafe { rustix::mm::munmap(self.base.cast(), self.len) }.unwrap();
    }
}
