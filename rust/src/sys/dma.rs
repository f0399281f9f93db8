//! Memory that the device may read and write.
//!
//! The memory lives in a memfd, so that the driver can pass it to a vfio-user server. It is on
//! 2 MiB pages, because one IOMMU entry covers each. With 4 KiB pages the IOMMU costs up to 62 %
//! of the throughput ("User Space Network Drivers", section 6.4).

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use super::mapping::DmaMapping;
use super::memory::Memory;
use crate::driver::descriptor::Descriptor;
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
            let address = memory.address().as_ptr() as u64;
            container.dma_map(&DmaMapping::new(fd, address, iova, size))?;
        }
        let mapped = Self {
            memory,
            iova,
            container: Rc::clone(container),
        };
        mapped.memory.keep_pages().map_err(Error::dma_lost)?;
        Ok(mapped)
    }

    /// The address of the memory for the device, a multiple of 2 MiB.
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Its size in bytes, a multiple of the page size.
    pub fn size(&self) -> usize {
        self.memory.size()
    }

    /// The address of the memory for the CPU, valid for `size` bytes while `self` lives.
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

/// A ring of descriptors, with a slot beside each for its packet.
///
/// There are as many slots as descriptors, and their number is a power of two. So a masked index is
/// always inside both. Safe code cannot use a wrong index.
pub struct Ring<T> {
    /// `slots.len()` descriptors inside `dma`. The device writes to them, so no reference ever
    /// covers one.
    descriptors: NonNull<Descriptor>,
    slots: Box<[T]>,
    dma: DmaMemory,
}

impl<T> Ring<T> {
    /// Allocates a ring with a zeroed descriptor for each of `slots`.
    ///
    /// # Errors
    /// If the number of slots is not a power of two, or there is no memory.
    pub fn alloc(container: &Rc<Container>, slots: Box<[T]>) -> Result<Self> {
        if !slots.len().is_power_of_two() {
            return Err(Box::new(Error::Argument(format!(
                "the number of descriptors is a power of two, not {}",
                slots.len()
            ))));
        }
        // Slots without a size need no memory, so their number has no natural limit.
        let size = slots.len().saturating_mul(size_of::<Descriptor>());
        let dma = DmaMemory::alloc(container, size)?;
        Ok(Self {
            descriptors: dma.address().cast(),
            slots,
            dma,
        })
    }

    /// Frees the descriptors and returns the slots.
    pub fn into_slots(self) -> Box<[T]> {
        self.slots
    }

    /// The address of the ring for the device.
    pub fn iova(&self) -> u64 {
        self.dma.iova()
    }

    /// The number of descriptors.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slots of all descriptors.
    pub fn slots(&self) -> &[T] {
        &self.slots
    }

    /// The slots of at most `count` descriptors from `first` on, up to the end of the ring.
    #[inline]
    pub fn slots_from(&mut self, first: usize, count: usize) -> &mut [T] {
        let first = first & (self.slots.len() - 1);
        let end = first + count.min(self.slots.len() - first);
        // A panic, which cannot happen, would cost instructions.
        self.slots.get_mut(first..end).unwrap_or_default()
    }

    /// The size of the descriptors, in bytes.
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

    /// Entry `index`; see [`Entries::entry`].
    #[inline]
    pub fn entry(&mut self, index: usize) -> Entry<'_, T> {
        let Entries {
            descriptors,
            slots,
            mask,
            ..
        } = self.entries();
        // SAFETY: as in `Entries::entry`, but the entry borrows the ring itself.
        unsafe { Entry::at(descriptors, slots, index & mask) }
    }
}

/// The descriptors and slots of a borrowed ring. In a loop, the compiler keeps their addresses in
/// processor registers.
pub struct Entries<'r, T> {
    /// `mask + 1` descriptors.
    descriptors: NonNull<Descriptor>,
    /// `mask + 1` slots.
    slots: NonNull<T>,
    mask: usize,
    ring: PhantomData<&'r mut Ring<T>>,
}

impl<T> Entries<'_, T> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.mask + 1
    }

    /// Descriptor `index` and its slot. The index is masked here, so it may run past the last entry
    /// and then starts again at the first.
    #[inline]
    pub fn entry(&mut self, index: usize) -> Entry<'_, T> {
        // SAFETY: a masked index is below the number of descriptors and slots, which live as long as
        // the ring is borrowed. The entry borrows `self`, so it is the only one. `self` borrows the
        // ring, so no other code reaches its slots.
        unsafe { Entry::at(self.descriptors, self.slots, index & self.mask) }
    }
}

/// A descriptor and its slot.
pub struct Entry<'r, T> {
    /// The descriptor.
    pub descriptor: SharedDescriptor<'r>,
    /// The packet of the descriptor.
    pub slot: &'r mut T,
}

/// A descriptor that the device reads and writes, too.
pub struct SharedDescriptor<'r> {
    /// Inside the mapping, which lives for `'r`. Aligned, because the mapping is aligned and a descriptor has
    /// 16 bytes.
    pointer: NonNull<Descriptor>,
    ring: PhantomData<&'r ()>,
}

impl<T> Entry<'_, T> {
    /// # Safety
    /// There are more than `index` descriptors and slots. For `'r` they live, and no other code uses
    /// this slot.
    #[inline]
    unsafe fn at(descriptors: NonNull<Descriptor>, slots: NonNull<T>, index: usize) -> Self {
        // SAFETY: the caller guarantees it.
        unsafe {
            Self {
                descriptor: SharedDescriptor {
                    pointer: descriptors.add(index),
                    ring: PhantomData,
                },
                slot: slots.add(index).as_mut(),
            }
        }
    }
}

impl SharedDescriptor<'_> {
    /// The upper half of the descriptor, by one 64-bit access.
    #[inline]
    pub fn load_upper(&self) -> u64 {
        // SAFETY: see the field `pointer`.
        unsafe { (&raw const (*self.pointer.as_ptr()).upper).read_volatile() }
    }

    /// Both halves of the descriptor, for a test that plays the device.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn load(&self) -> Descriptor {
        // SAFETY: see the field `pointer`.
        let lower = unsafe { (&raw const (*self.pointer.as_ptr()).lower).read_volatile() };
        let upper = self.load_upper();
        Descriptor { lower, upper }
    }

    /// Writes the descriptor. The driver owns it until it moves the tail, so the device does not see half of
    /// it, and the barrier before the tail orders the write.
    #[inline]
    pub fn store(&self, value: Descriptor) {
        // SAFETY: see the field `pointer`.
        unsafe { self.pointer.as_ptr().write(value) }
    }
}
