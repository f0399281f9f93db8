//! The settings of a port's link.

use std::str::FromStr;
use std::time::Duration;

use crate::config::error::ConfigError;

/// The speed of a link. It sets what LINKS reports and what rate limits refer to. The card itself
/// moves frames as fast as it can at every speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkSpeed {
    /// 100 Mbit/s; X540 and X550.
    Mbit100,
    /// 1 Gbit/s.
    Gbit1,
    /// 2.5 Gbit/s; X550.
    Gbit2_5,
    /// 5 Gbit/s; X550.
    Gbit5,
    /// 10 Gbit/s.
    #[default]
    Gbit10,
}

impl LinkSpeed {
    /// The speed in Mbit/s.
    pub fn mbit(self) -> u32 {
        match self {
            Self::Mbit100 => 100,
            Self::Gbit1 => 1000,
            Self::Gbit2_5 => 2500,
            Self::Gbit5 => 5000,
            Self::Gbit10 => 10_000,
        }
    }
}

/// The names of the speeds on the command line.
const SPEEDS: [(&str, LinkSpeed); 5] = [
    ("100m", LinkSpeed::Mbit100),
    ("1g", LinkSpeed::Gbit1),
    ("2.5g", LinkSpeed::Gbit2_5),
    ("5g", LinkSpeed::Gbit5),
    ("10g", LinkSpeed::Gbit10),
];

impl FromStr for LinkSpeed {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let speed = SPEEDS.iter().find(|(name, _)| *name == text);
        speed.map(|(_, speed)| *speed).ok_or_else(|| {
            ConfigError(format!(
                "link speed {text:?}: must be 100m, 1g, 2.5g, 5g or 10g"
            ))
        })
    }
}

/// How a link comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    /// The speed.
    pub speed: LinkSpeed,
    /// The time from a reset, or from the end of what kept the link down, until the link is up. The
    /// training of 10GBASE-T takes several seconds on hardware.
    pub delay: Duration,
    /// The link stays down until the driver has reset the whole card so many times in its session,
    /// by CTRL.RST or CTRL.LNK_RST. Only for cards with an SFP+ cage.
    pub attempts: u32,
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self {
            speed: LinkSpeed::default(),
            delay: Duration::ZERO,
            attempts: 0,
        }
    }
}
