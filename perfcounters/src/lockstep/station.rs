//! A driver and its NIC, which take turns in one thread; a clock times the driver's turns.

use std::time::{Duration, Instant};

use forwarder_library::{Counts, Error, Forwarder, Library, Setup};

use super::ports::{while_stepping, SoftwarePorts};
use crate::backend::Cell;
use crate::interrupt::Interrupt;
use crate::sys;

/// Packets that a driver receives from each of its two devices in one timed turn; fewer if half a
/// ring is smaller. All batch sizes share this number, so that they find the caches alike; a larger
/// batch takes a turn of its own.
pub const PACKETS_PER_TURN: u32 = 128;
/// Turns of one cell in one round. The clock skips the first, because the caches then still hold the
/// other drivers' code and data.
pub const TURNS_PER_ROUND: u32 = 64;
/// Time within which the first packet must arrive.
pub(super) const FIRST_PACKET: Duration = Duration::from_secs(5);
/// Number of clock readings that measure the cost of a reading.
const OVERHEAD_READINGS: usize = 10_001;

/// An open driver and its NIC.
pub(super) struct Station {
    pub(super) cell: Cell,
    /// Whether the cell was given up.
    pub(super) failed: bool,
    ports: SoftwarePorts,
    forwarder: Forwarder,
    /// Queue pairs of each device.
    queues: u32,
    /// The queue pair whose turn it is.
    queue: u32,
    /// Forwarder turns in one timed turn.
    batches: u32,
}

impl Station {
    pub(super) fn open(cell: &Cell, mut ports: SoftwarePorts) -> Result<Self, Error> {
        let library = Library::load(&cell.library)?;
        let [a, b] = ports.devices();
        let conditions = cell.conditions;
        let setup = Setup {
            batch: conditions.batch,
            ring_size: conditions.ring_size,
            queues: conditions.queues,
            link_timeout: None,
        };
        let forwarder = while_stepping(&mut ports, || library.open([&a, &b], setup))?;
        // A turn takes at most half a ring, because the NIC refills the ring only between turns.
        let packets = PACKETS_PER_TURN.min(conditions.ring_size / 2);
        Ok(Self {
            cell: cell.clone(),
            ports,
            forwarder,
            queues: conditions.queues,
            queue: 0,
            batches: (packets / conditions.batch).max(1),
            failed: false,
        })
    }

    /// Takes turns until packets arrive: the link needs a moment to come up.
    pub(super) fn warm_up(&mut self, interrupt: &Interrupt) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < FIRST_PACKET && !interrupt.is_set() {
            self.ports.step();
            if self.turn().1 > 0 {
                // Goes through the whole rings once, so that every descriptor has been used.
                for queue in 0..self.queues {
                    self.queue = queue;
                    for _ in 0..TURNS_PER_ROUND {
                        self.turn();
                    }
                }
                return Ok(());
            }
        }
        Err(format!(
            "no packet arrived within {} s",
            FIRST_PACKET.as_secs()
        ))
    }

    /// One timed turn: cycles, which include the cost of reading the clock, and packets.
    fn turn(&mut self) -> (u64, u64) {
        self.ports.step();
        let mut packets = 0;
        if self.queues > 1 {
            return self.turn_of_queue();
        }
        let start = sys::tsc_ordered();
        for _ in 0..self.batches {
            packets += u64::from(self.forwarder.turn());
        }
        let end = sys::tsc_ordered();
        (end.wrapping_sub(start), packets)
    }

    /// The same for one of several queues. It has a loop of its own, so that the one for a single queue
    /// stays as it is.
    fn turn_of_queue(&mut self) -> (u64, u64) {
        let mut packets = 0;
        let start = sys::tsc_ordered();
        for _ in 0..self.batches {
            packets += u64::from(self.forwarder.queue_turn(self.queue));
        }
        let end = sys::tsc_ordered();
        (end.wrapping_sub(start), packets)
    }

    /// One round: cycles and packets of all turns but the first. `overhead` is the cost of reading
    /// the clock. With several queues, a round belongs to one of them, as a processor belongs to the
    /// thread of one queue.
    pub(super) fn round(&mut self, overhead: u64) -> (u64, u64) {
        self.queue = (self.queue + 1) % self.queues;
        self.turn();
        let (mut cycles, mut packets) = (0, 0);
        for _ in 1..TURNS_PER_ROUND {
            let turn = self.turn();
            cycles += turn.0.saturating_sub(overhead);
            packets += turn.1;
        }
        (cycles, packets)
    }

    /// Time of a load from a packet that DMA has just left at the cell's placement, in TSC cycles.
    pub(super) fn placed_load(&mut self) -> Option<f64> {
        self.ports.step();
        let load = self.ports.placed_load();
        self.turn();
        load
    }

    pub(super) fn counts(&self) -> Counts {
        self.forwarder.counts()
    }

    pub(super) fn close(mut self) -> Result<(), Error> {
        let forwarder = self.forwarder;
        while_stepping(&mut self.ports, || forwarder.close())
    }
}

/// Cycles between two readings of the clock with nothing between them: the median.
pub(super) fn timing_overhead() -> u64 {
    let mut readings: Vec<u64> = (0..OVERHEAD_READINGS)
        .map(|_| {
            let start = sys::tsc_ordered();
            sys::tsc_ordered().wrapping_sub(start)
        })
        .collect();
    readings.sort_unstable();
    readings[OVERHEAD_READINGS / 2]
}
