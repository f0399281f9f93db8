//! Writers of the generated files. Each writer is a pure function of the map: the same map always
//! gives the same bytes.

pub mod c;
mod constants;
pub mod markdown;
pub mod nic;
pub mod rust;

use std::collections::BTreeMap;

use crate::map::Bits;

/// First line of every generated file, after the language's comment sign.
const HEADER: &str = "generated from registers.toml by `make registers`; do not edit";

/// "Bit 26" or "Bits 15:13", for the start of a comment.
fn bits(bits: Bits) -> String {
    let plural = if bits.width() == 1 { "" } else { "s" };
    format!("Bit{plural} {bits}")
}

/// Named values in order of the value.
fn by_value(values: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut values: Vec<_> = values
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    values.sort_by_key(|(_, value)| *value);
    values
}
