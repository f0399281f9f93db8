//! The copper PHY of the X540 and X550, on the MDIO bus. Driver and firmware share the bus, and the
//! register SW_FW_SYNC says who has it (X540 datasheet 8.2.3.4.11). Section numbers without a name
//! are those of the 82599 datasheet, which has the same registers.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::{sleep, Instant};
use crate::driver::register_access::Registers;
use crate::driver::registers::{self as regs, field, field_get};
use crate::error::{Error, Result};

/// The bound of the wait for the bus, in milliseconds, as in Linux and DPDK.
const TIMEOUT_BUS: u64 = 1000;

const BUS_INTERVAL: Duration = Duration::from_millis(1);

/// A PHY that was reset answers after this time at the latest, in milliseconds.
const TIMEOUT_PHY: u64 = 3000;

const PHY_INTERVAL: Duration = Duration::from_millis(100);

/// The bus has this many addresses.
const MDIO_ADDRESSES: u32 = 32;

/// A read returns this where no PHY answers, because the wire stays high.
const MDIO_NO_ANSWER: u32 = 0xffff;

const REMEDY_BUS: &str = "switch the machine off and on, to restart the card's firmware";

/// 8.2.3.4.9, 8.2.3.4.11: takes the semaphores of SW_FW_SYNC, by reading 0. A driver that died may
/// have kept them, so after the time-out this one takes them (DEVIATION-SEMAPHORE).
fn take_semaphores(registers: &Registers) -> Result<()> {
    late_is_enough(registers.wait(regs::SWSM, regs::SWSM_SMBI, 0, "SWSM.SMBI"))?;
    let regsmp = regs::SW_FW_SYNC_REGSMP;
    late_is_enough(registers.wait(regs::SW_FW_SYNC, regsmp, 0, "SW_FW_SYNC.REGSMP"))
}

/// Goes on after a wait that was too long.
fn late_is_enough(result: Result<()>) -> Result<()> {
    result.or_else(|error| match *error {
        Error::Timeout { .. } => Ok(()),
        _ => Err(error),
    })
}

fn release_semaphores(registers: &Registers) -> Result<()> {
    registers.clear(regs::SW_FW_SYNC, regs::SW_FW_SYNC_REGSMP)?;
    registers.clear(regs::SWSM, regs::SWSM_SMBI)
}

/// 8.2.3.1.2: the two ports of a card have a PHY each, and bits of SW_FW_SYNC for it.
fn is_first(registers: &Registers) -> Result<bool> {
    Ok(field_get(regs::STATUS_LAN_ID, registers.read(regs::STATUS)?) == 0)
}

/// 8.2.3.4.11: takes the PHY and its bus from firmware, for the reset too. Firmware has them only for moments,
/// unless it has died (DEVIATION-SEMAPHORE).
pub(crate) fn phy_take(registers: &Registers) -> Result<()> {
    let (software, firmware) = match is_first(registers)? {
        true => (regs::SW_FW_SYNC_SW_PHY0, regs::SW_FW_SYNC_FW_PHY0),
        false => (regs::SW_FW_SYNC_SW_PHY1, regs::SW_FW_SYNC_FW_PHY1),
    };
    let deadline = Instant::now() + Duration::from_millis(TIMEOUT_BUS);

    loop {
        let late = Instant::now() >= deadline || registers.vfio.patience() < BUS_INTERVAL;

        take_semaphores(registers)?;
        let take = late || registers.read(regs::SW_FW_SYNC)? & firmware == 0;

        if take {
            registers.set(regs::SW_FW_SYNC, software)?;
        }
        release_semaphores(registers)?;
        if take {
            return Ok(());
        }
        registers.vfio.pause(BUS_INTERVAL);
    }
}

pub(crate) fn phy_release(registers: &Registers) -> Result<()> {
    let software = match is_first(registers)? {
        true => regs::SW_FW_SYNC_SW_PHY0,
        false => regs::SW_FW_SYNC_SW_PHY1,
    };

    take_semaphores(registers)?;
    registers.clear(regs::SW_FW_SYNC, software)?;
    release_semaphores(registers)
}

