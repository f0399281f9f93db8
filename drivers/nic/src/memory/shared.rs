//! Memory that another process shares with this one: the driver's DMA memory and the register
//! pages.
//!
//! All access to such memory is in this file. It keeps three rules:
//!
//! * No reference to shared memory exists, except to atomics, because the other process may change
//!   the bytes at any time. All other accesses are volatile, or raw copies to and from private
//!   memory.
//! * A window ([`Window`] and the other types with a lifetime) borrows its mapping, so the mapping
//!   outlives the window.
//! * Every access lies inside its mapping. That is checked once: before bytes are copied, or when a
//!   window is made. Each access to a window is checked against the window's length.
//!
//! A process may shorten its memory file after it has shared it. Accesses then raise SIGBUS, which
//! `bus_error.rs` handles.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};
use serde::Serialize;

use crate::memory::bus_error::Watched;
use crate::traffic::frame::{Fixed, Head, Own, OWN_OFFSET};

/// Bytes of a cache line: no processor that this crate supports has shorter ones.
pub(crate) const LINE: usize = 64;
/// Bytes of a page that `mincore` reports on.
const PAGE: usize = 4096;

/// The identity of a file, as `/proc/PID/maps` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FileId {
    /// Number of the device, major and minor.
    pub(crate) device: (u32, u32),
    /// Number of the file on the device.
    pub(crate) inode: u64,
}

impl FileId {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
        let device = stat.st_dev;
        Self {
            device: (rustix::fs::major(device), rustix::fs::minor(device)),
            inode: stat.st_ino,
        }
    }
}

/// A shared mapping of a file. Dropping it unmaps the file.
#[derive(Debug)]
pub(crate) struct SharedMapping {
    base: NonNull<u8>,
    len: usize,
    /// The offset of its first byte in the file.
    start: u64,
    file: FileId,
    writable: bool,
    /// `None` only during construction and drop.
    watched: Option<Watched>,
}

// SAFETY: a mapping is a range of addresses, valid in every thread until `drop`. All accesses are
// atomic, or raw copies of bytes that may have any value.
unsafe impl Send for SharedMapping {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
    /// Maps a range of a file, which must be at least that long. The range begins at a whole page.
    pub(crate) fn of_file(
        file: impl AsFd,
        range: std::ops::Range<u64>,
        writable: bool,
    ) -> io::Result<Self> {
        let start = range.start;
        let len = range.end.saturating_sub(start) as usize;
        let id = FileId::of(&rustix::fs::fstat(&file)?);
        let mut protection = ProtFlags::READ;
        if writable {
            protection |= ProtFlags::WRITE;
        }
        // SAFETY: the kernel chooses an unused address, so the mapping disturbs no memory in use.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                protection,
                MapFlags::SHARED | MapFlags::NORESERVE,
                file,
                start,
            )?
        };
        let base =
            NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mmap returned address 0"))?;
        let mut mapping = Self {
            base,
            len,
            start,
            file: id,
            writable,
            watched: None,
        };
        mapping.watched = Some(Watched::new(base.as_ptr() as usize, len)?);
        Ok(mapping)
    }

    /// Whether the memory is lost because its file became shorter; see
    /// [`crate::memory::bus_error`].
    pub(crate) fn lost(&self) -> bool {
        self.watched.as_ref().is_some_and(Watched::lost)
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn len(&self) -> u64 {
        self.len as u64
    }

    pub(crate) fn file_id(&self) -> FileId {
        self.file
    }

    /// Whether the mapping serves for `size` bytes of a file from `offset` on.
    pub(crate) fn serves(&self, file: FileId, offset: u64, size: u64, write: bool) -> bool {
        let inside = offset.checked_sub(self.start);
        let holds = inside.is_some_and(|inside| self.part(inside, size as usize).is_some());
        self.file == file && holds && (self.writable || !write) && !self.lost()
    }

    /// Gives the pages that a part of the mapping has in memory their addresses in this process, so
    /// that the first use of each is fast. Pages that have no memory get none. `offset` and `len`
    /// are whole pages.
    pub(crate) fn prepare(&self, offset: u64, len: usize) {
        let Some(place) = self.part(offset, len) else {
            return;
        };
        let mut present = vec![0_u8; len / PAGE];
        // SAFETY: the range is inside the mapping, and the vector has a byte for each of its pages.
        if unsafe { libc::mincore(place.0.cast(), len, present.as_mut_ptr()) } != 0 {
            return;
        }
        let advice = if self.writable {
            Advice::LinuxPopulateWrite
        } else {
            Advice::LinuxPopulateRead
        };
        let mut done = 0;
        for run in present.chunk_by(|one, next| one & 1 == next & 1) {
            let at = place.0.wrapping_add(done * PAGE);
            done += run.len();
            if run[0] & 1 == 1 {
                // SAFETY: inside the mapping; the advice does not change the pages' contents. If it
                // fails, each page gets its address at its first use.
                let _ = unsafe { rustix::mm::madvise(at.cast(), run.len() * PAGE, advice) };
            }
        }
    }

    /// The place of `len` bytes from `offset` on, if they are inside.
    fn part(&self, offset: u64, len: usize) -> Option<Place> {
        let end = usize::try_from(offset).ok()?.checked_add(len)?;
        self.place(offset).filter(|_| end <= self.len)
    }

    /// Copies bytes out. Returns false and copies nothing if they are not all inside.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let Some(place) = self.part(offset, into.len()) else {
            return false;
        };
        // SAFETY: the bytes are inside the mapping, which lives as long as `self`.
        unsafe { place.read(into) };
        true
    }

    /// Copies bytes in. Returns false and changes nothing if they are not all inside, or if the
    /// mapping is not writable.
    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> bool {
        let Some(place) = self.part(offset, from.len()).filter(|_| self.writable) else {
            return false;
        };
        // SAFETY: as in `read`, and the mapping is writable.
        unsafe { place.write(from) };
        true
    }

    /// The place at `offset`, if that is inside.
    pub(crate) fn place(&self, offset: u64) -> Option<Place> {
        let offset = usize::try_from(offset).ok()?;
        // Not `add`, because the place may be the end of the mapping. A window checks its length
        // before any access.
        (offset <= self.len).then(|| Place(self.base.as_ptr().wrapping_add(offset)))
    }
}

