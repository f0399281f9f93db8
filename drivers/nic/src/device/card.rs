//! One port as a device: its registers and what they make it do, its reset, its queues.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use crate::config::QUEUES;
use crate::config::{Module, PortConfig};
use crate::device::eeprom::Eeprom;
use crate::device::filter::{self, Filter};
use crate::device::interrupts::{mirror, Interrupts};
use crate::device::offload::OffloadSettings;
use crate::device::packet::Verdict;
use crate::device::pci_config::{PciConfig, Started, CONFIG_LEN, IO_LEN, MSIX_LEN};
use crate::device::register_file::{Located, RegisterFile, BAR0_LEN};
use crate::device::registers as r;
use crate::device::rss::{self, Hash, Rss};
use crate::device::rx::RxQueue;
use crate::device::sfp::SfpBus;
use crate::device::statistics::Batch;
use crate::device::trace::{Trace, TraceEntry};
use crate::device::tx::{MacSettings, TxQueue, TxSettings};
use crate::device::unmodelled;
use crate::memory::dma::DmaTable;
use crate::memory::dma_fault::FaultLog;
use crate::pci_function::{IrqRequest, SessionEnd, REGION_CONFIG};
use crate::report::{PortCounters, ResetCause, ResetReport, SessionReport, Snapshot};
use crate::traffic::frame::station_address;

/// The VFIO indices of the regions.
pub(crate) const REGION_BAR0: u32 = 0;
pub(crate) const REGION_IO: u32 = 2;
pub(crate) const REGION_MSIX: u32 = 4;

/// Bytes of a region; 0 for those that the device does not have.
pub(crate) fn region_len(region: u32) -> u64 {
    match region {
        REGION_BAR0 => u64::from(BAR0_LEN),
        REGION_IO => u64::from(IO_LEN),
        REGION_MSIX => u64::from(MSIX_LEN),
        REGION_CONFIG => CONFIG_LEN as u64,
        _ => 0,
    }
}

/// Most notes that are kept of one session.
const MAX_NOTES: usize = 256;

/// A queue: off, on, or enabled with settings that make no sense, and therefore doing nothing.
#[derive(Clone, Debug, Default)]
pub(crate) enum Queue<T> {
    #[default]
    Off,
    On(T),
    Refused,
}

impl<T> Queue<T> {
    fn is_off(&self) -> bool {
        matches!(self, Queue::Off)
    }
}

/// Which queues are on: so that those that are not cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueSet(u16);

impl QueueSet {
    fn of<T>(queues: &[Queue<T>; QUEUES]) -> Self {
        let on = |(nth, queue): (usize, &Queue<T>)| u16::from(matches!(queue, Queue::On(_))) << nth;
        Self(queues.iter().enumerate().map(on).sum())
    }

    /// Their numbers.
    #[inline(always)]
    pub(crate) fn queues(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let queue = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (queue < u16::BITS).then_some(queue as usize)
        })
    }
}

/// What the data path needs to know of the registers, put together whenever one of them is written.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// Frames from the wire are received.
    pub(crate) rx: bool,
    /// Frames are sent.
    pub(crate) tx: bool,
    /// The CRC does not go to the driver.
    pub(crate) strip_crc: bool,
    /// Longest frame that is received, CRC included.
    pub(crate) max_frame: usize,
    /// Room in the packet buffer for frames that wait for descriptors.
    pub(crate) buffer_bytes: usize,
    pub(crate) sending: TxSettings,
    pub(crate) filter: Filter,
    pub(crate) rss: Option<Rss>,
    /// Whether the traffic generator's frames pass the filter.
    pub(crate) accepts_generated: bool,
}

/// A frame in the packet buffer.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) frame: Vec<u8>,
    pub(crate) queue: usize,
    pub(crate) hash: Hash,
    pub(crate) verdict: Verdict,
}

/// One port.
#[derive(Debug)]
pub(crate) struct Device {
    index: usize,
    config: PortConfig,
    eeprom: Eeprom,
    sfp: SfpBus,
    trace: Option<Arc<Trace>>,

    pub(crate) registers: RegisterFile,
    pci: PciConfig,
    /// The MSI-X table and pending bits: kept, without effect.
    msix_table: Vec<u8>,
    /// The I/O BAR's address register.
    io_address: u32,
    pub(crate) dma: DmaTable,
    pub(crate) faults: FaultLog,
    pub(crate) interrupts: Interrupts,

    pub(crate) rx: [Queue<RxQueue>; QUEUES],
    pub(crate) tx: [Queue<TxQueue>; QUEUES],
    pub(crate) rx_on: QueueSet,
    pub(crate) tx_on: QueueSet,
    pub(crate) running: Running,
    pub(crate) batch: Batch,
    /// Frames from the wire that wait for descriptors, and the room they take.
    pub(crate) held: VecDeque<Held>,
    pub(crate) held_bytes: usize,

