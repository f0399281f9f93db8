//! One port of the card: its parts, its resets and its sessions.
//!
//! [`Device`] owns the parts and connects them. Each part has a file of its own. Drivers reach the
//! registers through [`register_access`](crate::device::register_access), and the PCI regions
//! through [`regions`](crate::device::regions).

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use crate::config::{Faults, Module, PortConfig, Traffic, QUEUES};
use crate::device::data_path::{Conditions, DataPathSettings};
use crate::device::diagnostics::Diagnostics;
use crate::device::dma_port::DmaPort;
use crate::device::eeprom::Eeprom;
use crate::device::families::{family_of, Family, Medium};
use crate::device::filter;
use crate::device::interrupts::Interrupts;
use crate::device::link_state::Link;
use crate::device::misuse::write_back_misuse;
use crate::device::packet_buffer::PacketBuffer;
use crate::device::pci_config::PciState;
use crate::device::queues::PortQueues;
use crate::device::rate_limit::RateLimits;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::rx::RxQueue;
use crate::device::statistics::Batch;
use crate::device::trace::Trace;
use crate::device::tx::TxQueue;
use crate::pci_function::{IrqRequest, SessionEnd};
use crate::report::{PortCounters, ResetCause, ResetReport, SessionReport, Snapshot, Watch};
use crate::traffic::frame::station_address;

/// The fault `head_beyond_ring` adds this to the heads that the card shows: more than any ring has.
const HEAD_BEYOND: u32 = 0x2000;

/// One port.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) index: usize,
    pub(crate) config: PortConfig,
    pub(crate) family: &'static Family,
    pub(crate) trace: Option<Arc<Trace>>,

    pub(crate) registers: RegisterFile,
    pub(crate) pci: PciState,
    pub(crate) eeprom: Eeprom,
    pub(crate) link: Link,
    /// The counter that the driver's last access read, and what it showed.
    pub(crate) last_counter: Option<(u32, u32)>,
    /// Reads of SW_FW_SYNC until firmware releases the PHY.
    firmware_looks: u32,
    pub(crate) rate_limits: RateLimits,
    /// Whether the wire leads to another port of the card, and not to the traffic generator.
    cabled: bool,
    /// Whether drivers write the queues' registers without a message to the card.
    pub(crate) shared_pages: bool,
    pub(crate) interrupts: Interrupts,
    pub(crate) dma: DmaPort,

    pub(crate) queues: PortQueues,
    pub(crate) packet_buffer: PacketBuffer,
    pub(crate) settings: DataPathSettings,
    pub(crate) batch: Batch,

    /// Frames that a test has put on the wire.
    pub(crate) injected: VecDeque<Vec<u8>>,
    /// Frames that the driver has sent, if the card keeps them.
    pub(crate) captured: Option<Vec<Vec<u8>>>,
    pub(crate) counters: PortCounters,
    /// Another kind of traffic, for the data plane to change to.
    pub(crate) new_traffic: Option<Traffic>,
    /// Counts resets. Frames that were in the card before a reset do not arrive.
    pub(crate) generation: u64,
    /// Counts changes of the RSS settings.
    pub(crate) rss_generation: u64,

    /// Registers whose writes a program wants to see.
    pub(crate) watch: Watch,
    pub(crate) diagnostics: Diagnostics,

    /// Whether a driver is connected.
    pub(crate) connected: bool,
    /// The counters when its session began.
    session_start: PortCounters,
    /// The last finished session and the last reset, if there was one.
    pub(crate) last_session: Option<SessionReport>,
    pub(crate) last_reset: Option<ResetReport>,
}

