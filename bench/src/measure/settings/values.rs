//! Checked values of the configuration files.

use std::fmt;
use std::time::Duration;

use caches::cpu::{Cpu, CpuError};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "u32")]
pub struct BoundedInteger<const MIN: u32, const MAX: u32>(pub u32);

impl<const MIN: u32, const MAX: u32> TryFrom<toml::Value> for BoundedInteger<MIN, MAX> {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        match whole_number(&value) {
            Some(number) if (MIN..=MAX).contains(&number) => Ok(Self(number)),
            _ => Err(format!("{value} is not a number from {MIN} to {MAX}")),
        }
    }
}

fn whole_number(value: &toml::Value) -> Option<u32> {
    u32::try_from(value.as_integer()?).ok()
}

impl<const MIN: u32, const MAX: u32> From<BoundedInteger<MIN, MAX>> for u32 {
    fn from(value: BoundedInteger<MIN, MAX>) -> Self {
        value.0
    }
}

/// Packets asked for per receive call.
pub type Batch = BoundedInteger<1, 512>;
/// Bytes of a frame without its CRC.
pub type FrameSize = BoundedInteger<60, 1514>;
/// Queue pairs of a device.
pub type Queues = BoundedInteger<1, 16>;
/// A number of repeats, processes or rounds.
pub type Repeats = BoundedInteger<1, 100_000>;

/// Descriptors per ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "u32")]
pub struct RingSize(pub u32);

impl TryFrom<toml::Value> for RingSize {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        match whole_number(&value) {
            Some(size) if size.is_power_of_two() && (64..=4096).contains(&size) => Ok(Self(size)),
            _ => Err(format!("{value} is not a power of two from 64 to 4096")),
        }
    }
}

impl From<RingSize> for u32 {
    fn from(value: RingSize) -> Self {
        value.0
    }
}

/// An offered load in Mpps, above 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Mpps(pub f64);

impl TryFrom<f64> for Mpps {
    type Error = String;
    fn try_from(value: f64) -> Result<Self, String> {
        match value.is_finite() && value > 0.0 && value <= 1000.0 {
            true => Ok(Self(value)),
            false => Err(format!(
                "{value} Mpps is not a load: use above 0, at most 1000"
            )),
        }
    }
}

impl From<Mpps> for f64 {
    fn from(value: Mpps) -> Self {
        value.0
    }
}

/// A clock of the processor's cores in GHz, 0.1 to 10.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Ghz(pub f64);

impl TryFrom<f64> for Ghz {
    type Error = String;
    fn try_from(value: f64) -> Result<Self, String> {
        match (0.1..=10.0).contains(&value) {
            true => Ok(Self(value)),
            false => Err(format!("{value} GHz is not a clock: use 0.1 to 10")),
        }
    }
}

impl From<Ghz> for f64 {
    fn from(value: Ghz) -> Self {
        value.0
    }
}

/// A processor, by the name of its CPU file: `haswell`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuName(pub Cpu);

impl TryFrom<String> for CpuName {
    type Error = CpuError;
    fn try_from(value: String) -> Result<Self, CpuError> {
        Cpu::named(&value).map(Self)
    }
}

impl From<CpuName> for String {
    fn from(value: CpuName) -> Self {
        value.0.name
    }
}

/// A share of the capacity, above 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Fraction(pub f64);

impl TryFrom<f64> for Fraction {
    type Error = String;
    fn try_from(value: f64) -> Result<Self, String> {
        match value > 0.0 && value <= 1.0 {
            true => Ok(Self(value)),
            false => Err(format!("{value} is not a share: use above 0, at most 1")),
        }
    }
}

impl From<Fraction> for f64 {
    fn from(value: Fraction) -> Self {
        value.0
    }
}

/// A number of seconds that no one has checked yet.
struct Seconds(f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecondsVisitor).map(Self)
    }
}

struct SecondsVisitor;

impl Visitor<'_> for SecondsVisitor {
    type Value = f64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of seconds, such as 10 or 0.5")
    }

    fn visit_f64<E>(self, seconds: f64) -> Result<f64, E> {
        Ok(seconds)
    }

    fn visit_i64<E>(self, seconds: i64) -> Result<f64, E> {
        Ok(seconds as f64)
    }

    fn visit_u64<E>(self, seconds: u64) -> Result<f64, E> {
        Ok(seconds as f64)
    }
}

/// The time for which something runs before a measurement, 0 seconds to a day.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Seconds", into = "f64")]
pub struct WarmUpSeconds(pub(super) f64);

impl WarmUpSeconds {
    /// One second.
    pub const ONE: Self = Self(1.0);

    /// As a [`Duration`].
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl TryFrom<Seconds> for WarmUpSeconds {
    type Error = String;
    fn try_from(Seconds(value): Seconds) -> Result<Self, String> {
        match (0.0..=86_400.0).contains(&value) {
            true => Ok(Self(value)),
            false => Err(format!("{value} s is not from 0 to 86400 (a day)")),
        }
    }
}

impl From<WarmUpSeconds> for f64 {
    fn from(value: WarmUpSeconds) -> Self {
        value.0
    }
}

/// The time for which something is measured, 0.1 seconds to a day.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Seconds", into = "f64")]
pub struct MeasurementSeconds(pub(crate) f64);

impl MeasurementSeconds {
    /// As a [`Duration`].
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl TryFrom<Seconds> for MeasurementSeconds {
    type Error = String;
    fn try_from(value: Seconds) -> Result<Self, String> {
        match WarmUpSeconds::try_from(value)? {
            WarmUpSeconds(seconds) if seconds >= 0.1 => Ok(Self(seconds)),
            WarmUpSeconds(seconds) => Err(format!(
                "{seconds} s is too short: measure for at least 0.1"
            )),
        }
    }
}

impl From<MeasurementSeconds> for f64 {
    fn from(value: MeasurementSeconds) -> Self {
        value.0
    }
}