impl Drop for SharedMapping {
    fn drop(&mut self) {
        // First, because the kernel may reuse the addresses as soon as they are unmapped.
        self.watched = None;
        // SAFETY: `of_file` made this mapping with this base and length. Windows borrow their
        // mapping, so no window is left.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

/// An address in a mapping. It can be stored and computed with, but only a window made from it can
/// access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(*mut u8);

// SAFETY: an address is only a number; making a window from it is unsafe.
unsafe impl Send for Place {}

impl Place {
    /// An address that is in no mapping.
    pub(crate) const NOWHERE: Place = Place(std::ptr::null_mut());

    /// The address `bytes` bytes later.
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

    /// Copies bytes from here.
    ///
    /// # Safety
    /// So many bytes from here must lie in a mapping.
    #[inline(always)]
    pub(crate) unsafe fn read(self, into: &mut [u8]) {
        // SAFETY: the bytes are inside both; private and shared memory do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.0, into.as_mut_ptr(), into.len()) }
    }

    /// Copies bytes to here.
    ///
    /// # Safety
    /// As for [`Place::read`]; the mapping must be writable.
    #[inline(always)]
    pub(crate) unsafe fn write(self, from: &[u8]) {
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.0, from.len()) }
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
    /// As for [`Place::small_frame`]; the mapping must be writable.
    #[inline(always)]
    pub(crate) unsafe fn small_buffer<'a>(self) -> SmallBuffer<'a> {
        // SAFETY: the caller keeps the same promise.
        SmallBuffer(unsafe { self.small_frame() })
    }

    /// The whole descriptors in the next `len` bytes; none if the address is not aligned.
    ///
    /// # Safety
    /// As for [`Place::window`]; the mapping must be writable.
    #[inline(always)]
    pub(crate) unsafe fn descriptors<'a>(self, len: usize) -> &'a [Descriptor] {
        let base = self.0.cast::<Descriptor>();
        if base.is_null() || !base.is_aligned() {
            return &[];
        }
        // SAFETY: inside the mapping by the caller's promise, and aligned. Descriptors consist of
        // atomics, which other processes may change.
        unsafe { std::slice::from_raw_parts(base, len / size_of::<Descriptor>()) }
    }
}

/// Readable bytes of shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    base: *mut u8,
    len: usize,
    mapping: PhantomData<&'a SharedMapping>,
}

