//! Errors: sentences for the user that name the failure, its place, and the remedy.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::time::Duration;

use crate::sys::dma::DmaFault;

/// The result of a function that can fail. The error is boxed, so that the result stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// The failures.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{address}: {call}: {cause}{remedy}")]
    Call {
        /// The device.
        address: String,
        /// The call and its object.
        call: String,
        /// The error of the system.
        cause: io::Error,
        /// What to do, with its punctuation; may be empty.
        remedy: String,
    },
    /// The device, or the system around it, is in a wrong state.
    #[error("{address}: {what}")]
    Device {
        /// The device.
        address: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A register did not get the wanted value in time.
    #[error(
        "{address}: {name} is {read:#010x} after {} ms, waited for {value:#x} of {mask:#x}; reset the \
         device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC",
        .timeout.as_millis()
    )]
    Timeout {
        /// The device.
        address: String,
        /// The register and its field.
        name: &'static str,
        /// The last value of the register.
        read: u32,
        /// The limit.
        timeout: Duration,
        /// The wanted value of the bits in `mask`.
        value: u32,
        /// The bits that count.
        mask: u32,
    },
    /// The server did not answer in time.
    #[error(
        "{address}: no answer to vfio-user command {command} for {waited_ms} ms; is the server \
         stopped or stuck, or did it answer too slowly before? The driver waits {patience_ms} ms in \
         all; start the server again"
    )]
    NoAnswer {
        /// The device.
        address: String,
        /// The command, as the vfio-user protocol numbers them.
        command: u16,
        /// The limit of this wait, in milliseconds.
        waited_ms: u128,
        /// The limit of all waits for the server together, in milliseconds.
        patience_ms: u128,
    },
    /// DMA memory cannot be allocated.
    #[error("cannot allocate {size} bytes of DMA memory: {cause}")]
    DmaAlloc {
        /// Bytes.
        size: usize,
        /// The error of the system.
        cause: io::Error,
    },
    /// DMA memory lost its pages, or cannot be sealed against that.
    #[error(
        "cannot keep the pages of DMA memory: {cause}; did a vfio-user server seal or free them?"
    )]
    DmaLost {
        /// The error of the system.
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
    #[error("VFIO_IOMMU_MAP_DMA of {size} bytes at {iova:#x}: {cause}{remedy}")]
    DmaMap {
        /// Bytes.
        size: u64,
        /// The address for the device.
        iova: u64,
        /// The error of the system.
        cause: io::Error,
        /// What to do, with its punctuation; may be empty.
        remedy: String,
    },
    /// An argument is out of its range.
    #[error("{0}")]
    Argument(String),
}

impl Error {
    /// Says on standard error what does not keep the program from going on.
    pub(crate) fn warn(&self) {
        let _ = writeln!(io::stderr(), "warning: {self}");
    }

    /// [`Error::Call`] without a remedy.
    pub(crate) fn call(address: &str, call: impl Into<String>, cause: io::Error) -> Box<Self> {
        Self::call_with_remedy(address, call, cause, "")
    }

    /// [`Error::Call`].
    pub(crate) fn call_with_remedy(
        address: &str,
        call: impl Into<String>,
        cause: io::Error,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self::Call {
            address: address.to_owned(),
            call: call.into(),
            cause,
            remedy: remedy.into(),
        })
    }

    /// [`Error::Device`].
    pub(crate) fn device(address: &str, what: impl Into<String>) -> Box<Self> {
        Box::new(Self::Device {
            address: address.to_owned(),
            what: what.into(),
        })
    }
}

impl From<DmaFault> for Box<Error> {
    fn from(fault: DmaFault) -> Self {
        Box::new(match fault {
            DmaFault::Alloc(size, cause) => Error::DmaAlloc { size, cause },
            DmaFault::Lost(cause) => Error::DmaLost { cause },
            DmaFault::RingSize(size) => Error::Argument(format!(
                "the number of descriptors is a power of two, not {size}"
            )),
        })
    }
}
