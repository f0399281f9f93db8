//! Reports about a port: its counters, its present state, and the state in which drivers left it.

use serde::Serialize;

use crate::config::QUEUES;
use crate::device::tx::WrittenBack;
use crate::memory::dma_fault::DmaFault;
use crate::pci_function::SessionEnd;
use crate::traffic::verify::VerifyCounts;

/// The state of a device, as far as it matters when a driver leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Whether the PCI command register lets the device start transactions (DMA).
    pub bus_master: bool,
    /// STATUS bit 19: false after a completed master-disable handshake (CTRL bit 2).
    pub master_enable_status: bool,
    /// RXCTRL.RXEN.
    pub rx_enabled: bool,
    /// DMATXCTL.TE.
    pub tx_enabled: bool,
    /// Receive queues (0 to 15) whose RXDCTL.ENABLE is set.
    pub rx_queues: Vec<u32>,
    /// Transmit queues (0 to 15) whose TXDCTL.ENABLE is set.
    pub tx_queues: Vec<u32>,
    /// Transmit descriptors that the driver has handed over and the device has not sent.
    pub tx_pending: u32,
    /// EIMS.
    pub interrupts_enabled: u32,
    /// Whether there is a link.
    pub link_up: bool,
    /// Number of DMA maps.
    pub dma_maps: usize,
    /// DMA faults in this session.
    pub dma_faults: u64,
}

impl Snapshot {
    /// Whether the device is at rest: no enabled part of it could access memory.
    pub fn quiescent(&self) -> bool {
        !self.bus_master
            && !self.rx_enabled
            && self.rx_queues.is_empty()
            && self.tx_queues.is_empty()
    }
}

/// One driver's session, from connecting to disconnecting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    /// Number of the session on this port, counted from 1.
    pub number: u64,
    /// How the session ended.
    pub end: SessionEnd,
    /// The state in which the driver left the device, before the reset that ends a session.
    pub snapshot: Snapshot,
    /// Number of resets during the session.
    pub resets: u64,
    /// Frames the driver received.
    pub received: u64,
    /// Frames the driver sent.
    pub transmitted: u64,
    /// The first DMA faults, at most 256.
    pub dma_faults: Vec<DmaFault>,
    /// The driver's mistakes, in words.
    pub notes: Vec<String>,
    /// Features that the driver used and this device does not model, in words.
    pub unmodelled: Vec<String>,
}

/// The cause of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetCause {
    /// The driver, through CTRL.RST or CTRL.LNK_RST.
    Register,
    /// The driver, through DEVICE_RESET of vfio-user or the configuration space.
    Function,
    /// The driver, by bringing the device back from D3 to D0.
    WakeUp,
    /// The end of a session.
    Disconnect,
}

/// A reset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResetReport {
    /// The cause.
    pub cause: ResetCause,
    /// The state just before the reset.
    pub snapshot: Snapshot,
}

/// Counters of a queue pair of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueCounters {
    /// Frames that RSS gave to the queue, and that were stored in the driver's memory.
    pub delivered: u64,
    /// Frames that the driver sent from the queue.
    pub transmitted: u64,
}

/// Counts since the port was made, over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounters {
    /// Frames that the traffic generator made.
    pub generated: u64,
    /// Frames from any source that were stored in the driver's memory.
    pub delivered: u64,
    /// Bytes of the delivered frames, CRC included.
    pub delivered_bytes: u64,
    /// Delivered frames that the traffic generator made, which can be verified when they come
    /// back.
    pub delivered_generated: u64,
    /// Frames that found no receive descriptor (QPRDC).
    pub dropped_no_descriptor: u64,
    /// Frames that found no room in the packet buffer (MPC).
    pub dropped_no_buffer: u64,
    /// Frames for another address, or of an invalid length.
    pub dropped_filtered: u64,
    /// Frames that arrived while the device was not receiving.
    pub dropped_not_running: u64,
    /// Frames that the driver sent and the TAP interface of the wire did not take.
    pub refused_by_tap: u64,
    /// Frames in the wire's pcap file that have not arrived.
    pub left_in_pcap: u64,
    /// Frames that the driver sent.
    pub transmitted: u64,
    /// Bytes of the transmitted frames, CRC included.
    pub transmitted_bytes: u64,
    /// Writes with which the device wrote transmit descriptors or heads back. One write carries the
    /// TXDCTL.WTHRESH descriptors of a group.
    pub tx_write_backs: u64,
    /// Transmit descriptors in these writes, of 16 bytes each.
    pub tx_descriptors_written_back: u64,
    /// The same frames by queue.
    pub queues: [QueueCounters; QUEUES],
    /// The results of checking the transmitted frames that the peer port had received.
    pub verify: VerifyCounts,
    /// Frames that the peer port received after the last one that came back here. The driver still
    /// has them, or has lost them.
    pub outstanding: u64,
    /// DMA faults.
    pub dma_faults: u64,
    /// Interrupts signalled by the fault `interrupt-storm`.
    pub interrupts_forced: u64,
    /// Drivers that connected.
    pub sessions: u64,
    /// Resets of all causes.
    pub resets: u64,
}

impl PortCounters {
    /// Counts what a transmit queue has written back.
    pub(crate) fn count_written_back(&mut self, written_back: WrittenBack) {
        self.tx_write_backs += u64::from(written_back.writes);
        self.tx_descriptors_written_back += u64::from(written_back.descriptors);
    }
}

/// A ring at one moment. It belongs to queue 0 of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingView {
    /// Index of the next descriptor that the card takes: RDH or TDH.
    pub head: u32,
    /// Index of the first descriptor after those that the driver has handed over: RDT or TDT.
    pub tail: u32,
    /// Both 64-bit halves of each descriptor, the lower first. Empty until the driver has written the
    /// place of the ring to the card.
    pub descriptors: Vec<[u64; 2]>,
}

/// Both rings of a port at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingViews {
    /// The receive ring.
    pub receive: RingView,
    /// The transmit ring.
    pub transmit: RingView,
}

/// A driver's write to a watched register, and the rings just before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedWrite {
    /// Address of the register.
    pub address: u32,
    /// The value written.
    pub value: u32,
    /// The rings before the write.
    pub rings: RingViews,
}

/// The registers to watch, and the writes to them so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) addresses: Vec<u32>,
    pub(crate) writes: Vec<WatchedWrite>,
}
