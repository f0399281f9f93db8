//! What the launcher writes for the bridge.
//!
//! `triptych with-card` writes a [`Config`] as JSON to a file, and names the file in the environment
//! variable [`VARIABLE`]. The bridge reads it when the program starts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The environment variable that holds the path of the file.
pub const VARIABLE: &str = "TRIPTYCH_BRIDGE";

/// The file that the bridge makes beside its configuration as soon as a program has loaded it.
pub fn loaded_mark(config: &Path) -> PathBuf {
    config.with_extension("loaded")
}

/// Most ports of a card.
pub const MAX_PORTS: usize = 16;

/// Widths of an IOMMU's addresses that Intel processors have, in bits.
pub const ADDRESS_WIDTHS: std::ops::RangeInclusive<u8> = 39..=57;

/// What the bridge must know about the card and its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The card's ports, 1 to [`MAX_PORTS`].
    pub ports: Vec<Port>,
    /// Most bytes that the program may map for DMA, as RLIMIT_MEMLOCK limits them. `None` is no limit.
    pub memlock: Option<u64>,
    /// Folder of the files that stand for the device nodes. It holds `vfio`, a file for each group
    /// named by its number, `devices/vfioN` and `iommu`.
    pub placeholders: PathBuf,
    /// Bits of an IOVA, one of [`ADDRESS_WIDTHS`].
    #[serde(default = "default_address_width")]
    pub address_width: u8,
}

/// A port of the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// PCI address, for example `0000:03:00.0`.
    pub address: String,
    /// Number of the IOMMU group.
    pub group: u32,
    /// Name of the character device in `/dev/vfio/devices`, for example `vfio0`.
    pub cdev: String,
    /// Absolute path of the port's vfio-user socket.
    pub socket: PathBuf,
}

/// Why the bridge refuses a configuration.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Read(PathBuf, #[source] std::io::Error),
    /// The file is not a configuration.
    #[error("{0}: {1}")]
    Parse(PathBuf, #[source] serde_json::Error),
    /// A value is wrong.
    #[error("{0}: {1}")]
    Value(PathBuf, String),
}

/// The address width of most processors with an IOMMU.
pub fn default_address_width() -> u8 {
    48
}

impl Config {
    /// Reads and checks the configuration in a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::Read(path.into(), e))?;
        let config: Self = serde_json::from_str(&text).map_err(|e| Error::Parse(path.into(), e))?;
        match config.mistake() {
            None => Ok(config),
            Some(mistake) => Err(Error::Value(path.into(), mistake)),
        }
    }

    /// Describes a value that the bridge cannot work with. The rest is what the launcher writes.
    fn mistake(&self) -> Option<String> {
        let count = self.ports.len();
        if !(1..=MAX_PORTS).contains(&count) {
            return Some(format!("ports: {count} given, 1 to {MAX_PORTS} needed"));
        }
        let (width, widths) = (self.address_width, ADDRESS_WIDTHS);
        if !widths.contains(&width) {
            let (least, most) = widths.into_inner();
            return Some(format!("address_width: {width} is not {least} to {most}"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"ports": [{"address": "0000:03:00.0", "group": 23, "cdev": "vfio0",
        "socket": "/s/port0.sock"}], "memlock": null, "placeholders": "/p"}"#;

    fn mistake(from: &str, to: &str) -> String {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        match serde_json::from_str::<Config>(&text) {
            Ok(config) => config.mistake().unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_good_configuration_survives_writing_and_reading() {
        let config: Config = serde_json::from_str(GOOD).unwrap();
        assert_eq!(config.mistake(), None);
        assert_eq!(config.address_width, 48);
        let again = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&again).unwrap(), config);
    }

    #[test]
    fn wrong_values_are_named() {
        assert!(mistake("\"memlock\"", "\"mlock\"").contains("unknown field `mlock`"));
        assert!(mistake("23, \"cdev\"", "-1, \"cdev\"").contains("-1"));
        assert!(mistake("null", "null, \"address_width\": 12").contains("address_width: 12"));
    }
}
