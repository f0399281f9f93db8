//! Memory that another process shares with this one: the driver's DMA memory and the register
//! pages.
//!
//! All access to such memory is here. The rules it keeps:
//!
//! * No reference to shared memory is ever made, except to [`AtomicU32`]s: the other process
//!   changes the bytes whenever it likes. Everything else is raw copies into and out of private
//!   memory, and volatile or atomic words.
//! * A window ([`Window`] and the other types with a lifetime) borrows the mapping that it looks
//!   into, so that the mapping cannot go away while a window is in use.
//! * Every window lies inside its mapping; that is checked once, when it is made. Its own accesses
//!   are checked against its length.
//!
//! A process that makes its memory file shorter after handing it over makes our next access fail
//! with SIGBUS: what becomes of that is in `bus_error.rs`.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::memory::bus_error::Watched;
use crate::traffic::frame::{Fixed, Head, Own, OWN_OFFSET};

/// A shared mapping of a file. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct SharedMapping {
    base: NonNull<u8>,
    len: usize,
    writable: bool,
    /// None only while it is being dropped.
    watched: Option<Watched>,
}

// SAFETY: a mapping is a range of addresses, valid in every thread until `drop`. What is done
// through them is either atomic or a raw copy of bytes whose value nobody relies on.
unsafe impl Send for SharedMapping {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
    /// Maps the first `len` bytes of a file, which must be at least that long.
    pub(crate) fn of_file(file: impl AsFd, len: usize, writable: bool) -> io::Result<Self> {
        let mut protection = ProtFlags::READ;
        if writable {
            protection |= ProtFlags::WRITE;
        }
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing that exists.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                protection,
                MapFlags::SHARED | MapFlags::NORESERVE,
                file,
                0,
            )?
        };
        let base =
            NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mmap returned address 0"))?;
        let mut mapping = Self {
            base,
            len,
            writable,
            watched: None,
        };
        mapping.watched = Some(Watched::new(base.as_ptr() as usize, len)?);
        Ok(mapping)
    }

    /// Whether the file was made shorter, and its memory lost; see [`crate::memory::bus_error`].
    pub(crate) fn lost(&self) -> bool {
        self.watched.as_ref().is_some_and(Watched::lost)
    }

    /// Bytes mapped.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it may be written to.
    pub(crate) fn writable(&self) -> bool {
        self.writable
    }

    /// Has the operating system provide the pages of a part of the mapping now, rather than one by
    /// one when they are first used. If it cannot, that is what happens.
    pub(crate) fn populate(&self, offset: u64, len: usize) {
        let Some(place) = self
            .place(offset)
            .filter(|_| offset as usize + len <= self.len)
        else {
            return;
        };
        let advice = if self.writable {
            Advice::LinuxPopulateWrite
        } else {
            Advice::LinuxPopulateRead
        };
        // SAFETY: the range is inside the mapping; providing pages does not change what they hold.
        let _ = unsafe { rustix::mm::madvise(place.0.cast(), len, advice) };
    }

    /// The `len` bytes from `offset` on, if they are inside.
    fn part(&self, offset: u64, len: usize) -> Option<Place> {
        let end = usize::try_from(offset).ok()?.checked_add(len)?;
        self.place(offset).filter(|_| end <= self.len)
    }

    /// Copies bytes out; false, and nothing is copied, if they are not all inside.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let Some(place) = self.part(offset, into.len()) else {
            return false;
        };
        // SAFETY: the bytes are inside the mapping, which `self` keeps.
        unsafe { place.window(into.len()) }.read(into);
        true
    }

    /// Copies bytes in; false, and nothing is changed, if they are not all inside or the mapping is
    /// not writable.
    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> bool {
        let Some(place) = self.part(offset, from.len()).filter(|_| self.writable) else {
            return false;
        };
        // SAFETY: as in `read`, and the mapping is writable.
        unsafe { place.window_mut(from.len()) }.write(from);
        true
    }

    /// A place in the mapping, or nothing if `offset` lies outside.
    pub(crate) fn place(&self, offset: u64) -> Option<Place> {
        let offset = usize::try_from(offset).ok()?;
        // Not `add`: the address is only used once a length has been checked against the mapping.
        (offset <= self.len).then(|| Place(self.base.as_ptr().wrapping_add(offset)))
    }
}

