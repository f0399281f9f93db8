//! What the configuration files of several commands share: how the backends measure, and ranges of values.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

fn in_range<E: Error, const MIN: u32, const MAX: u32>(number: u32) -> Result<u32, E> {
    match (MIN..=MAX).contains(&number) {
        true => Ok(number),
        false => Err(E::custom(format!(
            "{number} is not a number from {MIN} to {MAX}"
        ))),
    }
}

/// Reads a whole number from `MIN` to `MAX`.
///
/// # Errors
/// Names the range.
pub fn integer<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    from: D,
) -> Result<u32, D::Error> {
    in_range::<_, MIN, MAX>(u32::deserialize(from)?)
}

/// Reads a list of whole numbers from `MIN` to `MAX`.
///
/// # Errors
/// Names the range.
pub fn integers<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    from: D,
) -> Result<Vec<u32>, D::Error> {
    let numbers = Vec::deserialize(from)?.into_iter();
    numbers.map(in_range::<_, MIN, MAX>).collect()
}

/// Reads batch sizes: the packets asked for per receive call.
///
/// # Errors
/// Names the range.
pub fn batches<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    integers::<D, 1, 512>(from)
}

/// Reads a time for a measurement, in seconds.
fn measured_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let seconds = seconds(from)?;
    match seconds >= 0.1 {
        true => Ok(seconds),
        false => Err(D::Error::custom(format!(
            "{seconds} s is too short: measure for at least 0.1"
        ))),
    }
}

/// Reads a time in seconds.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(from)?;
    match (0.0..=86_400.0).contains(&seconds) {
        true => Ok(seconds),
        false => Err(D::Error::custom(format!(
            "{seconds} s is not from 0 to 86400 (a day)"
        ))),
    }
}

// With these defaults, the tables of `make reproduce` take about a minute and a half on two cores. The throughput
// beside the software card only shows that the card sets the pace, so one repeat is enough.

/// Defines a section with the defaults of its three settings.
macro_rules! timed {
    ($section:literal, $name:ident, $seconds:literal, $warm_up:literal, $repeats:literal) => {
        #[doc = $section]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            /// Length of each measurement, seconds. `perf` needs several, which count some of the events each.
            #[serde(deserialize_with = "measured_seconds")]
            pub seconds: f64,
            /// Time for which the forwarder runs before the first measurement, seconds.
            #[serde(deserialize_with = "seconds")]
            pub warm_up: f64,
            /// How often each cell is measured.
            #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
            pub repeats: u32,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    seconds: $seconds,
                    warm_up: $warm_up,
                    repeats: $repeats,
                }
            }
        }
    };
}

timed!("`[perf]`", Perf, 2.0, 1.0, 3);
timed!("`[wall]`", Wall, 0.3, 0.0, 1);
timed!("`[latency]`", Latency, 10.0, 1.0, 1);

/// `[trace]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// The processors whose caches and predictor are simulated, by the names of their CPU files.
    pub cpus: Vec<String>,
}

impl Default for Trace {
    fn default() -> Self {
        // The processor of the published counters.
        let cpus = vec!["haswell".to_owned()];
        Self { cpus }
    }
}

/// `[valgrind]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Valgrind {
    /// Packets of the shorter run. With more packets, the differences between two runs (a line of
    /// output each second, a few empty polls) matter less.
    #[serde(deserialize_with = "integer::<_, 1000, 1_000_000_000>")]
    pub packets: u32,
    /// How often each cell is measured. The counts hardly vary, so once is enough.
    #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
    pub repeats: u32,
}

impl Default for Valgrind {
    fn default() -> Self {
        Self {
            packets: 51_200,
            repeats: 1,
        }
    }
}

/// `[lockstep]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lockstep {
    /// Number of processes that measure each cell, one after another.
    #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
    pub processes: u32,
    /// Number of values that each process takes.
    #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
    pub rounds: u32,
}

impl Default for Lockstep {
    fn default() -> Self {
        Self {
            processes: 8,
            rounds: 20,
        }
    }
}

/// `[burst]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Burst {
    /// Number of processes that measure each program, one after another.
    #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
    pub processes: u32,
    /// Number of values that each process takes at each placement.
    #[serde(deserialize_with = "integer::<_, 1, 100_000>")]
    pub rounds: u32,
    /// Number of bursts from which a value comes.
    #[serde(deserialize_with = "integer::<_, 100, 100_000>")]
    pub bursts: u32,
}

impl Default for Burst {
    fn default() -> Self {
        Self {
            processes: 4,
            rounds: 2,
            bursts: 400,
        }
    }
}
