//! What can be learnt about a port: counts, its state now, and the state that drivers left it in.

use serde::Serialize;

use crate::memory::dma_fault::DmaFault;
use crate::pci_function::SessionEnd;
use crate::traffic::verify::VerifyCounts;

/// The state of a device that matters when a driver lets go of it.
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
    /// Transmit descriptors handed over and not sent.
    pub tx_pending: u32,
    /// EIMS.
    pub interrupts_enabled: u32,
    /// Whether there is a link.
    pub link_up: bool,
    /// DMA maps that exist.
    pub dma_maps: usize,
    /// DMA faults in this session.
    pub dma_faults: u64,
}

impl Snapshot {
    /// Whether the device is at rest: nothing is enabled that could touch memory.
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
    /// Number of the session on this port, from 1.
    pub number: u64,
    /// How it ended.
    pub end: SessionEnd,
    /// The state in which the driver left the device, before the end of the session reset it.
    pub snapshot: Snapshot,
    /// How often the device was reset during the session.
    pub resets: u64,
    /// Frames the driver received.
    pub received: u64,
    /// Frames the driver sent.
    pub transmitted: u64,
    /// The first of the DMA faults.
    pub dma_faults: Vec<DmaFault>,
    /// What the driver did that it should not have, in words.
    pub notes: Vec<String>,
    /// What the driver touched that this device does not have, in words.
    pub unmodelled: Vec<String>,
}

/// What reset a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetCause {
    /// The driver, through CTRL.RST or CTRL.LNK_RST.
    Register,
    /// The driver, through vfio-user's DEVICE_RESET, or the bit of the configuration space for it.
    Function,
    /// The driver, who brought the device back from D3 to D0.
    WakeUp,
    /// The end of a session.
    Disconnect,
}

/// A reset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResetReport {
    /// What caused it.
    pub cause: ResetCause,
    /// The state just before.
    pub snapshot: Snapshot,
}

/// Counts since the port exists, over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounters {
    /// Frames that the traffic generator made.
    pub generated: u64,
    /// Frames that got into the driver's memory, from wherever.
    pub delivered: u64,
    /// Bytes of these, CRC included.
    pub delivered_bytes: u64,
    /// Those of them that the traffic generator made: what can come back verified.
    pub delivered_generated: u64,
    /// Frames that found no receive descriptor (QPRDC).
    pub dropped_no_descriptor: u64,
    /// Frames that found no room in the packet buffer (MPC).
    pub dropped_no_buffer: u64,
    /// Frames that were not for this port, or of a wrong length.
    pub dropped_filtered: u64,
    /// Frames that came while the device was not receiving.
    pub dropped_not_running: u64,
    /// Frames that the driver sent.
    pub transmitted: u64,
    /// Bytes of these, CRC included.
    pub transmitted_bytes: u64,
    /// What is known of the sent frames that the peer port had received.
    pub verify: VerifyCounts,
    /// Frames that the peer received after the last one that this port sent on: still in the
    /// driver, or lost there.
    pub outstanding: u64,
    /// DMA faults.
    pub dma_faults: u64,
    /// Interrupts that a storm brought to a driver.
    pub interrupts_forced: u64,
    /// Drivers that connected.
    pub sessions: u64,
    /// Resets of all causes.
    pub resets: u64,
}
