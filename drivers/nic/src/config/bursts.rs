//! How a card times bursts.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::link::read_fields;
use crate::error::ConfigError;

/// Most rounds, and most bursts of a block: a report holds every burst.
const MOST: u32 = 100_000;

/// A card that times bursts: it makes a number of packets visible at once, and reads the clock until the
/// driver has handed all of them over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Bursts {
    /// Number of rounds. A round has a block of bursts at each placement.
    pub rounds: u32,
    /// Number of timed bursts of a block.
    pub bursts: u32,
    /// Chooses the number of packets of each burst.
    pub seed: u64,
    /// Time for which the card first offers as many frames as the driver takes. Some drivers sleep until
    /// an interrupt unless they have had many frames for more than a second. Such a driver gets them again
    /// from time to time, unless this is zero.
    #[serde(deserialize_with = "seconds")]
    pub saturate: Duration,
    /// Where the card leaves the lines that its DMA wrote, in the order of a round's blocks.
    #[serde(skip)]
    pub placements: Vec<Placement>,
}

/// Where DMA leaves the lines that it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// In the caches of the card's own processor: nothing is moved.
    #[default]
    Warm,
    /// In the last cache, as with DDIO.
    L3,
    /// In memory and in no cache, as without DDIO.
    Memory,
}

impl Default for Bursts {
    fn default() -> Self {
        Self {
            rounds: 4,
            bursts: 320,
            seed: 1,
            saturate: Duration::from_millis(1600),
            placements: vec![Placement::Memory],
        }
    }
}

impl FromStr for Bursts {
    type Err = ConfigError;

    /// `default`, or any of `rounds=N,bursts=N,seed=N,saturate=S`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        if text == "default" {
            return Ok(Self::default());
        }
        let is_possible = |count| (1..=MOST).contains(&count);
        read_fields(text)
            .filter(|it: &Self| is_possible(it.rounds) && is_possible(it.bursts) && !text.is_empty())
            .ok_or_else(|| {
                ConfigError(format!(
                    "burst {text:?}: write default, or some of rounds=N,bursts=N,seed=N,saturate=S; rounds \
                     and bursts are 1 to {MOST}"
                ))
            })
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
}
