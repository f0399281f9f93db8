//! Writers of the generated files. Each writer is a pure function of the map: the same map always
//! gives the same bytes.

pub mod c;
pub mod markdown;
pub mod nic;
pub mod rust;

use std::collections::BTreeMap;

use crate::map::{Bits, Range, Register};

/// First line of every generated file, after the language's comment sign.
pub const HEADER: &str = "generated from registers.toml by `make registers`; do not edit";

/// "Bit 26" or "Bits 15:13", for the start of a comment.
fn bits(bits: Bits) -> String {
    let plural = if bits.width() == 1 { "" } else { "s" };
    format!("Bit{plural} {bits}")
}

/// `text` with the datasheet's section appended, for a comment.
fn with_section(text: &str, section: Option<&String>) -> String {
    match section {
        Some(section) => format!("{text} Datasheet {section}."),
        None => text.to_owned(),
    }
}

/// The comment on a register's aliases.
fn alias_note(register: &Register) -> Option<String> {
    let alias = |range: &Range| {
        let place = if range.count == 1 {
            format!("{:#07x}", range.offset)
        } else {
            format!("{:#07x} + {:#x} * n", range.offset, range.stride)
        };
        if register.is_array() {
            format!(
                "{place} (entries {}..{})",
                range.first,
                range.first + range.count
            )
        } else {
            place
        }
    };
    if register.aliases.is_empty() {
        return None;
    }
    let places: Vec<String> = register.aliases.iter().map(alias).collect();
    Some(format!("Also at {}.", places.join(" and ")))
}

/// A field's named values as constants, in order of the value: name and shifted value.
fn named_values(field: &str, bits: Bits, values: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    by_value(values)
        .into_iter()
        .map(|(name, value)| (format!("{field}_{name}"), value << bits.lo))
        .collect()
}

/// Named values in order of the value.
fn by_value(values: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut values: Vec<(String, u64)> = values
        .iter()
        .map(|(name, value)| (name.clone(), *value))
        .collect();
    values.sort_by_key(|(_, value)| *value);
    values
}
