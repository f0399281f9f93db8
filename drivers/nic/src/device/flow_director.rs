//! The flow director's commands. The card has its registers and reports success, but its filters
//! match no frame.

use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// FDIRCTRL: the memory for filters is there as soon as the driver asks for it.
pub(crate) fn control_written(registers: &RegisterFile, value: u32) {
    let allocated = value & r::FDIRCTRL_PBALLOC != 0;
    registers.put(r::FDIRCTRL, r::FDIRCTRL_INIT_DONE, allocated);
}

/// FDIRCMD: every command is done at once.
pub(crate) fn command_written(registers: &RegisterFile) {
    registers.change(r::FDIRCMD, 0, r::FDIRCMD_CMD);
}
