//! Starting and stopping a device, in the order of the datasheet's section 4.6.3 "Initialization
//! Sequence". Each function names its section. DEVIATION-... and TRUST-... are names of rows in
//! drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use std::slice;
use std::time::Duration;

use crate::clock::sleep;
use crate::driver::descriptor::Descriptor;
use crate::driver::device::{
    Config, Device, Interrupts, OpenDevice, Stats, MAX_QUEUES, MAX_RING_SIZE, MIN_RING_SIZE,
};
use crate::driver::device_ids::Family;
use crate::driver::link::link_init;
use crate::driver::mempool::{Mempool, PACKET_BUFFER_SIZE};
use crate::driver::registers::{self as regs, field};
use crate::driver::reset::{
    disable_interrupts, disable_master, reset_device, set_bus_master, wait_until_ready,
};
use crate::driver::rx::{enable_rx, Discard, RxQueue};
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::sys::dma::Ring;
use crate::sys::mmio::dma_write_barrier;

/// 4.6.7.1.2: a disabled queue may write back for this long.
const RX_DISABLE_SETTLE: Duration = Duration::from_micros(100);

// 4.6.11.3.4: packet buffers in KiB, without DCB and virtualization. X540 and X550 have less.
const RX_PACKET_BUFFER_KB_82599: u32 = 512;
const RX_PACKET_BUFFER_KB_X540: u32 = 384;
const TX_PACKET_BUFFER_KB: u32 = 160;
const TX_MAX_PACKET_KB: u32 = 2;

/// 3.7.7.3.2: without flow control, this much of the buffer lies above the XOFF threshold.
const FLOW_CONTROL_RESERVE_KB: u32 = 24;

// 7.2.3.4.1: PTHRESH + WTHRESH must not exceed the 40 on-chip descriptors. These are the values of
// the published measurements. The device writes back 4 descriptors at once, a cache line, so it
// needs a quarter of the PCIe writes that WTHRESH 0 needs.
const TX_PREFETCH_THRESHOLD: u32 = 36;
const TX_HOST_THRESHOLD: u32 = 8;
const TX_WRITE_BACK_THRESHOLD: u32 = 4;

const RX_BUFFER_KB: u32 = (PACKET_BUFFER_SIZE / 1024) as u32;

impl<'p> Device<'p> {
    /// 4.6.11.3.4: the size of the memory for received packets, in KiB.
    fn rx_packet_buffer_kb(&self) -> u32 {
        match self.family {
            Family::Intel82599 => RX_PACKET_BUFFER_KB_82599,
            Family::X540 | Family::X550 => RX_PACKET_BUFFER_KB_X540,
        }
    }

    /// 4.6.3.2 General configuration: flow control and no-snoop off.
    fn init_general(&self) -> Result<()> {
        let registers = &self.registers;
        // 3.7.7.3.2, 8.2.3.3: no flow control. The XOFF threshold is needed all the same, because
        // it also limits the packets that the device switches from TX to RX.
        registers.write(regs::FCCFG, 0)?;
        registers.clear(regs::MFLCN, regs::MFLCN_RFCE | regs::MFLCN_RPFCE)?;
        registers.write(regs::FCRTL(0), 0)?;
        registers.write(
            regs::FCRTH(0),
            (self.rx_packet_buffer_kb() - FLOW_CONTROL_RESERVE_KB) * 1024,
        )?;

        // 5.2.5.3.1: no-snoop stays off, because descriptors and packets are in cached memory. 8.2.3.1.3:
        // DRV_LOAD tells firmware that a driver has the port.
        registers.set(
            regs::CTRL_EXT,
            regs::CTRL_EXT_NS_DIS | regs::CTRL_EXT_DRV_LOAD,
        )
    }

    /// 4.6.7: sets which frames are let in. RXCTRL.RXEN is 0 since the reset, as FCTRL demands.
    fn init_filters(&self) -> Result<()> {
        self.registers.set(regs::FCTRL, regs::FCTRL_BAM)?;
        if self.config.promiscuous {
            self.registers
                .set(regs::FCTRL, regs::FCTRL_MPE | regs::FCTRL_UPE)?;
        }
        Ok(())
    }

