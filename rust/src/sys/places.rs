//! The buffers of a lane by number, for the tuned path: places, which move, and blocks, which do not.
//!
//! A place is the offset of a buffer's data in the memory of its store. Each stands for one buffer, which no [`Buffer`]
//! owns any more, and this module only exchanges places. So a buffer is always in exactly one container, every
//! container stays full, and every place is inside its memory.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::buffers::{Buffer, BufferStore, HEADROOM, STRIDE_ODD};
use super::dma::{Descriptor, Ring};
use super::quad::{Quad32, Quad64};

/// Descriptors in a group.
pub const GROUP: usize = 4;

/// Bytes of data that each place has.
pub const ROOM: usize = 2048;

/// The room of a batch.
pub const MAX_BATCH: usize = 512;

/// Some buffers of a store.
pub struct Places<'p> {
    /// Offsets in the store's memory, each with [`ROOM`] bytes behind it.
    places: Box<[u32]>,
    /// The memory of the store.
    memory: NonNull<u8>,
    /// Its address for the device.
    iova: u64,
    store: PhantomData<&'p BufferStore>,
}

// SAFETY: the places are the only way to the bytes of their buffers. Nothing else of the store is used.
unsafe impl Send for Places<'_> {}

impl<'p> Places<'p> {
    /// Makes places of buffers, for good: they do not go back to their store. `None` if one is of another store, or if
    /// its buffers have too little room.
    pub fn new(store: &'p BufferStore, buffers: Vec<Buffer<'p>>) -> Option<Self> {
        let (memory, iova) = store.memory();
        if store.stride() < HEADROOM + ROOM || !buffers.iter().all(|buffer| store.owns(buffer)) {
            return None;
        }
        let offset = |buffer: Buffer<'p>| {
            let offset = (buffer.iova() - iova) as u32;
            std::mem::forget(buffer);
            offset
        };
        Some(Self {
            places: buffers.into_iter().map(offset).collect(),
            memory,
            iova,
            store: PhantomData,
        })
    }

    /// The address of place 0 for the device.
    #[inline(always)]
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// The offset of place `index`, which the device may know.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn offset(&self, index: usize) -> u32 {
        self.places[index]
    }

    /// Exchanges place `index` with place `at` of a batch.
    ///
    /// # Panics
    /// If there is no such place, or the two are of different memories.
    #[inline]
    pub fn exchange(&mut self, index: usize, batch: &mut BatchPlaces<'_>, at: usize) {
        assert!(self.memory == batch.memory);
        std::mem::swap(&mut self.places[index], &mut batch.arrays.places[at]);
    }
}

/// The places of a batch, with the size of each packet.
pub struct BatchPlaces<'p> {
    arrays: Box<BatchArrays>,
    /// As of [`Places`].
    memory: NonNull<u8>,
    store: PhantomData<&'p BufferStore>,
}

/// Both arrays in one piece, so that one register reaches both.
#[repr(C)]
struct BatchArrays {
    places: [u32; MAX_BATCH],
    sizes: [u32; MAX_BATCH],
}

// SAFETY: as for `Places`.
unsafe impl Send for BatchPlaces<'_> {}

impl<'p> BatchPlaces<'p> {
    /// Gives places to a batch. `None` if they are not [`MAX_BATCH`].
    pub fn new(places: Places<'p>) -> Option<Self> {
        Some(Self {
            arrays: Box::new(BatchArrays {
                places: places.places.as_ref().try_into().ok()?,
                sizes: [0; MAX_BATCH],
            }),
            memory: places.memory,
            store: PhantomData,
        })
    }

    /// The offsets.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn offsets(&self) -> &[u32; MAX_BATCH] {
        &self.arrays.places
    }

    /// The sizes of the packets.
    pub fn sizes(&mut self) -> &mut [u32; MAX_BATCH] {
        &mut self.arrays.sizes
    }

    /// Changes byte `INDEX` of the first `count` buffers.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn change_each<const INDEX: usize>(&mut self, count: usize, change: impl Fn(u8) -> u8) {
        for offset in &self.arrays.places[..count] {
            // SAFETY: the place is inside the memory, which `'p` keeps.
            unsafe { change_byte::<INDEX>(self.memory.add(*offset as usize), &change) }
        }
    }
}

