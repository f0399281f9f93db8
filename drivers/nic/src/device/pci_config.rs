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

impl PciConfig {
    pub(crate) fn new(device_id: u16) -> Self {
        let mut config = Self {
            bytes: vec![0; CONFIG_LEN],
            writable: vec![0; CONFIG_LEN],
        };
        config.set(r::PCI_VENDOR_ID, &r::PCI_VENDOR_ID_INTEL.to_le_bytes());
        config.set(r::PCI_DEVICE_ID, &device_id.to_le_bytes());
        let command = r::PCI_COMMAND_IO
            | r::PCI_COMMAND_MEMORY
            | r::PCI_COMMAND_BUS_MASTER
            | r::PCI_COMMAND_PARITY
            | r::PCI_COMMAND_SERR
            | r::PCI_COMMAND_INTX_DISABLE;
        config.allow(r::PCI_COMMAND, &command.to_le_bytes());
        config.set(r::PCI_STATUS, &r::PCI_STATUS_CAPABILITIES.to_le_bytes());
        config.set(r::PCI_REVISION_ID, &[1]);
        config.set(r::PCI_CLASS_CODE, &r::PCI_CLASS_CODE_ETHERNET.to_le_bytes());
        // The cache line size has no effect.
        config.allow(0x0c, &[0xff]);
        // In a BAR only the address bits above the size are writable. Software finds the size so.
        config.set(0x10, &0x4_u32.to_le_bytes()); // BAR0 and 1: memory, 64 bits
        config.allow(0x10, &(!(BAR0_LEN - 1)).to_le_bytes());
        config.allow(0x14, &u32::MAX.to_le_bytes());
        config.set(0x18, &0x1_u32.to_le_bytes()); // BAR2: I/O
        config.allow(0x18, &(!(IO_LEN - 1)).to_le_bytes());
        config.set(0x20, &0x4_u32.to_le_bytes()); // BAR4 and 5: memory, 64 bits, the MSI-X table
        config.allow(0x20, &(!(MSIX_LEN - 1)).to_le_bytes());
        config.allow(0x24, &u32::MAX.to_le_bytes());
        config.set(
            r::PCI_SUBSYSTEM_VENDOR_ID,
            &r::PCI_VENDOR_ID_INTEL.to_le_bytes(),
        );
        config.set(r::PCI_SUBSYSTEM_ID, &0x0003_u16.to_le_bytes());
        config.set(r::PCI_CAPABILITIES, &[POWER_MANAGEMENT as u8]);
        config.allow(0x3c, &[0xff]); // interrupt line: for software only
        config.set(0x3d, &[1]); // INTA
        config.add_power_management();
        config.add_msi();
        config.add_msix();
        config.add_express();
        config
    }

    fn add_power_management(&mut self) {
        self.set(POWER_MANAGEMENT as u32, &[0x01, MSI as u8, 0x23, 0x48]);
        self.set(POWER_MANAGEMENT as u32 + 4, &[0x00, 0x20, 0, 0]);
        self.allow(POWER_MANAGEMENT as u32 + 4, &[0x03, 0x1f]);
    }

    fn add_msi(&mut self) {
        // One message, 64-bit address, maskable.
        self.set(MSI as u32, &[0x05, MSIX as u8, 0x80, 0x01]);
        self.allow(MSI as u32 + 2, &[0x71, 0x00]);
        self.allow(MSI as u32 + 4, &[0xfc, 0xff, 0xff, 0xff]);
        self.allow(MSI as u32 + 8, &[0xff; 4]);
        self.allow(MSI as u32 + 12, &[0xff, 0xff]);
        self.allow(MSI as u32 + 16, &[0x01]);
    }

    fn add_msix(&mut self) {
        // Table at 0 and pending bits at 0x2000, both in BAR4.
        self.set(MSIX as u32, &[0x11, EXPRESS as u8]);
        self.set(MSIX as u32 + 2, &(MSIX_VECTORS - 1).to_le_bytes());
        self.allow(MSIX as u32 + 2, &[0x00, 0xc0]);
        self.set(MSIX as u32 + 4, &0x0000_0004_u32.to_le_bytes());
        self.set(MSIX as u32 + 8, &0x0000_2004_u32.to_le_bytes());
    }

    fn add_express(&mut self) {
        // Version 2 endpoint with 512 bytes of payload and function-level reset. The link has
        // trained to x8 at 5 GT/s.
        self.set(EXPRESS as u32, &[0x10, 0x00, 0x02, 0x00]);
        self.set(EXPRESS as u32 + 4, &0x1000_8cc2_u32.to_le_bytes());
        self.set(EXPRESS as u32 + 8, &[0x10, 0x28]);
        self.allow(EXPRESS as u32 + 8, &[0xff, 0x7f]);
        self.set(EXPRESS as u32 + 12, &0x0000_0c82_u32.to_le_bytes());
        self.allow(EXPRESS as u32 + 16, &[0xc3, 0x00]);
        self.set(EXPRESS as u32 + 18, &[0x82, 0x10]);
        self.set(EXPRESS as u32 + 36, &[0x1f, 0, 0, 0]);
        self.allow(EXPRESS as u32 + 40, &[0x1f, 0]);
    }

    fn set(&mut self, offset: u32, bytes: &[u8]) {
        self.bytes[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn allow(&mut self, offset: u32, bits: &[u8]) {
        self.writable[offset as usize..][..bits.len()].copy_from_slice(bits);
    }

    /// A driver's read. Nothing beyond the end.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        for (nth, byte) in into.iter_mut().enumerate() {
            *byte = offset
                .checked_add(nth)
                .and_then(|at| self.bytes.get(at))
                .copied()
                .unwrap_or(0);
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
