//! Counters (datasheet 8.2.3.23), MAC address and promiscuous mode (7.1.1), link
//! (8.2.3.22.20).
#![forbid(unsafe_code)]

use crate::device::{Device, Registers};
use crate::error::{Error, Result};
use crate::registers as regs;

const MBIT_PER_SECOND_10G: u32 = 10_000;
const MBIT_PER_SECOND_1G: u32 = 1_000;
const MBIT_PER_SECOND_100M: u32 = 100;

/// Totals since the device was opened. The registers they come from clear when read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Good frames, also those dropped later for want of a descriptor.
    pub rx_packets: u64,
    /// With CRC.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// With CRC.
    pub tx_bytes: u64,
}

/// A 36-bit counter: the low register first, the read of the high one clears both.
fn counter_read36(registers: &Registers, low_offset: u32, high_offset: u32) -> Result<u64> {
    let low = u64::from(registers.read(low_offset)?);
    let high = u64::from(registers.read(high_offset)?);
    Ok(low | (high & 0xf) << 32)
}

impl Device<'_> {
    /// Adds what the device counted since the last call, and returns the totals.
    ///
    /// # Errors
    /// If the device can no longer be reached, or a queue is stalled: whoever forwards calls this
    /// about once a second.
    pub fn stats_read(&mut self) -> Result<Stats> {
        let rx_packets = u64::from(self.registers.read(regs::GPRC)?);
        let tx_packets = u64::from(self.registers.read(regs::GPTC)?);
        let rx_bytes = counter_read36(&self.registers, regs::GORCL, regs::GORCH)?;
        let tx_bytes = counter_read36(&self.registers, regs::GOTCL, regs::GOTCH)?;

        // A device that was pulled out reads as all ones, and its counters as nonsense.
        if self.registers.read(regs::STATUS)? == u32::MAX {
            return Err(Error::device(
                self.registers.vfio.address(),
                "STATUS reads 0xffffffff: the device is gone; reset or replug it",
            ));
        }
        self.registers.vfio.check_request()?;
        self.stats.rx_packets += rx_packets;
        self.stats.tx_packets += tx_packets;
        self.stats.rx_bytes += rx_bytes;
        self.stats.tx_bytes += tx_bytes;
        if self.running {
            for (id, queue) in (0..).zip(&mut self.rx) {
                queue.rx_check(&self.registers, id)?;
            }
        }
        Ok(self.stats)
    }

    /// Forgets what the device has counted so far.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn stats_clear(&mut self) -> Result<()> {
        self.stats_read()?;
        self.stats = Stats::default();
        Ok(())
    }

    /// Reads the MAC address that filter 0 holds.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn mac_read(&self) -> Result<[u8; 6]> {
        let low = self.registers.read(regs::RAL(0))?.to_le_bytes();
        let high = self.registers.read(regs::RAH(0))?.to_le_bytes();
        Ok([low[0], low[1], low[2], low[3], high[0], high[1]])
    }

    /// Makes `mac` the address of filter 0, and the filter valid.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn mac_write(&mut self, mac: [u8; 6]) -> Result<()> {
        let low = u32::from_le_bytes([mac[0], mac[1], mac[2], mac[3]]);
        let high = u32::from_le_bytes([mac[4], mac[5], 0, 0]);

        // 8.2.3.7.9 RAH.AV makes the entry valid; a write without it would switch it off.
        self.registers.write(regs::RAL(0), low)?;
        self.registers.write(regs::RAH(0), high | regs::RAH_AV)?;
        self.mac = mac;
        Ok(())
    }

    /// Receive frames for any address, or for ours only. Halts reception for a moment.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn promiscuous_set(&mut self, on: bool) -> Result<()> {
        let receiving = self.registers.read(regs::RXCTRL)? & regs::RXCTRL_RXEN != 0;

        // 8.2.3.7.1 FCTRL may change only while RXCTRL.RXEN is 0.
        if receiving {
            self.enable_rx(false)?;
        }
        if on {
            self.registers
                .set(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        } else {
            self.registers
                .clear(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        }
        if receiving {
            self.enable_rx(true)?;
        }
        self.config.promiscuous = on;
        Ok(())
    }

    /// The link's speed in Mbit/s, 0 if it is down.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn link_speed(&self) -> Result<u32> {
        let links = self.registers.read(regs::LINKS)?;
        if links & regs::LINKS_UP == 0 {
            return Ok(0);
        }
        Ok(match links & regs::LINKS_SPEED {
            regs::LINKS_SPEED_10G => MBIT_PER_SECOND_10G,
            regs::LINKS_SPEED_1G => MBIT_PER_SECOND_1G,
            regs::LINKS_SPEED_100M => MBIT_PER_SECOND_100M,
            _ => 0,
        })
    }
}
