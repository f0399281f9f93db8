//! One port as a device: its registers and what they make it do, its reset, its queues.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;

use crate::config::PortConfig;
use crate::dma::{DmaTable, FaultLog};
use crate::eeprom::Eeprom;
use crate::filter::{self, Filter};
use crate::frame::station_address;
use crate::interrupts::Interrupts;
use crate::pci_config::{PciConfig, CONFIG_LEN, IO_LEN, MSIX_LEN};
use crate::register_file::{Located, RegisterFile, BAR0_LEN};
use crate::registers as r;
use crate::report::{PortCounters, ResetCause, ResetReport, SessionEnd, SessionReport, Snapshot};
use crate::rss::{self, Hash, Rss};
use crate::rx::RxQueue;
use crate::statistics::Batch;
use crate::trace::{Trace, TraceEntry};
use crate::tx::{MacSettings, TxQueue};
use crate::QUEUES;

/// The VFIO indices of the regions.
pub(crate) const REGION_BAR0: u32 = 0;
pub(crate) const REGION_IO: u32 = 2;
pub(crate) const REGION_MSIX: u32 = 4;
pub(crate) const REGION_CONFIG: u32 = 7;
pub(crate) const REGIONS: u32 = 9;

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
    pub(crate) mac: MacSettings,
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
}

/// One port.
#[derive(Debug)]
pub(crate) struct Device {
    index: usize,
    config: PortConfig,
    eeprom: Eeprom,
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

    connected: bool,
    notes: Vec<String>,
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
            connected: false,
            notes: Vec::new(),
            session_start: PortCounters::default(),
            last_session: None,
            last_reset: None,
            config,
        };
        device.reset_registers();
        Ok(device)
    }

    /// Changes how the device misbehaves.
    pub(crate) fn set_faults(&mut self, faults: crate::config::Faults) {
        let link_was_up = !std::mem::replace(&mut self.config.faults, faults).no_link;
        self.faults_changed(link_was_up);
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

    /// The MAC address in the first filter entry.
    pub(crate) fn mac_address(&self) -> [u8; 6] {
        filter::address_of(self.registers.get(r::RAL(0)), self.registers.get(r::RAH(0)))
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
            link_up: !self.config.faults.no_link,
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
        let link = !faults.no_link && !faults.removed;
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
        running.mac = MacSettings {
            pad: mac & r::HLREG0_TXPADEN != 0,
            insert_crc: mac & r::HLREG0_TXCRCEN != 0,
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
                self.pci.write(offset, from);
                self.refresh(false);
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
            r::LINKS if !self.config.faults.no_link => {
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
        self.registers.write(address, value);
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
            }
            r::I2CCTL => {
                // An idle bus: what is driven is what is read.
                let driven = value & (r::I2CCTL_CLK_OUT | r::I2CCTL_DATA_OUT);
                self.registers.change(
                    r::I2CCTL,
                    driven >> 1,
                    (r::I2CCTL_CLK_IN | r::I2CCTL_DATA_IN) & !(driven >> 1),
                );
            }
            r::AUTOC if value & r::AUTOC_AN_RESTART != 0 => self.link_restarts(),
            r::SECRXCTRL => {
                let halted = value & r::SECRXCTRL_RX_DIS != 0;
                let (set, clear) = if halted {
                    (r::SECRXSTAT_SECRX_RDY, 0)
                } else {
                    (0, r::SECRXSTAT_SECRX_RDY)
                };
                self.registers.change(r::SECRXSTAT, set, clear);
            }
            r::EICS | r::EIMS => self.interrupts.evaluate(&self.registers),
            _ => {}
        }
        match (located.name, queue) {
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

    fn control_written(&mut self, value: u32) {
        if value & r::CTRL_RST != 0 {
            self.reset(ResetCause::Register);
            self.registers
                .change(r::CTRL, value & (r::CTRL_RST | r::CTRL_LNK_RST), 0);
        } else if value & r::CTRL_LNK_RST != 0 {
            self.link_restarts();
        }
    }

    pub(crate) fn link_restarts(&mut self) {
        self.registers.set(r::LINKS, 0);
        self.registers.change(r::STATUS, 0, r::STATUS_LINK_UP);
    }

    fn flush_tx(&mut self, queue: usize) {
        if let Some(Queue::On(tx)) = self.tx.get_mut(queue) {
            let mut dma = crate::rx::Dma {
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
        let rx_enabled = self.registers.get(r::RXDCTL(n)) & r::RXDCTL_ENABLE != 0;
        if rx_enabled == self.rx[queue].is_off() {
            self.switch_rx(queue, rx_enabled);
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
                    rx.set_lie(self.config.faults.rx_lie);
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
    pub(crate) fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<OwnedFd>,
    ) -> Result<(), Errno> {
        self.interrupts.set(index, flags, start, count, fds)
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
