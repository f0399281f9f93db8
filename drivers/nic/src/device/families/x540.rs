//! The X540: the 82599's successor with integrated 10GBASE-T PHYs.
//!
//! Sources: the X540 datasheet, and Linux's `ixgbe_x540.c`. The EEPROM is shadow memory in front of
//! a flash chip, without wires for software. The ports have no SFP+ cage and no backplane.

use crate::config::LinkSpeed;
use crate::device::families::family::{EepromAccess, Family, Medium};
use crate::device::registers::{self as r, RegisterId};

pub(super) static FAMILY: Family = Family {
    name: "X540",
    device_ids: &[0x1528, 0x1560],
    medium: Medium::CopperPhy(0x0154_0200),
    eeprom: EepromAccess::Eerd,
    speeds: &[LinkSpeed::Mbit100, LinkSpeed::Gbit1, LinkSpeed::Gbit10],
    rx_packet_buffer: RX_PACKET_BUFFER,
    missing: &[SERIAL_LINK, &[RegisterId::ERETA]],
    reserved: &[
        // Drivers and firmware share SW_FW_SYNC by its own bit REGSMP.
        (RegisterId::SWSM, r::SWSM_SWESMBI),
        (RegisterId::SW_FW_SYNC, r::SW_FW_SYNC_I2C),
        (RegisterId::EEC, EEPROM_WIRES),
    ],
    resets: RESETS,
    modelled: &[],
};

/// Bytes of packet buffer for reception: 384 KiB.
pub(super) const RX_PACKET_BUFFER: usize = 384 << 10;

/// Reset values of the X540 and X550.
pub(super) const RESETS: &[(RegisterId, u32)] = &[(RegisterId::RXPBSIZE, RX_PACKET_BUFFER as u32)];

/// The bits of EEC with which software drives the wires of the 82599's EEPROM.
pub(super) const EEPROM_WIRES: u32 = r::EEC_SK
    | r::EEC_CS
    | r::EEC_DI
    | r::EEC_DO
    | r::EEC_FWE
    | r::EEC_REQ
    | r::EEC_GNT
    | r::EEC_ADDR_SIZE;

/// The registers of serial and backplane links.
pub(super) const SERIAL_LINK: &[RegisterId] = &[
    RegisterId::AUTOC,
    RegisterId::AUTOC2,
    RegisterId::AUTOC3,
    RegisterId::ANLP1,
    RegisterId::ANLP2,
    RegisterId::ANLPNP1,
    RegisterId::ANLPNP2,
    RegisterId::KRPCSFC,
    RegisterId::KRPCSS,
    RegisterId::SERDESC,
    RegisterId::CORECTL,
    RegisterId::SMADARCTL,
];
