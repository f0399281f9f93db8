//! The families of cards, as data.
//!
//! A family is a file with one [`Family`] value: its device ids, and everything in which it differs
//! from the register map of the 82599. Another family is another file, and one more entry in
//! [`FAMILIES`].

mod family;
mod intel_82599;
mod x540;
mod x550;

use std::fmt;

pub(crate) use family::{EepromAccess, Family, Medium};

/// The modelled families.
static FAMILIES: [&Family; 3] = [&intel_82599::FAMILY, &x540::FAMILY, &x550::FAMILY];

/// A device id that the card does not model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownDevice(u16);

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families: Vec<String> = FAMILIES
            .iter()
            .map(|family| {
                let ids: Vec<_> = family
                    .device_ids
                    .iter()
                    .map(|id| format!("{id:04x}"))
                    .collect();
                format!("{} ({})", family.name, ids.join(", "))
            })
            .collect();
        let families = families.join(", ");
        write!(
            f,
            "the card does not model device id {:04x}; choose one of: {families}",
            self.0
        )
    }
}

impl std::error::Error for UnknownDevice {}

/// The family of a device id.
pub(crate) fn family_of(device_id: u16) -> Result<&'static Family, UnknownDevice> {
    FAMILIES
        .into_iter()
        .find(|family| family.device_ids.contains(&device_id))
        .ok_or(UnknownDevice(device_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::registers::{RegisterId, DEVICE_IDS};

    #[test]
    fn the_register_map_has_every_modelled_device() {
        for family in FAMILIES {
            for id in family.device_ids {
                let device = DEVICE_IDS.iter().find(|device| device.id == *id);
                let device = device.unwrap();
                assert_eq!(device.family.name(), family.name);
                assert_eq!(device.refused, None, "{id:04x}: the drivers refuse it");
                assert_eq!(family_of(*id).unwrap().name, family.name);
            }
        }
    }

    #[test]
    fn an_unknown_device_lists_the_modelled_ones() {
        for id in [0x15ad, 0x15c8, 0x10f7, 0x151c, 0xffff] {
            let error = family_of(id).unwrap_err().to_string();
            for text in [
                &format!("{id:04x}"),
                "82599 (10fb",
                "X540 (1528",
                "X550 (1563",
            ] {
                assert!(error.contains(text), "{error}");
            }
        }
    }

    #[test]
    fn a_missing_register_is_all_reserved() {
        let x540 = family_of(0x1528).unwrap();
        assert_eq!(x540.reserved_bits(RegisterId::AUTOC), u32::MAX);
        assert_eq!(x540.reserved_bits(RegisterId::CTRL), 0);
        assert!(family_of(0x10fb).unwrap().has(RegisterId::AUTOC));
    }
}
