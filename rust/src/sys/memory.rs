//! The memory of [`super::dma::DmaMemory`]: a memfd, so that the driver can pass it to a vfio-user
//! server.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{fcntl_add_seals, fstat, ftruncate, memfd_create, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{madvise, mmap, munmap, Advice, MapFlags, ProtFlags};

const HUGE_PAGE_SIZE: usize = 2 << 20;
const PAGE_SIZE: usize = 4096;

/// Device and inode of the file of each [`Memory`] in this process.
static FILES: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

/// Changes or reads [`FILES`].
fn with_files<R>(use_files: impl FnOnce(&mut Vec<(u64, u64)>) -> R) -> R {
    use_files(&mut FILES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a file with this device and inode is that of a [`Memory`] in this process.
pub(super) fn is_dma_memory(device: u64, inode: u64) -> bool {
    with_files(|files| files.contains(&(device, inode)))
}

/// A mapped memfd.
pub(super) struct Memory {
    fd: OwnedFd,
    /// In [`FILES`].
    file: (u64, u64),
    address: NonNull<u8>,
    size: usize,
    huge: bool,
}

impl Memory {
    /// Maps at least `size` zeroed bytes, on 2 MiB pages if enough are free.
    pub(super) fn alloc(size: usize) -> io::Result<Self> {
        let huge = MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
        Self::map(size, HUGE_PAGE_SIZE, huge)
            .or_else(|_| Self::map(size, PAGE_SIZE, MemfdFlags::empty()))
    }

    /// The size stays: a vfio-user server gets the file, and an access beyond its end would be a signal.
    fn map(size: usize, page_size: usize, flags: MemfdFlags) -> io::Result<Self> {
        let size = size
            .checked_next_multiple_of(page_size)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let fd = memfd_create(
            "ixgbe-dma",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | flags,
        )?;
        let stat = fstat(&fd)?;
        let file = (stat.st_dev, stat.st_ino);
        ftruncate(&fd, size as u64)?;
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW)?;
        // SAFETY: this is a new mapping at an address that the kernel chooses.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &fd,
                0,
            )?
        };
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::InvalidData)?;
        with_files(|files| files.push(file));
        Ok(Self {
            fd,
            file,
            address,
            size,
            huge: page_size == HUGE_PAGE_SIZE,
        })
    }

    /// Keeps the pages of the memory too, once the servers have mapped it: F_SEAL_FUTURE_WRITE forbids
    /// to free some of them, after which an access could find no huge page. No server may need another
    /// mapping.
    pub(super) fn keep_pages(&self) -> io::Result<()> {
        // Linux before 5.1 does not know the first of the two.
        match fcntl_add_seals(&self.fd, SealFlags::FUTURE_WRITE | SealFlags::SEAL) {
            Err(Errno::INVAL) => fcntl_add_seals(&self.fd, SealFlags::SEAL)?,
            result => result?,
        }
        // Brings back pages that a server has freed before. Linux before 5.14 cannot.
        let address = self.address.as_ptr().cast();
        // SAFETY: the mapping is ours. The call changes no byte of it.
        match unsafe { madvise(address, self.size, Advice::LinuxPopulateWrite) } {
            Err(Errno::INVAL) => Ok(()),
            result => Ok(result?),
        }
    }

    /// The file of the memory.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    /// Aligned to a page, and valid for `size` bytes while `self` lives.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Bytes, a multiple of the page size.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether it is on 2 MiB pages.
    pub(super) fn is_huge(&self) -> bool {
        self.huge
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it that does not also own it.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.size) };
        with_files(|files| files.retain(|file| *file != self.file));
    }
}
