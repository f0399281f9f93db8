//! From reset to running and back, in the order of the datasheet's section 4.6.3
//! "Initialization Sequence". Deviations are marked DEVIATION, with the reason.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::sleep;
use crate::descriptor::Descriptor;
use crate::device::{
    Device, Wait, CHECK_INTERVAL, CHECK_LOOKS, MAX_QUEUES, MAX_RING_SIZE, MIN_RING_SIZE,
};
use crate::error::{Error, Result};
use crate::mempool::PACKET_BUFFER_SIZE;
use crate::registers::{self as regs, field};
use crate::rx::{Discard, RxQueue};
use crate::stats::Stats;
use crate::sys::dma::Ring;
use crate::sys::mmio::dma_write_barrier;
use crate::tx::TxQueue;

// Bounds of the waits, in milliseconds. The device is far faster when it works, but a software
// one may have to wait for its processor.
const TIMEOUT_MASTER_DISABLE: u64 = 1000;
const TIMEOUT_RESET: u64 = 1000;
const TIMEOUT_EEPROM: u64 = 1000;
const TIMEOUT_DMA_INIT: u64 = 1000;
const TIMEOUT_QUEUE: u64 = 1000;
const TIMEOUT_RX_HALT: u64 = 1000;
const TIMEOUT_TX_DRAIN: u64 = 1000;
const TIMEOUT_LINK: u64 = 8000;

/// 4.6.3.2: registers may be touched 1 ms after a reset, and 10 ms settle the device.
const RESET_SETTLE: Duration = Duration::from_millis(10);

/// 4.6.7.1.2: how long a disabled queue may still write back.
const RX_DISABLE_SETTLE: Duration = Duration::from_micros(100);

// Packet buffers in KiB (4.6.11.3.4: neither DCB nor virtualization).
const RX_PACKET_BUFFER_KB: u32 = 512;
const TX_PACKET_BUFFER_KB: u32 = 160;
const TX_MAX_PACKET_KB: u32 = 2;

/// 3.7.7.3.2: without flow control, the XOFF threshold leaves this much of the buffer.
const FLOW_CONTROL_RESERVE_KB: u32 = 24;

// 7.2.3.4.1: PTHRESH + WTHRESH stay within the 40 on-chip descriptors; with WTHRESH 0, RS decides.
const TX_PREFETCH_THRESHOLD: u32 = 32;
const TX_HOST_THRESHOLD: u32 = 8;
const TX_WRITE_BACK_THRESHOLD: u32 = 0;

/// 8.2.3.5.6: bit 31 is reserved.
const ALL_INTERRUPT_CAUSES: u32 = 0x7fff_ffff;

const RX_BUFFER_KB: u32 = (PACKET_BUFFER_SIZE / 1024) as u32;

const MEND_DEVICE: &str =
    "reset the device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC";

impl<'p> Device<'p> {
    /// 4.6.3.1 Interrupts during initialization: all masked, all causes cleared.
    fn disable_interrupts(&self) -> Result<()> {
        // 8.2.3.5.6 EIMC clears EIMS.
        self.registers.write(regs::EIMC, ALL_INTERRUPT_CAUSES)?;
        // 8.2.3.5.1 a read clears EICR.
        self.registers.read(regs::EICR)?;
        Ok(())
    }

    /// 5.2.5.3.2 Master disable: no request of the device is under way when this returns.
    fn disable_master(&self) -> Result<()> {
        self.registers.set(regs::CTRL, regs::CTRL_MASTER_DISABLE)?;
        self.registers.wait(&Wait {
            offset: regs::STATUS,
            mask: regs::STATUS_MASTER_ENABLE,
            value: 0,
            timeout_ms: TIMEOUT_MASTER_DISABLE,
            name: "STATUS.MASTER_ENABLE",
            mend: MEND_DEVICE,
        })
    }

    /// 9.3.2 Command register: the device may access memory.
    fn enable_bus_master(&self) -> Result<()> {
        let vfio = &self.registers.vfio;
        let command = vfio.config_read16(regs::PCI_COMMAND)?;
        vfio.config_write16(regs::PCI_COMMAND, command | regs::PCI_COMMAND_BUS_MASTER)
    }

    /// 9.3.2 Command register: the device may not access memory.
    fn disable_bus_master(&self) -> Result<()> {
        let vfio = &self.registers.vfio;
        let command = vfio.config_read16(regs::PCI_COMMAND)?;
        vfio.config_write16(regs::PCI_COMMAND, command & !regs::PCI_COMMAND_BUS_MASTER)
    }

