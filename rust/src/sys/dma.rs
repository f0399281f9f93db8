//! Memory that the device may read and write.
//!
//! The memory lives in a memfd, so that the driver can pass it to a vfio-user server. It is on
//! 2 MiB pages, because one IOMMU entry covers each. With 4 KiB pages the IOMMU costs up to 62 %
//! of the throughput ("User Space Network Drivers", section 6.4).

use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use super::home::Home;
use super::mapping::DmaMapping;
use super::memory::Memory;

const HUGE_PAGE_SIZE: u64 = 2 << 20;

/// The view of memory that some devices share.
pub trait DmaSpace {
    /// What its methods fail with.
    type Error: From<DmaFault>;

    /// Takes `size` bytes of addresses for the devices, aligned to a power of two.
    fn iova_alloc(&self, size: u64, alignment: u64) -> Result<u64, Self::Error>;

    /// Maps memory for the devices.
    fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<(), Self::Error>;

    /// Ends a mapping, and frees its addresses.
    fn dma_unmap(&self, iova: u64, size: u64);

    /// Notes that some of the memory is not on 2 MiB pages.
    fn note_ordinary_pages(&self);
}

/// Why there is no DMA memory.
pub enum DmaFault {
    /// So many bytes cannot be allocated.
    Alloc(usize, io::Error),
    /// The memory lost its pages, or cannot be sealed against that.
    Lost(io::Error),
    /// The number of descriptors is no power of two.
    RingSize(usize),
}

/// DMA memory, mapped for all devices of a space until it is dropped.
pub struct DmaMemory {
    memory: Memory,
    iova: u64,
    unmap: Home<Box<dyn Fn()>>,
}

// SAFETY: nothing else has the memory, and the thread that mapped it is the one that ends the mapping. In another
// one the mapping stays, and the kernel keeps its pages.
unsafe impl Send for DmaMemory {}

impl DmaMemory {
    /// Allocates at least `size` bytes of zeroed memory and maps it for the devices of a space.
    pub fn alloc<S: DmaSpace + 'static>(space: &Rc<S>, size: usize) -> Result<Self, S::Error> {
        let memory = Memory::alloc(size).map_err(|source| DmaFault::Alloc(size, source))?;
        if !memory.is_huge() {
            space.note_ordinary_pages();
        }
        let size = memory.size() as u64;
        let iova = space.iova_alloc(size, HUGE_PAGE_SIZE)?;
        if let Some(fd) = memory.fd() {
            let address = memory.address().as_ptr() as u64;
            space.dma_map(&DmaMapping::new(fd, address, iova, size))?;
        }
        let space = Rc::clone(space);
        let mapped = Self {
            memory,
            iova,
            unmap: Home::new(Box::new(move || space.dma_unmap(iova, size))),
        };
        mapped.memory.keep_pages().map_err(DmaFault::Lost)?;
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
        if let Some(unmap) = self.unmap.get() {
            unmap();
        }
    }
}

/// The contents of a descriptor: two 64-bit words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Descriptor {
    /// The first 64-bit word.
    pub lower: u64,
    /// The second 64-bit word.
    pub upper: u64,
}

// 7.1.6, 7.2.3.2.4: a descriptor is 16 bytes, without padding.
const _: () = assert!(size_of::<Descriptor>() == 16);
const _: () = assert!(std::mem::offset_of!(Descriptor, upper) == 8);

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

// SAFETY: `descriptors` points into `dma`, which nothing else has.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    /// Allocates a ring with a zeroed descriptor for each of `slots`.
    ///
    /// # Errors
    /// If the number of slots is not a power of two, or there is no memory.
    pub fn alloc<S: DmaSpace + 'static>(space: &Rc<S>, slots: Box<[T]>) -> Result<Self, S::Error> {
        if !slots.len().is_power_of_two() {
            return Err(DmaFault::RingSize(slots.len()).into());
        }
        // Slots without a size need no memory, so their number has no natural limit.
        let size = slots.len().saturating_mul(size_of::<Descriptor>());
        let dma = DmaMemory::alloc(space, size)?;
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

    /// The first of the descriptors, in a page of its own.
    #[inline]
    pub(super) fn descriptors(&self) -> NonNull<Descriptor> {
        self.descriptors
    }

    /// The number of descriptors.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slots of at most `count` descriptors from `first` on, up to the end of the ring.
    #[inline]
    pub fn slots_from(&mut self, first: usize, count: usize) -> &mut [T] {
        let first = first & (self.slots.len() - 1);
        let end = first + count.min(self.slots.len() - first);
        // SAFETY: a masked index is below the number of slots, and `end` is at most that number.
        unsafe { self.slots.get_unchecked_mut(first..end) }
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

    /// Writes the upper half of the descriptor, as [`SharedDescriptor::store`].
    #[inline]
    pub fn store_upper(&self, value: u64) {
        // SAFETY: see the field `pointer`.
        unsafe { (&raw mut (*self.pointer.as_ptr()).upper).write(value) }
    }

    /// Writes the descriptor. The driver owns it until it moves the tail, so the device does not see half of
    /// it, and the barrier before the tail orders the write.
    #[inline]
    pub fn store(&self, value: Descriptor) {
        // SAFETY: see the field `pointer`.
        unsafe { self.pointer.as_ptr().write(value) }
    }
}
