//! What a hazard came to, and who met it. The words are those of `hazards.toml`, which defines them.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString};

/// What a hazard came to, the one that ranks first if it came to several.
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
    /// The compiler refuses it.
    #[serde(rename = "does not compile")]
    #[strum(serialize = "does not compile")]
    DoesNotCompile,
    /// The program had to be killed at the end of its time.
    #[serde(rename = "hang")]
    #[strum(serialize = "hang")]
    Hang,
    /// A check, a sanitizer or the processor ended the program.
    #[serde(rename = "panic/trap")]
    #[strum(serialize = "panic/trap")]
    Trap,
    /// Memory that is nobody's packet data was changed, and nothing said so.
    #[serde(rename = "silent corruption")]
    #[strum(serialize = "silent corruption")]
    Corruption,
    /// Bytes of other packets or of the driver left on the wire.
    #[serde(rename = "memory disclosed")]
    #[strum(serialize = "memory disclosed")]
    Disclosure,
    /// The driver returned an error, which names the device.
    #[serde(rename = "error returned")]
    #[strum(serialize = "error returned")]
    Error,
    /// Packet buffers did not come back.
    #[serde(rename = "leak")]
    #[strum(serialize = "leak")]
    Leak,
    /// Packets no longer get through, though the program lives and ends when it is told to.
    #[serde(rename = "stalled queue")]
    #[strum(serialize = "stalled queue")]
    Stall,
    /// The IOMMU refused an access, and forwarding went on.
    #[serde(rename = "contained by the IOMMU")]
    #[strum(serialize = "contained by the IOMMU")]
    Iommu,
    /// A packet was sent altered, twice, or that nobody had received.
    #[serde(rename = "wrong packet")]
    #[strum(serialize = "wrong packet")]
    WrongPacket,
    /// Packets were lost, and no counter says so.
    #[serde(rename = "uncounted loss")]
    #[strum(serialize = "uncounted loss")]
    Loss,
    /// Packets were dropped and counted; the others got through.
    #[serde(rename = "counted drop")]
    #[strum(serialize = "counted drop")]
    CountedDrop,
    /// Every packet got through once and unaltered.
    #[serde(rename = "no effect")]
    #[strum(serialize = "no effect")]
    Nothing,
}

/// What meets the hazards: a driver and how it was built.
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
pub enum Subject {
    /// The C driver.
    C,
    /// The C driver with AddressSanitizer and UndefinedBehaviorSanitizer.
    CHardened,
    /// The safe Rust driver.
    Rust,
    /// The transpiled driver.
    RustUnsafe,
}

/// Whose fault a hazard is.
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
    /// Whoever sends frames.
    Wire,
}
