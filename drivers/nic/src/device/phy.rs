//! The copper PHY of the X540 and X550, and the MDIO bus to it.
//!
//! The bus is that of IEEE 802.3, clause 45: a PHY has several devices with 65536 registers of 16
//! bits each. An access takes two cycles: the first sends the register's address, the second reads
//! or writes. Drivers run a cycle through MSCA and pass data through MSRWD.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// The PHY's address on the bus.
const ADDRESS: u32 = 0;
/// What a driver reads where no PHY answers: the wire stays high.
const NO_ANSWER: u16 = 0xffff;

/// Devices in the PHY.
const PMA: u32 = 1;
const PCS: u32 = 3;
const PHY_XS: u32 = 4;
const AUTONEGOTIATION: u32 = 7;
const VENDOR: u32 = 30;

/// Registers that every device has.
const CONTROL: u16 = 0;
const STATUS: u16 = 1;
const ID_HIGH: u16 = 2;
const ID_LOW: u16 = 3;
const DEVICES: u16 = 5;
const DEVICES_HIGH: u16 = 6;
const STATUS_2: u16 = 8;
/// Registers of the PMA.
const SPEEDS: u16 = 4;
const ABILITIES: u16 = 11;

/// The bit of a control register that resets the device, and the one that negotiates again. Both
/// clear themselves.
const CONTROL_RESET: u16 = 1 << 15;
const CONTROL_RESTART: u16 = 1 << 9;
/// In the control register of the vendor's device: the PHY is powered down.
const LOW_POWER: u16 = r::PHY_VENDOR_CONTROL_LOW_POWER as u16;
/// The link is up; negotiation is possible, and complete.
const STATUS_LINK: u16 = 1 << 2;
const STATUS_ABLE: u16 = 1 << 3;
const STATUS_COMPLETE: u16 = 1 << 5;
/// The device is present.
const STATUS_2_PRESENT: u16 = 1 << 15;

/// A PHY and its bus.
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    id: u32,
    /// The register that the last address cycle selected.
    selected: u16,
    /// What drivers have written, by device and register.
    written: HashMap<(u32, u16), u16>,
    /// Until then the PHY does not answer, because it starts again.
    silent_until: Option<Instant>,
}

impl Phy {
    pub(crate) fn new(id: u32) -> Self {
        Self {
            id,
            selected: 0,
            written: HashMap::new(),
            silent_until: None,
        }
    }

    /// The card was reset: the PHY does not answer for a while.
    pub(crate) fn restart(&mut self, silence: Duration) {
        self.silent_until = (!silence.is_zero()).then(|| Instant::now() + silence);
    }

    /// Whether the PHY is powered up.
    pub(crate) fn is_powered(&self) -> bool {
        let control = self.written.get(&(VENDOR, CONTROL));
        control.is_none_or(|control| control & LOW_POWER == 0)
    }

    /// Powers the PHY up or down, as a driver does.
    pub(crate) fn set_powered(&mut self, powered: bool) {
        let control = if powered { 0 } else { LOW_POWER };
        self.written.insert((VENDOR, CONTROL), control);
    }

    /// MSCA.MDI_COMMAND runs a cycle, at once.
    pub(crate) fn msca_written(&mut self, registers: &RegisterFile, value: u32, link: bool) {
        if value & r::MSCA_MDI_COMMAND == 0 {
            return;
        }
        let device = r::field_get(r::MSCA_DEV_TYPE, value);
        let here = self.silent_until.is_none_or(|end| Instant::now() >= end)
            && r::field_get(r::MSCA_PHY_ADDR, value) == ADDRESS
            && value & r::MSCA_ST_CODE == r::MSCA_ST_CODE_NEW_PROTOCOL;
        match value & r::MSCA_OP_CODE {
            r::MSCA_OP_CODE_ADDRESS => {
                self.selected = r::field_get(r::MSCA_NP_ADDR, value) as u16;
            }
            r::MSCA_OP_CODE_WRITE => {
                let data = r::field_get(r::MSRWD_WRITE_DATA, registers.get(r::MSRWD)) as u16;
                if here {
                    self.write(device, data);
                }
            }
            operation => {
                let data = if here {
                    self.read(device, link)
                } else {
                    NO_ANSWER
                };
                let data = r::field(r::MSRWD_READ_DATA, u32::from(data));
                registers.change(r::MSRWD, data, r::MSRWD_READ_DATA & !data);
                if operation == r::MSCA_OP_CODE_READ_AUTOINC {
                    self.selected = self.selected.wrapping_add(1);
                }
            }
        }
    }