impl Drop for SharedMapping {
    fn drop(&mut self) {
        // First: the address may be given away at once.
        self.watched = None;
        // SAFETY: base and length are those of the mapping made in `of_file`; windows borrow their
        // mapping, so none is left.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

/// An address in a mapping, that can be kept and computed with but not used: windows are made from
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(*mut u8);

// SAFETY: an address is a number until a window is made from it, which is unsafe.
unsafe impl Send for Place {}

impl Place {
    /// An address that no window may be made from.
    pub(crate) const NOWHERE: Place = Place(std::ptr::null_mut());

    /// The address `bytes` further on.
    pub(crate) fn advanced(self, bytes: u64) -> Self {
        Place(self.0.wrapping_add(bytes as usize))
    }

    /// A window of `len` bytes for reading.
    ///
    /// # Safety
    /// `len` bytes from here must lie in a mapping that lives for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn window<'a>(self, len: usize) -> Window<'a> {
        Window {
            base: self.0,
            len,
            mapping: PhantomData,
        }
    }

    /// A window of `len` bytes for reading and writing.
    ///
    /// # Safety
    /// As for [`Place::window`]; the mapping must be writable.
    #[inline(always)]
    pub(crate) unsafe fn window_mut<'a>(self, len: usize) -> WindowMut<'a> {
        WindowMut {
            // SAFETY: the caller's promise.
            window: unsafe { self.window(len) },
        }
    }

    /// A frame of 60 bytes for reading.
    ///
    /// # Safety
    /// As for [`Place::window`], for 60 bytes.
    #[inline(always)]
    pub(crate) unsafe fn small_frame<'a>(self) -> SmallFrame<'a> {
        // SAFETY: an address in a mapping is not null.
        let base = unsafe { NonNull::new_unchecked(self.0) };
        SmallFrame {
            base,
            mapping: PhantomData,
        }
    }

    /// Room for a frame of 60 bytes.
    ///
    /// # Safety
    /// As for [`Place::window_mut`], for 60 bytes.
    #[inline(always)]
    pub(crate) unsafe fn small_buffer<'a>(self) -> SmallBuffer<'a> {
        // SAFETY: an address in a mapping is not null.
        let base = unsafe { NonNull::new_unchecked(self.0) };
        SmallBuffer {
            base,
            mapping: PhantomData,
        }
    }

    /// As many descriptors as there are in `len` bytes; none if the place is not aligned for them.
    ///
    /// # Safety
    /// As for [`Place::window_mut`].
    #[inline(always)]
    pub(crate) unsafe fn descriptors<'a>(self, len: usize) -> &'a [Descriptor] {
        let base = self.0.cast::<Descriptor>();
        if base.is_null() || !base.is_aligned() {
            return &[];
        }
        // SAFETY: inside the mapping by the caller's promise, aligned; descriptors are atomics,
        // which others may change.
        unsafe { std::slice::from_raw_parts(base, len / size_of::<Descriptor>()) }
    }
}

/// Bytes of shared memory that may be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    base: *mut u8,
    len: usize,
    mapping: PhantomData<&'a SharedMapping>,
}

impl Window<'_> {
    /// Copies the window's first bytes out; what `into` has beyond the window's length stays.
    #[inline(always)]
    pub(crate) fn read(&self, into: &mut [u8]) {
        let len = into.len().min(self.len);
        // SAFETY: `len` bytes are inside both; private and shared memory do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.base, into.as_mut_ptr(), len) }
    }
}

/// Bytes of shared memory that may be read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowMut<'a> {
    window: Window<'a>,
}

impl WindowMut<'_> {
    /// Copies bytes to the start of the window; what does not fit is left out.
    #[inline(always)]
    pub(crate) fn write(&self, from: &[u8]) {
        let len = from.len().min(self.window.len);
        // SAFETY: `len` bytes are inside both; the mapping is writable; private and shared memory
        // do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.window.base, len) }
    }

    /// Writes a 32-bit word at the start of the window, after everything written before.
    pub(crate) fn write_u32(&self, value: u32) {
        fence(Ordering::Release);
        self.write(&value.to_le_bytes());
    }
}

/// A descriptor in shared memory: 16 bytes, two quad words.
#[derive(Debug)]
#[repr(C, align(16))]
pub(crate) struct Descriptor([AtomicU64; 2]);

impl Descriptor {
    /// The first word: the address.
    #[inline(always)]
    pub(crate) fn address(&self) -> u64 {
        self.0[0].load(Ordering::Relaxed)
    }

    /// The second word: length, command.
    #[inline(always)]
    pub(crate) fn command(&self) -> u64 {
        self.0[1].load(Ordering::Relaxed)
    }

    /// Writes both words back: the first, then, in that order for every observer, the second.
    #[inline(always)]
    pub(crate) fn write(&self, words: [u64; 2]) {
        self.0[0].store(words[0], Ordering::Relaxed);
        self.0[1].store(words[1], Ordering::Release);
    }

    /// Writes the second word back, after everything done before.
    #[inline(always)]
    pub(crate) fn write_status(&self, word: u64) {
        self.0[1].store(word, Ordering::Release);
    }
}

/// Asks the processor to fetch the lines of these descriptors, to write to them: read-only, each
/// would have to be asked for twice.
#[inline(always)]
pub(crate) fn prefetch(descriptors: &[Descriptor]) {
    const LINE: usize = 64 / size_of::<Descriptor>();
    for line in descriptors.chunks(LINE) {
        prefetch_write(line.as_ptr().cast());
    }
}

/// Exactly 60 bytes of shared memory that may be read: the smallest frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallFrame<'a> {
    base: NonNull<u8>,
    mapping: PhantomData<&'a SharedMapping>,
}

