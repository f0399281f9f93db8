//! PCI addresses.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A PCI address: domain, bus, device and function, such as `0000:03:00.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

/// A text that is not a PCI address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a PCI address such as 0000:03:00.0 or 03:00.0 (`lspci -D` lists them)")]
pub struct InvalidPciAddress(String);

impl FromStr for PciAddress {
    type Err = InvalidPciAddress;

    /// Parses `0000:03:00.0`, or `03:00.0` in domain 0.
    fn from_str(text: &str) -> Result<Self, InvalidPciAddress> {
        let parse = || {
            let (rest, function) = text.split_once('.')?;
            let parts: Vec<&str> = rest.split(':').collect();
            let (domain, bus, device) = match parts.as_slice() {
                [bus, device] => ("0", bus, device),
                [domain, bus, device] => (*domain, bus, device),
                _ => return None,
            };
            let address = Self {
                domain: hex(domain, 8)?,
                bus: hex(bus, 2)?.try_into().ok()?,
                device: hex(device, 2)?.try_into().ok()?,
                function: hex(function, 1)?.try_into().ok()?,
            };
            (address.device < 32 && address.function < 8).then_some(address)
        };
        parse().ok_or_else(|| InvalidPciAddress(text.to_owned()))
    }
}

/// Parses a number of 1 to `digits` hexadecimal digits, without a sign or blanks.
fn hex(text: &str, digits: usize) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (plain && text.len() <= digits).then(|| u32::from_str_radix(text, 16).ok())?
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
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
    fn short_and_long_forms_are_equal() {
        for (given, whole) in [
            ("0000:03:00.0", "0000:03:00.0"),
            ("03:00.0", "0000:03:00.0"),
            ("3:0.1", "0000:03:00.1"),
            ("0000:AF:1f.7", "0000:af:1f.7"),
            ("10000:01:00.0", "10000:01:00.0"),
        ] {
            let address: PciAddress = given.parse().unwrap();
            assert_eq!(address.to_string(), whole, "{given}");
            assert_eq!(whole.parse(), Ok(address));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in [
            "",
            "eth0",
            "03:00",
            "03.0",
            "03:00.8",
            "03:20.0",
            "0000:0000:03:00.0",
            "+3:00.0",
            "03:00.0 ",
            "../../x",
            "103:00.0",
            ":.",
        ] {
            assert!(wrong.parse::<PciAddress>().is_err(), "{wrong}");
        }
    }
}
