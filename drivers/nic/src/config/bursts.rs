//! How a card times bursts.

use std::str::FromStr;
use std::time::Duration;

use crate::config::error::ConfigError;
use crate::config::placement::Placement;

/// Most rounds, and most bursts of a block: a report holds every burst.
const MOST: u32 = 100_000;

/// A card that times bursts: it makes a number of packets visible at once, and reads the clock until the
/// driver has handed all of them over.
#[derive(Clone, Debug, PartialEq)]
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
    pub saturate: Duration,
    /// Where the card leaves the lines that its DMA wrote, in the order of a round's blocks.
    pub placements: Vec<Placement>,
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
        let mut bursts = Self::default();
        if text == "default" {
            return Ok(bursts);
        }
        for part in text.split(',') {
            let wrong = || {
                ConfigError(format!(
                    "burst {part:?}: write default, or some of rounds=N,bursts=N,seed=N,saturate=S; rounds \
                     and bursts are 1 to {MOST}"
                ))
            };
            let count = |value: &str| {
                let count = value
                    .parse()
                    .ok()
                    .filter(|count| (1..=MOST).contains(count));
                count.ok_or_else(wrong)
            };
            match part.split_once('=').ok_or_else(wrong)? {
                ("rounds", value) => bursts.rounds = count(value)?,
                ("bursts", value) => bursts.bursts = count(value)?,
                ("seed", value) => bursts.seed = value.parse().map_err(|_| wrong())?,
                ("saturate", value) => {
                    let seconds = value.parse().ok();
                    let saturate = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
                    bursts.saturate = saturate.ok_or_else(wrong)?;
                }
                _ => return Err(wrong()),
            }
        }
        Ok(bursts)
    }
}

impl FromStr for Placement {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "warm" => Ok(Self::Warm),
            "l3" => Ok(Self::L3),
            "memory" => Ok(Self::Memory),
            _ => Err(ConfigError(format!(
                "placement {text:?}: must be warm, l3 or memory"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Cable, MmioMode, NicConfig, Traffic};

    #[test]
    fn some_settings_differ_from_the_defaults() {
        assert_eq!("default".parse(), Ok(Bursts::default()));
        let bursts: Bursts = "rounds=2,bursts=10,seed=7,saturate=0.5".parse().unwrap();
        assert_eq!((bursts.rounds, bursts.bursts, bursts.seed), (2, 10, 7));
        assert_eq!(bursts.saturate, Duration::from_millis(500));
        for wrong in [
            "",
            "rounds",
            "rounds=0",
            "bursts=100001",
            "seed=x",
            "saturate=-1",
            "n=3",
        ] {
            let error = wrong.parse::<Bursts>().unwrap_err().to_string();
            assert!(error.contains("rounds=N"), "{error}");
        }
    }

    #[test]
    fn a_nic_that_cannot_time_bursts_is_refused() {
        let with = |change: fn(&mut NicConfig)| {
            let mut config = NicConfig::new("x", 2);
            config.bursts = Some(Bursts::default());
            change(&mut config);
            config.check()
        };
        assert!(with(|_| ()).is_ok());
        assert!(with(|config| config.ports.truncate(1)).is_err());
        assert!(with(|config| config.mmio = MmioMode::Trap).is_err());
        assert!(with(|config| config.ports[1].traffic = Traffic::Saturate).is_err());
        assert!(with(|config| config.cables.push(Cable { a: 0, b: 1 })).is_err());
    }
}