    /// Frames that a test put on the wire.
    pub(crate) injected: VecDeque<Vec<u8>>,
    /// Sent frames, if they are to be kept.
    pub(crate) captured: Option<Vec<Vec<u8>>>,
    pub(crate) counters: PortCounters,
    /// Another kind of traffic, for the data plane to change to.
    pub(crate) new_traffic: Option<crate::config::Traffic>,
    /// Goes up with every reset: what was under way before it will not arrive.
    pub(crate) generation: u64,
    /// Goes up with every change of the RSS settings.
    pub(crate) rss_generation: u64,

    /// Whether the wire is plugged in.
    plugged: bool,
    /// Whether light comes from the other end of the wire.
    partner_lit: bool,
    /// Whether there was a link when last looked at.
    had_link: bool,

    connected: bool,
    notes: Vec<String>,
    unmodelled: Vec<String>,
    session_start: PortCounters,
    last_session: Option<SessionReport>,
    last_reset: Option<ResetReport>,
}

impl Device {
    pub(crate) fn new(
        index: usize,
        config: PortConfig,
        trace: Option<Arc<Trace>>,
    ) -> io::Result<Self> {
        let mut device = Self {
            index,
            eeprom: Eeprom::new(index, config.device_id),
            sfp: SfpBus::new(config.module, index),
            trace,
            registers: RegisterFile::new(index)?,
            pci: PciConfig::new(config.device_id),
            msix_table: vec![0; MSIX_LEN as usize],
            io_address: 0,
            dma: DmaTable::new(),
            faults: FaultLog::default(),
            interrupts: Interrupts::new(),
            rx: Default::default(),
            tx: Default::default(),
            rx_on: QueueSet::default(),
            tx_on: QueueSet::default(),
            running: Running::default(),
            batch: Batch::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            injected: VecDeque::new(),
            captured: config.capture.then(Vec::new),
            counters: PortCounters::default(),
            new_traffic: None,
            generation: 0,
            rss_generation: 0,
            plugged: true,
            partner_lit: true,
            had_link: true,
            connected: false,
            notes: Vec::new(),
            unmodelled: Vec::new(),
            session_start: PortCounters::default(),
            last_session: None,
            last_reset: None,
            config,
        };
        device.had_link = device.link();
        device.reset_registers();
        Ok(device)
    }

    // ---- Link ----

    /// Whether there is a link.
    pub(crate) fn link(&self) -> bool {
        !self.config.faults.no_link
            && self.plugged
            && self.partner_lit
            && self.sfp.module() != Module::None
    }

    /// Whether the other end of the wire sees light. A cable of copper has nothing to switch off.
    pub(crate) fn lit(&self) -> bool {
        let laser = self.registers.get(r::ESDP) & r::ESDP_SDP3 == 0;
        self.plugged
            && match self.sfp.module() {
                Module::None => false,
                Module::Dac => true,
                Module::Sr => laser,
            }
    }

    /// Pulls the wire out, or puts it in again.
    pub(crate) fn set_plugged(&mut self, plugged: bool) {
        self.plugged = plugged;
        self.link_may_have_changed();
    }

    /// Light from the other end of the wire comes or goes.
    pub(crate) fn set_partner_lit(&mut self, lit: bool) {
        if self.partner_lit != lit {
            self.partner_lit = lit;
            self.link_may_have_changed();
        }
    }

    /// What is in the cage.
    pub(crate) fn module(&self) -> Module {
        self.sfp.module()
    }

    /// Puts another module into the cage.
    pub(crate) fn set_module(&mut self, module: Module) {
        self.sfp = SfpBus::new(module, self.index);
        self.set_pins();
        if self.registers.get(r::GPIE) & r::GPIE_SDP2_GPIEN != 0 {
            self.interrupts
                .other_cause(&self.registers, r::EICR_GPI_SDP2);
        }
        self.link_may_have_changed();
    }

    /// The pins that the card, and not the driver, drives.
    fn set_pins(&self) {
        let (set, clear) = match self.sfp.module() {
            Module::None => (0, r::ESDP_SDP2),
            _ => (r::ESDP_SDP2, 0),
        };
        self.registers.change(r::ESDP, set, clear);
    }

    fn link_may_have_changed(&mut self) {
        if self.link() != self.had_link {
            self.had_link = self.link();
            // A link that has come shows in LINKS when it is looked at the second time: UP stays
            // low until it has been read.
            self.link_restarts();
            self.interrupts.other_cause(&self.registers, r::EICR_LSC);
            self.refresh(false);
        }
    }

