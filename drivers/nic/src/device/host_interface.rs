//! Commands to the firmware: the X550's host interface.
//!
//! A driver puts a command into FLEX_MNG and sets HICR.C. The firmware puts its answer in the same
//! place, sets HICR.SV and clears HICR.C. The first four bytes of a command are its code, its
//! length (two bytes) and a checksum; those of an answer are the code, a length, a status and a
//! checksum.

use crate::device::eeprom::Eeprom;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// Reads words of the EEPROM.
const READ_EEPROM: u8 = 0x31;
/// Reports the driver's version, which the firmware keeps.
const DRIVER_INFO: u8 = 0xdd;
/// Stops reception: clears RXCTRL.RXEN.
const STOP_RECEIVING: u8 = 0xde;

/// The status of a command that worked.
const SUCCESS: u32 = 1;
/// The checksum byte that drivers and firmware agree not to check.
const NO_CHECKSUM: u32 = 0xff;
/// The most bytes that one command reads.
const MAX_READ: usize = 244;
/// The entry of FLEX_MNG where the words begin that a command has read.
const DATA: u32 = 3;

/// HICR.C runs the command in FLEX_MNG, at once. Returns the code of a command that the card does
/// not model.
pub(crate) fn hicr_written(
    registers: &RegisterFile,
    eeprom: &Eeprom,
    value: u32,
) -> Result<(), u8> {
    if value & r::HICR_C == 0 {
        return Ok(());
    }
    let code = registers.get(r::FLEX_MNG(0)) as u8;
    let status = match code {
        READ_EEPROM => {
            read_eeprom(registers, eeprom);
            SUCCESS
        }
        DRIVER_INFO => SUCCESS,
        STOP_RECEIVING => {
            registers.change(r::RXCTRL, 0, r::RXCTRL_RXEN);
            SUCCESS
        }
        _ => 0,
    };
    let answer = u32::from(code) | status << 16 | NO_CHECKSUM << 24;
    registers.set(r::FLEX_MNG(0), answer);
    registers.change(r::HICR, r::HICR_SV, 0);
    if status == SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// Entry 1 has the first byte's address and entry 2 the number of bytes, both big-endian.
fn read_eeprom(registers: &RegisterFile, eeprom: &Eeprom) {
    let address = registers.get(r::FLEX_MNG(1)).swap_bytes() / 2;
    let bytes = (registers.get(r::FLEX_MNG(2)) as u16).swap_bytes();
    let words = usize::from(bytes).min(MAX_READ).div_ceil(2) as u32;
    for nth in (0..words).step_by(2) {
        let word = |at: u32| u32::from(eeprom.word(address.wrapping_add(at)));
        let pair = word(nth) | word(nth + 1) << 16;
        registers.set(r::FLEX_MNG(DATA + nth / 2), pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    const X550: u16 = 0x1563;

    fn run(command: &[u32]) -> (RegisterFile, Result<(), u8>) {
        let registers = RegisterFile::new(0, family_of(X550).unwrap()).unwrap();
        for (nth, word) in command.iter().enumerate() {
            registers.set(r::FLEX_MNG(nth as u32), *word);
        }
        let eeprom = Eeprom::new(0, X550);
        let result = hicr_written(&registers, &eeprom, r::HICR_EN | r::HICR_C);
        (registers, result)
    }

    #[test]
    fn words_of_the_eeprom_come_in_pairs() {
        let address = 0x15_u32 * 2;
        let command = [
            u32::from(READ_EEPROM) | 6 << 16 | NO_CHECKSUM << 24,
            address.swap_bytes(),
            u32::from(6_u16.swap_bytes()),
        ];
        let (registers, result) = run(&command);
        assert_eq!(result, Ok(()));
        let eeprom = Eeprom::new(0, X550);
        let word = |at| u32::from(eeprom.word(at));
        assert_eq!(registers.get(r::FLEX_MNG(3)), word(0x15) | word(0x16) << 16);
        assert_eq!(registers.get(r::FLEX_MNG(4)) & 0xffff, word(0x17));
        assert_ne!(registers.get(r::HICR) & r::HICR_SV, 0);
        assert_eq!(registers.get(r::FLEX_MNG(0)) >> 16 & 0xff, SUCCESS);
    }

    #[test]
    fn an_unknown_command_fails() {
        let (registers, result) = run(&[0x55]);
        assert_eq!(result, Err(0x55));
        assert_eq!(registers.get(r::FLEX_MNG(0)) >> 16 & 0xff, 0);
    }
}
