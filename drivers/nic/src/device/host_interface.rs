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
