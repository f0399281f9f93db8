//! Errors: a sentence for the person at the terminal, which names what failed, where, and
//! what to do.
#![forbid(unsafe_code)]

use std::io;

/// What a function that can fail returns. Boxed, so that success stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call of the system failed.
    #[error("{address}: {call}: {cause}{mend}")]
    Call {
        /// The device.
        address: String,
        /// What was called, on what.
        call: String,
        /// What the system said.
        cause: io::Error,
        /// What to do, with its punctuation; may be empty.
        mend: String,
    },
    /// The device, or the system around it, is not as it must be.
    #[error("{address}: {what}")]
    Device {
        /// The device.
        address: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A register did not come to say what was waited for.
    #[error(
        "{address}: {name} is {read:#010x} after {timeout_ms} ms, waited for {value:#x} of \
         {mask:#x}; {mend}"
    )]
    Timeout {
        /// The device.
        address: String,
        /// The register and its field.
        name: &'static str,
        /// What it said last.
        read: u32,
        /// How long was waited.
        timeout_ms: u64,
        /// What its bits should have been.
        value: u32,
        /// Which bits.
        mask: u32,
        /// What to do.
        mend: &'static str,
    },
    /// The server did not answer.
    #[error(
        "{address}: {call}: no answer for {timeout_s} s; is the vfio-user server stopped or stuck?"
    )]
    NoAnswer {
        /// The device.
        address: String,
        /// Sending or receiving.
        call: &'static str,
        /// How long was waited.
        timeout_s: u64,
    },
    /// The device's memory cannot be had.
    #[error("cannot allocate {size} bytes of DMA memory: {cause}")]
    DmaAlloc {
        /// Bytes.
        size: usize,
        /// What the system said.
        cause: io::Error,
    },
    /// The IOMMU permits too few addresses.
    #[error(
        "no {size} bytes of I/O address space left in what the IOMMU permits; use fewer or \
         smaller pools and rings"
    )]
    NoIova {
        /// Bytes.
        size: u64,
    },
    /// The IOMMU refuses a mapping.
    #[error("VFIO_IOMMU_MAP_DMA of {size} bytes at {iova:#x}: {cause}{mend}")]
    DmaMap {
        /// Bytes.
        size: u64,
        /// The address for the device.
        iova: u64,
        /// What the system said.
        cause: io::Error,
        /// What to do, with its punctuation; may be empty.
        mend: String,
    },
    /// An argument is out of its range.
    #[error("{0}")]
    Argument(String),
}

impl Error {
    /// [`Error::Call`], without a mend.
    pub(crate) fn call(address: &str, call: impl Into<String>, cause: io::Error) -> Box<Self> {
        Self::call_mend(address, call, cause, "")
    }

    /// [`Error::Call`].
    pub(crate) fn call_mend(
        address: &str,
        call: impl Into<String>,
        cause: io::Error,
        mend: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self::Call {
            address: address.to_owned(),
            call: call.into(),
            cause,
            mend: mend.into(),
        })
    }

    /// [`Error::Device`].
    pub(crate) fn device(address: &str, what: impl Into<String>) -> Box<Self> {
        Box::new(Self::Device {
            address: address.to_owned(),
            what: what.into(),
        })
    }

    /// [`Error::DmaAlloc`].
    pub(crate) fn dma_alloc(size: usize, cause: io::Error) -> Box<Self> {
        Box::new(Self::DmaAlloc { size, cause })
    }
}
