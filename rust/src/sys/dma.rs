//! Memory that the device may read and write.
//!
//! It lives in a memfd, so that it can be handed to a vfio-user server, on 2 MiB pages, so
//! that one IOMMU entry covers it (with 4 KiB pages the IOMMU costs up to 62 % of the
//! throughput, "User Space Network Drivers", section 6.4).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;

use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::vfio::Container;

const HUGE_PAGE_SIZE: usize = 2 << 20;
const PAGE_SIZE: usize = 4096;

/// A mapped memfd.
struct Memory {
    fd: OwnedFd,
    address: NonNull<u8>,
    size: usize,
}

impl Memory {
    /// Maps a memfd of `size` zeroed bytes, if it can be had with these flags.
    fn map(size: usize, flags: MemfdFlags) -> io::Result<Self> {
        let fd = memfd_create("ixgbe-dma", MemfdFlags::CLOEXEC | flags)?;
        ftruncate(&fd, size as u64)?;
        // SAFETY: a new mapping, where the kernel likes; nothing else is touched.
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
        Ok(Self { fd, address, size })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it that does not also own it.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.size) };
    }
}

/// DMA memory, mapped for all devices of a container until it is dropped.
pub struct DmaMemory {
    memory: Memory,
    iova: u64,
    huge: bool,
    container: Rc<Container>,
}

impl DmaMemory {
    /// Allocates at least `size` bytes of zeroed memory and maps it for the container's devices.
    pub fn alloc(container: &Rc<Container>, size: usize) -> Result<Self> {
        let (memory, huge) = match Memory::map(
            size.next_multiple_of(HUGE_PAGE_SIZE),
            MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB,
        ) {
            Ok(memory) => (memory, true),
            Err(_) => {
                let size = size.next_multiple_of(PAGE_SIZE);
                let memory = Memory::map(size, MemfdFlags::empty())
                    .map_err(|source| Error::dma_alloc(size, source))?;
                (memory, false)
            }
        };
        let iova = container.iova_alloc(memory.size as u64, HUGE_PAGE_SIZE as u64)?;
        container.dma_map(&DmaMapping {
            fd: memory.fd.as_fd(),
            address: memory.address.as_ptr() as u64,
            iova,
            size: memory.size as u64,
        })?;
        Ok(Self {
            memory,
            iova,
            huge,
            container: Rc::clone(container),
        })
    }

    /// The memory's address as the device sees it, a multiple of 2 MiB.
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Its size in bytes, a multiple of the page size.
    pub fn size(&self) -> usize {
        self.memory.size
    }

    /// Whether it is on 2 MiB pages.
    pub fn is_huge(&self) -> bool {
        self.huge
    }

    /// Its address as the CPU sees it, valid for `size` bytes while `self` lives.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.memory.address
    }
}

impl Drop for DmaMemory {
    fn drop(&mut self) {
        self.container.dma_unmap(self.iova, self.memory.size as u64);
    }
}

/// What is to be mapped where. Only this module makes one, so `address` is always `size`
/// bytes of memory that no Rust object but a [`DmaMemory`] lives in.
pub struct DmaMapping<'a> {
    fd: BorrowedFd<'a>,
    address: u64,
    iova: u64,
    size: u64,
}

impl DmaMapping<'_> {
    /// The file that the memory is, from its start.
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

/// A ring of descriptors.
pub struct Ring {
    descriptors: NonNull<Descriptor>,
    len: usize,
    dma: DmaMemory,
}

impl Ring {
    /// Allocates a ring of `len` zeroed descriptors.
    pub fn alloc(container: &Rc<Container>, len: usize) -> Result<Self> {
        let dma = DmaMemory::alloc(container, len.saturating_mul(size_of::<Descriptor>()))?;
        Ok(Self {
            descriptors: dma.address().cast(),
            len,
            dma,
        })
    }

    /// The ring's address as the device sees it.
    pub fn iova(&self) -> u64 {
        self.dma.iova()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.len * size_of::<Descriptor>()
    }

    /// The upper half of descriptor `index`, by one 64-bit access.
    #[inline]
    pub fn load_upper(&self, index: usize) -> u64 {
        let descriptor = self.descriptor(index);
        // SAFETY: `descriptor` returns pointers to descriptors of the mapping, which `dma`
        // keeps alive. A mapping is page-aligned and a descriptor 16 bytes, so it is aligned.
        unsafe { (&raw const (*descriptor).upper).read_volatile() }
    }

    /// Writes both halves of descriptor `index`, the lower first, each by one 64-bit access.
    #[inline]
    pub fn store(&self, index: usize, value: Descriptor) {
        let descriptor = self.descriptor(index);
        // SAFETY: as for `load_upper`.
        unsafe {
            (&raw mut (*descriptor).lower).write_volatile(value.lower);
            (&raw mut (*descriptor).upper).write_volatile(value.upper);
        }
    }

    /// Descriptor `index`. Panics beyond the ring's end.
    #[inline]
    fn descriptor(&self, index: usize) -> *mut Descriptor {
        assert!(index < self.len);
        // SAFETY: `index` is inside the ring, the ring inside the mapping.
        unsafe { self.descriptors.add(index) }.as_ptr()
    }
}
