//! Resetting a device, and what must come before and after (datasheet 4.6.3.1, 4.6.3.2,
//! 5.2.5.3.2). DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::sleep;
use crate::driver::register_access::{Registers, Wait, REMEDY_RESET};
use crate::driver::registers as regs;
use crate::error::{Error, Result};

// Bounds of the waits, in milliseconds. A working device is far faster, but the software NIC may
// have to wait for a processor.
const TIMEOUT_MASTER_DISABLE: u64 = 1000;
const TIMEOUT_QUEUE: u64 = 1000;
const TIMEOUT_RESET: u64 = 1000;
const TIMEOUT_EEPROM: u64 = 1000;
const TIMEOUT_DMA_INIT: u64 = 1000;

// 4.2.1.6.1: no register access for 1 ms after a reset. 4.6.3.2: then 10 ms until it is complete.
const RESET_QUIET: Duration = Duration::from_millis(1);
const RESET_SETTLE: Duration = Duration::from_millis(10);

/// 5.2.5.3.2: how long GCR_EXT.BUFFERS_CLEAR must be set to flush the internal buffers.
const FLUSH: Duration = Duration::from_micros(20);

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
    registers.wait(&Wait {
        offset: regs::STATUS,
        mask: regs::STATUS_MASTER_ENABLE,
        value: 0,
        timeout_ms: TIMEOUT_MASTER_DISABLE,
        name: "STATUS.MASTER_ENABLE",
        remedy: REMEDY_RESET,
    })
}

/// 9.3.2 Command register: lets the device access memory.
pub(crate) fn enable_bus_master(registers: &Registers) -> Result<()> {
    let command = registers.vfio.config_read16(regs::PCI_COMMAND)?;
    let command = command | regs::PCI_COMMAND_BUS_MASTER;
    registers.vfio.set_bus_master(true);
    registers.vfio.config_write16(regs::PCI_COMMAND, command)
}

/// 9.3.2 Command register: keeps the device from accessing memory.
pub(crate) fn disable_bus_master(registers: &Registers) -> Result<()> {
    let command = registers.vfio.config_read16(regs::PCI_COMMAND)?;
    let command = command & !regs::PCI_COMMAND_BUS_MASTER;
    registers.vfio.config_write16(regs::PCI_COMMAND, command)?;
    registers.vfio.set_bus_master(false);
    Ok(())
}

/// 4.6.7.1.2: disables the receive queues that an earlier driver left enabled.
fn disable_old_rx_queues(registers: &Registers) -> Result<()> {
    for i in 0..regs::RXDCTL_COUNT {
        if registers.read(regs::RXDCTL(i))? & regs::RXDCTL_ENABLE == 0 {
            continue;
        }
        registers.clear(regs::RXDCTL(i), regs::RXDCTL_ENABLE)?;
        registers.wait(&Wait {
            offset: regs::RXDCTL(i),
            mask: regs::RXDCTL_ENABLE,
            value: 0,
            timeout_ms: TIMEOUT_QUEUE,
            name: "RXDCTL.ENABLE",
            remedy: REMEDY_RESET,
        })?;
    }
    Ok(())
}

/// 5.2.5.3.2: flushes the data path, with sending and receiving inhibited.
fn flush_data_path(registers: &Registers) -> Result<()> {
    registers.set(regs::HLREG0, regs::HLREG0_LPBK)?;
    registers.clear(regs::RXCTRL, regs::RXCTRL_RXEN)?;
    registers.set(regs::GCR_EXT, regs::GCR_EXT_BUFFERS_CLEAR)?;
    sleep(FLUSH);
    registers.clear(regs::HLREG0, regs::HLREG0_LPBK)?;
    registers.clear(regs::GCR_EXT, regs::GCR_EXT_BUFFERS_CLEAR)
}

/// 5.2.5.3.2: ends the device's requests: receive queues first, then the master. If one of them
/// takes too long, flushes the data path. Returns how many resets must follow: two if requests may
/// be pending, else one. A driver that died must not keep this one from starting.
fn prepare_reset(registers: &Registers) -> Result<u32> {
    let mut ended = true;

    for step in [disable_old_rx_queues, disable_master] {
        match step(registers) {
            Ok(()) => {}
            // DEVIATION-PENDING: a time-out is enough. The driver does not read Transactions Pending.
            Err(error) if matches!(*error, Error::Timeout { .. }) => ended = false,
            Err(error) => return Err(error),
        }
    }
    if ended {
        return Ok(1);
    }
    flush_data_path(registers)?;
    Ok(2)
}

/// 4.6.3.2 Global reset, whatever state the device was left in.
pub(crate) fn reset_device(registers: &Registers) -> Result<()> {
    disable_interrupts(registers)?;
    let resets = prepare_reset(registers)?;

    for _ in 0..resets {
        registers.set(regs::CTRL, regs::CTRL_RST | regs::CTRL_LNK_RST)?;
        sleep(RESET_QUIET);
        registers.wait(&Wait {
            offset: regs::CTRL,
            mask: regs::CTRL_RST | regs::CTRL_LNK_RST,
            value: 0,
            timeout_ms: TIMEOUT_RESET,
            name: "CTRL.RST",
            remedy: REMEDY_RESET,
        })?;
    }
    sleep(RESET_SETTLE);
    disable_interrupts(registers)
}

/// 4.6.3: waits for EEPROM auto-read and for DMA initialization, but not for EEMNGCTL.CFG_DONE
/// (DEVIATION-CFG-DONE).
pub(crate) fn wait_until_ready(registers: &Registers) -> Result<()> {
    registers.wait(&Wait {
        offset: regs::EEC,
        mask: regs::EEC_ARD,
        value: regs::EEC_ARD,
        timeout_ms: TIMEOUT_EEPROM,
        name: "EEC.ARD",
        remedy: REMEDY_RESET,
    })?;
    registers.wait(&Wait {
        offset: regs::RDRXCTL,
        mask: regs::RDRXCTL_DMAIDONE,
        value: regs::RDRXCTL_DMAIDONE,
        timeout_ms: TIMEOUT_DMA_INIT,
        name: "RDRXCTL.DMAIDONE",
        remedy: REMEDY_RESET,
    })
}
