//! What distinguishes a family of cards.

use crate::config::LinkSpeed;
use crate::device::registers::RegisterId;

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
    pub(crate) missing: &'static [&'static [RegisterId]],
    /// Bits that the family reserves. They read 0, and writes have no effect.
    pub(crate) reserved: &'static [(RegisterId, u32)],
    /// Reset values that differ from the register map. They apply to all entries of an array.
    pub(crate) resets: &'static [(RegisterId, u32)],
    /// Registers of optional features that the card models for this family.
    pub(crate) modelled: &'static [RegisterId],
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
    pub(crate) fn has(&self, register: RegisterId) -> bool {
        !self.missing.iter().any(|group| group.contains(&register))
    }

    /// Whether the card models a register that serves an optional feature.
    pub(crate) fn models(&self, register: RegisterId) -> bool {
        self.modelled.contains(&register)
    }

    /// The bits of a register that the family reserves; all of a register that it does not have.
    pub(crate) fn reserved_bits(&self, register: RegisterId) -> u32 {
        if !self.has(register) {
            return u32::MAX;
        }
        let rows = self.reserved.iter().filter(|(id, _)| *id == register);
        rows.fold(0, |bits, (_, more)| bits | more)
    }

    /// The family's own reset value of a register, if it has one.
    pub(crate) fn reset_of(&self, register: RegisterId) -> Option<u32> {
        let row = self.resets.iter().find(|(id, _)| *id == register)?;
        Some(row.1)
    }
}
