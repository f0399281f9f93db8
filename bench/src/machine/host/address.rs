//! PCI addresses.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result};
use serde::{Serialize, Serializer};

/// A PCI address: domain, bus, device and function, such as `0000:03:00.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress([u32; 4]);

impl FromStr for PciAddress {
    type Err = anyhow::Error;

    /// Parses `0000:03:00.0`, or `03:00.0` in domain 0.
    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (rest, function) = text.split_once('.')?;
            let parts: Vec<&str> = rest.split(':').collect();
            let (domain, bus, device) = match parts.as_slice() {
                [bus, device] => ("0", *bus, *device),
                [domain, bus, device] => (*domain, *bus, *device),
                _ => return None,
            };
            Some(Self([
                hex(domain, u32::MAX)?,
                hex(bus, 0xff)?,
                hex(device, 31)?,
                hex(function, 7)?,
            ]))
        };
        parse().with_context(|| {
            format!("{text:?} is not a PCI address such as 0000:03:00.0 or 03:00.0 (`lspci -D` lists them)")
        })
    }
}

/// Parses a hexadecimal number, without a sign or blanks.
fn hex(text: &str, most: u32) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(text, 16).ok()?;
    (plain && number <= most).then_some(number)
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([domain, bus, device, function]) = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

impl Serialize for PciAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_forms_are_parsed_and_other_texts_refused() {
        let parse = |text: &str| text.parse::<PciAddress>();
        for text in ["0000:03:00.0", "03:00.0", "3:0.0", "0:03:00.0"] {
            assert_eq!(parse(text).unwrap().to_string(), "0000:03:00.0");
        }
        let long = parse("10000:AF:1f.7").unwrap();
        assert_eq!(long.to_string(), "10000:af:1f.7");
        let wrong = "/eth0/03:00/03.0/03:00.8/03:20.0/0:0:3:0.0/+3:00.0/03:00.0 /103:00.0/:.";
        for text in wrong.split('/') {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