impl SmallFrame<'_> {
    /// The bytes, as they are at this moment.
    #[inline(always)]
    pub(crate) fn read(&self) -> Head {
        let base = self.base.as_ptr();
        // SAFETY: 60 bytes of a mapping from here on; the copies are private.
        unsafe {
            let fixed = base.cast::<Fixed>().read_unaligned();
            let own = base.add(OWN_OFFSET).cast::<Own>().read_unaligned();
            Head {
                fixed: fixed.map(u32::from_le),
                own: own.map(u32::from_le),
            }
        }
    }

    /// Whether it is addressed to a group.
    #[inline(always)]
    pub(crate) fn is_to_group(&self) -> bool {
        // SAFETY: 60 bytes of a mapping from here on.
        unsafe { self.base.as_ptr().read_volatile() & 1 == 1 }
    }

    /// Asks the processor to fetch the frame's first line. To write to it, though it is only read:
    /// the next who wants the line is most likely this process again, when the driver has handed
    /// the buffer back for receiving. So it moves once, not twice.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch_write(self.base.as_ptr());
    }
}

/// Exactly 60 bytes of shared memory that may be written: room for the smallest frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallBuffer<'a> {
    base: NonNull<u8>,
    mapping: PhantomData<&'a SharedMapping>,
}

impl SmallBuffer<'_> {
    /// Writes all of it, as in [`Head`].
    #[inline(always)]
    pub(crate) fn write(&self, fixed: Fixed, own: Own) {
        let base = self.base.as_ptr();
        // SAFETY: 60 bytes of a writable mapping from here on.
        unsafe {
            base.cast::<Fixed>().write_unaligned(fixed.map(u32::to_le));
            base.add(OWN_OFFSET)
                .cast::<Own>()
                .write_unaligned(own.map(u32::to_le));
        }
    }

    /// Asks the processor to fetch the buffer's first line, to write to it.
    #[inline(always)]
    pub(crate) fn prefetch_mut(&self) {
        prefetch_write(self.base.as_ptr());
    }
}

#[inline(always)]
fn prefetch_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHW reads and writes nothing, whatever the address; processors without it treat
    // it as a no-op.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The register space, in a memory file so that pages of it can be shared with a driver.
#[derive(Debug)]
pub(crate) struct RegisterMemory {
    mapping: SharedMapping,
    file: OwnedFd,
}

impl RegisterMemory {
    /// `len` bytes of zeros; a multiple of the page size.
    pub(crate) fn new(name: &str, len: usize) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags};
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, len as u64)?;
        // The driver gets this descriptor too: it must not be able to take the pages away from
        // under us.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mapping = SharedMapping::of_file(&file, len, true)?;
        Ok(Self { mapping, file })
    }

    /// The file behind it.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// The word at byte `offset`, rounded down to a multiple of 4; the last word if that is
    /// outside.
    #[inline(always)]
    pub(crate) fn word(&self, offset: u32) -> &AtomicU32 {
        let index = (offset as usize / 4).min(self.mapping.len / 4 - 1);
        // SAFETY: inside the mapping, by `min`; mappings are page-aligned, so the word is aligned;
        // the driver's process and ours only use it as an atomic 32-bit word.
        unsafe { AtomicU32::from_ptr(self.mapping.base.as_ptr().cast::<u32>().add(index)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_words_are_shared_through_the_file() {
        let registers = RegisterMemory::new("test", 8192).unwrap();
        let other = SharedMapping::of_file(registers.file(), 8192, true).unwrap();
        registers.word(0x1018).store(0x1234_5678, Ordering::Relaxed);
        let mut bytes = [0; 4];
        // SAFETY: four bytes at 0x1018 of 8192, and `other` outlives the window.
        unsafe { other.place(0x1018).unwrap().window(4) }.read(&mut bytes);
        assert_eq!(u32::from_le_bytes(bytes), 0x1234_5678);
    }

    #[test]
    fn a_register_outside_the_space_is_the_last_one() {
        let registers = RegisterMemory::new("test", 4096).unwrap();
        registers.word(u32::MAX).store(7, Ordering::Relaxed);
        assert_eq!(registers.word(4092).load(Ordering::Relaxed), 7);
    }

    #[test]
    fn descriptors_are_whole_and_aligned() {
        let registers = RegisterMemory::new("test", 4096).unwrap();
        // SAFETY: 32 bytes of a mapping that outlives the window.
        let descriptors = unsafe { registers.mapping.place(0).unwrap().descriptors(47) };
        assert_eq!(descriptors.len(), 2);
        descriptors[1].write([1, 2]);
        assert_eq!((descriptors[1].address(), descriptors[1].command()), (1, 2));
        assert_eq!(registers.word(16).load(Ordering::Relaxed), 1);
        // SAFETY: as above.
        let odd = unsafe { registers.mapping.place(8).unwrap().descriptors(32) };
        assert!(odd.is_empty());
    }
}
