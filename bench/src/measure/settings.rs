//! What the configuration files of several commands share: how the backends measure, and ranges of values.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

fn in_range<E: Error, const MIN: u32, const MAX: u32>(number: u32) -> Result<u32, E> {
    if (MIN..=MAX).contains(&number) {
        Ok(number)
    } else {
        Err(E::custom(format!(
            "{number} is not a number from {MIN} to {MAX}"
        )))
    }
}

/// Reads a whole number from `MIN` to `MAX`.
pub fn integer<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    from: D,
) -> Result<u32, D::Error> {
    in_range::<_, MIN, MAX>(u32::deserialize(from)?)
}

/// Reads a list of whole numbers from `MIN` to `MAX`.
pub fn integers<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    from: D,
) -> Result<Vec<u32>, D::Error> {
    let numbers = Vec::deserialize(from)?.into_iter();
    numbers.map(in_range::<_, MIN, MAX>).collect()
}

/// Reads batch sizes: the packets asked for per receive call.
pub fn batches<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    integers::<D, 1, 512>(from)
}

/// Reads a time in seconds, at least so many tenths.
fn seconds<'de, D: Deserializer<'de>, const TENTHS: u32>(from: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(from)?;
    let least = f64::from(TENTHS) / 10.0;
    if (least..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(D::Error::custom(format!(
            "{seconds} s is not from {least} to 86400 (a day)"
        )))
    }
}

/// Defines sections of a configuration: their keys, defaults, and how each is read.
macro_rules! sections {
    ($($name:ident { $($(#[$doc:meta])* $key:ident: $type:ty = $default:expr, $read:literal;)* })*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$doc])* #[serde(deserialize_with = $read)] pub $key: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }
    )*};
}

// With these defaults, the tables of `make reproduce` take about a minute and a half on two cores. The throughput
// beside the software card only shows that the card sets the pace, so one repeat is enough.
sections! {
    Perf {
        /// Length of each measurement. `perf` needs several, which count some of the events each.
        seconds: f64 = 2.0, "seconds::<_, 1>";
        /// Time for which the forwarder runs before the first measurement, seconds.
        warm_up: f64 = 1.0, "seconds::<_, 0>";
        repeats: u32 = 3, "integer::<_, 1, 100_000>";
    }
    Wall {
        seconds: f64 = 0.3, "seconds::<_, 1>";
        warm_up: f64 = 0.0, "seconds::<_, 0>";
        repeats: u32 = 1, "integer::<_, 1, 100_000>";
    }
    Latency {
        seconds: f64 = 10.0, "seconds::<_, 1>";
        warm_up: f64 = 1.0, "seconds::<_, 0>";
        repeats: u32 = 1, "integer::<_, 1, 100_000>";
    }
    Trace {
        /// The processors whose caches and predictor are simulated, by the names of their CPU files. The default is
        /// the processor of the published counters.
        cpus: Vec<String> = vec!["haswell".to_owned()], "Deserialize::deserialize";
    }
    Valgrind {
        /// Packets of the shorter run. With more packets, the differences between two runs (a line of
        /// output each second, a few empty polls) matter less.
        packets: u32 = 51_200, "integer::<_, 1000, 1_000_000_000>";
        /// The counts hardly vary, so once is enough.
        repeats: u32 = 1, "integer::<_, 1, 100_000>";
    }
    Lockstep {
        /// Number of processes that measure each cell, one after another.
        processes: u32 = 8, "integer::<_, 1, 100_000>";
        /// Number of values that each process takes.
        rounds: u32 = 20, "integer::<_, 1, 100_000>";
    }
    Burst {
        processes: u32 = 4, "integer::<_, 1, 100_000>";
        /// Number of values that each process takes at each placement.
        rounds: u32 = 2, "integer::<_, 1, 100_000>";
        /// Number of bursts from which a value comes.
        bursts: u32 = 400, "integer::<_, 100, 100_000>";
    }
}