impl Window<'_> {
    /// The address of each cache line of the window.
    pub(crate) fn lines(self) -> impl Iterator<Item = *const u8> {
        let first = self.base.addr() & !(LINE - 1);
        let end = self.base.addr() + self.len;
        let base = self.base.cast_const();
        (first..end)
            .step_by(LINE)
            .map(move |address| base.with_addr(address))
    }

    /// Reads the first word of the window, after the word `after` is known: a chain of such loads takes the
    /// sum of their latencies.
    pub(crate) fn load_after(&self, after: u32) -> u32 {
        let none = std::hint::black_box(0) & after as usize;
        if self.len < size_of::<u32>() {
            return after;
        }
        // SAFETY: a word is inside the window, and `none` is 0.
        unsafe { self.base.cast::<u32>().wrapping_add(none).read_unaligned() }
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

    /// Writes the first word, then the second; every observer sees them in that order.
    #[inline(always)]
    pub(crate) fn write(&self, words: [u64; 2]) {
        self.0[0].store(words[0], Ordering::Relaxed);
        self.0[1].store(words[1], Ordering::Release);
    }

    /// Writes the second word, after all earlier writes.
    #[inline(always)]
    pub(crate) fn write_status(&self, word: u64) {
        self.0[1].store(word, Ordering::Release);
    }
}

/// Prefetches the cache lines of these descriptors for writing. A line prefetched for reading would
/// have to be fetched a second time for the write-back.
#[inline(always)]
pub(crate) fn prefetch(descriptors: &[Descriptor]) {
    const LINE: usize = 64 / size_of::<Descriptor>();
    for line in descriptors.chunks(LINE) {
        prefetch_write(line.as_ptr().cast());
    }
}

/// The smallest frame in shared memory: 60 readable bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallFrame<'a> {
    base: NonNull<u8>,
    mapping: PhantomData<&'a SharedMapping>,
}

impl SmallFrame<'_> {
    /// Reads the frame.
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

    /// Whether the destination is a group address.
    #[inline(always)]
    pub(crate) fn is_to_group(&self) -> bool {
        // SAFETY: 60 bytes of a mapping from here on.
        unsafe { self.base.as_ptr().read_volatile() & 1 == 1 }
    }

    /// Prefetches the frame's first cache line, for writing although the frame is only read. The
    /// next to access the line is probably this process again, to fill the buffer after the driver
    /// has recycled it. So the line moves once, not twice.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch_write(self.base.as_ptr());
    }
}

/// A buffer for the smallest frame in shared memory: 60 writable bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallBuffer<'a>(SmallFrame<'a>);

impl SmallBuffer<'_> {
    /// Writes all 60 bytes; their layout is that of [`Head`].
    #[inline(always)]
    pub(crate) fn write(&self, fixed: Fixed, own: Own) {
        let base = self.0.base.as_ptr();
        // SAFETY: 60 bytes of a writable mapping from here on.
        unsafe {
            base.cast::<Fixed>().write_unaligned(fixed.map(u32::to_le));
            base.add(OWN_OFFSET)
                .cast::<Own>()
                .write_unaligned(own.map(u32::to_le));
        }
    }

    /// Prefetches the buffer's first cache line for writing.
    #[inline(always)]
    pub(crate) fn prefetch_mut(&self) {
        self.0.prefetch();
    }
}

#[inline(always)]
fn prefetch_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHW changes no memory, whatever the address. Processors without the instruction
    // treat it as a no-op.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The register space, in a memory file, so that a driver can map pages of it.
#[derive(Debug)]
pub(crate) struct RegisterMemory {
    mapping: SharedMapping,
    file: OwnedFd,
}

impl RegisterMemory {
    /// A register space of `len` zero bytes, a multiple of the page size.
    pub(crate) fn new(name: &str, len: usize) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags};
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, len as u64)?;
        // The driver gets this descriptor too. The seals keep it from taking the pages away.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mapping = SharedMapping::of_file(&file, 0..len as u64, true)?;
        Ok(Self { mapping, file })
    }

    /// The memory file.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// The identity of the memory file.
    pub(crate) fn file_id(&self) -> FileId {
        self.mapping.file_id()
    }

    /// The word at byte `offset`, rounded down to a multiple of 4. An offset outside the space means
    /// the last word.
    #[inline(always)]
    pub(crate) fn word(&self, offset: u32) -> &AtomicU32 {
        let index = (offset as usize / 4).min(self.mapping.len / 4 - 1);
        // SAFETY: `min` keeps the word inside the mapping. Mappings are page-aligned, so the word is
        // aligned. This process only uses it as an atomic 32-bit word.
        unsafe { AtomicU32::from_ptr(self.mapping.base.as_ptr().cast::<u32>().add(index)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_words_are_shared_through_the_file() {
        let registers = RegisterMemory::new("test", 8192).unwrap();
        let other = SharedMapping::of_file(registers.file(), 0..8192, true).unwrap();
        registers.word(0x1018).store(0x1234_5678, Ordering::Relaxed);
        let mut bytes = [0; 4];
        assert!(other.read(0x1018, &mut bytes));
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
