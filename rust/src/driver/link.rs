//! The link of an 82599 (datasheet 4.6.4). DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use crate::driver::register_access::Registers;
use crate::driver::registers as regs;
use crate::error::Result;

/// 4.6.4.2 Link initialization: 10 Gbit/s serial, as on SFP+ ports. It does not wait until the link is up,
/// does not take the lock that it shares with firmware (DEVIATION-MAC-LOCK), and does not tune the analogue part
/// for the module (DEVIATION-CORECTL).
pub(crate) fn link_init(registers: &Registers) -> Result<()> {
    // 8.2.3.1.4: an earlier driver may have turned the laser off by pin 3 (TX_DISABLE).
    registers.clear(regs::ESDP, regs::ESDP_SDP3)?;
    registers.write_field(regs::AUTOC, regs::AUTOC_LMS, regs::AUTOC_LMS_10G_SERIAL)?;
    // 8.2.3.22.22: an earlier driver may have disabled the link, too.
    registers.write_field(
        regs::AUTOC2,
        regs::AUTOC2_10G_PMA_PMD_SERIAL | regs::AUTOC2_LINK_DISABLE,
        regs::AUTOC2_10G_PMA_PMD_SERIAL_SFI,
    )?;
    registers.set(regs::AUTOC, regs::AUTOC_AN_RESTART)
}
