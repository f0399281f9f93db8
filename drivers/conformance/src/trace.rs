//! Compares traces of register accesses.

use std::fmt::Write;

use anyhow::{bail, Result};
use nic::registers::REGISTERS;
use nic::TraceEntry;

/// Common lines shown in front of the first difference of two traces.
const CONTEXT: usize = 5;

/// Removes repeated reads of the same value: their number depends on the driver's speed.
#[must_use]
pub fn without_polling(mut entries: Vec<TraceEntry>) -> Vec<TraceEntry> {
    entries.dedup_by(|next, kept| !kept.write && next == kept);
    entries
}

/// Checks that two traces are the same.
pub fn expect_same(one: (&str, &[TraceEntry]), other: (&str, &[TraceEntry])) -> Result<()> {
    let (a, b) = (one.1, other.1);
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if same == a.len() && same == b.len() {
        return Ok(());
    }
    let mut text = format!("register accesses differ at number {same}:\n");
    for entry in &a[same.saturating_sub(CONTEXT)..same] {
        writeln!(text, "  both: {entry}")?;
    }
    for (name, entries) in [one, other] {
        match entries.get(same) {
            Some(entry) => writeln!(text, "  {name}: {entry}")?,
            None => writeln!(text, "  {name}: no further access")?,
        }
    }
    bail!(text)
}

/// The bits of a register that have a meaning in the datasheet. A register without fields, or one
/// that is not in the map, has a meaning for all bits.
pub fn known_bits(entry: &TraceEntry) -> u32 {
    let name = entry.register.split('(').next().unwrap_or_default();
    let register = REGISTERS.iter().find(|register| register.name == name);
    match register.map(|register| register.fields) {
        None | Some([]) => u32::MAX,
        Some(fields) => fields.iter().fold(0, |bits, field| bits | field.mask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(write: bool, register: &str, value: u32) -> TraceEntry {
        TraceEntry {
            port: 0,
            write,
            register: register.to_owned(),
            address: 0,
            value,
            size: 4,
        }
    }

    #[test]
    fn only_repeated_reads_of_the_same_value_are_removed() {
        let entries = vec![
            entry(false, "LINKS", 0),
            entry(false, "LINKS", 0),
            entry(false, "LINKS", 1),
            entry(true, "RDT(0)", 1),
            entry(true, "RDT(0)", 1),
            entry(false, "LINKS", 1),
        ];
        let kept = without_polling(entries.clone());
        assert_eq!(kept, entries[1..]);
    }

    #[test]
    fn the_error_shows_the_first_difference() {
        let one = [entry(true, "CTRL", 1), entry(true, "CTRL", 2)];
        let other = [entry(true, "CTRL", 1)];
        expect_same(("c", &one), ("rust", &one)).unwrap();
        let error = expect_same(("c", &one), ("rust", &other))
            .unwrap_err()
            .to_string();
        assert!(error.contains("number 1"), "{error}");
        assert!(error.contains("c: 0 W CTRL 0x00000002"), "{error}");
        assert!(error.contains("rust: no further access"), "{error}");
    }

    #[test]
    fn reserved_bits_are_those_without_a_field() {
        assert_eq!(known_bits(&entry(true, "DTXMXSZRQ", 0)) & 0xf000, 0);
        assert_eq!(known_bits(&entry(true, "RDT(3)", 0)) & 0xff, 0xff);
        assert_eq!(known_bits(&entry(true, "PCI(0x004)", 0)), u32::MAX);
    }
}
