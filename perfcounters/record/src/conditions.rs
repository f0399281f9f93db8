//! The conditions of a measurement: the dimensions of a matrix cell, apart from the driver.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::names::{BackendName, Implementation};

/// Packets per receive call in the paper's tables.
pub const DEFAULT_BATCH: u32 = 32;
/// Descriptors per ring, unless a matrix varies them.
pub const DEFAULT_RING_SIZE: u32 = 512;
/// Bytes of a frame without its CRC, unless a matrix varies them: the smallest Ethernet frame.
pub const DEFAULT_FRAME_SIZE: u32 = 60;

/// Queue pairs of a device, unless a matrix varies them.
pub const DEFAULT_QUEUES: u32 = 1;

/// Batch sizes that a driver accepts.
pub const BATCHES: RangeInclusive<u32> = 1..=512;
/// Ring sizes that a driver accepts; only powers of two.
pub const RING_SIZES: RangeInclusive<u32> = 64..=4096;
/// Frame sizes that Ethernet allows, in bytes without CRC.
pub const FRAME_SIZES: RangeInclusive<u32> = 60..=1514;

/// Queue pairs that a device can have.
pub const QUEUES: RangeInclusive<u32> = 1..=16;

/// What a driver does while no packets come.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// It polls.
    #[default]
    Poll,
    /// It sleeps until an interrupt.
    Interrupts,
}

/// Where the card's DMA left the lines that it wrote, when the driver's turn began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum LinePlacement {
    /// In the caches of the card's own processor: nothing was moved.
    Warm,
    /// In the last cache, as Intel's DDIO leaves them.
    L3,
    /// In memory alone, as a card without DDIO leaves them.
    Memory,
}

/// The conditions of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// Packets asked for per receive call, 1 to 512.
    pub batch: u32,
    /// Descriptors per ring, a power of two, 64 to 4096.
    pub ring_size: u32,
    /// Bytes of a frame without its CRC, 60 to 1514.
    pub frame_size: u32,
    /// Offered load, million packets per second, both directions together, above 0; `None` for as
    /// many as the driver takes.
    pub offered_mpps: Option<f64>,
    /// Queue pairs of each device, 1 to 16.
    pub queues: u32,
    /// What the driver does while no packets come.
    pub waiting: Waiting,
    /// Where DMA left the lines; `None` for backends that do not place them.
    pub placement: Option<LinePlacement>,
}

impl Default for Conditions {
    /// Those of the paper's tables, under saturating load.
    fn default() -> Self {
        Self {
            batch: DEFAULT_BATCH,
            ring_size: DEFAULT_RING_SIZE,
            frame_size: DEFAULT_FRAME_SIZE,
            offered_mpps: None,
            queues: DEFAULT_QUEUES,
            waiting: Waiting::Poll,
            placement: None,
        }
    }
}

impl Conditions {
    /// The default conditions with another batch size.
    pub fn with_batch(batch: u32) -> Self {
        Self {
            batch,
            ..Self::default()
        }
    }

    /// Whether every value is in its range.
    ///
    /// # Errors
    /// A sentence that names the value and its range.
    pub fn check(&self) -> Result<(), String> {
        for (what, value, range) in [
            ("batch", self.batch, BATCHES),
            ("ring size", self.ring_size, RING_SIZES),
            ("frame size", self.frame_size, FRAME_SIZES),
            ("number of queues", self.queues, QUEUES),
        ] {
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                return Err(format!("{what} {value} is not in {least} to {most}"));
            }
        }
        match self.offered_mpps {
            Some(load) if !(load.is_finite() && load > 0.0) => {
                Err(format!("an offered load of {load} Mpps is not above 0"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Conditions {
    /// The batch size, and what differs from the defaults: `batch 8, ring 64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batch {}", self.batch)?;
        if self.ring_size != DEFAULT_RING_SIZE {
            write!(f, ", ring {}", self.ring_size)?;
        }
        if self.frame_size != DEFAULT_FRAME_SIZE {
            write!(f, ", {} B", self.frame_size)?;
        }
        if self.queues != DEFAULT_QUEUES {
            write!(f, ", {} queues", self.queues)?;
        }
        if self.waiting == Waiting::Interrupts {
            f.write_str(", interrupts")?;
        }
        if let Some(placement) = self.placement {
            write!(f, ", {placement}")?;
        }
        if let Some(load) = self.offered_mpps {
            write!(f, ", {load} Mpps")?;
        }
        Ok(())
    }
}

/// Everything that one backend measures of one driver under the same conditions. Its text tells it from
/// all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Name of the build variant: `default`, `overflow-checks`, …
    pub variant: String,
    /// The conditions of the measurement.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The backend that counted.
    pub backend: BackendName,
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (driver, backend) = (self.implementation, self.backend);
        write!(
            f,
            "{driver}/{} {}, {backend}",
            self.variant, self.conditions
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_old_records_get_the_defaults() {
        let read: Conditions = serde_json::from_str("{\"batch\": 8}").unwrap();
        assert_eq!(read, Conditions::with_batch(8));
    }
}
