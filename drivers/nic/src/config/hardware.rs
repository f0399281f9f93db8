//! In what a real card may differ from the model.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use crate::error::ConfigError;

/// The profiles that come with the card.
const PROFILES: &str = include_str!("../../hardware.toml");

/// How the card behaves where sources disagree. `hardware.toml` explains the fields. The default is the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Hardware {
    /// TDH moves only with write-backs.
    pub head_with_write_back: bool,
    /// Groups of transmit descriptors are written back a round later.
    pub late_write_backs: bool,
    /// GORC and QBRC leave out the CRC that the card strips.
    pub bytes_without_crc: bool,
    /// A counter that is read twice in a row shows its value again, and a reset clears no counter.
    pub slow_counters: bool,
    /// EIAM_EX(0) does not follow EIAM.
    pub separate_eiam: bool,
    /// Milliseconds after a reset in which the copper PHY does not answer.
    pub silent_phy_ms: u64,
    /// Reads of SW_FW_SYNC until firmware releases the copper PHY.
    pub firmware_looks: u32,
    /// The start of the port at which the link goes down once more; 0 is none.
    pub flap_at_start: u32,
}

impl Hardware {
    /// How long the copper PHY does not answer after a reset.
    pub(crate) fn silent_phy(self) -> Duration {
        Duration::from_millis(self.silent_phy_ms)
    }
}

impl FromStr for Hardware {
    type Err = ConfigError;

    /// The name of a profile of `hardware.toml`, or a TOML file with one.
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let wrong = |why: String| ConfigError(format!("hardware {name:?}: {why}"));
        let from_file = Path::new(name).extension().is_some();
        let text = match from_file.then(|| std::fs::read_to_string(name)) {
            None => PROFILES.to_owned(),
            Some(read) => read.map_err(|error| wrong(format!("cannot read it: {error}")))?,
        };
        let profiles: BTreeMap<String, Self> =
            toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if from_file {
            let [profile] = Vec::from_iter(profiles.values())[..] else {
                let why = "the file must have one table, the profile";
                return Err(wrong(why.to_owned()));
            };
            return Ok(*profile);
        }
        profiles.get(name).copied().ok_or_else(|| {
            let names = Vec::from_iter(profiles.keys().map(String::as_str)).join(" or ");
            wrong(format!("choose {names}, or a TOML file with a profile"))
        })
    }
}

#[cfg(test)]
#[test]
fn one_profile_is_the_model_and_the_other_differs_in_every_field() {
    let model: Hardware = "datasheet".parse().unwrap();
    assert_eq!(model, Hardware::default());
    let differs: Hardware = "differs".parse().unwrap();
    for text in [" false", " 0,", " 0 }"] {
        assert!(!format!("{differs:?}").contains(text), "{differs:?}");
    }
}
