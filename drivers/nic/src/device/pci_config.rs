//! The PCI configuration space: identity, BARs, capabilities, and the command register with the
//! bus-master bit.

use crate::device::register_file::BAR0_LEN;
use crate::device::registers as r;

/// Bytes of the space, including the extended part, which is empty.
pub(crate) const CONFIG_LEN: usize = 4096;
/// Bytes of the I/O BAR.
pub(crate) const IO_LEN: u32 = 32;
/// Bytes of the MSI-X BAR.
pub(crate) const MSIX_LEN: u32 = 16 << 10;
/// MSI-X vectors.
pub(crate) const MSIX_VECTORS: u16 = 64;

const POWER_MANAGEMENT: usize = 0x40;
const MSI: usize = 0x50;
const MSIX: usize = 0x70;
const EXPRESS: usize = 0xa0;

/// The configuration space of one port.
#[derive(Clone, Debug)]
pub(crate) struct PciConfig {
    bytes: Vec<u8>,
    /// The bits that a driver may change.
    writable: Vec<u8>,
}

/// What a write to the configuration space starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PciEvent {
    /// A function-level reset.
    Reset,
    /// The return from D3 to D0, which ends with a reset.
    WakeUp,
}

/// The state of the PCI regions other than the registers.
#[derive(Debug)]
pub(crate) struct PciState {
    pub(crate) config: PciConfig,
    /// The MSI-X table and pending bits. The card keeps them; VFIO clients program the vectors by
    /// other means.
    pub(crate) msix_table: Vec<u8>,
    /// The address register of the I/O BAR.
    pub(crate) io_address: u32,
}

impl PciState {
    pub(crate) fn new(device_id: u16) -> Self {
        Self {
            config: PciConfig::new(device_id),
            msix_table: vec![0; MSIX_LEN as usize],
            io_address: 0,
        }
    }

    /// A function-level reset.
    pub(crate) fn reset(&mut self, device_id: u16) {
        self.config = PciConfig::new(device_id);
        self.msix_table.fill(0);
    }
}

/// The values after a reset, by offset: header, power management, MSI, MSI-X, PCI Express.
#[rustfmt::skip] // a row a line
const VALUES: &[(usize, &[u8])] = &[
    (r::PCI_VENDOR_ID as usize, &r::PCI_VENDOR_ID_INTEL.to_le_bytes()),
    (r::PCI_STATUS as usize, &r::PCI_STATUS_CAPABILITIES.to_le_bytes()),
    (r::PCI_REVISION_ID as usize, &[1]),
    (r::PCI_CLASS_CODE as usize, &r::PCI_CLASS_CODE_ETHERNET.to_le_bytes()),
    (0x10, &[4]), // BAR0 and 1: memory, 64 bits
    (0x18, &[1]), // BAR2: I/O
    (0x20, &[4]), // BAR4 and 5: memory, 64 bits, the MSI-X table
    (r::PCI_SUBSYSTEM_VENDOR_ID as usize, &r::PCI_VENDOR_ID_INTEL.to_le_bytes()),
    (r::PCI_SUBSYSTEM_ID as usize, &[3, 0]),
    (r::PCI_CAPABILITIES as usize, &[POWER_MANAGEMENT as u8]),
    (0x3d, &[1]), // INTA
    (POWER_MANAGEMENT, &[0x01, MSI as u8, 0x23, 0x48, 0x00, 0x20]),
    // One message, 64-bit address, maskable.
    (MSI, &[0x05, MSIX as u8, 0x80, 0x01]),
    // Table at 0 and pending bits at 0x2000, both in BAR4.
    (MSIX, &[0x11, EXPRESS as u8, MSIX_VECTORS as u8 - 1, 0, 4, 0, 0, 0, 4, 0x20]),
    // Version 2 endpoint with 512 bytes of payload and function-level reset. The link has
    // trained to x8 at 5 GT/s.
    (EXPRESS, &[0x10, 0, 0x02, 0, 0xc2, 0x8c, 0, 0x10, 0x10, 0x28, 0, 0, 0x82, 0x0c]),
    (EXPRESS + 18, &[0x82, 0x10]),
    (EXPRESS + 36, &[0x1f]),
];

/// The bits that a driver may change, by offset.
#[rustfmt::skip]
const WRITABLE: &[(usize, &[u8])] = &[
    (r::PCI_COMMAND as usize, &COMMAND.to_le_bytes()),
    // The cache line size has no effect.
    (0x0c, &[0xff]),
    // In a BAR only the address bits above the size are writable. Software finds the size so.
    (0x10, &(!(BAR0_LEN - 1)).to_le_bytes()),
    (0x14, &[0xff; 4]),
    (0x18, &(!(IO_LEN - 1)).to_le_bytes()),
    (0x20, &(!(MSIX_LEN - 1)).to_le_bytes()),
    (0x24, &[0xff; 4]),
    (0x3c, &[0xff]), // interrupt line: for software only
    (POWER_MANAGEMENT + 4, &[0x03, 0x1f]),
    (MSI + 2, &[0x71, 0, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 1]),
    (MSIX + 2, &[0, 0xc0]),
    (EXPRESS + 8, &[0xff, 0x7f]),
    (EXPRESS + 16, &[0xc3]),
    (EXPRESS + 40, &[0x1f]),
];

const COMMAND: u16 = r::PCI_COMMAND_IO
    | r::PCI_COMMAND_MEMORY
    | r::PCI_COMMAND_BUS_MASTER
    | r::PCI_COMMAND_PARITY
    | r::PCI_COMMAND_SERR
    | r::PCI_COMMAND_INTX_DISABLE;