impl Device {
    pub(crate) fn new(
        index: usize,
        config: PortConfig,
        trace: Option<Arc<Trace>>,
    ) -> io::Result<Self> {
        let family = family_of(config.device_id).map_err(io::Error::other)?;
        let (interrupts, no_interrupts) = Interrupts::new();
        if let Some(reason) = no_interrupts {
            tracing::warn!(
                port = index,
                "no interrupts: io_setup: {reason}; allow it, or use drivers that poll"
            );
        }
        let mut device = Self {
            index,
            family,
            trace,
            registers: RegisterFile::new(index, family)?,
            pci: PciState::new(visible_device_id(&config)),
            eeprom: Eeprom::new(index, config.device_id),
            link: Link::new(
                family.medium,
                config.module,
                index,
                config.link,
                config.hardware,
            ),
            last_counter: None,
            firmware_looks: 0,
            rate_limits: RateLimits::left_by(config.left_behind),
            interrupts,
            dma: DmaPort::new(),
            queues: PortQueues::default(),
            packet_buffer: PacketBuffer::default(),
            settings: DataPathSettings::default(),
            batch: Batch::default(),
            injected: VecDeque::new(),
            captured: config.capture.then(Vec::new),
            counters: PortCounters::default(),
            new_traffic: None,
            generation: 0,
            rss_generation: 0,
            cabled: false,
            shared_pages: false,
            watch: Watch::default(),
            diagnostics: Diagnostics::new(index),
            connected: false,
            session_start: PortCounters::default(),
            last_session: None,
            last_reset: None,
            config,
        };
        device.link.broken = device.config.faults.no_link;
        device.reset_registers();
        device.begin_again();
        Ok(device)
    }

    // ---- Link ----

    /// Compares the link with its state before, if it may have come up by itself.
    #[inline(always)]
    pub(crate) fn observe_training(&mut self) {
        if self.link.is_training() {
            self.link_may_have_changed();
        }
    }

    /// Plugs the wire in or pulls it out.
    pub(crate) fn set_plugged(&mut self, plugged: bool) {
        self.link.plugged = plugged;
        self.link_may_have_changed();
    }

    /// Light from the other end of the wire comes or goes.
    pub(crate) fn set_partner_lit(&mut self, lit: bool) {
        self.cabled = true;
        if self.link.set_partner_lit(lit) {
            self.link_may_have_changed();
        }
    }

    /// Puts another module into the SFP+ cage. Does nothing on a card without one.
    pub(crate) fn set_module(&mut self, module: Module) {
        if self.family.medium != Medium::SfpCage {
            return;
        }
        self.link.set_module(module);
        self.link.drive_pins(&self.registers);
        if self.registers.get(r::GPIE) & r::GPIE_SDP2_GPIEN != 0 {
            self.interrupts
                .other_cause(&self.registers, r::EICR_GPI_SDP2);
        }
        self.link_may_have_changed();
    }

    pub(crate) fn link_may_have_changed(&mut self) {
        if self.link.has_changed() {
            self.link.restart(&self.registers);
            self.interrupts.other_cause(&self.registers, r::EICR_LSC);
            self.refresh();
        }
    }

    // ---- Firmware ----

    /// The bits of SW_FW_SYNC with which the driver and firmware have this port's PHY.
    pub(crate) fn phy_owners(&self) -> (u32, u32) {
        match self.index & 1 {
            0 => (r::SW_FW_SYNC_SW_PHY0, r::SW_FW_SYNC_FW_PHY0),
            _ => (r::SW_FW_SYNC_SW_PHY1, r::SW_FW_SYNC_FW_PHY1),
        }
    }

    /// Shows whether firmware has the PHY, whatever the driver has written.
    pub(crate) fn show_firmware(&mut self) {
        let has = self.firmware_looks > 0 && self.family.medium != Medium::SfpCage;
        let (_, firmware) = self.phy_owners();
        self.registers.put(r::SW_FW_SYNC, firmware, has);
    }

    /// A driver has read SW_FW_SYNC. Firmware that has died never releases the PHY.
    pub(crate) fn sync_read(&mut self) {
        if self.firmware_looks != u32::MAX {
            self.firmware_looks = self.firmware_looks.saturating_sub(1);
        }
        self.show_firmware();
    }

    // ---- Faults ----

    /// Changes how the card misbehaves.
    pub(crate) fn set_faults(&mut self, faults: Faults) {
        self.config.faults = faults;
        for (_, rx) in self.queues.rx.iter_mut() {
            rx.fault = faults.receive;
        }
        self.order_loosely();
        self.link.broken = faults.no_link;
        self.link_may_have_changed();
        self.refresh();
        self.refresh_filters();
    }