    /// Changes how the device misbehaves.
    pub(crate) fn set_faults(&mut self, faults: crate::config::Faults) {
        self.config.faults = faults;
        self.faults_changed();
        self.link_may_have_changed();
        self.refresh(true);
    }

    /// How the device misbehaves.
    pub(crate) fn device_faults(&self) -> &crate::config::Faults {
        &self.config.faults
    }

    pub(crate) fn connected(&self) -> bool {
        self.connected
    }

    pub(crate) fn last_session(&self) -> Option<&SessionReport> {
        self.last_session.as_ref()
    }

    pub(crate) fn last_reset(&self) -> Option<&ResetReport> {
        self.last_reset.as_ref()
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn unmodelled(&self) -> &[String] {
        &self.unmodelled
    }

    /// Remembers, and tells, that a driver touched something that this device does not have.
    pub(crate) fn lacks(&mut self, text: String) {
        if self.unmodelled.len() < MAX_NOTES && !self.unmodelled.contains(&text) {
            tracing::warn!(port = self.index, "not modelled: {text}");
            self.unmodelled.push(text);
        }
    }

    /// The MAC address in the first filter entry.
    pub(crate) fn mac_address(&self) -> [u8; 6] {
        filter::address_of(self.registers.get(r::RAL(0)), self.registers.get(r::RAH(0)))
    }

    /// Does without memory that the driver has taken away.
    #[inline(always)]
    pub(crate) fn withdraw_lost_memory(&mut self) {
        match self.dma.withdraw_lost() {
            0 => {}
            maps => self.note(format!(
                "{maps} DMA maps are void: their file was made shorter while it was mapped"
            )),
        }
    }

    /// Remembers something that a driver should not have done.
    pub(crate) fn note(&mut self, text: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    // ---- Sessions and resets ----

    /// A driver has connected.
    pub(crate) fn begin_session(&mut self) {
        self.connected = true;
        self.notes.clear();
        self.unmodelled.clear();
        self.counters.sessions += 1;
        self.session_start = self.counters.clone();
        self.faults = FaultLog::default();
    }

    /// The driver is gone: reports the state it left the device in, and makes the device ready for
    /// the next.
    pub(crate) fn end_session(&mut self, end: SessionEnd) {
        if !self.connected {
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
            dma_faults: self.faults.first().to_vec(),
            notes: self.notes.clone(),
            unmodelled: self.unmodelled.clone(),
        });
        self.dma.unmap_all();
        self.interrupts.disconnect();
        self.connected = false;
        self.reset(ResetCause::Disconnect);
    }

    /// The state that matters when a driver lets go of the device.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let enabled = |control: fn(u32) -> u32, bit: u32| {
            (0..QUEUES as u32)
                .filter(|n| self.registers.get(control(*n)) & bit != 0)
                .collect()
        };
        Snapshot {
            bus_master: self.pci.bus_master(),
            master_enable_status: self.registers.get(r::STATUS) & r::STATUS_MASTER_ENABLE != 0,
            rx_enabled: self.registers.get(r::RXCTRL) & r::RXCTRL_RXEN != 0,
            tx_enabled: self.registers.get(r::DMATXCTL) & r::DMATXCTL_TE != 0,
            rx_queues: enabled(r::RXDCTL, r::RXDCTL_ENABLE),
            tx_queues: enabled(r::TXDCTL, r::TXDCTL_ENABLE),
            tx_pending: self.tx_pending(),
            interrupts_enabled: self.registers.get(r::EIMS),
            link_up: self.link(),
            dma_maps: self.dma.len(),
            dma_faults: self.faults.count(),
        }
    }

    /// Descriptors that the driver has handed over and the device has not sent.
    fn tx_pending(&self) -> u32 {
        let pending = |(queue, state): (usize, &Queue<TxQueue>)| match state {
            Queue::On(tx) => tx.available(self.registers.get(r::TDT(queue as u32))),
            _ => 0,
        };
        self.tx.iter().enumerate().map(pending).sum()
    }

    /// Resets everything that the cause resets.
    pub(crate) fn reset(&mut self, cause: ResetCause) {
        self.last_reset = Some(ResetReport {
            cause,
            snapshot: self.snapshot(),
        });
        self.counters.resets += 1;
        self.reset_registers();
        if cause != ResetCause::Register {
            // CTRL.RST leaves the configuration space alone; a function-level reset does not.
            self.pci = PciConfig::new(self.config.device_id);
            self.msix_table.fill(0);
            self.refresh(false);
        }
    }

    fn reset_registers(&mut self) {
        self.generation += 1;
        self.rss_generation += 1;
        self.registers.reset();
        let (low, high) = self.eeprom.mac_address();
        self.registers.set(r::RAL(0), low);
        self.registers.set(r::RAH(0), high | r::RAH_AV);
        self.registers.change(r::EEC, Eeprom::description(), 0);
        self.registers.change(r::FWSM, r::FWSM_FW_VAL, 0);
        // There is no IPsec nor LinkSec: as on cards where that is fused off.
        self.registers
            .change(r::SECTXSTAT, r::SECTXSTAT_SECTX_OFF_DIS, 0);
        self.registers
            .change(r::SECRXSTAT, r::SECRXSTAT_SECRX_OFF_DIS, 0);
        self.set_pins();
        self.interrupts.reset();
        self.registers.change(
            r::STATUS,
            r::field(r::STATUS_LAN_ID, self.index as u32 & 1),
            0,
        );
        self.rx = Default::default();
        self.tx = Default::default();
        (self.rx_on, self.tx_on) = Default::default();
        self.held.clear();
        self.held_bytes = 0;
        self.batch = Batch::default();
        self.refresh(true);
    }

    /// Puts together anew what the data path needs to know. `filters`: the filter tables too, which
    /// takes longer.
    fn refresh(&mut self, filters: bool) {
        let get = |address| self.registers.get(address);
        let faults = self.config.faults;
        let master = self.pci.bus_master() && get(r::CTRL) & r::CTRL_MASTER_DISABLE == 0;
        let link = self.link() && !faults.removed;
        let mac = get(r::HLREG0);
        let jumbo = mac & r::HLREG0_JUMBOEN != 0;
        let running = &mut self.running;
        running.rx = master
            && link
            && get(r::RXCTRL) & r::RXCTRL_RXEN != 0
            && get(r::SECRXCTRL) & r::SECRXCTRL_RX_DIS == 0;
        running.tx = master && link && get(r::DMATXCTL) & r::DMATXCTL_TE != 0 && !faults.stall_tx;
        running.strip_crc = mac & r::HLREG0_RXCRCSTRP != 0;
        running.max_frame = if jumbo {
            r::field_get(r::MAXFRS_MFS, get(r::MAXFRS)) as usize
        } else {
            1518
        };
        running.buffer_bytes = r::field_get(r::RXPBSIZE_SIZE, get(r::RXPBSIZE(0))) as usize * 1024;
        running.sending = TxSettings {
            mac: MacSettings {
                pad: mac & r::HLREG0_TXPADEN != 0,
                insert_crc: mac & r::HLREG0_TXCRCEN != 0,
            },
            offload: OffloadSettings {
                vlan_type: r::field_get(r::DMATXCTL_VT, get(r::DMATXCTL)) as u16,
                first_flags: r::field_get(r::DTXTCPFLGL_FIRST, get(r::DTXTCPFLGL)) as u16,
                middle_flags: r::field_get(r::DTXTCPFLGL_MIDDLE, get(r::DTXTCPFLGL)) as u16,
                last_flags: r::field_get(r::DTXTCPFLGH_LAST, get(r::DTXTCPFLGH)) as u16,
            },
        };
        if filters {
            running.filter = Filter::from_registers(&self.registers);
            running.rss = Rss::from_registers(&self.registers);
            running.accepts_generated = running
                .filter
                .accepts(station_address(self.index))
                .is_some();
        }
        let (set, clear) = if master || get(r::CTRL) & r::CTRL_MASTER_DISABLE == 0 {
            (r::STATUS_MASTER_ENABLE, 0)
        } else {
            (0, r::STATUS_MASTER_ENABLE)
        };
        self.registers.change(r::STATUS, set, clear);
    }

    // ---- Regions ----

    /// A driver's read of a region. The range must lie inside the region.
    pub(crate) fn region_read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Errno> {
        let offset = check_range(region, offset, into.len())?;
        if self.config.faults.removed {
            into.fill(0xff);
            return Ok(());
        }
        match region {
            REGION_BAR0 => self.bar0_read(offset as u32, into),
            REGION_IO => {
                let word = match offset & !3 {
                    0 => self.io_address,
                    4 => self.register_read(self.io_address),
                    _ => 0,
                };
                copy_part(&word.to_le_bytes(), offset % 4, into);
            }
            REGION_MSIX => copy_part(&self.msix_table, offset, into),
            _ => {
                self.pci.read(offset, into);
                self.trace_config(false, offset, into);
            }
        }
        Ok(())
    }

    /// A driver's write to a region. The range must lie inside the region.
    pub(crate) fn region_write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
    ) -> Result<(), Errno> {
        let offset = check_range(region, offset, from.len())?;
        if self.config.faults.removed {
            return Ok(());
        }
        match region {
            REGION_BAR0 => self.bar0_write(offset as u32, from),
            REGION_IO => {
                if let Ok(bytes) = <[u8; 4]>::try_from(from) {
                    let word = u32::from_le_bytes(bytes);
                    match offset {
                        0 => self.io_address = word,
                        4 => self.register_write(self.io_address, word),
                        _ => {}
                    }
                }
            }
            REGION_MSIX => self.msix_table[offset..offset + from.len()].copy_from_slice(from),
            _ => {
                self.trace_config(true, offset, from);
                match self.pci.write(offset, from) {
                    Some(Started::Reset) => self.reset(ResetCause::Function),
                    Some(Started::WakeUp) => self.reset(ResetCause::WakeUp),
                    None => self.refresh(false),
                }
            }
        }
        Ok(())
    }

    fn bar0_read(&mut self, offset: u32, into: &mut [u8]) {
        if offset % 4 == 0 && into.len() % 4 == 0 {
            for (nth, word) in into.chunks_exact_mut(4).enumerate() {
                word.copy_from_slice(&self.register_read(offset + 4 * nth as u32).to_le_bytes());
            }
            return;
        }
        // Part of a register: the right bytes, and no effect.
        self.note(format!(
            "read of {} bytes at {offset:#07x}: registers are read 4 bytes at a time",
            into.len()
        ));
        for (nth, byte) in into.iter_mut().enumerate() {
            let at = offset + nth as u32;
            *byte = self.registers.peek(at & !3).to_le_bytes()[at as usize % 4];
        }
    }

    fn bar0_write(&mut self, offset: u32, from: &[u8]) {
        if offset % 4 != 0 || from.len() % 4 != 0 {
            self.note(format!(
                "write of {} bytes at {offset:#07x}: ignored, as partial writes are",
                from.len()
            ));
            return;
        }
        for (nth, word) in from.chunks_exact(4).enumerate() {
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.register_write(offset + 4 * nth as u32, value);
        }
    }

    fn trace_register(&self, write: bool, address: u32, value: u32) {
        let Some(trace) = &self.trace else { return };
        let located = self.registers.locate(address);
        trace.record(TraceEntry {
            port: self.index,
            write,
            register: located
                .map_or_else(|| format!("{address:#07x}"), |located| located.to_string()),
            address: located.map_or(address, |located| located.address),
            value,
            size: 4,
        });
    }

    fn trace_config(&self, write: bool, offset: usize, bytes: &[u8]) {
        let Some(trace) = &self.trace else { return };
        for (nth, bytes) in bytes.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let address = (offset + 4 * nth) as u32;
            trace.record(TraceEntry {
                port: self.index,
                write,
                register: format!("PCI({address:#05x})"),
                address,
                value: u32::from_le_bytes(word),
                size: bytes.len(),
            });
        }
    }

    // ---- Registers ----

    /// A driver's read of a register, with its effects.
    pub(crate) fn register_read(&mut self, address: u32) -> u32 {
        let value = self.register_value(address);
        self.trace_register(false, address, value);
        value
    }

    /// Some things take the device a moment. A moment is over when the driver has looked once: that
    /// makes every wait visible to a driver that polls, and the same in every run.
    fn register_value(&mut self, address: u32) -> u32 {
        let Some(located) = self.registers.locate(address) else {
            self.note(format!(
                "read of {address:#07x}, where no register is modelled"
            ));
            return 0;
        };
        if located.address != r::CTRL {
            self.finish_reset();
        }
        self.publish();
        let value = self.registers.read(address);
        match located.address {
            r::CTRL => self.finish_reset(),
            r::EEC => self.registers.change(r::EEC, r::EEC_ARD, 0),
            r::RDRXCTL => self.registers.change(r::RDRXCTL, r::RDRXCTL_DMAIDONE, 0),
            r::LINKS if self.link() => {
                let up = r::LINKS_UP | r::LINKS_SPEED_10G | r::LINKS_LINK_STATUS;
                self.registers.change(r::LINKS, up, 0);
                self.registers.change(r::STATUS, r::STATUS_LINK_UP, 0);
            }
            r::EICR => self.interrupts.causes_read(&self.registers, value),
            _ => {}
        }
        value
    }

    fn finish_reset(&mut self) {
        if !self.config.faults.never_finish_reset {
            self.registers
                .change(r::CTRL, 0, r::CTRL_RST | r::CTRL_LNK_RST);
        }
    }

    /// A driver's write to a register, with its effects.
    pub(crate) fn register_write(&mut self, address: u32, value: u32) {
        self.trace_register(true, address, value);
        let Some(located) = self.registers.locate(address) else {
            self.note(format!(
                "write to {address:#07x}, where no register is modelled"
            ));
            return;
        };
        self.finish_reset();
        let queue = located.entry.map(|entry| entry as usize);
        if let Some(text) = self.misuse(&located, value) {
            self.note(text);
        }
        let enabled = |name: &str| match (name, queue) {
            ("RDH", Some(queue)) => self.rx.get(queue).is_some_and(|state| !state.is_off()),
            ("TDH", Some(queue)) => self.tx.get(queue).is_some_and(|state| !state.is_off()),
            _ => false,
        };
        if enabled(located.name) {
            return self.note(format!(
                "write to {located} while the queue is enabled: ignored"
            ));
        }
        let before = self.registers.get(located.address);
        self.registers.write(address, value);
        self.tell_unmodelled(&located, before, value);
        match located.address {
            r::CTRL => self.control_written(value),
            r::EERD if value & r::EERD_START != 0 => {
                let word = u32::from(self.eeprom.word(r::field_get(r::EERD_ADDR, value)));
                let kept = value & r::EERD_ADDR;
                self.registers
                    .set(r::EERD, kept | r::EERD_DONE | r::field(r::EERD_DATA, word));
            }
            r::EEC => {
                let granted = value & r::EEC_REQ != 0;
                let (set, clear) = if granted {
                    (r::EEC_GNT, 0)
                } else {
                    (0, r::EEC_GNT)
                };
                self.registers.change(r::EEC, set, clear);
                let level = |wire| granted && value & wire != 0;
                let (select, clock) = (level(r::EEC_CS), level(r::EEC_SK));
                let out = self.eeprom.drive(select, clock, level(r::EEC_DI));
                let (set, clear) = if out { (r::EEC_DO, 0) } else { (0, r::EEC_DO) };
                self.registers.change(r::EEC, set, clear);
            }
            r::ESDP => self.set_pins(),
            r::I2CCTL => {
                let clock = value & r::I2CCTL_CLK_OUT != 0;
                let data = self.sfp.drive(clock, value & r::I2CCTL_DATA_OUT != 0);
                let level = |high, wire| if high { wire } else { 0 };
                let set = level(clock, r::I2CCTL_CLK_IN) | level(data, r::I2CCTL_DATA_IN);
                let both = r::I2CCTL_CLK_IN | r::I2CCTL_DATA_IN;
                self.registers.change(r::I2CCTL, set, both & !set);
            }
            // No PHY is there to answer: the wire is high.
            r::MSCA if value & r::MSCA_MDI_COMMAND != 0 => {
                self.registers.change(r::MSRWD, r::MSRWD_READ_DATA, 0);
            }
            r::AUTOC if value & r::AUTOC_AN_RESTART != 0 => {
                // Modes with negotiation leave the state of rest; the serial one has none.
                let mode = value & r::AUTOC_LMS;
                let negotiates =
                    r::field_get(r::AUTOC_LMS, mode) & 4 != 0 || mode == r::AUTOC_LMS_1G_AN;
                let state = r::field(r::ANLP1_AN_STATE, u32::from(negotiates));
                self.registers
                    .change(r::ANLP1, state, r::ANLP1_AN_STATE & !state);
                self.link_restarts();
            }
            // There is memory for filters as soon as it is asked for.
            r::FDIRCTRL => {
                let ready = value & r::FDIRCTRL_PBALLOC != 0;
                let (set, clear) = if ready {
                    (r::FDIRCTRL_INIT_DONE, 0)
                } else {
                    (0, r::FDIRCTRL_INIT_DONE)
                };
                self.registers.change(r::FDIRCTRL, set, clear);
            }
            // Done at once, whatever it was.
            r::FDIRCMD => {
                if value & r::FDIRCMD_CMD == r::FDIRCMD_CMD_ADD {
                    self.lacks("flow director: filters are taken, and never match".to_owned());
                }
                self.registers.change(r::FDIRCMD, 0, r::FDIRCMD_CMD);
            }
            r::SECRXCTRL => {
                let halted = value & r::SECRXCTRL_RX_DIS != 0;
                let (set, clear) = if halted {
                    (r::SECRXSTAT_SECRX_RDY, 0)
                } else {
                    (0, r::SECRXSTAT_SECRX_RDY)
                };
                self.registers.change(r::SECRXSTAT, set, clear);
            }
            r::EICS => self.interrupts.evaluate(&self.registers),
            r::EIMS | r::EIMC => {
                mirror(&self.registers, r::EIMS, r::EIMS_EX(0));
                self.interrupts.evaluate(&self.registers);
            }
            r::EIAM => mirror(&self.registers, r::EIAM, r::EIAM_EX(0)),
            _ => {}
        }
        match (located.name, queue) {
            ("EICS_EX", Some(entry)) => {
                self.registers.set(located.address, 0);
                self.interrupts
                    .set_causes(&self.registers, entry as u32, value);
            }
            ("EIMS_EX" | "EIMC_EX", Some(entry)) => {
                if entry == 0 {
                    mirror(&self.registers, r::EIMS_EX(0), r::EIMS);
                }
                self.interrupts.evaluate(&self.registers);
            }
            ("EIAM_EX", Some(0)) => mirror(&self.registers, r::EIAM_EX(0), r::EIAM),
            ("TXDCTL", Some(queue)) if value & r::TXDCTL_SWFLSH != 0 => self.flush_tx(queue),
            _ => {}
        }
        if located.address != r::CTRL {
            self.registers.finish(address);
        }
        if matches!(located.name, "RXDCTL" | "TXDCTL") {
            self.observe_queues();
        }
        let filters = filter::concerns(located.name) || rss::concerns(located.name);
        if rss::concerns(located.name) {
            self.rss_generation += 1;
        }
        if !matches!(located.name, "RDT" | "TDT") {
            self.refresh(filters);
        }
    }

    /// What is wrong with a write, if anything: things that real hardware lets pass, and that turn
    /// out badly later.
    fn misuse(&self, located: &Located, value: u32) -> Option<String> {
        let is_set = |register, bit| self.registers.get(register) & bit != 0;
        let queue = located.entry.map(|entry| entry as usize);
        match (located.name, queue) {
            ("FCTRL", _) if is_set(r::RXCTRL, r::RXCTRL_RXEN) => {
                Some("FCTRL changed while RXCTRL.RXEN is set: clear RXEN first".to_owned())
            }
            ("RDT", Some(queue)) if value != 0 && self.rx.get(queue).is_some_and(Queue::is_off) => {
                Some(format!("RDT({queue}) raised before the queue was enabled"))
            }
            ("TDT", Some(queue)) if value != 0 && self.tx.get(queue).is_some_and(Queue::is_off) => {
                Some(format!("TDT({queue}) raised before the queue was enabled"))
            }
            ("EIMC", _) if value >> 31 == 1 => {
                Some("EIMC: bit 31 is reserved, and was written as 1".to_owned())
            }
            ("DTXMXSZRQ", _) if value >> 12 != 0 => {
                Some("DTXMXSZRQ: bits above 11 are reserved, and were written as 1".to_owned())
            }
            ("DTXMXSZRQ" | "TXPBSIZE" | "TXPBTHRESH" | "MTQC", _)
                if !is_set(r::RTTDCS, r::RTTDCS_ARBDIS) =>
            {
                Some(format!(
                    "{} changed while RTTDCS.ARBDIS is clear",
                    located.name
                ))
            }
            _ if self.registers.is_read_only(located.address) => {
                Some(format!("write to {located}, which is read-only"))
            }
            _ => None,
        }
    }

    /// Tells of a write that asks for something that this device does not have.
    fn tell_unmodelled(&mut self, located: &Located, before: u32, value: u32) {
        let text = match located.name {
            "HLREG0" if value & r::HLREG0_LPBK != 0 => {
                "HLREG0.LPBK: loop-back in the MAC".to_owned()
            }
            "RSCCTL" if value & r::RSCCTL_RSCEN != 0 => {
                "RSCCTL.RSCEN: packets are never coalesced, as hardware may do too".to_owned()
            }
            "MRQC" if !matches!(value & r::MRQC_MRQE, r::MRQC_MRQE_OFF | r::MRQC_MRQE_RSS) => {
                let mode = r::field_get(r::MRQC_MRQE, value);
                format!("MRQC.MRQE {mode}: pools and traffic classes; frames go to queue 0")
            }
            "MFLCN" if value & (r::MFLCN_RFCE | r::MFLCN_RPFCE) != 0 => {
                "MFLCN: received pause frames change nothing".to_owned()
            }
            "CTRL_EXT" | "DMATXCTL"
                if (located.address == r::CTRL_EXT && value & r::CTRL_EXT_EXTENDED_VLAN != 0)
                    || (located.address == r::DMATXCTL && value & r::DMATXCTL_GDV != 0) =>
            {
                format!("{}: double VLAN tags", located.name)
            }
            _ if value == before || value == 0 => return,
            name => match unmodelled::part_of(name) {
                Some(what) => format!("{name}: {what}"),
                None => return,
            },
        };
        self.lacks(text);
    }

    fn control_written(&mut self, value: u32) {
        // 4.2.1.6: the reset of the link is that of the device, and of the link. Drivers use it
        // where there is no link that they could disturb.
        let reset = value & (r::CTRL_RST | r::CTRL_LNK_RST);
        if reset != 0 {
            self.reset(ResetCause::Register);
            self.registers.change(r::CTRL, reset, 0);
        }
    }

    pub(crate) fn link_restarts(&mut self) {
        self.registers.set(r::LINKS, 0);
        self.registers.change(r::STATUS, 0, r::STATUS_LINK_UP);
    }

    fn flush_tx(&mut self, queue: usize) {
        if let Some(Queue::On(tx)) = self.tx.get_mut(queue) {
            let mut dma = crate::device::rx::Dma {
                table: &self.dma,
                faults: &mut self.faults,
            };
            tx.flush(&mut dma);
        }
    }

    // ---- Queues ----

    /// Looks at the enable bits of all queues, and starts and stops them accordingly.
    pub(crate) fn observe_queues(&mut self) {
        for queue in 0..QUEUES {
            self.observe_queue(queue);
        }
    }

    /// Looks at the enable bits of one queue. Ring, length and head are taken over at the moment it
    /// becomes enabled.
    #[inline(always)]
    pub(crate) fn observe_queue(&mut self, queue: usize) {
        let n = queue as u32;
        let control = self.registers.get(r::RXDCTL(n));
        let rx_enabled = control & r::RXDCTL_ENABLE != 0;
        if rx_enabled == self.rx[queue].is_off() {
            self.switch_rx(queue, rx_enabled);
        } else if let Queue::On(rx) = &mut self.rx[queue] {
            rx.set_strip_tags(control & r::RXDCTL_VME != 0);
        }
        let tx_enabled = self.registers.get(r::TXDCTL(n)) & r::TXDCTL_ENABLE != 0;
        if tx_enabled == self.tx[queue].is_off() {
            self.switch_tx(queue, tx_enabled);
        }
    }

    #[cold]
    fn switch_rx(&mut self, queue: usize, on: bool) {
        self.publish();
        let registers = &self.registers;
        self.rx[queue] = if !on {
            Queue::Off
        } else {
            match RxQueue::new(queue as u32, |address| registers.get(address)) {
                Ok(mut rx) => {
                    rx.set_lie(self.config.faults.receive);
                    Queue::On(rx)
                }
                Err(error) => {
                    self.note(format!(
                        "receive queue {queue} enabled, but {error}; it does nothing"
                    ));
                    Queue::Refused
                }
            }
        };
        self.rx_on = QueueSet::of(&self.rx);
    }

    #[cold]
    fn switch_tx(&mut self, queue: usize, on: bool) {
        self.publish();
        if on && self.registers.get(r::DMATXCTL) & r::DMATXCTL_TE == 0 {
            self.note(format!("transmit queue {queue} enabled before DMATXCTL.TE"));
        }
        if !on {
            self.flush_tx(queue);
        }
        let registers = &self.registers;
        self.tx[queue] = if !on {
            Queue::Off
        } else {
            match TxQueue::new(queue as u32, |address| registers.get(address)) {
                Ok(tx) => Queue::On(tx),
                Err(error) => {
                    self.note(format!(
                        "transmit queue {queue} enabled, but {error}; it does nothing"
                    ));
                    Queue::Refused
                }
            }
        };
        self.tx_on = QueueSet::of(&self.tx);
    }

    /// Shows in the registers what the data path has done: heads and statistics.
    pub(crate) fn publish(&mut self) {
        let beyond = self.head_offset();
        for queue in self.rx_on.queues() {
            if let Queue::On(rx) = &self.rx[queue] {
                self.registers.set(r::RDH(queue as u32), rx.head() + beyond);
            }
        }
        for queue in self.tx_on.queues() {
            if let Queue::On(tx) = &self.tx[queue] {
                self.registers.set(r::TDH(queue as u32), tx.head() + beyond);
            }
        }
        if !self.batch.is_empty() {
            self.batch.add_to(&self.registers);
            self.batch.clear();
        }
    }

    /// Sets up interrupts as the client asks.
    pub(crate) fn set_irqs(&mut self, kind: u32, request: IrqRequest) -> Result<(), Errno> {
        self.interrupts.set(kind, request)?;
        self.interrupts.evaluate(&self.registers);
        Ok(())
    }
}

/// The offset as a `usize`, if the range is inside the region.
fn check_range(region: u32, offset: u64, len: usize) -> Result<usize, Errno> {
    let end = offset.checked_add(len as u64).ok_or(Errno::INVAL)?;
    if end > region_len(region) {
        return Err(Errno::INVAL);
    }
    usize::try_from(offset).map_err(|_| Errno::INVAL)
}

/// Copies what there is from `offset` on; the rest stays.
fn copy_part(from: &[u8], offset: usize, into: &mut [u8]) {
    for (byte, value) in into.iter_mut().zip(from.iter().skip(offset)) {
        *byte = *value;
    }
}
