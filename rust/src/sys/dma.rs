//! Memory that the device may read and write.
//!
//! It lives in a memfd, so that it can be handed to a vfio-user server, on 2 MiB pages, so
//! that one IOMMU entry covers it (with 4 KiB pages the IOMMU costs up to 62 % of the
//! throughput, "User Space Network Drivers", section 6.4).

use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::rc::Rc;

use super::memory::Memory;
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::vfio::Container;

const HUGE_PAGE_SIZE: u64 = 2 << 20;

/// DMA memory, mapped for all devices of a container until it is dropped.
pub struct DmaMemory {
    memory: Memory,
    iova: u64,
    container: Rc<Container>,
}

impl DmaMemory {
    /// Allocates at least `size` bytes of zeroed memory and maps it for the container's devices.
    pub fn alloc(container: &Rc<Container>, size: usize) -> Result<Self> {
        let memory = Memory::alloc(size).map_err(|source| Error::dma_alloc(size, source))?;
        if !memory.is_huge() {
            container.ordinary_pages.set(true);
        }
        let size = memory.size() as u64;
        let iova = container.iova_alloc(size, HUGE_PAGE_SIZE)?;
        if let Some(fd) = memory.fd() {
            container.dma_map(&DmaMapping {
                fd,
                address: memory.address().as_ptr() as u64,
                iova,
                size,
            })?;
        }
        Ok(Self {
            memory,
            iova,
            container: Rc::clone(container),
        })
    }

    /// The memory's address as the device sees it, a multiple of 2 MiB.
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Its size in bytes, a multiple of the page size.
    pub fn size(&self) -> usize {
        self.memory.size()
    }

    /// Whether it is on 2 MiB pages.
    pub fn is_huge(&self) -> bool {
        self.memory.is_huge()
    }

    /// Its address as the CPU sees it, valid for `size` bytes while `self` lives.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.memory.address()
    }
}

impl Drop for DmaMemory {
    fn drop(&mut self) {
        self.container
            .dma_unmap(self.iova, self.memory.size() as u64);
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

/// A ring of descriptors, and beside each a slot for what it stands for.
///
/// There are as many slots as descriptors, and their number is a power of two: an index that is
/// cut to the ring's size is inside both, so that no index can be wrong.
pub struct Ring<T> {
    /// `slots.len()` descriptors inside `dma`. The device writes to them, so there is never a
    /// reference to one.
    descriptors: NonNull<Descriptor>,
    slots: Box<[T]>,
    dma: DmaMemory,
}

impl<T> Ring<T> {
    /// Allocates a ring with a zeroed descriptor for each of `slots`.
    ///
    /// # Errors
    /// If their number is not a power of two, or there is no memory.
    pub fn alloc(container: &Rc<Container>, slots: Box<[T]>) -> Result<Self> {
        if !slots.len().is_power_of_two() {
            return Err(Box::new(Error::Argument(format!(
                "a ring has a power of two of descriptors, not {}",
                slots.len()
            ))));
        }
        // Slots may be of no size, so their number says nothing about what memory there is.
        let size = slots.len().saturating_mul(size_of::<Descriptor>());
        let dma = DmaMemory::alloc(container, size)?;
        Ok(Self {
            descriptors: dma.address().cast(),
            slots,
            dma,
        })
    }

    /// The ring's address as the device sees it.
    pub fn iova(&self) -> u64 {
        self.dma.iova()
    }

    /// How many descriptors there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Bytes of descriptors.
    pub fn size(&self) -> usize {
        self.len() * size_of::<Descriptor>()
    }

    /// All entries, for a loop over some of them.
    #[inline]
    pub fn entries(&mut self) -> Entries<'_, T> {
        Entries {
            descriptors: self.descriptors,
            mask: self.slots.len() - 1,
            slots: NonNull::from(&mut *self.slots).cast(),
            ring: PhantomData,
        }
    }

    /// Entry `index`, see [`Entries::entry`].
    #[inline]
    pub fn entry(&mut self, index: usize) -> Entry<'_, T> {
        let Entries {
            descriptors,
            slots,
            mask,
            ..
        } = self.entries();
        // SAFETY: as in `Entries::entry`; the entry borrows the ring itself.
        unsafe { Entry::at(descriptors, slots, index & mask) }
    }
}

/// The descriptors and slots of a ring, which it borrows: in a loop, where they are stays in
/// registers, whatever else the loop writes.
pub struct Entries<'r, T> {
    /// `mask + 1` descriptors.
    descriptors: NonNull<Descriptor>,
    /// `mask + 1` slots.
    slots: NonNull<T>,
    mask: usize,
    ring: PhantomData<&'r mut Ring<T>>,
}

impl<T> Entries<'_, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.mask + 1
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Descriptor `index` and its slot. Behind the last one comes the first again.
    #[inline]
    pub fn entry(&mut self, index: usize) -> Entry<'_, T> {
        // SAFETY: what is cut to `mask` is below the number of descriptors and slots, which are
        // there as long as the ring is borrowed; the entry borrows `self`, so it is the only one,
        // and `self` borrows the ring, so that nobody else reaches its slots.
        unsafe { Entry::at(self.descriptors, self.slots, index & self.mask) }
    }
}

/// A descriptor and its slot.
pub struct Entry<'r, T> {
    /// Inside the mapping, which the ring that `slot` borrows keeps alive; aligned, because a
    /// mapping is and a descriptor has 16 bytes.
    descriptor: NonNull<Descriptor>,
    /// What the descriptor stands for.
    pub slot: &'r mut T,
}

impl<T> Entry<'_, T> {
    /// # Safety
    /// There are more than `index` descriptors and slots, and for `'r` they stay and nobody else
    /// uses this slot.
    #[inline]
    unsafe fn at(descriptors: NonNull<Descriptor>, slots: NonNull<T>, index: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                descriptor: descriptors.add(index),
                slot: slots.add(index).as_mut(),
            }
        }
    }

    /// The upper half of the descriptor, by one 64-bit access.
    #[inline]
    pub fn load_upper(&self) -> u64 {
        // SAFETY: see the field.
        unsafe { (&raw const (*self.descriptor.as_ptr()).upper).read_volatile() }
    }

    /// Both halves of the descriptor, for a test that plays the device.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn load(&self) -> Descriptor {
        // SAFETY: see the field.
        let lower = unsafe { (&raw const (*self.descriptor.as_ptr()).lower).read_volatile() };
        let upper = self.load_upper();
        Descriptor { lower, upper }
    }

    /// Writes both halves of the descriptor, the lower first, each by one 64-bit access.
    #[inline]
    pub fn store(&self, value: Descriptor) {
        let descriptor = self.descriptor.as_ptr();
        // SAFETY: see the field.
        unsafe {
            (&raw mut (*descriptor).lower).write_volatile(value.lower);
            (&raw mut (*descriptor).upper).write_volatile(value.upper);
        }
    }
}
