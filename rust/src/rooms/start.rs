//! Starting and stopping a device with all that `driver` leaves out: several queues, copper ports, statistics,
//! and waiting for the link.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::{sleep, Instant};
use crate::driver::device::{Config, Device, OpenDevice, Stats};
use crate::driver::device_ids::Family;
use crate::driver::mempool::Mempool;
use crate::driver::registers as regs;
use crate::error::{Error, Result};
use crate::rooms::phy::{phy_power_up, phy_release, phy_take};
use crate::rooms::takeover::{clear_tables, end_requests};

const LINK_INTERVAL: Duration = Duration::from_millis(10);

/// An 82599 that has no link after this time, in milliseconds, is started again.
const LINK_ATTEMPT: u64 = 2000;

/// The count of sent packets is looked at this often, this far apart, before it is an error.
const CHECK_LOOKS: u32 = 100;
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

impl Device<'_> {
    /// Whether a doorbell is a message to a server, which may take its time to answer.
    pub fn is_trapped(&self) -> bool {
        let doorbells = [regs::RDT(0), regs::TDT(0)];
        let is_mapped = |&offset: &u32| self.registers.vfio.register(offset).is_some();
        !doorbells.iter().all(is_mapped)
    }

    /// What comes between the reset and the initialization of the queues.
    fn prepare(&mut self) -> Result<()> {
        // 4.6.5 Initialization of statistics: reading clears them.
        self.stats_init()?;
        self.mac = self.mac_read()?;
        clear_tables(&self.registers)?;
        self.rss_init()
    }

    /// Resets the device. On X540 and X550, firmware brings the link up once the copper PHY has power.
    fn reset_and_power_up(&mut self, has_phy: bool) -> Result<()> {
        end_requests(&self.registers, self.family)?;
        self.reset()?;
        if has_phy {
            phy_power_up(&self.registers)?;
        }
        Ok(())
    }

    /// As [`OpenDevice::start_queues`], for a device that was stopped.
    pub(crate) fn start_all(&mut self) -> Result<()> {
        let has_phy = self.family != Family::Intel82599;

        // Firmware leaves the PHY alone until it has started again.
        if has_phy {
            phy_take(&self.registers)?;
        }
        let mut result = self.reset_and_power_up(has_phy);
        if has_phy {
            result = result.and(phy_release(&self.registers));
        }
        result?;
        self.prepare()?;
        self.init()
    }

    /// 8.2.3.23: checks that GPTC of a stopped device counts all packets that DD reported as sent.
    fn check_sent(&mut self) -> Result<()> {
        let done = self.tx.iter().map(|queue| queue.done).sum();
        let mut stats = Stats::default();

        // The last packets may still be on their way to the wire.
        for _ in 0..CHECK_LOOKS {
            stats = self.stats_read()?;
            if stats.tx_packets >= done {
                return Ok(());
            }
            sleep(CHECK_INTERVAL);
        }
        Err(Error::device(
            self.registers.vfio.address(),
            format!(
                "the device reported {done} packets as sent, but GPTC counts {}; the difference is \
                 lost",
                stats.tx_packets
            ),
        ))
    }

    /// As [`Device::stop`]. It also ends the interrupts, and checks that all packets were sent.
    ///
    /// # Errors
    /// The first error. The steps after it are done all the same.
    pub fn stop_queues(&mut self) -> Result<()> {
        self.interrupts_stop();
        let stopped = self.stop();
        stopped.and(self.check_sent())
    }

    /// Whether the link is up within `timeout_ms` milliseconds, at two looks in a row: it may go down once
    /// more while the other side starts.
    fn link_comes_up(&self, timeout_ms: u64) -> Result<bool> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        let mut was_up = false;

        // A link may take many seconds, so this wait has its own limit and uses up no patience.
        loop {
            let late = Instant::now() >= deadline;
            // 8.2.3.22.20
            let up = self.registers.read(regs::LINKS)? & regs::LINKS_UP != 0;

            if (up && was_up) || late {
                return Ok(up);
            }
            was_up = up;
            sleep(LINK_INTERVAL);
        }
    }

    /// Resets the device and starts it as before.
    fn restart(&mut self) -> Result<()> {
        let stopped = self.stop_queues();

        // The start ends what the stop could not end. Only a dead device ends the attempts.
        if self.registers.vfio.check().is_err() {
            return stopped;
        }
        // Backwards, so that the new start takes the buffers in the same order.
        for queue in self.rx.drain(..) {
            let buffers = queue.ring.into_slots().into_vec();
            buffers.into_iter().rev().for_each(drop);
        }
        self.tx.clear();
        self.start_all()
    }

    /// Waits for the link of a running device, for at most `timeout_ms` milliseconds. An 82599
    /// without a link is started again after 2, 4, 8... seconds, because some come up only then.
    ///
    /// # Errors
    /// If there is no link in time, or the device can no longer be reached.
    pub fn wait_for_link(&mut self, timeout_ms: u64) -> Result<()> {
        let mut left = timeout_ms;
        let mut attempts = 0;
        let mut wait = LINK_ATTEMPT;

        loop {
            // A reset of X540 or X550 would only start the training of the link again.
            let last = self.family != Family::Intel82599 || left <= wait;

            attempts += 1;
            if self.link_comes_up(if last { left } else { wait })? {
                return Ok(());
            }
            if last {
                break;
            }
            left -= wait;
            wait *= 2;
            // Some 82599s do not come up under traffic until they are reset once more.
            self.restart()?;
        }
        Err(Error::device(
            self.registers.vfio.address(),
            format!(
                "no link after {timeout_ms} ms and {attempts} attempts; check the cable, the \
                 module, and that the other side is up"
            ),
        ))
    }
}

impl OpenDevice {
    /// As [`OpenDevice::start`], with a pool for each RX queue, or one for all of them. It also divides the
    /// packets among the RX queues, powers the PHY of an X540 or X550 up, and clears the statistics. It does
    /// not wait for the link: a port that is cabled to another one has a link only once both have started.
    ///
    /// # Errors
    /// As for [`OpenDevice::start`], or if the number of pools is neither 1 nor that of the RX queues.
    pub fn start_queues<'p>(&self, config: &Config, pools: &'p [Mempool]) -> Result<Device<'p>> {
        let mut device = self.claim(config, pools)?;
        device.start_all()?;
        Ok(device)
    }
}
