//! A port's link: its module, its speed, and what an earlier driver left behind.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::error::ConfigError;

/// The module in a port's SFP+ cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Module {
    /// A passive direct-attach cable.
    #[default]
    Dac,
    /// An optical module for short range (10GBASE-SR), whose laser the driver can switch off.
    Sr,
    /// No module: the port has no link.
    None,
}

/// The speed of a link, with its number of Mbit/s. It sets what LINKS reports and what rate limits refer
/// to. The card itself moves frames as fast as it can at every speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LinkSpeed {
    /// 100 Mbit/s; X540 and X550.
    #[value(name = "100m")]
    Mbit100 = 100,
    /// 1 Gbit/s.
    #[value(name = "1g")]
    Gbit1 = 1000,
    /// 2.5 Gbit/s; X550.
    #[value(name = "2.5g")]
    Gbit2_5 = 2500,
    /// 5 Gbit/s; X550.
    #[value(name = "5g")]
    Gbit5 = 5000,
    /// 10 Gbit/s.
    #[default]
    #[value(name = "10g")]
    Gbit10 = 10_000,
}

/// How a link comes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The state in which each driver finds the card, which a reset by CTRL.RST does not change. The default is a
/// card as it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftBehind {
    /// ESDP.SDP3 is high, so the laser of an optical module is off.
    pub laser_off: bool,
    /// AUTOC2.LINK_DISABLE is set, in the EEPROM too: every reset sets it again.
    pub link_disabled: bool,
    /// RTTBCNRC limits transmit queue 0 to this rate in Mbit/s, because the card was a generator.
    pub rate_limit: Option<u32>,
    /// The copper PHY is powered down.
    pub phy_off: bool,
}

impl FromStr for LeftBehind {
    type Err = ConfigError;

    /// States separated by commas, such as `laser-off,rate-limited=100`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut state = Self::default();
        for name in text.split(',') {
            match (name, name.strip_prefix("rate-limited=")) {
                ("laser-off", _) => state.laser_off = true,
                ("link-disabled", _) => state.link_disabled = true,
                ("phy-off", _) => state.phy_off = true,
                (_, Some(mbit)) => {
                    // RTTBCNRC divides the 10 Gbit/s of the link by at most 1024.
                    let limit = mbit.parse().ok();
                    let limit = limit.filter(|limit| (10..=10_000).contains(limit));
                    state.rate_limit = Some(limit.ok_or_else(|| {
                        ConfigError(format!("rate limit {mbit:?}: must be 10 to 10000 Mbit/s"))
                    })?);
                }
                _ => {
                    return Err(ConfigError(format!(
                        "unknown state {name:?}; choose from: laser-off, link-disabled, rate-limited=MBIT, phy-off"
                    )))
                }
            }
        }
        Ok(state)
    }
}