    /// One round of an interrupt storm: sets all causes and signals all vectors, masked or not.
    #[cold]
    pub(crate) fn storm(&mut self) {
        self.registers.set(r::EICR, u32::MAX >> 1);
        self.counters.interrupts_forced += self.interrupts.signal_all();
    }

    /// Gives up memory that the driver has taken away.
    #[inline(always)]
    pub(crate) fn withdraw_lost_memory(&mut self) {
        match self.dma.table.withdraw_lost() {
            0 => {}
            maps => self.note(format!(
                "{maps} DMA maps are void: their file was made shorter while it was mapped"
            )),
        }
    }

    // ---- Reports ----

    /// The counters, over all sessions.
    pub(crate) fn counters(&self) -> PortCounters {
        PortCounters {
            dma_faults: self.dma.faults.borrow().total,
            ..self.counters.clone()
        }
    }

    /// Records a driver's mistake.
    pub(crate) fn note(&mut self, text: String) {
        self.diagnostics.note(text);
    }

    /// Records that the driver asked for a feature that the card does not model.
    pub(crate) fn note_unmodelled(&mut self, text: String) {
        self.diagnostics.note_unmodelled(text);
    }

    /// The MAC address in the first filter entry.
    pub(crate) fn mac_address(&self) -> [u8; 6] {
        filter::address_of(self.registers.get(r::RAL(0)), self.registers.get(r::RAH(0)))
    }

    // ---- Sessions ----

    /// A driver has connected.
    pub(crate) fn begin_session(&mut self) {
        self.diagnostics.clear();
        self.counters.sessions += 1;
        self.connected = true;
        self.session_start = self.counters.clone();
        self.dma.faults.get_mut().begin_session();
    }

    /// The driver is gone: reports the state that it left the card in, and prepares the card for
    /// the next driver.
    pub(crate) fn end_session(&mut self, end: SessionEnd) {
        if !std::mem::take(&mut self.connected) {
            return;
        }
        self.withdraw_lost_memory();
        self.observe_queues();
        let start = &self.session_start;
        self.last_session = Some(SessionReport {
            number: self.counters.sessions,
            end,
            snapshot: self.snapshot(),
            resets: self.counters.resets - start.resets,
            received: self.counters.delivered - start.delivered,
            transmitted: self.counters.transmitted - start.transmitted,
            dma_faults: self.dma.faults.borrow().first.clone(),
            notes: self.diagnostics.notes.clone(),
            unmodelled: self.diagnostics.unmodelled.clone(),
        });
        self.dma.table.unmap_all();
        self.interrupts.disconnect();
        self.reset(ResetCause::Disconnect);
    }

