//! The 82599, on cards with SFP+ cages: Intel's X520 and its relatives.
//!
//! The register map is that of the 82599 datasheet. What only later families have is missing here.
//! The 82599's backplane, CX4, QSFP+ and 10GBASE-T cards are not modelled.

use crate::config::LinkSpeed;
use crate::device::families::family::{EepromAccess, Family, Medium};
use crate::device::registers::{self as r, RegisterId};

pub(super) static FAMILY: Family = Family {
    name: "82599",
    device_ids: &[0x10fb, 0x1507, 0x1529, 0x154a, 0x154d, 0x1557],
    medium: Medium::SfpCage,
    eeprom: EepromAccess::EerdOrWires,
    speeds: &[LinkSpeed::Gbit1, LinkSpeed::Gbit10],
    rx_packet_buffer: 512 << 10,
    missing: &[&[
        RegisterId::ERETA,
        RegisterId::EEWR,
        RegisterId::SRAMREL,
        RegisterId::O2BGPTC,
        RegisterId::O2BSPC,
        RegisterId::B2OSPC,
        RegisterId::B2OGPRC,
        RegisterId::VMECM,
        RegisterId::TSICR,
        RegisterId::TSIM,
    ]],
    reserved: &[
        // Drivers and firmware share SW_FW_SYNC by SWSM.SWESMBI.
        (
            RegisterId::SW_FW_SYNC,
            r::SW_FW_SYNC_REGSMP | r::SW_FW_SYNC_I2C,
        ),
        (RegisterId::RXDCTL, r::RXDCTL_RLPML | r::RXDCTL_RLPML_EN),
    ],
    resets: &[],
    modelled: &[],
};
