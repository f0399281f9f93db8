//! What a hazard can come to, and the driver builds that meet it. `hazards.toml` defines the words.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString};

/// What a hazard came to. If a run shows several outcomes, the first in this order counts.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    EnumIter,
)]
pub enum Outcome {
    /// The compiler refuses the program.
    #[serde(rename = "does not compile")]
    #[strum(serialize = "does not compile")]
    DoesNotCompile,
    /// The program did not stop, and the lab killed it.
    #[serde(rename = "hang")]
    #[strum(serialize = "hang")]
    Hang,
    /// A check of the language, a sanitizer or the processor ended the program.
    #[serde(rename = "panic/trap")]
    #[strum(serialize = "panic/trap")]
    Trap,
    /// Memory outside the packets' data was changed, and nothing reported it.
    #[serde(rename = "silent corruption")]
    #[strum(serialize = "silent corruption")]
    Corruption,
    /// The NIC sent bytes of other packets or of the driver's memory.
    #[serde(rename = "memory disclosed")]
    #[strum(serialize = "memory disclosed")]
    Disclosure,
    /// The driver returned an error that names the device.
    #[serde(rename = "error returned")]
    #[strum(serialize = "error returned")]
    Error,
    /// Packet buffers did not return to their pool.
    #[serde(rename = "leak")]
    #[strum(serialize = "leak")]
    Leak,
    /// Packets no longer get through, but the program runs and stops on SIGINT.
    #[serde(rename = "stalled queue")]
    #[strum(serialize = "stalled queue")]
    Stall,
    /// The IOMMU refused an access of the NIC, and forwarding went on.
    #[serde(rename = "contained by the IOMMU")]
    #[strum(serialize = "contained by the IOMMU")]
    Iommu,
    /// The driver sent an altered packet, a packet twice, or a packet that never arrived.
    #[serde(rename = "wrong packet")]
    #[strum(serialize = "wrong packet")]
    WrongPacket,
    /// Packets were lost, and no counter shows it.
    #[serde(rename = "uncounted loss")]
    #[strum(serialize = "uncounted loss")]
    Loss,
    /// Packets were lost and counted, and the others got through.
    #[serde(rename = "counted drop")]
    #[strum(serialize = "counted drop")]
    CountedDrop,
    /// Every packet got through once and unaltered.
    #[serde(rename = "no effect")]
    #[strum(serialize = "no effect")]
    NoEffect,
}

/// A driver, and how it was built.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    EnumIter,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DriverBuild {
    /// The C driver.
    C,
    /// The C driver with AddressSanitizer and UndefinedBehaviorSanitizer.
    CHardened,
    /// The safe Rust driver.
    Rust,
    /// The safe Rust driver whose packets are slices of the device's memory.
    RustTrustedDevice,
    /// The safe Rust driver that copies received packets to private memory.
    RustUntrustedDeviceCopy,
    /// The transpiled driver.
    RustUnsafe,
}

impl DriverBuild {
    /// The Cargo feature of this build of the safe Rust driver, if it needs one.
    pub fn feature(self) -> Option<&'static str> {
        match self {
            Self::RustTrustedDevice => Some("trusted-device"),
            Self::RustUntrustedDeviceCopy => Some("untrusted-device-copy"),
            _ => None,
        }
    }
}

/// The party that causes a hazard.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, EnumIter,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AtFault {
    /// The program that uses the driver.
    Application,
    /// The NIC.
    Device,
    /// The driver.
    Driver,
    /// The sender of frames.
    Wire,
}