    /// 4.6.3.2 Global reset and general configuration.
    fn reset(&self) -> Result<()> {
        self.disable_interrupts()?;
        // 5.2.5.3.2: should requests still be pending, two resets in a row discard them; what
        // a driver that died left behind must not keep us from starting.
        let resets = match self.disable_master() {
            Ok(()) => 1,
            Err(error) if matches!(*error, Error::Timeout { .. }) => 2,
            Err(error) => return Err(error),
        };
        for _ in 0..resets {
            self.registers
                .set(regs::CTRL, regs::CTRL_RST | regs::CTRL_LNK_RST)?;
            // 4.2.1.6.1: a millisecond without any access.
            sleep(Duration::from_millis(1));
            self.registers.wait(&Wait {
                offset: regs::CTRL,
                mask: regs::CTRL_RST | regs::CTRL_LNK_RST,
                value: 0,
                timeout_ms: TIMEOUT_RESET,
                name: "CTRL.RST",
                mend: MEND_DEVICE,
            })?;
        }
        sleep(RESET_SETTLE);
        self.disable_interrupts()?;

        // 3.7.7.3.2, 8.2.3.3: no flow control. The XOFF threshold must be set all the same,
        // because it also governs the switch from TX to RX.
        self.registers.write(regs::FCCFG, 0)?;
        self.registers
            .clear(regs::MFLCN, regs::MFLCN_RFCE | regs::MFLCN_RPFCE)?;
        self.registers.write(regs::FCRTL(0), 0)?;
        self.registers.write(
            regs::FCRTH(0),
            (RX_PACKET_BUFFER_KB - FLOW_CONTROL_RESERVE_KB) * 1024,
        )?;

        // 5.2.5.3.1: no-snoop stays off, descriptors and packets are in cached memory.
        self.registers.set(regs::CTRL_EXT, regs::CTRL_EXT_NS_DIS)
    }

    /// 4.6.3: wait for EEPROM auto-read and for DMA initialization.
    /// DEVIATION: EEMNGCTL.CFG_DONE is not waited for. No manageability traffic is used, and
    /// boards without its firmware never set the bit.
    fn wait_until_ready(&self) -> Result<()> {
        self.registers.wait(&Wait {
            offset: regs::EEC,
            mask: regs::EEC_ARD,
            value: regs::EEC_ARD,
            timeout_ms: TIMEOUT_EEPROM,
            name: "EEC.ARD",
            mend: MEND_DEVICE,
        })?;
        self.registers.wait(&Wait {
            offset: regs::RDRXCTL,
            mask: regs::RDRXCTL_DMAIDONE,
            value: regs::RDRXCTL_DMAIDONE,
            timeout_ms: TIMEOUT_DMA_INIT,
            name: "RDRXCTL.DMAIDONE",
            mend: MEND_DEVICE,
        })
    }

    /// 4.6.4.2 Link initialization: 10 Gbit/s serial over SFI, the SFP+ ports' mode.
    /// X540 and X550 have a copper PHY whose firmware brings the link up by itself.
    fn init_link(&self) -> Result<()> {
        if !self.is_82599 {
            return Ok(());
        }
        self.registers
            .write_field(regs::AUTOC, regs::AUTOC_LMS, regs::AUTOC_LMS_10G_SERIAL)?;
        self.registers.write_field(
            regs::AUTOC2,
            regs::AUTOC2_10G_PMA_PMD_SERIAL,
            regs::AUTOC2_10G_PMA_PMD_SERIAL_SFI,
        )?;
        self.registers.set(regs::AUTOC, regs::AUTOC_AN_RESTART)
    }

