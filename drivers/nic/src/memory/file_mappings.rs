//! The parts of a client's files that this process has mapped.
//!
//! A DMA map needs its own range of its file, and nothing else of it: a file may be sparse and far
//! larger than any memory. But real kernels send thousands of DMA maps of 4 KiB of one file, and the
//! process may have only so many mappings. So ranges are rounded out to [`FINE`], and DMA maps in
//! the same part share its mapping. A client with many parts gets parts of [`COARSE`] from then on.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};

use crate::memory::map_request::{MapError, Permissions, MAX_MAPPED_BYTES, MAX_PARTS, PAGE_SIZE};
use crate::memory::shared::{FileId, SharedMapping};

/// Bytes that parts are rounded out to.
const FINE: u64 = 2 << 20;
/// The same for a client that has [`FINE_PARTS`] parts.
const COARSE: u64 = 1 << 30;
const FINE_PARTS: usize = MAX_PARTS / 2;

/// The parts of one client's files. DMA maps own the mappings; the list only finds them.
#[derive(Debug, Default)]
pub(super) struct FileMappings(Vec<Weak<SharedMapping>>);

impl FileMappings {
    /// Forgets the parts that no DMA map uses.
    pub(super) fn forget_unused(&mut self) {
        self.0.retain(|part| part.strong_count() > 0);
    }

    /// A mapping that holds `size` bytes of a file from `offset` on. It does not wait for the file's
    /// owner, whatever the file is.
    pub(super) fn mapping_of(
        &mut self,
        file: &OwnedFd,
        offset: u64,
        size: u64,
        permissions: Permissions,
    ) -> Result<Arc<SharedMapping>, MapError> {
        let needed = offset
            .checked_add(size)
            .ok_or(MapError::AddressSpace { iova: offset, size })?;
        // Only memory files have seals. The kernel itself answers; a file system in another process
        // may never answer `fstat`.
        if rustix::fs::fcntl_get_seals(file).is_err() {
            return Err(MapError::NotMemory);
        }
        let stat = rustix::fs::fstat(file).map_err(io::Error::from)?;
        let file_size = u64::try_from(stat.st_size).unwrap_or(0);
        if file_size < needed {
            return Err(MapError::FileTooShort { needed, file_size });
        }
        let id = FileId::of(&stat);
        let mut parts = self.0.iter().filter_map(Weak::upgrade);
        if let Some(known) = parts.find(|part| part.serves(id, offset, size, permissions.write)) {
            return Ok(known);
        }
        let system = rustix::fs::fstatfs(file).map_err(io::Error::from)?;
        // Huge pages are mapped whole.
        let page = u64::try_from(system.f_bsize)
            .unwrap_or(PAGE_SIZE)
            .max(PAGE_SIZE);
        let few = self.0.len() < FINE_PARTS;
        let grain = page.max(if few { FINE } else { COARSE });
        let start = offset - offset % grain;
        let end = needed
            .checked_next_multiple_of(grain)
            .map_or(file_size, |end| end.min(file_size));
        let mapped: u64 = self
            .0
            .iter()
            .filter_map(Weak::upgrade)
            .map(|part| part.len())
            .sum();
        if end - start > MAX_MAPPED_BYTES.saturating_sub(mapped) {
            return Err(MapError::TooMuch {
                mapped,
                more: end - start,
            });
        }
        if self.0.len() >= MAX_PARTS {
            return Err(MapError::TooManyParts);
        }
        let map = |writable| SharedMapping::of_file(file.as_fd(), start..end, writable);
        let mapping = match map(true) {
            Err(_) if !permissions.write => map(false)?,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(MapError::ReadOnlyFile)
            }
            other => other?,
        };
        let mapping = Arc::new(mapping);
        // A file that has grown, or has become writable, gets another mapping of the same part. The
        // first one lives as long as its DMA maps.
        self.0.push(Arc::downgrade(&mapping));
        Ok(mapping)
    }

    /// Number of parts.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
