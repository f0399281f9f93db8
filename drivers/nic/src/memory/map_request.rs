//! Requests of a driver to map and unmap memory: limits, permissions and errors.

use std::io;

use serde::Serialize;
use thiserror::Error;

/// Granularity of maps, in bytes.
pub const PAGE_SIZE: u64 = 4096;
/// Most maps that may exist at once.
pub const MAX_MAPS: usize = 65_535;
/// Most parts of files that one client may have mapped into this process at once.
pub(crate) const MAX_PARTS: usize = 2048;
/// Most bytes of address space that one client's files may take in this process: 1 TiB. Sixteen
/// clients leave most of an address space of 128 TiB free.
pub(crate) const MAX_MAPPED_BYTES: u64 = 1 << 40;

/// The accesses of the device that a map permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Permissions {
    /// The device may read the memory.
    pub read: bool,
    /// The device may write to the memory.
    pub write: bool,
}

/// Why a request to map or unmap was refused. A refused request changes nothing.
#[derive(Debug, Error)]
pub enum MapError {
    /// IOVA, size or file offset is not a multiple of the page size, or the size is 0.
    #[error("IOVA {iova:#x}, size {size:#x}, file offset {offset:#x}: all must be multiples of 4096, and the size above 0")]
    Alignment { iova: u64, size: u64, offset: u64 },
    /// The range runs past the end of the IOVAs.
    #[error("IOVA {iova:#x}, size {size:#x}: runs past the end of the address space")]
    AddressSpace { iova: u64, size: u64 },
    /// The range overlaps a map.
    #[error(
        "IOVA {iova:#x}, size {size:#x}: overlaps the map at {existing:#x}; unmap that map first"
    )]
    Overlap { iova: u64, size: u64, existing: u64 },
    /// The map permits neither reading nor writing.
    #[error("a map must allow reading, writing, or both")]
    NoPermissions,
    /// The file ends before the map.
    #[error("the map ends at byte {needed:#x} of its file, which has only {file_size:#x}")]
    FileTooShort { needed: u64, file_size: u64 },
    /// The map permits writing, but the client passed a read-only file.
    #[error("the map allows writing, but its file is open for reading only")]
    ReadOnlyFile,
    /// [`MAX_MAPS`] maps exist already.
    #[error("{MAX_MAPS} maps exist already")]
    TooMany,
    /// The maps reach [`MAX_PARTS`] parts of files already.
    #[error("the maps reach {MAX_PARTS} parts of files already; map larger ranges")]
    TooManyParts,
    /// The maps would take more than [`MAX_MAPPED_BYTES`] of address space.
    #[error("the maps take {mapped:#x} bytes of address space, and this one would add {more:#x}; {MAX_MAPPED_BYTES:#x} are allowed")]
    TooMuch { mapped: u64, more: u64 },
    /// The file is not memory: reading its pages may block for ever.
    #[error("the file is not memory: it must be a memfd, or lie on tmpfs or hugetlbfs")]
    NotMemory,
    /// The range to unmap begins or ends inside a map.
    #[error("IOVA {iova:#x}, size {size:#x}: cuts the map at {existing:#x}; unmap whole maps")]
    Cuts { iova: u64, size: u64, existing: u64 },
    /// The operating system refused.
    #[error("mapping the file: {0}")]
    Os(#[from] io::Error),
}
