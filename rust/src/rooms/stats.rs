//! Counters (datasheet 8.2.3.23), MAC address and promiscuous mode (7.1.1), and the speed of the link.
#![forbid(unsafe_code)]

use crate::driver::device::{Device, QueueStats, Stats, MAX_QUEUES};
use crate::driver::device_ids::Family;
use crate::driver::register_access::Registers;
use crate::driver::registers::{self as regs, field};
use crate::driver::rx::enable_rx;
use crate::error::{Error, Result};

/// 8.2.3.23.71: a register assigns four queues to registers of statistics.
const QUEUES_A_REGISTER: u32 = 4;

const MBIT_PER_SECOND_10G: u32 = 10_000;
const MBIT_PER_SECOND_5G: u32 = 5_000;
const MBIT_PER_SECOND_2_5G: u32 = 2_500;
const MBIT_PER_SECOND_1G: u32 = 1_000;
const MBIT_PER_SECOND_100M: u32 = 100;

/// Reads a 36-bit counter. The low register comes first: a read of the high one clears both.
fn counter_read36(registers: &Registers, low_offset: u32, high_offset: u32) -> Result<u64> {
    let low = u64::from(registers.read(low_offset)?);
    let high = u64::from(registers.read(high_offset)?);
    Ok(low | (high & 0xf) << 32)
}

/// What counts in a device. It does not touch the queues, so other threads may have them.
pub(crate) struct Counters<'d> {
    pub(crate) registers: &'d Registers,
    pub(crate) rx_queues: u32,
    pub(crate) stats: &'d mut Stats,
    pub(crate) queue_stats: &'d mut [QueueStats; MAX_QUEUES as usize],
}

impl Counters<'_> {
    /// As [`Device::stats_read`], without a look at the queues.
    pub(crate) fn stats_read(&mut self) -> Result<Stats> {
        let tx_packets = u64::from(self.registers.read(regs::GPTC)?);
        let tx_bytes = counter_read36(self.registers, regs::GOTCL, regs::GOTCH)?;
        let (mut rx_packets, mut rx_bytes) = (0, 0);

        // GPRC and GORC would also count the frames for which no descriptor was free.
        for id in 0..self.rx_queues {
            let queue = self.queue_stats_read(id)?;
            rx_packets += queue.rx_packets;
            rx_bytes += queue.rx_bytes;
        }
        // All registers of a removed device read as all ones.
        if self.registers.read(regs::STATUS)? == u32::MAX {
            return Err(Error::device(
                self.registers.vfio.address(),
                "STATUS reads 0xffffffff: the device is gone; reset it or plug it in again",
            ));
        }
        self.registers.vfio.check_request()?;
        self.stats.rx_packets = rx_packets;
        self.stats.rx_bytes = rx_bytes;
        self.stats.tx_packets += tx_packets;
        self.stats.tx_bytes += tx_bytes;
        Ok(*self.stats)
    }

    /// As [`Device::queue_stats_read`].
    pub(crate) fn queue_stats_read(&mut self, id: u32) -> Result<QueueStats> {
        let Some(total) = self.queue_stats.get_mut(id as usize) else {
            let address = self.registers.vfio.address();
            return Err(Error::device(
                address,
                format!("the device has no queue {id}"),
            ));
        };
        // QPTC first: in the software card, it brings the counters in the shared pages up to date.
        let tx_packets = u64::from(self.registers.read(regs::QPTC(id))?);
        let rx_packets = u64::from(self.registers.read(regs::QPRC(id))?);
        let rx_dropped = u64::from(self.registers.read(regs::QPRDC(id))?);
        let rx_bytes = counter_read36(self.registers, regs::QBRC_L(id), regs::QBRC_H(id))?;
        let tx_bytes = counter_read36(self.registers, regs::QBTC_L(id), regs::QBTC_H(id))?;

        total.rx_packets += rx_packets;
        total.rx_dropped += rx_dropped;
        total.rx_bytes += rx_bytes;
        total.tx_packets += tx_packets;
        total.tx_bytes += tx_bytes;
        Ok(*total)
    }
}

impl Device<'_> {
    /// What counts in this device.
    pub(crate) fn counters(&mut self) -> Counters<'_> {
        Counters {
            registers: &self.registers,
            rx_queues: self.config.rx_queues,
            stats: &mut self.stats,
            queue_stats: &mut self.queue_stats,
        }
    }

    /// Adds what the device counted since the last call, and returns the totals.
    ///
    /// # Errors
    /// If the device can no longer be reached or has died, or if a queue is stalled in two calls in a
    /// row. So a forwarder calls this about once a second. It reads four registers, seven more for each RX
    /// queue, and never sleeps: a ring of 512 is full after 34 us at 14.88 Mpps.
    pub fn stats_read(&mut self) -> Result<Stats> {
        let stats = self.counters().stats_read()?;
        if self.running {
            for (id, queue) in (0..).zip(&mut self.rx) {
                queue.rx_check(&self.registers, id)?;
            }
        }
        Ok(stats)
    }

    /// Sets the totals to 0, and gives each queue its own counters.
    pub(crate) fn stats_init(&mut self) -> Result<()> {
        // After the reset, all queues share the first registers of statistics. One queue needs no more.
        if self.config.rx_queues > 1 || self.config.tx_queues > 1 {
            for i in 0..MAX_QUEUES / QUEUES_A_REGISTER {
                let first = i * QUEUES_A_REGISTER;
                self.registers.write(
                    regs::RQSMR(i),
                    field(regs::RQSMR_QUEUE0, first)
                        | field(regs::RQSMR_QUEUE1, first + 1)
                        | field(regs::RQSMR_QUEUE2, first + 2)
                        | field(regs::RQSMR_QUEUE3, first + 3),
                )?;
                self.registers.write(
                    regs::TQSM(i),
                    field(regs::TQSM_QUEUE0, first)
                        | field(regs::TQSM_QUEUE1, first + 1)
                        | field(regs::TQSM_QUEUE2, first + 2)
                        | field(regs::TQSM_QUEUE3, first + 3),
                )?;
            }
            for i in 0..MAX_QUEUES {
                self.queue_stats_read(i)?;
            }
        }
        self.stats_clear()
    }

    /// Adds what the device counted for RX and TX queue `id` since the last call, and returns the totals.
    /// With one RX and one TX queue, the totals of the device are those of the queue.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    pub fn queue_stats_read(&mut self, id: u32) -> Result<QueueStats> {
        self.counters().queue_stats_read(id)
    }

    /// Sets the totals to 0.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn stats_clear(&mut self) -> Result<()> {
        self.stats_read()?;
        self.stats = Stats::default();
        self.queue_stats = Default::default();
        Ok(())
    }

    /// Reads the MAC address of filter 0.
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

        // 8.2.3.7.9: RAH.AV makes the entry valid. A write without AV would make it invalid.
        self.registers.write(regs::RAL(0), low)?;
        self.registers.write(regs::RAH(0), high | regs::RAH_AV)?;
        self.mac = mac;
        Ok(())
    }

    /// Receives frames for any address, or only for ours. Halts reception for a moment.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn promiscuous_set(&mut self, on: bool) -> Result<()> {
        let receiving = self.registers.read(regs::RXCTRL)? & regs::RXCTRL_RXEN != 0;

        // 8.2.3.7.1: FCTRL may change only while RXCTRL.RXEN is 0.
        if receiving {
            enable_rx(&self.registers, false)?;
        }
        if on {
            self.registers
                .set(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        } else {
            self.registers
                .clear(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        }
        if receiving {
            enable_rx(&self.registers, true)?;
        }
        self.config.promiscuous = on;
        Ok(())
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
