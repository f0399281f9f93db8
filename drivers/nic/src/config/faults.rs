//! Faults that the device shows on request, by name.

use crate::config::error::ConfigError;
use crate::device::registers as r;

/// A length above the 2 KiB of a driver's packet buffer, but within the 4 KiB that two adjacent
/// buffers have: a driver that believes it can still send the packet on.
const LENGTH_BEYOND: u16 = 4000;

/// Faults of the device. All are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// CTRL.RST never clears.
    pub never_finish_reset: bool,
    /// The device never consumes transmit descriptors.
    pub stall_tx: bool,
    /// The link is down for good.
    pub no_link: bool,
    /// STATUS.MASTER_ENABLE stays set after CTRL.MASTER_DISABLE.
    pub master_stays: bool,
    /// The device has gone. Registers and configuration space read all ones, writes have no effect,
    /// and the device neither receives nor sends. Pages that a driver has mapped keep their values,
    /// so combine this fault with [`MmioMode::Trap`](crate::MmioMode::Trap).
    pub removed: bool,
    /// The device writes false values back to receive descriptors.
    pub receive: Option<ReceiveFault>,
    /// The device also fills descriptors from the tail on, which belong to the driver.
    pub ignore_tail: bool,
    /// RDH and TDH show values beyond the ends of the rings.
    pub head_beyond_ring: bool,
    /// The configuration space shows this PCI device id, of a card that the device is not.
    pub foreign_device_id: Option<u16>,
    /// In every round, the device sets all interrupt causes and signals all vectors, masked or not.
    pub interrupt_storm: bool,
    /// Writes of descriptors and packets arrive late at random, where DCA_TXCTRL and DCA_RXCTRL
    /// permit relaxed ordering.
    pub relaxed_ordering: bool,
}

/// A false value that the device writes back to every receive descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveFault {
    /// This packet length in bytes, whatever the device has stored.
    Length(u16),
    /// Descriptor done, but never the end of a packet.
    NoEndOfPacket,
}

impl ReceiveFault {
    /// Changes the two words of an advanced descriptor before the device writes them back.
    pub(crate) fn falsify(self, [first, second]: [u64; 2]) -> [u64; 2] {
        let second = match self {
            ReceiveFault::Length(bytes) => {
                second & !r::RXD_LENGTH | r::field64(r::RXD_LENGTH, u64::from(bytes))
            }
            ReceiveFault::NoEndOfPacket => second & !r::RXD_EOP,
        };
        [first, second]
    }
}

/// Switches one fault on.
type SwitchOn = fn(&mut Faults);

/// The faults by their names on the command line.
const FAULTS: [(&str, SwitchOn); 12] = [
    ("never-finish-reset", |faults| {
        faults.never_finish_reset = true
    }),
    ("stall", |faults| faults.stall_tx = true),
    ("no-link", |faults| faults.no_link = true),
    ("master-stays", |faults| faults.master_stays = true),
    ("removed", |faults| faults.removed = true),
    ("rx-length-beyond", |faults| {
        faults.receive = Some(ReceiveFault::Length(LENGTH_BEYOND))
    }),
    ("rx-length-zero", |faults| {
        faults.receive = Some(ReceiveFault::Length(0))
    }),
    ("rx-no-eop", |faults| {
        faults.receive = Some(ReceiveFault::NoEndOfPacket)
    }),
    ("ignore-tail", |faults| faults.ignore_tail = true),
    ("head-beyond-ring", |faults| faults.head_beyond_ring = true),
    ("interrupt-storm", |faults| faults.interrupt_storm = true),
    ("relaxed-ordering", |faults| faults.relaxed_ordering = true),
];

impl Faults {
    /// Names of all faults.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FAULTS.iter().map(|(name, _)| *name)
    }

    /// Switches the fault of that name on. The error for an unknown name lists the valid ones.
    pub fn add(&mut self, name: &str) -> Result<(), ConfigError> {
        let fault = FAULTS.iter().find(|(known, _)| *known == name);
        let (_, switch_on) = fault.ok_or_else(|| {
            let names: Vec<_> = Self::names().collect();
            ConfigError(format!(
                "unknown fault {name:?}; choose one of: {}",
                names.join(", ")
            ))
        })?;
        switch_on(self);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_switches_a_fault_on() {
        for name in Faults::names() {
            let mut faults = Faults::default();
            faults.add(name).unwrap();
            assert_ne!(faults, Faults::default(), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let error = Faults::default().add("other").unwrap_err().to_string();
        for name in Faults::names() {
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn a_receive_fault_changes_one_field_only() {
        let truth = [7, r::field64(r::RXD_LENGTH, 60) | r::RXD_DD | r::RXD_EOP];
        let [first, second] = ReceiveFault::Length(4000).falsify(truth);
        assert_eq!(first, 7);
        assert_eq!(
            second,
            r::field64(r::RXD_LENGTH, 4000) | r::RXD_DD | r::RXD_EOP
        );
        let [_, second] = ReceiveFault::NoEndOfPacket.falsify(truth);
        assert_eq!(second, r::field64(r::RXD_LENGTH, 60) | r::RXD_DD);
    }
}