    fn read(&self, device: u32, link: bool) -> u16 {
        if !matches!(device, PMA | PCS | PHY_XS | AUTONEGOTIATION | VENDOR) {
            return NO_ANSWER;
        }
        let when_up = |bits| if link { bits } else { 0 };
        match (device, self.selected) {
            (AUTONEGOTIATION, STATUS) => STATUS_ABLE | when_up(STATUS_COMPLETE | STATUS_LINK),
            (_, STATUS) => when_up(STATUS_LINK),
            (_, ID_HIGH) => (self.id >> 16) as u16,
            (_, ID_LOW) => self.id as u16,
            (_, DEVICES) => 1 << PMA | 1 << PCS | 1 << PHY_XS | 1 << AUTONEGOTIATION,
            (_, DEVICES_HIGH) => 1 << (VENDOR - 16),
            (PMA | PCS | PHY_XS, STATUS_2) => STATUS_2_PRESENT,
            // 10 Gbit/s, 1 Gbit/s and 100 Mbit/s.
            (PMA, SPEEDS) => 1 << 0 | 1 << 4 | 1 << 5,
            // 10GBASE-T, 1000BASE-T and 100BASE-TX.
            (PMA, ABILITIES) => 1 << 2 | 1 << 5 | 1 << 7,
            place => self.written.get(&place).copied().unwrap_or(0),
        }
    }

    fn write(&mut self, device: u32, data: u16) {
        let data = match self.selected {
            CONTROL => data & !(CONTROL_RESET | CONTROL_RESTART),
            _ => data,
        };
        // Drivers set some ten registers. A bound keeps a hostile driver from filling the memory.
        const MAX_WRITTEN: usize = 1024;
        let place = (device, self.selected);
        if self.written.len() < MAX_WRITTEN || self.written.contains_key(&place) {
            self.written.insert(place, data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    const ID: u32 = 0x0154_0200;

    struct Bus(Phy, RegisterFile);

    impl Bus {
        fn new() -> Self {
            let family = family_of(0x1528).unwrap();
            Self(Phy::new(ID), RegisterFile::new(0, family).unwrap())
        }

        fn cycle(&mut self, operation: u32, phy: u32, device: u32, register: u16) {
            let value = operation
                | r::field(r::MSCA_PHY_ADDR, phy)
                | r::field(r::MSCA_DEV_TYPE, device)
                | u32::from(register)
                | r::MSCA_MDI_COMMAND;
            self.0.msca_written(&self.1, value, true);
        }

        fn read(&mut self, phy: u32, device: u32, register: u16) -> u16 {
            self.cycle(r::MSCA_OP_CODE_ADDRESS, phy, device, register);
            self.cycle(r::MSCA_OP_CODE_READ, phy, device, register);
            (self.1.get(r::MSRWD) >> 16) as u16
        }

        fn write(&mut self, device: u32, register: u16, data: u16) {
            self.1.set(r::MSRWD, data.into());
            self.cycle(r::MSCA_OP_CODE_ADDRESS, ADDRESS, device, register);
            self.cycle(r::MSCA_OP_CODE_WRITE, ADDRESS, device, register);
        }
    }

    #[test]
    fn a_phy_that_starts_again_does_not_answer() {
        let mut bus = Bus::new();
        bus.0.restart(Duration::from_secs(3600));
        assert_eq!(bus.read(0, PMA, ID_HIGH), NO_ANSWER);
        bus.write(VENDOR, CONTROL, LOW_POWER);
        bus.0.restart(Duration::ZERO);
        assert_eq!(bus.read(0, PMA, ID_HIGH), 0x0154);
        assert!(bus.0.is_powered(), "it has not seen the write");
    }

    #[test]
    fn the_phy_answers_at_its_address_only() {
        let mut bus = Bus::new();
        assert_eq!(bus.read(0, PMA, ID_HIGH), 0x0154);
        assert_eq!(bus.read(0, PMA, ID_LOW), 0x0200);
        assert_eq!(bus.read(1, PMA, ID_HIGH), NO_ANSWER);
        assert_eq!(bus.read(0, 9, ID_HIGH), NO_ANSWER, "no such device");
    }

    #[test]
    fn registers_keep_what_is_written_and_commands_end() {
        let mut bus = Bus::new();
        bus.write(AUTONEGOTIATION, 0x20, 0x1000);
        assert_eq!(bus.read(0, AUTONEGOTIATION, 0x20), 0x1000);
        bus.write(AUTONEGOTIATION, CONTROL, 0x1000 | CONTROL_RESTART);
        assert_eq!(bus.read(0, AUTONEGOTIATION, CONTROL), 0x1000);
        let complete = STATUS_COMPLETE | STATUS_LINK | STATUS_ABLE;
        assert_eq!(bus.read(0, AUTONEGOTIATION, STATUS), complete);
    }
}
