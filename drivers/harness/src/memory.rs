//! Memory that two sides share: memfds, and mappings of them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{fstat, ftruncate, memfd_create, MemfdFlags};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

/// Makes a memfd of `len` bytes that takes seals and has none.
///
/// # Errors
/// Those of `memfd_create` and `ftruncate`.
pub fn memfd(len: u64) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("hostile", flags)?;
    ftruncate(&file, len)?;
    Ok(file)
}

/// A shared mapping of a whole file, as 32-bit words. The other side may change them at any time.
#[derive(Debug)]
pub struct Mapping {
    memory: NonNull<AtomicU32>,
    words: usize,
}

// SAFETY: the mapping belongs to this value, and all accesses are atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the whole file for reading and writing.
    ///
    /// # Errors
    /// Those of `fstat` and `mmap`. An empty file is [`io::ErrorKind::InvalidInput`].
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let len = usize::try_from(fstat(&file)?.st_size).map_err(io::Error::other)?;
        let (access, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the kernel chooses an address that no other mapping has.
        let memory = unsafe { mmap(std::ptr::null_mut(), len, access, shared, &file, 0) }?;
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::InvalidInput)?;
        let words = len / 4;
        Ok(Self { memory, words })
    }

    /// Number of 32-bit words.
    pub fn words(&self) -> usize {
        self.words
    }

    fn word(&self, at: usize) -> Option<&AtomicU32> {
        // SAFETY: the word lies in the mapping, which lives as long as `self`. The file keeps its
        // size: no test that maps a file shortens that file.
        (at < self.words).then(|| unsafe { self.memory.add(at).as_ref() })
    }

    /// Reads word number `at`; zero beyond the end.
    pub fn read(&self, at: usize) -> u32 {
        self.word(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Writes word number `at`; does nothing beyond the end.
    pub fn write(&self, at: usize, value: u32) {
        if let Some(word) = self.word(at) {
            word.store(value, Ordering::Release);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and nothing borrows from it any more.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), self.words * 4) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_of_a_file_share_its_words() {
        let file = memfd(4096).unwrap();
        let (one, other) = (Mapping::of(&file).unwrap(), Mapping::of(&file).unwrap());
        one.write(1023, 7);
        one.write(1024, 8);
        assert_eq!((other.read(1023), other.read(1024)), (7, 0));
    }
}