    /// The state that matters when a driver lets go of the card.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let enabled = |control: fn(u32) -> u32, bit: u32| {
            (0..QUEUES as u32)
                .filter(|n| self.registers.get(control(*n)) & bit != 0)
                .collect()
        };
        Snapshot {
            bus_master: self.pci.config.bus_master(),
            master_enable_status: self.registers.get(r::STATUS) & r::STATUS_MASTER_ENABLE != 0,
            rx_enabled: self.registers.get(r::RXCTRL) & r::RXCTRL_RXEN != 0,
            tx_enabled: self.registers.get(r::DMATXCTL) & r::DMATXCTL_TE != 0,
            rx_queues: enabled(r::RXDCTL, r::RXDCTL_ENABLE),
            tx_queues: enabled(r::TXDCTL, r::TXDCTL_ENABLE),
            tx_pending: self.queues.tx_pending(&self.registers),
            interrupts_enabled: self.registers.get(r::EIMS),
            link_up: self.link.is_up_for_good(),
            dma_maps: self.dma.table.len(),
            dma_faults: self.dma.faults.borrow().count,
        }
    }

    // ---- Resets ----

    /// Resets everything that the cause resets.
    pub(crate) fn reset(&mut self, cause: ResetCause) {
        let snapshot = self.snapshot();
        self.last_reset = Some(ResetReport { cause, snapshot });
        self.counters.resets += 1;
        let laser_pin = Link::laser_pin(&self.registers);
        self.reset_registers();
        match cause {
            ResetCause::Disconnect => self.begin_again(),
            ResetCause::Register | ResetCause::Function | ResetCause::WakeUp => {
                Link::put_laser_pin(&self.registers, laser_pin);
                self.link.drive_pins(&self.registers);
                if cause == ResetCause::Register {
                    self.link.driver_has_reset();
                }
            }
        }
        self.link_may_have_changed();
        if cause != ResetCause::Register {
            // CTRL.RST leaves the configuration space alone; a function-level reset does not.
            self.pci.reset(visible_device_id(&self.config));
            self.refresh();
        }
    }

    /// Prepares the card for the next driver, with what an earlier one left behind.
    fn begin_again(&mut self) {
        let earlier = self.config.left_behind;
        self.link.begin_again(&self.registers, earlier);
        self.firmware_looks = self.config.hardware.firmware_looks;
        self.show_firmware();
        self.rate_limits = RateLimits::left_by(earlier);
        self.rate_limits.show(&self.registers);
        self.link.has_changed();
        self.refresh();
    }

    fn reset_registers(&mut self) {
        self.generation += 1;
        self.rss_generation += 1;
        self.registers.reset(self.config.hardware.slow_counters);
        self.eeprom.load(&self.registers);
        self.registers.change(r::FWSM, r::FWSM_FW_VAL, 0);
        // The card has no IPsec and no LinkSec, like cards on which a fuse disables them.
        self.registers
            .change(r::SECTXSTAT, r::SECTXSTAT_SECTX_OFF_DIS, 0);
        self.registers
            .change(r::SECRXSTAT, r::SECRXSTAT_SECRX_OFF_DIS, 0);
        if self.config.left_behind.link_disabled {
            self.registers.change(r::AUTOC2, r::AUTOC2_LINK_DISABLE, 0);
        }
        self.link.autoc2_changed(&self.registers);
        self.link.load_pins(&self.registers);
        self.rate_limits.show(&self.registers);
        self.interrupts.reset();
        let lan_id = r::field(r::STATUS_LAN_ID, self.index as u32 & 1);
        self.registers.change(r::STATUS, lan_id, 0);
        self.show_firmware();
        self.link.forget_look();
        self.queues = PortQueues::default();
        self.packet_buffer.clear();
        self.dma.late.get_mut().take();
        self.batch = Batch::default();
        self.refresh();
        self.refresh_filters();
    }

    /// Derives the data path's settings again, without the filters.
    pub(crate) fn refresh(&mut self) {
        let faults = self.config.faults;
        let disabled = self.registers.get(r::CTRL) & r::CTRL_MASTER_DISABLE != 0;
        let conditions = Conditions {
            master: self.pci.config.bus_master() && !disabled,
            link: self.link.is_up() && !faults.removed,
            far_end: self.cabled || self.link.sends_light(),
            stall_tx: faults.stall_tx,
            buffer_limit: self.family.rx_packet_buffer,
        };
        self.settings.update(&self.registers, conditions);
        let enabled = !disabled || faults.master_stays;
        self.registers
            .put(r::STATUS, r::STATUS_MASTER_ENABLE, enabled);
    }

    /// Derives the data path's filters again, which takes longer.
    pub(crate) fn refresh_filters(&mut self) {
        let generated = station_address(self.index);
        self.settings.update_filters(&self.registers, generated);
    }

    // ---- Queues ----

    /// Looks at the enable bits of all queues, and starts and stops them accordingly.
    pub(crate) fn observe_queues(&mut self) {
        for queue in 0..QUEUES {
            self.observe_queue(queue);
        }
    }

    /// Looks at the enable bits of one queue. A queue takes its ring, length and head over when it
    /// becomes enabled.
    #[inline(always)]
    pub(crate) fn observe_queue(&mut self, queue: usize) {
        let n = queue as u32;
        let control = self.registers.get(r::RXDCTL(n));
        let rx_enabled = control & r::RXDCTL_ENABLE != 0;
        if rx_enabled == self.queues.rx.is_off(queue) {
            self.switch_rx(queue, rx_enabled);
        } else if let Some(rx) = self.queues.rx.get_mut(queue) {
            rx.strip_tags = control & r::RXDCTL_VME != 0;
        }
        let control = self.registers.get(r::TXDCTL(n));
        if control & r::TXDCTL_SWFLSH != 0 {
            self.flush_on_request(queue);
        }
        let tx_enabled = control & r::TXDCTL_ENABLE != 0;
        if tx_enabled == self.queues.tx.is_off(queue) {
            self.switch_tx(queue, tx_enabled);
        }
    }

    #[cold]
    fn switch_rx(&mut self, queue: usize, on: bool) {
        self.publish();
        let fault = self.config.faults.receive;
        let get = |address| self.registers.get(address);
        let rx = on.then(|| RxQueue::new(queue as u32, fault, get));
        if let Some(error) = self.queues.rx.switch(queue, rx) {
            self.note(format!(
                "receive queue {queue} enabled, but {error}; it does nothing"
            ));
        }
    }

    #[cold]
    fn switch_tx(&mut self, queue: usize, on: bool) {
        self.publish();
        let n = queue as u32;
        if on && self.registers.get(r::DMATXCTL) & r::DMATXCTL_TE == 0 {
            self.note(format!("transmit queue {queue} enabled before DMATXCTL.TE"));
        }
        let head = self.registers.get(r::TDWBAL(n)) & r::TDWBAL_HEAD_WB_EN != 0;
        let misuse = write_back_misuse(self.registers.get(r::TXDCTL(n)), head);
        if let Some(text) = misuse.filter(|_| on) {
            self.note(format!("transmit queue {queue} enabled with {text}"));
        }
        // Disabling a queue writes nothing back. But the card may have missed a SWFLSH in a shared
        // page that the driver has overwritten since.
        if !on && self.shared_pages {
            self.flush_tx(queue);
        }
        let late = self.config.hardware.late_write_backs;
        let get = |address| self.registers.get(address);
        let tx = on.then(|| TxQueue::new(n, late, get));
        if let Some(error) = self.queues.tx.switch(queue, tx) {
            self.note(format!(
                "transmit queue {queue} enabled, but {error}; it does nothing"
            ));
        }
    }

    /// TXDCTL.SWFLSH: writes back the descriptors of a transmit queue that wait for more to come.
    #[cold]
    fn flush_on_request(&mut self, queue: usize) {
        self.flush_tx(queue);
        self.registers
            .clear(r::TXDCTL(queue as u32), r::TXDCTL_SWFLSH);
    }

    fn flush_tx(&mut self, queue: usize) {
        if let Some(tx) = self.queues.tx.get_mut(queue) {
            let written_back = tx.flush(&self.dma);
            self.counters.count_written_back(written_back);
        }
    }

    /// Shows in the registers what the data path has done, with the statistics of the queues.
    pub(crate) fn publish_all(&mut self) {
        self.publish();
        self.batch
            .move_queues_to(&self.registers, self.config.hardware.bytes_without_crc);
    }

    /// Shows in the registers what the data path has done: heads and statistics.
    pub(crate) fn publish(&mut self) {
        let beyond = if self.config.faults.head_beyond_ring {
            HEAD_BEYOND
        } else {
            0
        };
        let hardware = self.config.hardware;
        self.queues
            .publish_heads(&self.registers, beyond, hardware.head_with_write_back);
        self.batch
            .move_to(&self.registers, hardware.bytes_without_crc);
    }

    /// Sets interrupts up as the client asks.
    pub(crate) fn set_irqs(&mut self, kind: u32, request: IrqRequest) -> Result<(), Errno> {
        self.interrupts.set(kind, request)?;
        self.interrupts.evaluate(&self.registers);
        Ok(())
    }
}

/// The device id in the configuration space.
fn visible_device_id(config: &PortConfig) -> u16 {
    config.faults.foreign_device_id.unwrap_or(config.device_id)
}