/// A space with these rows, and zeros elsewhere.
fn space(rows: &[(usize, &[u8])]) -> Vec<u8> {
    let mut space = vec![0; CONFIG_LEN];
    for (offset, bytes) in rows {
        space[*offset..][..bytes.len()].copy_from_slice(bytes);
    }
    space
}

impl PciConfig {
    pub(crate) fn new(device_id: u16) -> Self {
        let mut bytes = space(VALUES);
        bytes[r::PCI_DEVICE_ID as usize..][..2].copy_from_slice(&device_id.to_le_bytes());
        Self {
            bytes,
            writable: space(WRITABLE),
        }
    }

    /// A driver's read. Nothing beyond the end.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        into.fill(0);
        for (byte, value) in into.iter_mut().zip(self.bytes.iter().skip(offset)) {
            *byte = *value;
        }
    }

    /// A driver's write, which changes only writable bits. Returns the event that it starts.
    pub(crate) fn write(&mut self, offset: usize, from: &[u8]) -> Option<PciEvent> {
        /// The upper byte of the PCI Express device control register, and the bit in it that
        /// starts a function-level reset. It reads 0.
        const DEVICE_CONTROL: usize = EXPRESS + 9;
        const INITIATE_RESET: u8 = 1 << 7;
        let asleep = self.asleep();
        let places = self.bytes.iter_mut().zip(&self.writable).skip(offset);
        for ((byte, writable), new) in places.zip(from) {
            *byte = *byte & !writable | new & writable;
        }
        let control = DEVICE_CONTROL
            .checked_sub(offset)
            .and_then(|at| from.get(at));
        if control.is_some_and(|byte| byte & INITIATE_RESET != 0) {
            return Some(PciEvent::Reset);
        }
        (asleep && !self.asleep()).then_some(PciEvent::WakeUp)
    }

    /// Whether the card is in D3, where it does nothing.
    fn asleep(&self) -> bool {
        self.bytes[POWER_MANAGEMENT + 4] & 3 == 3
    }

    /// The command register.
    pub(crate) fn command(&self) -> u16 {
        let at = r::PCI_COMMAND as usize;
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// Whether the card may start bus transactions: DMA and message-signalled interrupts.
    pub(crate) fn bus_master(&self) -> bool {
        self.command() & r::PCI_COMMAND_BUS_MASTER != 0 && !self.asleep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const N: usize>(config: &PciConfig, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        config.read(offset, &mut bytes);
        bytes
    }

    #[test]
    fn the_card_identifies_itself() {
        let config = PciConfig::new(0x10fb);
        assert_eq!(read(&config, 0), [0x86, 0x80, 0xfb, 0x10]);
        assert_eq!(read(&config, 9), [0x00, 0x00, 0x02]);
        assert_eq!(read(&PciConfig::new(0x1528), 2), [0x28, 0x15]);
    }

    #[test]
    fn software_can_find_the_size_of_a_bar() {
        let mut config = PciConfig::new(0x10fb);
        for (bar, expected) in [
            (0x10, 0xfff8_0004),
            (0x14, u32::MAX),
            (0x18, 0xffff_ffe1),
            (0x1c, 0),
            (0x20, 0xffff_c004_u32),
        ] {
            config.write(bar, &u32::MAX.to_le_bytes());
            assert_eq!(
                u32::from_le_bytes(read(&config, bar)),
                expected,
                "BAR at {bar:#x}"
            );
        }
    }

    #[test]
    fn capabilities_form_a_list_that_ends() {
        let config = PciConfig::new(0x10fb);
        let [mut at] = read::<1>(&config, 0x34);
        let mut found = Vec::new();
        while at != 0 {
            let [id, next] = read::<2>(&config, usize::from(at));
            found.push(id);
            at = next;
            assert!(found.len() < 10);
        }
        assert_eq!(found, [0x01, 0x05, 0x11, 0x10]);
    }

    #[test]
    fn only_writable_bits_change() {
        let mut config = PciConfig::new(0x10fb);
        assert!(!config.bus_master());
        config.write(4, &[0xff; 4]);
        assert_eq!(config.command(), 0x0547);
        assert!(config.bus_master());
        assert_eq!(read(&config, 6), [0x10, 0x00]);
        config.write(0, &[0; 4]);
        assert_eq!(read(&config, 0), [0x86, 0x80, 0xfb, 0x10]);
        config.write(4, &[0x02, 0x00]);
        assert!(!config.bus_master());
    }

    #[test]
    fn a_card_in_d3_does_nothing_and_is_reset_when_it_returns() {
        let mut config = PciConfig::new(0x10fb);
        config.write(4, &[6, 0]);
        assert_eq!(config.write(POWER_MANAGEMENT + 4, &[3, 0]), None);
        assert!(!config.bus_master());
        assert_eq!(
            config.write(POWER_MANAGEMENT + 4, &[0, 0]),
            Some(PciEvent::WakeUp)
        );
        assert!(config.bus_master());
        assert_eq!(config.write(POWER_MANAGEMENT + 4, &[0, 0]), None);
    }

    #[test]
    fn one_bit_starts_a_function_level_reset() {
        let mut config = PciConfig::new(0x10fb);
        assert_eq!(config.write(EXPRESS + 8, &[0x10, 0x28]), None);
        assert_eq!(
            config.write(EXPRESS + 8, &[0x10, 0xa8]),
            Some(PciEvent::Reset)
        );
        assert_eq!(read(&config, EXPRESS + 8), [0x10, 0x28], "it reads 0");
    }

    #[test]
    fn accesses_beyond_the_end_do_nothing() {
        let mut config = PciConfig::new(0x10fb);
        config.write(4094, &[1, 2, 3, 4]);
        config.write(usize::MAX, &[1]);
        assert_eq!(read(&config, 4094), [0, 0, 0, 0]);
        assert_eq!(read(&config, usize::MAX), [0, 0]);
    }
}