/// 8.2.3.22.11: runs one cycle on the bus.
fn mdio_cycle(
    registers: &Registers,
    operation: u32,
    phy: u32,
    device: u32,
    offset: u32,
) -> Result<()> {
    registers.write(
        regs::MSCA,
        operation
            | field(regs::MSCA_NP_ADDR, offset)
            | field(regs::MSCA_DEV_TYPE, device)
            | field(regs::MSCA_PHY_ADDR, phy)
            | regs::MSCA_MDI_COMMAND,
    )?;
    let cycle = registers.wait(regs::MSCA, regs::MSCA_MDI_COMMAND, 0, "MSCA.MDI_COMMAND");
    cycle.map_err(|error| match *error {
        Error::Timeout { address, .. } => Error::device(
            &address,
            format!("a cycle on the MDIO bus does not end (MSCA.MDI_COMMAND); {REMEDY_BUS}"),
        ),
        _ => error,
    })
}

/// Reads a register of the PHY: one cycle for its address, one for its value.
fn phy_read(registers: &Registers, phy: u32, device: u32, offset: u32) -> Result<u32> {
    mdio_cycle(registers, regs::MSCA_OP_CODE_ADDRESS, phy, device, offset)?;
    mdio_cycle(registers, regs::MSCA_OP_CODE_READ, phy, device, offset)?;
    let data = registers.read(regs::MSRWD)?;
    Ok(field_get(regs::MSRWD_READ_DATA, data))
}

/// Writes a register of the PHY.
fn phy_write(registers: &Registers, phy: u32, device: u32, offset: u32, value: u32) -> Result<()> {
    registers.write(regs::MSRWD, field(regs::MSRWD_WRITE_DATA, value))?;
    mdio_cycle(registers, regs::MSCA_OP_CODE_ADDRESS, phy, device, offset)?;
    mdio_cycle(registers, regs::MSCA_OP_CODE_WRITE, phy, device, offset)
}

/// Finds the address at which the PHY answers, if one does. Boards differ in it.
fn find_phy(registers: &Registers) -> Result<Option<u32>> {
    for phy in 0..MDIO_ADDRESSES {
        let id = phy_read(registers, phy, regs::PHY_ID_HIGH_DEVICE, regs::PHY_ID_HIGH)?;

        if id != 0 && id != MDIO_NO_ANSWER {
            return Ok(Some(phy));
        }
    }
    Ok(None)
}

/// Finds the PHY, which does not answer before it has started again. Warns if none answers in time.
fn wait_for_phy(registers: &Registers) -> Result<Option<u32>> {
    let deadline = Instant::now() + Duration::from_millis(TIMEOUT_PHY);

    // The wait has its own limit and uses up no patience.
    loop {
        let late = Instant::now() >= deadline;
        let phy = find_phy(registers)?;

        if phy.is_some() {
            return Ok(phy);
        }
        if late {
            break;
        }
        sleep(PHY_INTERVAL);
    }
    Error::device(
        registers.vfio.address(),
        format!(
            "no PHY answers on the MDIO bus after {TIMEOUT_PHY} ms; if there is no link, {REMEDY_BUS}"
        ),
    )
    .warn();
    Ok(None)
}

/// Powers the PHY up: an earlier driver may have powered it down. The driver has the PHY. If no PHY answers,
/// only warns: then the link decides.
pub(crate) fn phy_power_up(registers: &Registers) -> Result<()> {
    let (device, offset) = (regs::PHY_VENDOR_CONTROL_DEVICE, regs::PHY_VENDOR_CONTROL);
    let Some(phy) = wait_for_phy(registers)? else {
        return Ok(());
    };
    let control = phy_read(registers, phy, device, offset)?;

    if control & regs::PHY_VENDOR_CONTROL_LOW_POWER == 0 {
        return Ok(());
    }
    let control = control & !regs::PHY_VENDOR_CONTROL_LOW_POWER;
    phy_write(registers, phy, device, offset, control)
}
