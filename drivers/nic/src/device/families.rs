//! The families of cards, as data.
//!
//! A family is one [`Family`] value: its device ids, and everything in which it differs from the register
//! map of the 82599. Another family is another value, and one more entry in [`FAMILIES`].

use std::fmt;

use crate::config::LinkSpeed;
use crate::device::registers::{self as r, RegisterId as Id};

/// A family of cards.
#[derive(Debug)]
pub(crate) struct Family {
    /// Intel's name.
    pub(crate) name: &'static str,
    /// PCI device ids of the members that the card models.
    pub(crate) device_ids: &'static [u16],
    /// What connects a port to its wire.
    pub(crate) medium: Medium,
    /// How drivers read the EEPROM.
    pub(crate) eeprom: EepromAccess,
    /// Speeds of the link.
    pub(crate) speeds: &'static [LinkSpeed],
    /// Bytes of packet buffer for reception.
    pub(crate) rx_packet_buffer: usize,
    /// Registers that the family does not have, in groups. They read 0, and writes have no effect.
    pub(crate) missing: &'static [&'static [Id]],
    /// Bits that the family reserves. They read 0, and writes have no effect.
    pub(crate) reserved: &'static [(Id, u32)],
    /// Reset values that differ from the register map. They apply to all entries of an array.
    pub(crate) resets: &'static [(Id, u32)],
    /// Registers of optional features that the card models for this family.
    pub(crate) modelled: &'static [Id],
}

/// What connects a port to its wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A cage for an SFP+ module, which drivers read over the wires of I2CCTL. ESDP pin 2 reports
    /// the module, and pin 3 switches the laser off.
    SfpCage,
    /// A copper PHY for 10GBASE-T with this identifier. Drivers reach it through MSCA and MSRWD.
    CopperPhy(u32),
}

/// How drivers read the EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EepromAccess {
    /// Through EERD, or bit by bit over the wires of EEC.
    EerdOrWires,
    /// Through EERD.
    Eerd,
    /// By a command to the firmware, in FLEX_MNG and HICR.
    HostInterface,
}

impl Family {
    /// Whether the family has a register.
    pub(crate) fn has(&self, register: Id) -> bool {
        !self.missing.iter().any(|group| group.contains(&register))
    }

    /// Whether the card models a register that serves an optional feature.
    pub(crate) fn models(&self, register: Id) -> bool {
        self.modelled.contains(&register)
    }

    /// The bits of a register that the family reserves; all of a register that it does not have.
    pub(crate) fn reserved_bits(&self, register: Id) -> u32 {
        if !self.has(register) {
            return u32::MAX;
        }
        let rows = self.reserved.iter().filter(|(id, _)| *id == register);
        rows.fold(0, |bits, (_, more)| bits | more)
    }

    /// The family's own reset value of a register, if it has one.
    pub(crate) fn reset_of(&self, register: Id) -> Option<u32> {
        let row = self.resets.iter().find(|(id, _)| *id == register)?;
        Some(row.1)
    }
}

/// The modelled families.
static FAMILIES: [&Family; 3] = [&INTEL_82599, &X540, &X550];

/// A device id that the card does not model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownDevice(u16);

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families = FAMILIES.map(|family| {
            let ids: Vec<_> = family
                .device_ids
                .iter()
                .map(|id| format!("{id:04x}"))
                .collect();
            format!("{} ({})", family.name, ids.join(", "))
        });
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

/// The 82599, on cards with SFP+ cages: Intel's X520 and its relatives.
///
/// The register map is that of the 82599 datasheet. What only later families have is missing here.
/// The 82599's backplane, CX4, QSFP+ and 10GBASE-T cards are not modelled.
static INTEL_82599: Family = Family {
    name: "82599",
    device_ids: &[0x10fb, 0x1507, 0x1529, 0x154a, 0x154d, 0x1557],
    medium: Medium::SfpCage,
    eeprom: EepromAccess::EerdOrWires,
    speeds: &[LinkSpeed::Gbit1, LinkSpeed::Gbit10],
    rx_packet_buffer: 512 << 10,
    missing: &[LATER],
    reserved: &[
        // Drivers and firmware share SW_FW_SYNC by SWSM.SWESMBI.
        (Id::SW_FW_SYNC, r::SW_FW_SYNC_REGSMP | r::SW_FW_SYNC_I2C),
        (Id::RXDCTL, r::RXDCTL_RLPML | r::RXDCTL_RLPML_EN),
    ],
    resets: &[],
    modelled: &[],
};

