//! The EEPROM that the 82599 loads itself from.

use crate::frame::station_address;

/// Words in the image; a power of two.
const WORDS: usize = 1 << 12;
/// The word that makes the checksum right.
const CHECKSUM_WORD: usize = 0x3f;
/// What words 0 to 0x3f must add up to.
const CHECKSUM: u16 = 0xbaba;
/// Points to the firmware module.
const FIRMWARE_POINTER: usize = 0x0f;
/// Where the firmware module is here.
const FIRMWARE_MODULE: usize = 0x100;
/// In the firmware module: points to the pass-through patch.
const PATCH_POINTER: usize = 4;
/// Where the patch is here.
const PATCH_MODULE: usize = 0x120;
/// In the patch: the firmware's version. Drivers take versions up to 5 for pre-production adapters.
const PATCH_VERSION: usize = 7;
/// Where the port's MAC address is here, in three words.
const MAC_ADDRESS: usize = 0x140;

/// The image of one port.
#[derive(Clone, Debug)]
pub(crate) struct Eeprom {
    words: Vec<u16>,
}

impl Eeprom {
    pub(crate) fn new(port: usize, device_id: u16) -> Self {
        let mut words = vec![0; WORDS];
        words[0x0a] = 0x8086;
        words[0x0b] = device_id;
        words[FIRMWARE_POINTER] = FIRMWARE_MODULE as u16;
        words[FIRMWARE_MODULE + PATCH_POINTER] = PATCH_MODULE as u16;
        words[PATCH_MODULE + PATCH_VERSION] = 6;
        for (word, bytes) in words[MAC_ADDRESS..]
            .iter_mut()
            .zip(station_address(port).chunks_exact(2))
        {
            *word = u16::from_le_bytes([bytes[0], bytes[1]]);
        }
        let sum = words[..CHECKSUM_WORD]
            .iter()
            .fold(0_u16, |sum, word| sum.wrapping_add(*word));
        words[CHECKSUM_WORD] = CHECKSUM.wrapping_sub(sum);
        Self { words }
    }

    /// A word; addresses past the end wrap round, as there are no more address lines.
    pub(crate) fn word(&self, address: u32) -> u16 {
        self.words[address as usize % WORDS]
    }

    /// The MAC address, as the registers RAL(0) and RAH(0) take it: first byte lowest.
    pub(crate) fn mac_address(&self) -> (u32, u32) {
        let word = |at| u32::from(self.words[MAC_ADDRESS + at]);
        (word(0) | word(1) << 16, word(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_drivers_expect() {
        let eeprom = Eeprom::new(0, 0x10fb);
        let sum = (0..0x40).fold(0_u16, |sum, at| sum.wrapping_add(eeprom.word(at)));
        assert_eq!(sum, 0xbaba);
    }

    #[test]
    fn the_address_is_the_ports() {
        assert_eq!(Eeprom::new(3, 0x10fb).mac_address(), (0x9059_8202, 0x0300));
    }
}
