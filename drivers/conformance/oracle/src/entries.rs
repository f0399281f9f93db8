//! A register's name with a set of its entries: `CTRL`, `RDBAL(0)`, `RXPBSIZE(1-7)`, `EITR(0-1,16)`.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context, Result};

/// Writes a register and its entries. A register that is not an array has no entries.
#[must_use]
pub fn label(name: &str, entries: &BTreeSet<u32>) -> String {
    if entries.is_empty() {
        return name.to_owned();
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for entry in entries {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *entry => *last = *entry,
            _ => ranges.push((*entry, *entry)),
        }
    }
    let ranges: Vec<String> = ranges
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    format!("{name}({})", ranges.join(","))
}

/// Reads what [`label`] writes.
///
/// # Errors
/// If the text is not a label.
pub fn parse(text: &str) -> Result<(&str, BTreeSet<u32>)> {
    let Some((name, rest)) = text.split_once('(') else {
        return Ok((text, BTreeSet::new()));
    };
    let list = rest
        .strip_suffix(')')
        .with_context(|| format!("{text}: the closing parenthesis is missing"))?;
    let mut entries = BTreeSet::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
            bail!("{text}: {range} is no range of entries, such as 1-7");
        };
        ensure!(
            first <= last && last < 0x10000,
            "{text}: {range} is no range"
        );
        entries.extend(first..=last);
    }
    Ok((name, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_can_be_read_back() {
        for (entries, text) in [
            (vec![], "CTRL"),
            (vec![0], "CTRL(0)"),
            (vec![1, 2, 3], "CTRL(1-3)"),
            (vec![0, 1, 16], "CTRL(0-1,16)"),
        ] {
            let entries: BTreeSet<u32> = entries.into_iter().collect();
            assert_eq!(label("CTRL", &entries), text);
            assert_eq!(parse(text).unwrap(), ("CTRL", entries));
        }
    }

    #[test]
    fn a_label_with_a_bad_range_is_refused() {
        for text in ["CTRL(", "CTRL(1", "CTRL(x)", "CTRL(3-1)", "CTRL(0-99999)"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
