//! Requests of a driver to map and unmap memory: limits, permissions and errors.

use std::io;

use serde::Serialize;
use thiserror::Error;

/// Granularity of maps, in bytes.
pub const PAGE_SIZE: u64 = 4096;
/// Most maps that may exist at once.
pub const MAX_MAPS: usize = 65_535;
/// Most files that may be mapped at once.
pub(crate) const MAX_FILES: usize = 256;

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
    Alignment {
        /// First byte of the range.
        iova: u64,
        /// Length of the range in bytes.
        size: u64,
        /// Offset in the file.
        offset: u64,
    },
    /// The range runs past the end of the IOVAs.
    #[error("IOVA {iova:#x}, size {size:#x}: runs past the end of the address space")]
    AddressSpace {
        /// First byte of the range.
        iova: u64,
        /// Length of the range in bytes.
        size: u64,
    },
    /// The range overlaps a map.
    #[error(
        "IOVA {iova:#x}, size {size:#x}: overlaps the map at {existing:#x}; unmap that map first"
    )]
    Overlap {
        /// First byte of the range.
        iova: u64,
        /// Length of the range in bytes.
        size: u64,
        /// First byte of the other map.
        existing: u64,
    },
    /// The map permits neither reading nor writing.
    #[error("a map must allow reading, writing, or both")]
    NoPermissions,
    /// The file ends before the map.
    #[error("the map ends at byte {needed:#x} of its file, which has only {file_size:#x}")]
    FileTooShort {
        /// Bytes that the file must have.
        needed: u64,
        /// Bytes that the file has.
        file_size: u64,
    },
    /// The map permits writing, but the client passed a read-only file.
    #[error("the map allows writing, but its file is open for reading only")]
    ReadOnlyFile,
    /// [`MAX_MAPS`] maps exist already.
    #[error("{MAX_MAPS} maps exist already")]
    TooMany,
    /// [`MAX_FILES`] files are mapped already.
    #[error("{MAX_FILES} files are mapped already")]
    TooManyFiles,
    /// The file is not memory: reading its pages may block for ever.
    #[error("the file is not memory: it must be a memfd, or lie on tmpfs or hugetlbfs")]
    NotMemory,
    /// The range to unmap begins or ends inside a map.
    #[error("IOVA {iova:#x}, size {size:#x}: cuts the map at {existing:#x}; unmap whole maps")]
    Cuts {
        /// First byte of the range.
        iova: u64,
        /// Length of the range in bytes.
        size: u64,
        /// First byte of the map that the range would cut.
        existing: u64,
    },
    /// The operating system refused.
    #[error("mapping the file: {0}")]
    Os(#[from] io::Error),
}