/// The X540: the 82599's successor with integrated 10GBASE-T PHYs.
///
/// Sources: the X540 datasheet, and Linux's `ixgbe_x540.c`. The EEPROM is shadow memory in front of
/// a flash chip, without wires for software. The ports have no SFP+ cage and no backplane.
static X540: Family = Family {
    name: "X540",
    device_ids: &[0x1528, 0x1560],
    medium: Medium::CopperPhy(0x0154_0200),
    eeprom: EepromAccess::Eerd,
    speeds: &[LinkSpeed::Mbit100, LinkSpeed::Gbit1, LinkSpeed::Gbit10],
    rx_packet_buffer: RX_PACKET_BUFFER,
    missing: &[SERIAL_LINK, &[Id::ERETA]],
    reserved: &[
        // Drivers and firmware share SW_FW_SYNC by its own bit REGSMP.
        (Id::SWSM, r::SWSM_SWESMBI),
        (Id::SW_FW_SYNC, r::SW_FW_SYNC_I2C),
        (Id::EEC, EEPROM_WIRES),
    ],
    resets: RESETS,
    modelled: &[],
};

/// Bytes of packet buffer for reception: 384 KiB.
const RX_PACKET_BUFFER: usize = 384 << 10;

/// Reset values of the X540 and X550.
const RESETS: &[(Id, u32)] = &[(Id::RXPBSIZE, RX_PACKET_BUFFER as u32)];

/// The bits of EEC with which software drives the wires of the 82599's EEPROM.
const EEPROM_WIRES: u32 = r::EEC_SK
    | r::EEC_CS
    | r::EEC_DI
    | r::EEC_DO
    | r::EEC_FWE
    | r::EEC_REQ
    | r::EEC_GNT
    | r::EEC_ADDR_SIZE;

/// The registers that only later families have.
#[rustfmt::skip]
const LATER: &[Id] = &[
    Id::ERETA, Id::EEWR, Id::SRAMREL, Id::O2BGPTC, Id::O2BSPC, Id::B2OSPC, Id::B2OGPRC, Id::VMECM,
    Id::TSICR, Id::TSIM,
];

/// The registers of serial and backplane links.
#[rustfmt::skip]
const SERIAL_LINK: &[Id] = &[
    Id::AUTOC, Id::AUTOC2, Id::AUTOC3, Id::ANLP1, Id::ANLP2, Id::ANLPNP1, Id::ANLPNP2, Id::KRPCSFC,
    Id::KRPCSS, Id::SERDESC, Id::CORECTL, Id::SMADARCTL,
];

/// The X550: like the X540, with an EEPROM behind the firmware.
///
/// Source: Linux's `ixgbe_x550.c`. The controllers inside processors that Linux also calls X550 (X552,
/// X553) have other PHYs and buses, and are not modelled.
static X550: Family = Family {
    name: "X550",
    device_ids: &[0x1563, 0x15d1],
    medium: Medium::CopperPhy(0x0154_0223),
    eeprom: EepromAccess::HostInterface,
    speeds: &[
        LinkSpeed::Mbit100,
        LinkSpeed::Gbit1,
        LinkSpeed::Gbit2_5,
        LinkSpeed::Gbit5,
        LinkSpeed::Gbit10,
    ],
    rx_packet_buffer: RX_PACKET_BUFFER,
    // Linux reads and writes the EEPROM through the firmware only.
    missing: &[SERIAL_LINK, &[Id::EERD, Id::EEWR]],
    reserved: &[(Id::SWSM, r::SWSM_SWESMBI), (Id::EEC, EEPROM_WIRES)],
    resets: &[
        (Id::RXPBSIZE, RX_PACKET_BUFFER as u32),
        (Id::HICR, r::HICR_EN),
    ],
    modelled: &[Id::HICR, Id::FLEX_MNG],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::registers::DEVICE_IDS;

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
            let id = format!("{id:04x}");
            for text in [&id, "82599 (10fb", "X540 (1528", "X550 (1563"] {
                assert!(error.contains(text), "{error}");
            }
        }
    }

    #[test]
    fn a_missing_register_is_all_reserved() {
        let x540 = family_of(0x1528).unwrap();
        assert_eq!(x540.reserved_bits(Id::AUTOC), u32::MAX);
        assert_eq!(x540.reserved_bits(Id::CTRL), 0);
        assert!(family_of(0x10fb).unwrap().has(Id::AUTOC));
    }
}
