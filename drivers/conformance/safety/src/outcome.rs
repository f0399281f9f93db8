//! What a hazard can come to, and the driver builds that meet it. `hazards.toml` defines the words.

use serde::Deserialize;
use strum::{Display, EnumIter, EnumString};

/// What a hazard came to. If a run shows several outcomes, the first in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
pub enum Outcome {
    #[strum(serialize = "does not compile")]
    DoesNotCompile,
    #[strum(serialize = "hang")]
    Hang,
    #[strum(serialize = "panic/trap")]
    Trap,
    #[strum(serialize = "silent corruption")]
    Corruption,
    #[strum(serialize = "memory disclosed")]
    Disclosure,
    #[strum(serialize = "error returned")]
    Error,
    #[strum(serialize = "leak")]
    Leak,
    #[strum(serialize = "stalled queue")]
    Stall,
    #[strum(serialize = "contained by the IOMMU")]
    Iommu,
    #[strum(serialize = "wrong packet")]
    WrongPacket,
    #[strum(serialize = "uncounted loss")]
    Loss,
    #[strum(serialize = "counted drop")]
    CountedDrop,
    #[strum(serialize = "no effect")]
    NoEffect,
}

/// A driver, and how it was built.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Display, EnumString, EnumIter,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DriverBuild {
    C,
    /// With AddressSanitizer and UndefinedBehaviorSanitizer.
    CHardened,
    Rust,
    /// Packets are slices of the device's memory.
    RustTrustedDevice,
    /// The driver copies received packets to private memory.
    RustUntrustedDeviceCopy,
    RustUnsafe,
}

impl DriverBuild {
    /// The driver: `C`, `Rust` or `RustUnsafe`.
    pub fn driver(self) -> Self {
        match self {
            Self::C | Self::CHardened => Self::C,
            Self::Rust | Self::RustTrustedDevice | Self::RustUntrustedDeviceCopy => Self::Rust,
            Self::RustUnsafe => Self::RustUnsafe,
        }
    }

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, EnumIter)]
#[strum(serialize_all = "kebab-case")]
pub enum AtFault {
    /// The program that uses the driver.
    #[default]
    Application,
    /// The NIC.
    Device,
    Driver,
    /// The sender of frames.
    Wire,
}