    /// The pool of an RX queue.
    fn pool(&self, id: u32) -> &'p Mempool {
        // `claim` takes one pool, or one for each queue.
        self.pools.get(id as usize).unwrap_or(&self.pools[0])
    }

    /// 4.6.7 Receive initialization: one ring.
    fn init_rx_queue(&mut self, id: u32) -> Result<()> {
        let registers = &self.registers;
        let size = self.config.rx_ring_size as usize;
        let pool = self.pool(id);
        let mut packets = Vec::with_capacity(size);
        for _ in 0..size {
            let Some(packet) = pool.alloc() else {
                return Err(Error::device(
                    registers.vfio.address(),
                    format!("the pool has too few packets to fill RX queue {id}"),
                ));
            };
            packets.push(packet.buffer);
        }
        let container = registers.vfio.container()?;
        let mut ring = Ring::alloc(&container, packets.into_boxed_slice())?;
        for i in 0..size {
            let entry = ring.entry(i);
            let lower = entry.slot.iova();
            entry.descriptor.store(Descriptor { lower, upper: 0 });
        }

        registers.write(regs::RDBAL(id), ring.iova() as u32)?;
        registers.write(regs::RDBAH(id), (ring.iova() >> 32) as u32)?;
        registers.write(regs::RDLEN(id), ring.size() as u32)?;
        registers.write(regs::RDH(id), 0)?;
        registers.write(regs::RDT(id), 0)?;
        // 8.2.3.8.7: one buffer a frame. BSIZEPACKET counts in KiB, so 2 KiB must do although the
        // headroom leaves 1984 bytes. TRUST-FRAME-SIZE: with HLREG0.JUMBOEN = 0 no frame is longer
        // than 1522 bytes. DROP_EN drops a frame for which the queue has no descriptor, so that it
        // does not block the other queues.
        registers.write_field(
            regs::SRRCTL(id),
            regs::SRRCTL_BSIZEPACKET | regs::SRRCTL_DESCTYPE | regs::SRRCTL_DROP_EN,
            field(regs::SRRCTL_BSIZEPACKET, RX_BUFFER_KB)
                | regs::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER
                | regs::SRRCTL_DROP_EN,
        )?;
        // 8.2.3.11.1: bit 12 is 1 after a reset and must be written as 0. The device writes packets
        // and descriptors in order: a DD must not overtake the data that it stands for.
        registers.clear(
            regs::DCA_RXCTRL(id),
            regs::DCA_RXCTRL_RESERVED_12
                | regs::DCA_RXCTRL_DATA_WRO_EN
                | regs::DCA_RXCTRL_HEAD_WRO_EN,
        )?;

        let queue = RxQueue {
            ring,
            pool: &pool.buffers,
            tail: registers.tail(regs::RDT(id)),
            mask: size - 1,
            index: 0,
            pool_empty: 0,
            discard: Discard::default(),
            suspect: None,
        };

        // 4.6.7.1.1: enable the queue first. A tail written before that is lost.
        registers.set(regs::RXDCTL(id), regs::RXDCTL_ENABLE)?;
        registers.wait(
            regs::RXDCTL(id),
            regs::RXDCTL_ENABLE,
            regs::RXDCTL_ENABLE,
            "RXDCTL.ENABLE",
        )?;
        // Orders the writes of the descriptors above before the write of RDT.
        dma_write_barrier();
        // All descriptors but one: see rx.rs for the reason.
        queue.tail.write(queue.mask as u32)?;
        self.rx.push(queue);
        Ok(())
    }

    /// 4.6.7 Receive initialization.
    fn init_receive(&mut self) -> Result<()> {
        self.init_filters()?;
        // 4.6.11.3.4: packet buffer 0 gets all of the memory.
        self.registers.write(
            regs::RXPBSIZE(0),
            field(regs::RXPBSIZE_SIZE, self.rx_packet_buffer_kb()),
        )?;
        for i in 1..regs::RXPBSIZE_COUNT {
            self.registers.write(regs::RXPBSIZE(i), 0)?;
        }
        // The device strips the CRC, by two bits that must agree. No jumbo frames.
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
        enable_rx(&self.registers, true)
    }

    /// 4.6.8 Transmit initialization: one ring.
    fn init_tx_queue(&mut self, id: u32) -> Result<()> {
        // 7.2.3.4.1: with WTHRESH 0 the device writes back only descriptors with RS.
        let threshold = match self.config.tx_sparse_rs {
            true => 0,
            false => TX_WRITE_BACK_THRESHOLD,
        };
        let registers = &self.registers;
        let size = self.config.tx_ring_size as usize;
        let container = registers.vfio.container()?;
        let ring = Ring::alloc(&container, (0..size).map(|_| None).collect())?;

        // X550 datasheet 4.6.8.1: DMATXCTL.TE has enabled queue 0. Its ring may change only while off.
        registers.clear(regs::TXDCTL(id), regs::TXDCTL_ENABLE)?;
        registers.wait(regs::TXDCTL(id), regs::TXDCTL_ENABLE, 0, "TXDCTL.ENABLE")?;
        registers.write(regs::TDBAL(id), ring.iova() as u32)?;
        registers.write(regs::TDBAH(id), (ring.iova() >> 32) as u32)?;
        registers.write(regs::TDLEN(id), ring.size() as u32)?;
        registers.write(regs::TDH(id), 0)?;
        registers.write(regs::TDT(id), 0)?;
        registers.write_field(
            regs::TXDCTL(id),
            regs::TXDCTL_PTHRESH | regs::TXDCTL_HTHRESH | regs::TXDCTL_WTHRESH,
            field(regs::TXDCTL_PTHRESH, TX_PREFETCH_THRESHOLD)
                | field(regs::TXDCTL_HTHRESH, TX_HOST_THRESHOLD)
                | field(regs::TXDCTL_WTHRESH, threshold),
        )?;
        // 8.2.3.11.2: descriptors are written back in order, as TRUST-TX-ORDER needs it.
        registers.clear(regs::DCA_TXCTRL(id), regs::DCA_TXCTRL_DESC_WRO_EN)?;

        self.tx.push(TxQueue {
            ring,
            tail: registers.tail(regs::TDT(id)),
            mask: size - 1,
            index: 0,
            clean_index: 0,
            done: 0,
        });

        // 4.6.8.1.1: enable the queue.
        registers.set(regs::TXDCTL(id), regs::TXDCTL_ENABLE)?;
        registers.wait(
            regs::TXDCTL(id),
            regs::TXDCTL_ENABLE,
            regs::TXDCTL_ENABLE,
            "TXDCTL.ENABLE",
        )
    }

    /// 4.6.8 Transmit initialization.
    fn init_transmit(&mut self) -> Result<()> {
        let registers = &self.registers;
        // The device adds the CRC and pads short frames.
        registers.set(regs::HLREG0, regs::HLREG0_TXCRCEN | regs::HLREG0_TXPADEN)?;
        // 4.6.8: halt the arbiter while the packet buffers change (4.6.11.3.4).
        registers.set(regs::RTTDCS, regs::RTTDCS_ARBDIS)?;
        registers.write(regs::DTXMXSZRQ, regs::DTXMXSZRQ_MAX_BYTES_NUM_REQ)?;
        registers.write(
            regs::TXPBSIZE(0),
            field(regs::TXPBSIZE_SIZE, TX_PACKET_BUFFER_KB),
        )?;
        registers.write(regs::TXPBTHRESH(0), TX_PACKET_BUFFER_KB - TX_MAX_PACKET_KB)?;
        for i in 1..regs::TXPBSIZE_COUNT {
            registers.write(regs::TXPBSIZE(i), 0)?;
            registers.write(regs::TXPBTHRESH(i), 0)?;
        }
        registers.write(regs::MTQC, 0)?;
        registers.clear(regs::RTTDCS, regs::RTTDCS_ARBDIS)?;
        // 8.2.3.9.2: set TE before the first queue is enabled.
        registers.set(regs::DMATXCTL, regs::DMATXCTL_TE)?;
        for i in 0..self.config.tx_queues {
            self.init_tx_queue(i)?;
        }
        Ok(())
    }

    fn check_config(&self) -> Result<()> {
        let config = &self.config;
        let address = self.registers.vfio.address();
        let queues = 1..=MAX_QUEUES;
        if !queues.contains(&config.rx_queues) || !queues.contains(&config.tx_queues) {
            return Err(Error::device(
                address,
                format!(
                    "{} RX and {} TX queues are out of range, 1 to {MAX_QUEUES} each",
                    config.rx_queues, config.tx_queues
                ),
            ));
        }
        for size in [config.rx_ring_size, config.tx_ring_size] {
            if !(MIN_RING_SIZE..=MAX_RING_SIZE).contains(&size) || !size.is_power_of_two() {
                return Err(Error::device(
                    address,
                    format!(
                        "the number of descriptors is a power of two, {MIN_RING_SIZE} to \
                         {MAX_RING_SIZE}, not {size}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// 4.6.3 Initialization sequence, first half: the reset, and what waits for it.
    pub(crate) fn reset(&mut self) -> Result<()> {
        self.check_config()?;
        reset_device(&self.registers, self.family)?;
        self.init_general()?;
        wait_until_ready(&self.registers)
    }

    /// 4.6.3, second half: the link of an 82599, receive and transmit.
    pub(crate) fn init(&mut self) -> Result<()> {
        if self.family == Family::Intel82599 {
            link_init(&self.registers)?;
        }
        // Without bus mastering, the device cannot fetch descriptors.
        let mut result = set_bus_master(&self.registers, true);
        result = result.and_then(|()| self.init_receive());
        result = result.and_then(|()| self.init_transmit());
        if result.is_err() {
            // The device must not access memory that is about to be freed. The first error is the
            // one to report.
            let _ = set_bus_master(&self.registers, false);
        }
        self.running = result.is_ok();
        result
    }

    /// 4.6.8.1.2: disables a TX queue once it is empty.
    fn stop_tx_queue(&mut self, id: u32) -> Result<()> {
        let registers = &self.registers;
        let Some(queue) = self.tx.get_mut(id as usize) else {
            return Ok(());
        };
        // 7.2.3.4.2: SWFLSH writes back the descriptors that WTHRESH holds back. TDH may move only with
        // write-backs, and packets that are sent after a flush are held back again.
        let drained = registers.wait_setting(
            Some((regs::TXDCTL(id), regs::TXDCTL_SWFLSH)),
            regs::TDH(id),
            regs::TDH_TDH,
            queue.index as u32,
            "TDH (the packets left in the TX ring were not sent)",
        );

        registers.write_field(
            regs::TXDCTL(id),
            regs::TXDCTL_ENABLE | regs::TXDCTL_SWFLSH,
            regs::TXDCTL_SWFLSH,
        )?;
        let disabled = registers.wait(regs::TXDCTL(id), regs::TXDCTL_ENABLE, 0, "TXDCTL.ENABLE");
        if !self.config.tx_sparse_rs {
            queue.tx_reclaim();
            return drained.and(disabled);
        }
        // DD never shows the packets behind the last RS. TDH has shown that they were sent.
        if drained.is_ok() {
            let left = queue.index.wrapping_sub(queue.clean_index) & queue.mask;
            queue.done += left as u64;
        }
        queue.clean_index = queue.index;
        drained.and(disabled)
    }

    /// 4.6.7.1.2: disables an RX queue.
    fn stop_rx_queue(&self, id: u32) -> Result<()> {
        self.registers
            .clear(regs::RXDCTL(id), regs::RXDCTL_ENABLE)?;
        let disabled =
            self.registers
                .wait(regs::RXDCTL(id), regs::RXDCTL_ENABLE, 0, "RXDCTL.ENABLE");

        sleep(RX_DISABLE_SETTLE);
        disabled
    }

    /// Stops a running device: sends what is in the TX rings, disables the queues, and turns bus
    /// mastering off.
    ///
    /// # Errors
    /// The first error. The steps after it are done all the same.
    pub fn stop(&mut self) -> Result<()> {
        self.running = false;
        // Stop receiving, send what is in the TX rings, then disable the queues.
        let mut result = enable_rx(&self.registers, false);
        for i in 0..self.config.tx_queues {
            result = result.and(self.stop_tx_queue(i));
        }
        result = result.and(self.registers.clear(regs::DMATXCTL, regs::DMATXCTL_TE));
        for i in 0..self.config.rx_queues {
            result = result.and(self.stop_rx_queue(i));
        }
        result = result.and(disable_interrupts(&self.registers));
        result = result.and(
            self.registers
                .clear(regs::CTRL_EXT, regs::CTRL_EXT_DRV_LOAD),
        );
        // The end of bus mastering keeps a device that is too slow from further requests.
        result = result.and(match disable_master(&self.registers) {
            Err(error) if matches!(*error, Error::Timeout { .. }) => {
                error.warn();
                Ok(())
            }
            other => other,
        });
        result.and(set_bus_master(&self.registers, false))
    }
}

impl OpenDevice {
    /// Starts the device, whatever state it was left in. All its RX queues take their buffers from
    /// `pool`. It neither waits for the link nor divides packets among the queues:
    /// [`OpenDevice::start_queues`] does.
    ///
    /// # Errors
    /// If the pool belongs to another container, another [`Device`] uses the queues, the configuration
    /// is out of range, or the device does not react as the datasheet says.
    pub fn start<'p>(&self, config: &Config, pool: &'p Mempool) -> Result<Device<'p>> {
        let mut device = self.claim(config, slice::from_ref(pool))?;
        device.reset()?;
        device.init()?;
        Ok(device)
    }

    /// A device that is not running yet, whose queues no other Device has.
    ///
    /// # Errors
    /// If a pool belongs to another container, there is not one pool or one for each RX queue, or another
    /// [`Device`] uses the queues.
    pub(crate) fn claim<'p>(&self, config: &Config, pools: &'p [Mempool]) -> Result<Device<'p>> {
        let vfio = &self.registers.vfio;
        if pools.len() != 1 && pools.len() != config.rx_queues as usize {
            return Err(Error::device(
                vfio.address(),
                format!(
                    "{} pools for {} RX queues; give one pool, or one for each queue",
                    pools.len(),
                    config.rx_queues
                ),
            ));
        }
        // IOVAs have a meaning in their container only.
        let container = vfio.container()?;
        if !pools.iter().all(|pool| pool.is_in(&container)) {
            return Err(Error::device(
                vfio.address(),
                "the pool belongs to another container; create the pool in the container in which \
                 the device was opened",
            ));
        }
        if !vfio.claim() {
            return Err(Error::device(
                vfio.address(),
                "the device is started already; drop the Device that uses it first",
            ));
        }
        Ok(Device {
            registers: self.registers.clone(),
            family: self.family,
            config: *config,
            pools,
            running: false,
            mac: [0; 6],
            stats: Stats::default(),
            queue_stats: Default::default(),
            rx: Vec::new(),
            tx: Vec::new(),
            interrupts: Interrupts::default(),
        })
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if self.running {
            // A caller that needs the error calls `stop`.
            let _ = self.stop();
        }
        if self.registers.vfio.is_bus_master() && set_bus_master(&self.registers, false).is_err() {
            // The device still runs, for example a software NIC that was paused for longer than the
            // driver waits. It may write to the packets in the RX rings at any time. The pool
            // does not get these packets back.
            for queue in self.rx.drain(..) {
                queue.lose_packets();
            }
        }
        self.registers.vfio.release();
    }
}
