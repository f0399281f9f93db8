//! Resetting a device, and what must come before and after (datasheet 4.6.3.1, 4.6.3.2,
//! 5.2.5.3.2). DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::sleep;
use crate::driver::device_ids::Family;
use crate::driver::register_access::Registers;
use crate::driver::registers as regs;
use crate::error::Result;

// 4.2.1.6.1: no register access for 1 ms after a reset. 4.6.3.2: then 10 ms until it is complete.
const RESET_QUIET: Duration = Duration::from_millis(1);
const RESET_SETTLE: Duration = Duration::from_millis(10);

/// X540 and X550 start their PHY again, as Linux and DPDK wait for it.
const RESET_SETTLE_PHY: Duration = Duration::from_millis(100);

/// 8.2.3.5.6: bit 31 is reserved.
const ALL_INTERRUPT_CAUSES: u32 = 0x7fff_ffff;

/// 4.6.3.1 Interrupts during initialization: masks all, clears all causes.
pub(crate) fn disable_interrupts(registers: &Registers) -> Result<()> {
    // 8.2.3.5.6, 8.2.3.5.9: EIMC and EIMC_EX clear EIMS and EIMS_EX.
    registers.write(regs::EIMC, ALL_INTERRUPT_CAUSES)?;
    for i in 0..regs::EIMC_EX_COUNT {
        registers.write(regs::EIMC_EX(i), u32::MAX)?;
    }
    // 8.2.3.5.1: a read clears EICR.
    registers.read(regs::EICR)?;
    Ok(())
}

/// 5.2.5.3.2 Master disable: no request of the device is pending when this returns `Ok`.
pub(crate) fn disable_master(registers: &Registers) -> Result<()> {
    registers.set(regs::CTRL, regs::CTRL_MASTER_DISABLE)?;
    registers.wait(
        regs::STATUS,
        regs::STATUS_MASTER_ENABLE,
        0,
        "STATUS.MASTER_ENABLE",
    )
}

/// 9.3.2 Command register: lets the device access memory, or keeps it from that.
pub(crate) fn set_bus_master(registers: &Registers, on: bool) -> Result<()> {
    let vfio = &registers.vfio;
    let command = vfio.config_read16(regs::PCI_COMMAND)? & !regs::PCI_COMMAND_BUS_MASTER;
    // While the write may have reached the device, it counts as on.
    if on {
        vfio.set_bus_master(true);
        return vfio.config_write16(regs::PCI_COMMAND, command | regs::PCI_COMMAND_BUS_MASTER);
    }
    vfio.config_write16(regs::PCI_COMMAND, command)?;
    vfio.set_bus_master(false);
    Ok(())
}

/// 4.6.3.2 Global reset. No request of the device may be pending: VFIO has reset it, or `Device::stop` has
/// stopped it. `rooms/takeover.rs` ends the requests of a device that another driver left running.
/// On X540 and X550, the caller may have the PHY's semaphore, as `rooms/start.rs` has it.
pub(crate) fn reset_device(registers: &Registers, family: Family) -> Result<()> {
    // LNK_RST would take the PHY's power-up from firmware, so Linux and DPDK leave it out there.
    let (resets, settle) = match family {
        Family::Intel82599 => (regs::CTRL_RST | regs::CTRL_LNK_RST, RESET_SETTLE),
        _ => (regs::CTRL_RST, RESET_SETTLE_PHY),
    };

    disable_interrupts(registers)?;
    registers.set(regs::CTRL, resets)?;
    sleep(RESET_QUIET);
    registers.wait(regs::CTRL, resets, 0, "CTRL.RST")?;
    sleep(settle);
    disable_interrupts(registers)
}

/// 4.6.3: waits for EEPROM auto-read and for DMA initialization, but not for EEMNGCTL.CFG_DONE
/// (DEVIATION-CFG-DONE).
pub(crate) fn wait_until_ready(registers: &Registers) -> Result<()> {
    registers.wait(regs::EEC, regs::EEC_ARD, regs::EEC_ARD, "EEC.ARD")?;
    registers.wait(
        regs::RDRXCTL,
        regs::RDRXCTL_DMAIDONE,
        regs::RDRXCTL_DMAIDONE,
        "RDRXCTL.DMAIDONE",
    )
}
