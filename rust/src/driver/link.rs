//! The link (datasheet 4.6.4): setting it up, and its speed. DEVIATION-... are names of rows in
//! drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::{sleep, Instant};
use crate::driver::device::Device;
use crate::driver::device_ids::Family;
use crate::driver::register_access::Registers;
use crate::driver::registers as regs;
use crate::error::Result;
use crate::rooms::phy::phy_power_up;

const LINK_INTERVAL: Duration = Duration::from_millis(10);

const MBIT_PER_SECOND_10G: u32 = 10_000;
const MBIT_PER_SECOND_5G: u32 = 5_000;
const MBIT_PER_SECOND_2_5G: u32 = 2_500;
const MBIT_PER_SECOND_1G: u32 = 1_000;
const MBIT_PER_SECOND_100M: u32 = 100;

/// 4.6.4.2: 10 Gbit/s serial over SFI, the mode of SFP+ ports. The driver does not take the lock
/// that it shares with firmware (DEVIATION-MAC-LOCK).
fn init_serial_link(registers: &Registers) -> Result<()> {
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

impl Device<'_> {
    /// 4.6.4.2 Link initialization. It does not wait until the link is up.
    pub(crate) fn link_init(&self) -> Result<()> {
        if self.family == Family::Intel82599 {
            return init_serial_link(&self.registers);
        }
        // On X540 and X550, firmware brings the link up once the copper PHY has power.
        phy_power_up(&self.registers)
    }

    /// Whether the link is up within `timeout_ms` milliseconds.
    pub(crate) fn link_comes_up(&self, timeout_ms: u64) -> Result<bool> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);

        // A link may take many seconds, so this wait has its own limit and uses up no patience.
        loop {
            let late = Instant::now() >= deadline;
            // 8.2.3.22.20
            let up = self.registers.read(regs::LINKS)? & regs::LINKS_UP != 0;

            if up || late {
                return Ok(up);
            }
            sleep(LINK_INTERVAL);
        }
    }

    /// Reads the speed of the link in Mbit/s, 0 if the link is down.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn link_speed(&self) -> Result<u32> {
        let links = self.registers.read(regs::LINKS)?;
        // Other families use this bit for something else.
        let nonstandard = self.family == Family::X550 && links & regs::LINKS_SPEED_NON_STD != 0;

        if links & regs::LINKS_UP == 0 {
            return Ok(0);
        }
        Ok(match (links & regs::LINKS_SPEED, nonstandard) {
            (regs::LINKS_SPEED_10G, false) => MBIT_PER_SECOND_10G,
            (regs::LINKS_SPEED_10G, true) => MBIT_PER_SECOND_2_5G,
            (regs::LINKS_SPEED_1G, _) => MBIT_PER_SECOND_1G,
            (regs::LINKS_SPEED_100M, false) => MBIT_PER_SECOND_100M,
            (regs::LINKS_SPEED_100M, true) => MBIT_PER_SECOND_5G,
            _ => 0,
        })
    }
}