/// Groups of four descriptors of a ring.
///
/// One check at the start covers all. The compiler proves the other ones, if a loop counts up to `groups`.
pub struct Groups<'a, const ALIGNED: bool> {
    descriptors: NonNull<Descriptor>,
    groups: usize,
    borrowed: PhantomData<&'a mut ()>,
}

/// The same with the places of their slots, and with places and sizes of a batch.
pub struct Exchange<'a, const ALIGNED: bool> {
    /// The descriptors.
    pub ring: Groups<'a, ALIGNED>,
    slots: NonNull<Quad32>,
    /// The sizes come [`MAX_BATCH`] values later.
    places: NonNull<Quad32>,
}

/// Whether `groups` of four, from `first` on, are among `length`.
#[inline(always)]
fn are_inside(length: usize, first: usize, groups: usize) -> bool {
    first <= length && groups <= (length - first) / GROUP
}

impl<T> Ring<T> {
    /// The groups from descriptor `index` on. `None` if they are not all inside. If `ALIGNED`, also if they do not start
    /// at a multiple of four: only such groups can be read.
    #[inline(always)]
    pub fn groups<const ALIGNED: bool>(
        &mut self,
        index: usize,
        groups: usize,
    ) -> Option<Groups<'_, ALIGNED>> {
        let fits = (!ALIGNED || index % GROUP == 0) && are_inside(self.len(), index, groups);
        // SAFETY: the groups are inside the ring, which stays borrowed.
        let descriptors = fits.then(|| unsafe { self.descriptors().add(index) })?;
        Some(Groups {
            descriptors,
            groups,
            borrowed: PhantomData,
        })
    }

    /// The same with the places of this ring, and with those of a batch from `at` on. `None` also if the places are not
    /// all there, or are of different memories.
    #[inline(always)]
    pub fn exchange<'a, const ALIGNED: bool>(
        &'a mut self,
        (slots, index): (&'a mut Places<'_>, usize),
        (batch, at): (&'a mut BatchPlaces<'_>, usize),
        groups: usize,
    ) -> Option<Exchange<'a, ALIGNED>> {
        let fits = slots.places.len() == self.len()
            && are_inside(MAX_BATCH, at, groups)
            && slots.memory == batch.memory;
        let ring = self.groups(index, groups)?;
        // SAFETY: the groups are inside the ring, so they are inside its places. They are inside those of the batch.
        // Both stay borrowed.
        fits.then(|| unsafe {
            let first = |array: NonNull<u32>, index| array.add(index).cast();
            Exchange {
                ring,
                slots: first(NonNull::from(&mut *slots.places).cast(), index),
                places: first(NonNull::from(&mut *batch.arrays).cast(), at),
            }
        })
    }
}

impl<const ALIGNED: bool> Exchange<'_, ALIGNED> {
    /// Exchanges group `i` of the places. Returns those that the ring has now.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn swap(&mut self, i: usize) -> Quad32 {
        assert!(i < self.ring.groups);
        // SAFETY: the group is inside both, by `Ring::exchange`, and both are borrowed.
        unsafe {
            let (slot, place) = (self.slots.add(i), self.places.add(i));
            let given = place.read();
            place.write(slot.read());
            slot.write(given);
            given
        }
    }

    /// The sizes of group `i` of the batch.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn sizes(&mut self, i: usize) -> &mut Quad32 {
        assert!(i < self.ring.groups);
        // SAFETY: as many sizes as places are there, MAX_BATCH values later.
        unsafe { self.places.add(MAX_BATCH / GROUP + i).as_mut() }
    }
}

impl<const ALIGNED: bool> Groups<'_, ALIGNED> {
    /// Writes group `i` of the descriptors. The driver owns them until it moves the tail, as in
    /// [`super::dma::SharedDescriptor::store`].
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn store(&mut self, i: usize, lower: Quad64, upper: Quad64) {
        assert!(i < self.groups);
        // SAFETY: the group is inside the ring, by `Ring::groups`. No reference covers a descriptor.
        unsafe { Quad64::store(lower, upper, self.descriptors.add(GROUP * i).as_ptr()) }
    }
}