    /// 4.6.7: which frames are let in. RXCTRL.RXEN is 0 since the reset, as FCTRL demands.
    fn init_filters(&self) -> Result<()> {
        // Address filters 1 and up are invalid after a reset; the tables below are memory.
        for i in 0..regs::PFUTA_COUNT {
            self.registers.write(regs::PFUTA(i), 0)?;
        }
        for i in 0..regs::MTA_COUNT {
            self.registers.write(regs::MTA(i), 0)?;
        }
        for i in 0..regs::VFTA_COUNT {
            self.registers.write(regs::VFTA(i), 0)?;
        }
        self.registers.set(regs::FCTRL, regs::FCTRL_BAM)?;
        if self.config.promiscuous {
            self.registers
                .set(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        }
        Ok(())
    }

    /// 4.6.7 Receive initialization: one ring.
    fn init_rx_queue(&mut self, id: u32) -> Result<()> {
        let size = self.config.rx_ring_size as usize;
        let mut packets = Vec::with_capacity(size);
        for _ in 0..size {
            let Some(packet) = self.pool.alloc() else {
                return Err(Error::device(
                    self.registers.vfio.address(),
                    format!("the pool has too few packets to fill RX queue {id}"),
                ));
            };
            packets.push(packet);
        }
        let container = self.registers.vfio.container()?;
        let mut ring = Ring::alloc(&container, packets.into_boxed_slice())?;
        for i in 0..size {
            let entry = ring.entry(i);
            let lower = entry.slot.iova();
            entry.store(Descriptor { lower, upper: 0 });
        }

        self.registers.write(regs::RDBAL(id), ring.iova() as u32)?;
        self.registers
            .write(regs::RDBAH(id), (ring.iova() >> 32) as u32)?;
        self.registers.write(regs::RDLEN(id), ring.size() as u32)?;
        self.registers.write(regs::RDH(id), 0)?;
        self.registers.write(regs::RDT(id), 0)?;
        // 8.2.3.8.7: one buffer a frame. BSIZEPACKET counts in KiB, so it says 2 KiB although
        // the headroom leaves 1984 bytes: HLREG0.JUMBOEN = 0 keeps frames within 1522.
        // A frame without a descriptor is dropped rather than blocking the other queues.
        self.registers.write_field(
            regs::SRRCTL(id),
            regs::SRRCTL_BSIZEPACKET | regs::SRRCTL_DESCTYPE | regs::SRRCTL_DROP_EN,
            field(regs::SRRCTL_BSIZEPACKET, RX_BUFFER_KB)
                | regs::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER
                | regs::SRRCTL_DROP_EN,
        )?;
        // 8.2.3.11.1: this bit reads 1 after a reset and must be written as 0.
        self.registers
            .clear(regs::DCA_RXCTRL(id), regs::DCA_RXCTRL_RESERVED_12)?;

        let queue = RxQueue {
            ring,
            pool: self.pool,
            tail: self.registers.tail(regs::RDT(id)),
            mask: size - 1,
            index: 0,
            pool_empty: 0,
            discard: Discard::default(),
        };

        // 4.6.7.1.1: enable the queue, and only then hand it descriptors.
        self.registers.set(regs::RXDCTL(id), regs::RXDCTL_ENABLE)?;
        self.registers.wait(&Wait {
            offset: regs::RXDCTL(id),
            mask: regs::RXDCTL_ENABLE,
            value: regs::RXDCTL_ENABLE,
            timeout_ms: TIMEOUT_QUEUE,
            name: "RXDCTL.ENABLE",
            mend: MEND_DEVICE,
        })?;
        // Orders the writes of the descriptors above before the write of RDT.
        dma_write_barrier();
        queue.tail.write(queue.mask as u32)?;
        self.rx.push(queue);
        Ok(())
    }

    /// Lets frames in, or keeps them out. 4.6.7: RXCTRL.RXEN changes with the security block halted.
    pub(crate) fn enable_rx(&self, on: bool) -> Result<()> {
        self.registers
            .set(regs::SECRXCTRL, regs::SECRXCTRL_RX_DIS)?;
        self.registers.wait(&Wait {
            offset: regs::SECRXSTAT,
            mask: regs::SECRXSTAT_SECRX_RDY,
            value: regs::SECRXSTAT_SECRX_RDY,
            timeout_ms: TIMEOUT_RX_HALT,
            name: "SECRXSTAT.SECRX_RDY",
            mend: MEND_DEVICE,
        })?;
        if on {
            self.registers.set(regs::RXCTRL, regs::RXCTRL_RXEN)?;
        } else {
            self.registers.clear(regs::RXCTRL, regs::RXCTRL_RXEN)?;
        }
        self.registers
            .clear(regs::SECRXCTRL, regs::SECRXCTRL_RX_DIS)
    }

    /// 4.6.7 Receive initialization.
    fn init_receive(&mut self) -> Result<()> {
        self.init_filters()?;
        // 4.6.11.3.4: the whole buffer for packet buffer 0.
        self.registers.write(
            regs::RXPBSIZE(0),
            field(regs::RXPBSIZE_SIZE, RX_PACKET_BUFFER_KB),
        )?;
        for i in 1..regs::RXPBSIZE_COUNT {
            self.registers.write(regs::RXPBSIZE(i), 0)?;
        }
        // The device strips the CRC, in two places that must agree; no jumbo frames.
        self.registers.write_field(
            regs::HLREG0,
            regs::HLREG0_RXCRCSTRP | regs::HLREG0_JUMBOEN,
            regs::HLREG0_RXCRCSTRP,
        )?;
        // 8.2.3.8.8: RSCFRSTSIZE must be 0, RSCACKC and FCOE_WRFIX must be 1.
        self.registers.write_field(
            regs::RDRXCTL,
            regs::RDRXCTL_CRCSTRIP
                | regs::RDRXCTL_RSCFRSTSIZE
                | regs::RDRXCTL_RSCACKC
                | regs::RDRXCTL_FCOE_WRFIX,
            regs::RDRXCTL_CRCSTRIP | regs::RDRXCTL_RSCACKC | regs::RDRXCTL_FCOE_WRFIX,
        )?;
        for i in 0..self.config.rx_queues {
            self.init_rx_queue(i)?;
        }
        self.enable_rx(true)
    }

    /// 4.6.8 Transmit initialization: one ring.
    fn init_tx_queue(&mut self, id: u32) -> Result<()> {
        let size = self.config.tx_ring_size as usize;
        let container = self.registers.vfio.container()?;
        let ring = Ring::alloc(&container, (0..size).map(|_| None).collect())?;

        self.registers.write(regs::TDBAL(id), ring.iova() as u32)?;
        self.registers
            .write(regs::TDBAH(id), (ring.iova() >> 32) as u32)?;
        self.registers.write(regs::TDLEN(id), ring.size() as u32)?;
        self.registers.write(regs::TDH(id), 0)?;
        self.registers.write(regs::TDT(id), 0)?;
        self.registers.write_field(
            regs::TXDCTL(id),
            regs::TXDCTL_PTHRESH | regs::TXDCTL_HTHRESH | regs::TXDCTL_WTHRESH,
            field(regs::TXDCTL_PTHRESH, TX_PREFETCH_THRESHOLD)
                | field(regs::TXDCTL_HTHRESH, TX_HOST_THRESHOLD)
                | field(regs::TXDCTL_WTHRESH, TX_WRITE_BACK_THRESHOLD),
        )?;

        self.tx.push(TxQueue {
            ring,
            tail: self.registers.tail(regs::TDT(id)),
            mask: size - 1,
            index: 0,
            clean_index: 0,
            done: 0,
        });

        // 4.6.8.1.1
        self.registers.set(regs::TXDCTL(id), regs::TXDCTL_ENABLE)?;
        self.registers.wait(&Wait {
            offset: regs::TXDCTL(id),
            mask: regs::TXDCTL_ENABLE,
            value: regs::TXDCTL_ENABLE,
            timeout_ms: TIMEOUT_QUEUE,
            name: "TXDCTL.ENABLE",
            mend: MEND_DEVICE,
        })
    }

    /// 4.6.8 Transmit initialization.
    fn init_transmit(&mut self) -> Result<()> {
        // The device adds the CRC and pads short frames.
        self.registers
            .set(regs::HLREG0, regs::HLREG0_TXCRCEN | regs::HLREG0_TXPADEN)?;
        // 4.6.8: the arbiter is halted while the packet buffers change (4.6.11.3.4).
        self.registers.set(regs::RTTDCS, regs::RTTDCS_ARBDIS)?;
        self.registers
            .write(regs::DTXMXSZRQ, regs::DTXMXSZRQ_MAX_BYTES_NUM_REQ)?;
        self.registers.write(
            regs::TXPBSIZE(0),
            field(regs::TXPBSIZE_SIZE, TX_PACKET_BUFFER_KB),
        )?;
        self.registers
            .write(regs::TXPBTHRESH(0), TX_PACKET_BUFFER_KB - TX_MAX_PACKET_KB)?;
        for i in 1..regs::TXPBSIZE_COUNT {
            self.registers.write(regs::TXPBSIZE(i), 0)?;
            self.registers.write(regs::TXPBTHRESH(i), 0)?;
        }
        self.registers.write(regs::MTQC, 0)?;
        self.registers.clear(regs::RTTDCS, regs::RTTDCS_ARBDIS)?;
        // 8.2.3.9.2: before the first queue is enabled.
        self.registers.set(regs::DMATXCTL, regs::DMATXCTL_TE)?;
        for i in 0..self.config.tx_queues {
            self.init_tx_queue(i)?;
        }
        Ok(())
    }

    fn wait_for_link(&self) -> Result<()> {
        self.registers.wait(&Wait {
            offset: regs::LINKS,
            mask: regs::LINKS_UP,
            value: regs::LINKS_UP,
            timeout_ms: TIMEOUT_LINK,
            name: "LINKS.UP",
            mend: "check the cable, the SFP+ module and that the other side is up",
        })
    }

    fn check_config(&self) -> Result<()> {
        let config = &self.config;
        let address = self.registers.vfio.address();
        let queues = 1..=MAX_QUEUES;
        if !queues.contains(&config.rx_queues) || !queues.contains(&config.tx_queues) {
            return Err(Error::device(
                address,
                format!(
                    "a device has 1 to {MAX_QUEUES} RX and TX queues, not {} and {}",
                    config.rx_queues, config.tx_queues
                ),
            ));
        }
        for size in [config.rx_ring_size, config.tx_ring_size] {
            if !(MIN_RING_SIZE..=MAX_RING_SIZE).contains(&size) || !size.is_power_of_two() {
                return Err(Error::device(
                    address,
                    format!(
                        "a ring has a power of two of descriptors, {MIN_RING_SIZE} to \
                         {MAX_RING_SIZE}, not {size}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// 4.6.3 Initialization sequence.
    fn initialize(&mut self) -> Result<()> {
        self.reset()?;
        self.wait_until_ready()?;
        self.init_link()?;
        // 4.6.5 Initialization of statistics: reading clears them.
        self.stats_clear()?;
        self.mac = self.mac_read()?;
        // Without this, the device could not fetch the descriptors it is about to get.
        self.enable_bus_master()?;
        self.init_receive()?;
        self.init_transmit()?;
        self.wait_for_link()
    }

    /// Takes the device from any state to running.
    pub(crate) fn start(&mut self) -> Result<()> {
        self.check_config()?;
        if let Err(error) = self.initialize() {
            // Half-way there, the device must not touch the memory that is about to go. That
            // it started to fail is the news, not that it goes on failing.
            let _ = self.disable_bus_master();
            return Err(error);
        }
        self.running = true;
        Ok(())
    }

    /// 4.6.8.1.2: a TX queue is disabled once it is empty.
    fn stop_tx_queue(&mut self, id: u32) -> Result<()> {
        let Some(queue) = self.tx.get_mut(id as usize) else {
            return Ok(());
        };
        let drained = self.registers.wait(&Wait {
            offset: regs::TDH(id),
            mask: regs::TDH_TDH,
            value: queue.index as u32,
            timeout_ms: TIMEOUT_TX_DRAIN,
            name: "TDH",
            mend: "packets left in the TX ring were not sent",
        });

        queue.tx_reclaim();
        self.registers
            .clear(regs::TXDCTL(id), regs::TXDCTL_ENABLE)?;
        let disabled = self.registers.wait(&Wait {
            offset: regs::TXDCTL(id),
            mask: regs::TXDCTL_ENABLE,
            value: 0,
            timeout_ms: TIMEOUT_QUEUE,
            name: "TXDCTL.ENABLE",
            mend: MEND_DEVICE,
        });
        drained.and(disabled)
    }

    /// 4.6.7.1.2
    fn stop_rx_queue(&self, id: u32) -> Result<()> {
        self.registers
            .clear(regs::RXDCTL(id), regs::RXDCTL_ENABLE)?;
        let disabled = self.registers.wait(&Wait {
            offset: regs::RXDCTL(id),
            mask: regs::RXDCTL_ENABLE,
            value: 0,
            timeout_ms: TIMEOUT_QUEUE,
            name: "RXDCTL.ENABLE",
            mend: MEND_DEVICE,
        });

        sleep(RX_DISABLE_SETTLE);
        disabled
    }

    /// 8.2.3.23 GPTC must come to as many packets as the descriptors say were sent.
    fn check_sent(&mut self) -> Result<()> {
        let done = self.tx.iter().map(|queue| queue.done).sum();
        let mut stats = Stats::default();

        // The last ones may still be on their way to the wire.
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
                "the device reported {done} packets as sent, and GPTC counts {}; the others are \
                 lost",
                stats.tx_packets
            ),
        ))
    }

    /// Takes the device from running to quiet: what is in the TX rings is sent, the queues are
    /// disabled, bus mastering is off.
    ///
    /// # Errors
    /// The first thing that did not work; the steps after it are done all the same.
    pub fn stop(&mut self) -> Result<()> {
        self.running = false;
        // Nothing new comes in, what is in the TX rings goes out, then the queues close.
        let mut result = self.enable_rx(false);
        for i in 0..self.config.tx_queues {
            result = result.and(self.stop_tx_queue(i));
        }
        result = result.and(self.check_sent());
        result = result.and(self.registers.clear(regs::DMATXCTL, regs::DMATXCTL_TE));
        for i in 0..self.config.rx_queues {
            result = result.and(self.stop_rx_queue(i));
        }
        result = result.and(self.disable_interrupts());
        result = result.and(self.disable_master());
        result.and(self.disable_bus_master())
    }
}
