//! Places: the buffers of a lane by number, for the tuned path.
//!
//! A place is the offset of a buffer's data in the memory of its store. Each stands for one buffer, which no [`Buffer`]
//! owns any more, and this module only exchanges places. So a buffer is always in exactly one container, every
//! container stays full, and every place is inside its memory.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::buffers::{Buffer, BufferStore, HEADROOM};
use super::dma::{Descriptor, Ring};
use super::quad::{Quad32, Quad64};

/// Descriptors in a group.
pub const GROUP: usize = 4;

/// Bytes of data that each place has.
pub const ROOM: usize = 2048;

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

    /// Exchanges place `index` with place `at` of other places.
    ///
    /// # Panics
    /// If there is no such place, or the two are of different memories.
    #[inline]
    pub fn exchange(&mut self, index: usize, other: &mut Self, at: usize) {
        assert!(self.memory == other.memory);
        std::mem::swap(&mut self.places[index], &mut other.places[at]);
    }

    /// Changes byte `INDEX` of the first `count` buffers.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn change_each<const INDEX: usize>(&mut self, count: usize, change: impl Fn(u8) -> u8) {
        const { assert!(INDEX < ROOM) };
        for offset in &self.places[..count] {
            // SAFETY: the place is inside the memory, which `'p` keeps, with `ROOM` bytes. No reference covers them.
            unsafe {
                let byte = self.memory.add(*offset as usize + INDEX);
                byte.write_volatile(change(byte.read_volatile()));
            }
        }
    }
}

/// Groups of four: descriptors of a ring, the places of their slots, and places of a batch.
///
/// One check at the start covers all. The compiler proves the other ones, if a loop counts up to `groups`.
pub struct Exchange<'a, const ALIGNED: bool> {
    descriptors: NonNull<Descriptor>,
    slots: NonNull<Quad32>,
    places: NonNull<Quad32>,
    groups: usize,
    borrowed: PhantomData<&'a mut ()>,
}

impl<T> Ring<T> {
    /// The groups from descriptor `index` on, with the places of this ring, and with those of a batch from `at` on.
    /// `None` if the groups are not all inside, or the places are of different memories. If `ALIGNED`, also if they do
    /// not start at a multiple of four: only such groups can be read.
    #[inline(always)]
    pub fn exchange<'a, const ALIGNED: bool>(
        &'a mut self,
        (slots, index): (&'a mut Places<'_>, usize),
        (batch, at): (&'a mut Places<'_>, usize),
        groups: usize,
    ) -> Option<Exchange<'a, ALIGNED>> {
        let is_inside =
            |length: usize, first| first <= length && groups <= (length - first) / GROUP;
        let fits = (!ALIGNED || index % GROUP == 0)
            && slots.places.len() == self.len()
            && is_inside(self.len(), index)
            && is_inside(batch.places.len(), at)
            && slots.memory == batch.memory;
        // SAFETY: the groups are inside the ring, its places and those of the batch, which stay borrowed.
        fits.then(|| unsafe {
            Exchange {
                descriptors: self.descriptors().add(index),
                slots: NonNull::from(&mut *slots.places)
                    .cast::<u32>()
                    .add(index)
                    .cast(),
                places: NonNull::from(&mut *batch.places)
                    .cast::<u32>()
                    .add(at)
                    .cast(),
                groups,
                borrowed: PhantomData,
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
        assert!(i < self.groups);
        // SAFETY: the group is inside both, by `Ring::exchange`, and both are borrowed.
        unsafe {
            let (slot, place) = (self.slots.add(i), self.places.add(i));
            let given = place.read();
            place.write(slot.read());
            slot.write(given);
            given
        }
    }

    /// Writes group `i` of the descriptors. The driver owns them until it moves the tail, as in
    /// [`super::dma::SharedDescriptor::store`].
    ///
    /// # Panics
    /// If there is no such group.
    #[inline(always)]
    pub fn store(&mut self, i: usize, lower: Quad64, upper: Quad64) {
        assert!(i < self.groups);
        // SAFETY: the group is inside the ring, by `Ring::exchange`. No reference covers a descriptor.
        unsafe { Quad64::store(lower, upper, self.descriptors.add(GROUP * i).as_ptr()) }
    }
}

impl Exchange<'_, true> {
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

/// Groups of four values from `index` on.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub fn groups_mut(values: &mut [u32], index: usize, groups: usize) -> &mut [Quad32] {
    let values = &mut values[index..][..GROUP * groups];
    // SAFETY: the slice has so many values, and an array of values has their layout.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), groups) }
}
