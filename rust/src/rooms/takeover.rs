//! What an earlier driver has left in a device: running queues, and tables that a reset does not clear.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::sleep;
use crate::driver::device_ids::Family;
use crate::driver::register_access::Registers;
use crate::driver::registers as regs;
use crate::driver::reset::{disable_interrupts, disable_master, reset_device};
use crate::error::{Error, Result};

/// 5.2.5.3.2: how long GCR_EXT.BUFFERS_CLEAR must be set to flush the internal buffers.
const FLUSH: Duration = Duration::from_micros(20);

/// 4.6.7.1.2: disables the receive queues that an earlier driver left enabled.
fn disable_old_rx_queues(registers: &Registers) -> Result<()> {
    for i in 0..regs::RXDCTL_COUNT {
        if registers.read(regs::RXDCTL(i))? & regs::RXDCTL_ENABLE == 0 {
            continue;
        }
        registers.clear(regs::RXDCTL(i), regs::RXDCTL_ENABLE)?;
        registers.wait(regs::RXDCTL(i), regs::RXDCTL_ENABLE, 0, "RXDCTL.ENABLE")?;
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

/// 5.2.5.3.2: ends the device's requests before its reset: receive queues first, then the master. If one of
/// them takes too long, flushes the data path and resets the device once more. A driver that died must not
/// keep this one from starting.
pub(crate) fn end_requests(registers: &Registers, family: Family) -> Result<()> {
    let mut ended = true;

    disable_interrupts(registers)?;
    for step in [disable_old_rx_queues, disable_master] {
        match step(registers) {
            Ok(()) => {}
            // DEVIATION-PENDING: a time-out is enough. The driver does not read Transactions Pending.
            Err(error) if matches!(*error, Error::Timeout { .. }) => ended = false,
            Err(error) => return Err(error),
        }
    }
    if !ended {
        flush_data_path(registers)?;
        reset_device(registers, family)?;
    }
    Ok(())
}

/// 8.2.3.10.13, 8.2.3.10.16: no queue has a rate limit. The reset keeps the limits that a packet
/// generator may have set before.
fn clear_rate_limits(registers: &Registers) -> Result<()> {
    for i in 0..regs::TXDCTL_COUNT {
        registers.write(regs::RTTDQSEL, i)?;
        registers.write(regs::RTTBCNRC, 0)?;
    }
    Ok(())
}

/// Clears the filters and rate limits that survive the reset.
pub(crate) fn clear_tables(registers: &Registers) -> Result<()> {
    // The reset makes address filters 1 and up invalid. It does not clear these tables.
    for i in 0..regs::PFUTA_COUNT {
        registers.write(regs::PFUTA(i), 0)?;
    }
    for i in 0..regs::MTA_COUNT {
        registers.write(regs::MTA(i), 0)?;
    }
    for i in 0..regs::VFTA_COUNT {
        registers.write(regs::VFTA(i), 0)?;
    }
    clear_rate_limits(registers)
}
