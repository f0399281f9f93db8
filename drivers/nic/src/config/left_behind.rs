//! What an earlier driver left behind in the card, which a reset by CTRL.RST does not change.

use std::str::FromStr;

use crate::config::error::ConfigError;

/// Lowest rate limit in Mbit/s: RTTBCNRC divides the 10 Gbit/s of the link by at most 1024.
const MIN_LIMIT: u32 = 10;
/// Highest rate limit in Mbit/s.
const MAX_LIMIT: u32 = 10_000;

/// The state in which each driver finds the card. The default is a card as it comes.
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

/// The names of the states without a value, for error messages.
const NAMES: &str = "laser-off, link-disabled, rate-limited=MBIT, phy-off";

impl FromStr for LeftBehind {
    type Err = ConfigError;

    /// States separated by commas, such as `laser-off,rate-limited=100`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut state = Self::default();
        for name in text.split(',') {
            match name {
                "laser-off" => state.laser_off = true,
                "link-disabled" => state.link_disabled = true,
                "phy-off" => state.phy_off = true,
                _ => match name.strip_prefix("rate-limited=") {
                    Some(mbit) => state.rate_limit = Some(rate_limit(mbit)?),
                    None => {
                        return Err(ConfigError(format!(
                            "unknown state {name:?}; choose from: {NAMES}"
                        )))
                    }
                },
            }
        }
        Ok(state)
    }
}

fn rate_limit(text: &str) -> Result<u32, ConfigError> {
    let limit = text.parse().ok();
    limit
        .filter(|limit| (MIN_LIMIT..=MAX_LIMIT).contains(limit))
        .ok_or_else(|| {
            ConfigError(format!(
                "rate limit {text:?}: must be {MIN_LIMIT} to {MAX_LIMIT} Mbit/s"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_from_text() {
        let state: LeftBehind = "laser-off,rate-limited=100".parse().unwrap();
        assert!(state.laser_off && !state.link_disabled && !state.phy_off);
        assert_eq!(state.rate_limit, Some(100));
        let state: LeftBehind = "link-disabled,phy-off".parse().unwrap();
        assert!(state.link_disabled && state.phy_off && !state.laser_off);
    }

    #[test]
    fn an_error_lists_the_valid_states() {
        for text in ["", "laser", "laser-off,", "rate-limited"] {
            let error = text.parse::<LeftBehind>().unwrap_err().to_string();
            assert!(error.contains("rate-limited=MBIT"), "{error}");
        }
        for text in ["rate-limited=9", "rate-limited=10001", "rate-limited=x"] {
            let error = text.parse::<LeftBehind>().unwrap_err().to_string();
            assert!(error.contains("10 to 10000 Mbit/s"), "{error}");
        }
    }
}
