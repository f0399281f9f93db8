//! DMA faults: transfers that the driver's maps do not allow.

use serde::Serialize;
use thiserror::Error;

/// The reason why a transfer is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No map holds some of the bytes.
    #[error("not mapped")]
    Unmapped,
    /// The map of some of the bytes does not permit the access.
    #[error("not permitted by the map")]
    Permission,
    /// The map of some of the bytes has no memory: it was made without a file, or its file has
    /// become shorter.
    #[error("no memory behind the map")]
    NoMemory,
}

/// The direction of a transfer, seen from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the driver's memory.
    Read,
    /// To the driver's memory.
    Write,
}

/// The purpose of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Fetching or writing back a receive descriptor.
    RxDescriptor,
    /// Storing a received packet.
    RxPacket,
    /// Fetching or writing back a transmit descriptor.
    TxDescriptor,
    /// Fetching a packet to send.
    TxPacket,
    /// Writing the transmit head to memory.
    HeadWriteBack,
    /// A write that no driver asked for; see [`Port::rogue_write`](crate::Port::rogue_write).
    Rogue,
}

/// A transfer that the driver's maps do not allow. It did not take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DmaFault {
    /// First byte of the transfer.
    pub iova: u64,
    /// Length of the transfer in bytes.
    pub len: u64,
    /// The direction of the transfer.
    pub direction: Direction,
    /// The purpose of the transfer.
    pub purpose: Purpose,
    /// The queue, 0 to 15.
    pub queue: u32,
    /// Why the transfer is not allowed.
    pub refusal: Refusal,
}

/// Most faults of a session kept in full: a broken driver causes millions.
const KEPT: usize = 256;

/// The faults of all sessions and of this one: their numbers, and the first few in full.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultLog {
    pub(crate) total: u64,
    pub(crate) count: u64,
    pub(crate) first: Vec<DmaFault>,
}

impl FaultLog {
    pub(crate) fn begin_session(&mut self) {
        self.count = 0;
        self.first.clear();
    }

    pub(crate) fn record(&mut self, fault: DmaFault) {
        self.total += 1;
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(fault);
        }
    }
}
