//! What a hazard can come to, and the driver builds that meet it. `hazards.toml` defines the words.

use serde::Deserialize;
use strum::{Display, EnumIter, EnumString};

/// What a hazard came to. If a run shows several outcomes, the first in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
pub enum Outcome {
    /// The compiler refuses the mistake.
    #[strum(serialize = "does not compile")]
    DoesNotCompile,
    /// The program did not stop.
    #[strum(serialize = "hang")]
    Hang,
    /// A panic, a signal or a sanitizer ended the program.
    #[strum(serialize = "panic/trap")]
    Trap,
    /// Memory was changed, and nothing reports it.
    #[strum(serialize = "silent corruption")]
    Corruption,
    /// Bytes of other memory were sent.
    #[strum(serialize = "memory disclosed")]
    Disclosure,
    /// The driver returned an error.
    #[strum(serialize = "error returned")]
    Error,
    /// Buffers did not return to their pool.
    #[strum(serialize = "leak")]
    Leak,
    /// Packets no longer get through.
    #[strum(serialize = "stalled queue")]
    Stall,
    /// The IOMMU refused an access.
    #[strum(serialize = "contained by the IOMMU")]
    Iommu,
    /// A packet was sent altered or twice.
    #[strum(serialize = "wrong packet")]
    WrongPacket,
    /// Packets were lost, and no counter shows it.
    #[strum(serialize = "uncounted loss")]
    Loss,
    /// Packets were lost, and a counter shows it.
    #[strum(serialize = "counted drop")]
    CountedDrop,
    /// Every packet got through, once and unaltered.
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
    /// As shipped.
    C,
    /// With AddressSanitizer and UndefinedBehaviorSanitizer.
    CHardened,
    /// As shipped.
    Rust,
    /// Packets are slices of the device's memory.
    RustTrustedDevice,
    /// The driver copies received packets to private memory.
    RustUntrustedDeviceCopy,
    /// Transpiled by C2Rust.
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
    /// The driver itself.
    Driver,
    /// The sender of frames.
    Wire,
}
