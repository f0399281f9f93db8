//! A port's link: its module, its speed, and what an earlier driver left behind.

use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct LinkSettings {
    /// Speed of the links: 100m, 1g, 2.5g, 5g or 10g; each family of cards has some of them
    #[arg(
        long = "link-speed",
        value_enum,
        value_name = "SPEED",
        default_value = "10g"
    )]
    pub speed: LinkSpeed,
    /// Time in seconds from a reset until the link is up, as the training of 10GBASE-T takes it
    #[arg(long = "link-delay", value_name = "S", value_parser = seconds, default_value = "0")]
    pub delay: Duration,
    /// Links stay down until the driver has reset the card N times
    #[arg(long = "link-attempts", value_name = "N", default_value_t = 0)]
    pub attempts: u32,
}

/// Reads a number of seconds, for options of a command line.
pub fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or("write a number of seconds, such as 10 or 0.5")
}

/// The state in which each driver finds the card, which a reset by CTRL.RST does not change. The default is a
/// card as it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct LeftBehind {
    /// ESDP.SDP3 is high, so the laser of an optical module is off.
    pub laser_off: bool,
    /// AUTOC2.LINK_DISABLE is set, in the EEPROM too: every reset sets it again.
    pub link_disabled: bool,
    /// RTTBCNRC limits transmit queue 0 to this rate in Mbit/s, because the card was a generator.
    #[serde(rename = "rate-limited")]
    pub rate_limit: Option<u32>,
    /// The copper PHY is powered down.
    pub phy_off: bool,
}

impl FromStr for LeftBehind {
    type Err = ConfigError;

    /// States separated by commas, such as `laser-off,rate-limited=100`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        // RTTBCNRC divides the 10 Gbit/s of the link by at most 1024.
        let fits = |it: &Self| {
            it.rate_limit
                .is_none_or(|mbit| (10..=10_000).contains(&mbit))
        };
        read_fields(text).filter(fits).ok_or_else(|| {
            ConfigError(format!(
                "left behind {text:?}: write some of laser-off, link-disabled, phy-off and rate-limited=MBIT; \
                 a limit is 10 to 10000 Mbit/s"
            ))
        })
    }
}

/// Reads fields separated by commas, as `NAME=VALUE`, or `NAME` for one that is true. `None` if one is wrong.
pub(super) fn read_fields<T: DeserializeOwned>(text: &str) -> Option<T> {
    let fields = text.split(',').map(|field| match field {
        "" => String::new(),
        name if !name.contains('=') => format!("{name} = true\n"),
        field => format!("{field}\n"),
    });
    toml::from_str(&fields.collect::<String>()).ok()
}
