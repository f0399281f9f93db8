//! The driver's memory files, and the contents that they should have.

use std::os::fd::OwnedFd;

use rustix::fs::MemfdFlags;

/// Every byte of a new file.
pub const CANARY: u8 = 0xa5;
const PAGE: u64 = 4096;

/// A memory file of the driver.
pub struct MemoryFile {
    pub fd: OwnedFd,
    /// The contents, as far as the NIC may not write to them.
    pub contents: Vec<u8>,
    /// For each page, whether the NIC may write to it.
    exposed: Vec<bool>,
}

impl MemoryFile {
    pub fn new(name: &str, size: u64) -> Self {
        let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).unwrap();
        let contents = vec![CANARY; size as usize];
        let written = rustix::io::pwrite(&fd, &contents, 0).unwrap();
        assert_eq!(written, contents.len());
        Self {
            fd,
            contents,
            exposed: vec![false; size.div_ceil(PAGE) as usize],
        }
    }

    /// Lets the NIC write to the pages of a part of the file from now on.
    pub fn expose(&mut self, offset: u64, size: u64) {
        let end = offset.saturating_add(size);
        for (page, exposed) in self.exposed.iter_mut().enumerate() {
            let start = page as u64 * PAGE;
            *exposed |= start < end && start + PAGE > offset;
        }
    }

    /// The driver writes to the file, as far as it reaches.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = (offset + bytes.len()).min(self.contents.len());
        if offset < end {
            self.contents[offset..end].copy_from_slice(&bytes[..end - offset]);
            rustix::io::pwrite(&self.fd, &bytes[..end - offset], offset as u64).unwrap();
        }
    }

    /// Makes the file shorter or longer. The contents of pages that were away are unspecified, so
    /// no page is checked any more.
    pub fn resize(&mut self, size: u64) {
        self.exposed.fill(true);
        rustix::fs::ftruncate(&self.fd, size).unwrap();
    }

    /// Checks that the NIC has not written to pages to which it may not write.
    pub fn check(&self) {
        let mut found = vec![0; self.contents.len()];
        let len = rustix::io::pread(&self.fd, &mut found[..], 0).unwrap();
        let pages = found[..len]
            .chunks(PAGE as usize)
            .zip(self.contents.chunks(PAGE as usize))
            .zip(&self.exposed);
        for (page, ((found, expected), exposed)) in pages.enumerate() {
            assert!(
                *exposed || found == &expected[..found.len()],
                "the NIC has written to page {page} of a file, outside the driver's maps"
            );
        }
    }
}