impl Groups<'_, true> {
    /// The upper words of group `i` of the descriptors. Each is read whole, but not all at the same time.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn load_upper(&self, i: usize) -> Quad64 {
        assert!(i < self.groups);
        // SAFETY: as in `store`. The ring starts at a page, and the group at a multiple of four descriptors.
        unsafe { Quad64::load_upper(self.descriptors.add(GROUP * i).as_ptr()) }
    }
}

/// Buffers of a store in a row, which stay where they are.
pub struct Block<'p> {
    /// The data of the first one. The others follow, [`STRIDE_ODD`] bytes apart.
    data: NonNull<u8>,
    /// The same for the device.
    iova: u64,
    count: usize,
    store: PhantomData<&'p BufferStore>,
}

// SAFETY: as for `Places`.
unsafe impl Send for Block<'_> {}

/// Groups of four buffers of a block.
pub struct BlockGroups<'a> {
    data: NonNull<u8>,
    groups: usize,
    borrowed: PhantomData<&'a mut ()>,
}

impl<'p> Block<'p> {
    /// Makes a block of buffers, for good: they do not go back to their store. `None` if one is of another store, they do
    /// not lie in a row, or the store's buffers have too little room.
    pub fn new(store: &'p BufferStore, buffers: Vec<Buffer<'p>>) -> Option<Self> {
        let (memory, start) = store.memory();
        let iova = buffers.first()?.iova();
        let count = buffers.len();
        let mut in_a_row = buffers.iter().zip((iova..).step_by(STRIDE_ODD));
        if store.stride() < HEADROOM + ROOM
            || !in_a_row.all(|(buffer, next)| buffer.iova() == next && store.owns(buffer))
        {
            return None;
        }
        buffers.into_iter().for_each(std::mem::forget);
        // SAFETY: the buffer is one of the store, so it is inside its memory.
        let data = unsafe { memory.add((iova - start) as usize) };
        Some(Self {
            data,
            iova,
            count,
            store: PhantomData,
        })
    }

    /// The address of buffer `index` for the device.
    #[inline(always)]
    pub fn iova(&self, index: usize) -> u64 {
        self.iova + (index * STRIDE_ODD) as u64
    }

    /// Changes byte `INDEX` of buffer `index`.
    ///
    /// # Panics
    /// If there is no such buffer.
    #[inline]
    pub fn change<const INDEX: usize>(&mut self, index: usize, change: impl Fn(u8) -> u8) {
        assert!(index < self.count);
        // SAFETY: the buffer is in the block.
        unsafe { change_byte::<INDEX>(self.data.add(index * STRIDE_ODD), change) }
    }

    /// The groups from buffer `index` on; `None` if they are not all inside.
    #[inline(always)]
    pub fn groups(&mut self, index: usize, groups: usize) -> Option<BlockGroups<'_>> {
        // SAFETY: there is such a buffer.
        let data = are_inside(self.count, index, groups)
            .then(|| unsafe { self.data.add(index * STRIDE_ODD) })?;
        Some(BlockGroups {
            data,
            groups,
            borrowed: PhantomData,
        })
    }
}

impl BlockGroups<'_> {
    /// Changes byte `INDEX` of the four buffers of group `i`.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn change_each<const INDEX: usize>(&mut self, i: usize, change: impl Fn(u8) -> u8) {
        assert!(i < self.groups);
        for buffer in GROUP * i..GROUP * (i + 1) {
            // SAFETY: the group is inside the block, by `Block::groups`.
            unsafe { change_byte::<INDEX>(self.data.add(buffer * STRIDE_ODD), &change) }
        }
    }
}

/// Changes byte `INDEX` of a buffer.
///
/// # Safety
/// `data` is that of a buffer, which a [`Places`] or a [`Block`] has.
#[inline(always)]
unsafe fn change_byte<const INDEX: usize>(data: NonNull<u8>, change: impl Fn(u8) -> u8) {
    const { assert!(INDEX < ROOM) };
    // SAFETY: the buffer has `ROOM` bytes, its store is borrowed, and no reference covers them.
    unsafe {
        let byte = data.add(INDEX);
        byte.write_volatile(change(byte.read_volatile()));
    }
}
