//! Faults that the device shows on request, by name.

use crate::device::registers as r;
use crate::error::ConfigError;
use ReceiveFault::{Length, NoEndOfPacket};

/// A length above the 2 KiB of a driver's packet buffer, but within the 4 KiB that two adjacent
/// buffers have: a driver that believes it can still send the packet on.
const LENGTH_BEYOND: ReceiveFault = Length(4000);

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
            Length(bytes) => second & !r::RXD_LENGTH | r::field64(r::RXD_LENGTH, u64::from(bytes)),
            NoEndOfPacket => second & !r::RXD_EOP,
        };
        [first, second]
    }
}

/// Switches one fault on.
type SwitchOn = fn(&mut Faults);

/// The faults by their names on the command line.
const FAULTS: [(&str, SwitchOn); 12] = [
    ("never-finish-reset", |it| it.never_finish_reset = true),
    ("stall", |it| it.stall_tx = true),
    ("no-link", |it| it.no_link = true),
    ("master-stays", |it| it.master_stays = true),
    ("removed", |it| it.removed = true),
    ("rx-length-beyond", |it| it.receive = Some(LENGTH_BEYOND)),
    ("rx-length-zero", |it| it.receive = Some(Length(0))),
    ("rx-no-eop", |it| it.receive = Some(NoEndOfPacket)),
    ("ignore-tail", |it| it.ignore_tail = true),
    ("head-beyond-ring", |it| it.head_beyond_ring = true),
    ("interrupt-storm", |it| it.interrupt_storm = true),
    ("relaxed-ordering", |it| it.relaxed_ordering = true),
];

impl Faults {
    /// Switches the fault of that name on. The error for an unknown name lists the valid ones.
    pub fn add(&mut self, name: &str) -> Result<(), ConfigError> {
        let Some((_, switch_on)) = FAULTS.iter().find(|(known, _)| *known == name) else {
            let names = FAULTS.map(|(name, _)| name).join(", ");
            return Err(ConfigError(format!(
                "unknown fault {name:?}; choose one of: {names}"
            )));
        };
        switch_on(self);
        Ok(())
    }
}

#[cfg(test)]
#[test]
fn every_name_switches_a_fault_on() {
    for (name, _) in FAULTS {
        let mut faults = Faults::default();
        faults.add(name).unwrap();
        assert_ne!(faults, Faults::default(), "{name}");
    }
}
