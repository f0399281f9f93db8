//! The X550: like the X540, with an EEPROM behind the firmware.
//!
//! Source: Linux's `ixgbe_x550.c`. The controllers inside processors that Linux also calls X550 (X552,
//! X553) have other PHYs and buses, and are not modelled.

use crate::config::LinkSpeed;
use crate::device::families::family::{EepromAccess, Family, Medium};
use crate::device::families::x540::{EEPROM_WIRES, RX_PACKET_BUFFER, SERIAL_LINK};
use crate::device::registers::{self as r, RegisterId};

pub(super) static FAMILY: Family = Family {
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
    missing: &[SERIAL_LINK, &[RegisterId::EERD, RegisterId::EEWR]],
    reserved: &[
        (RegisterId::SWSM, r::SWSM_SWESMBI),
        (RegisterId::EEC, EEPROM_WIRES),
    ],
    resets: &[
        (RegisterId::RXPBSIZE, RX_PACKET_BUFFER as u32),
        (RegisterId::HICR, r::HICR_EN),
    ],
    modelled: &[RegisterId::HICR, RegisterId::FLEX_MNG],
};
