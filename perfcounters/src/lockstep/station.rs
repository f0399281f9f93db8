//! A driver and its NIC, which take turns in one thread; a clock times the driver's turns.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forwarder_library::{Counts, Forwarder, Library, PacketPath, Setup};
use nic::{DataPlane, FrameSizes, Nic, NicConfig, Traffic, VerifyMode};
use record::{Conditions, LinePlacement};

use crate::interrupt::Interrupt;
use crate::rounds::{card_placement, median};
use crate::sys;

/// Packets that a driver receives from each of its two devices in one timed turn; fewer if half a
/// ring is smaller. All batch sizes share this number, so that they find the caches alike; a larger
/// batch takes a turn of its own.
pub const PACKETS_PER_TURN: u32 = 128;
/// Turns of one cell in one round. The clock skips the first, because the caches then still hold the
/// other drivers' code and data.
pub const TURNS_PER_ROUND: u32 = 64;
/// Time within which the first packet must arrive.
const FIRST_PACKET: Duration = Duration::from_secs(5);
/// Number of clock readings that measure the cost of a reading.
const OVERHEAD_READINGS: usize = 10_001;

/// An open driver and its NIC.
pub(super) struct Station {
    /// The ports of the NIC, which only move packets when they are stepped.
    data_plane: DataPlane,
    /// Serves the sockets until the driver has closed.
    _nic: Nic,
    forwarder: Forwarder,
    /// Queue pairs of each device.
    queues: u32,
    /// The queue pair whose turn it is.
    queue: u32,
    /// Forwarder turns in one timed turn.
    batches: u32,
}

/// Runs `work` while another thread steps the ports: opening and closing a driver wait for the NIC.
fn while_stepping<R>(ports: &mut DataPlane, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ports.poll();
                thread::yield_now();
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

impl Station {
    /// Opens the driver in a `libforwarder.so` between two ports of a NIC in this process, whose sockets are
    /// in `folder`. The NIC fills every free receive descriptor. Until [`Station::place`], its DMA leaves lines
    /// where they are. The placement of `conditions` does not matter.
    pub(super) fn open(
        library: &Path,
        path: PacketPath,
        conditions: &Conditions,
        folder: &Path,
    ) -> Result<Self, String> {
        let frame_size = conditions.frame_size;
        let sizes: FrameSizes = frame_size
            .to_string()
            .parse()
            .map_err(|error| format!("frames of {frame_size} bytes: {error}"))?;
        let config = NicConfig::new(folder, 2).with_each_port(|port| {
            port.traffic = Traffic::Saturate;
            port.sizes = sizes.clone();
            // The conformance tests verify the frames. Here, verifying would evict the driver's data
            // from the caches.
            port.verify = VerifyMode::Off;
        });
        let nic = Nic::new(config).map_err(|error| error.to_string())?;
        let mut data_plane = nic.data_plane().map_err(|error| error.to_string())?;
        let library = Library::load(library).map_err(|error| error.to_string())?;
        let [a, b] = [0, 1].map(|port: usize| nic.ports()[port].device_name());
        let setup = Setup {
            batch: conditions.batch,
            ring_size: conditions.ring_size,
            queues: conditions.queues,
            path,
            link_timeout: None,
        };
        let forwarder = while_stepping(&mut data_plane, || library.open([&a, &b], setup))
            .map_err(|error| error.to_string())?;
        // A turn takes at most half a ring, because the NIC refills the ring only between turns.
        let packets = PACKETS_PER_TURN.min(conditions.ring_size / 2);
        Ok(Self {
            data_plane,
            _nic: nic,
            forwarder,
            queues: conditions.queues,
            queue: 0,
            batches: (packets / conditions.batch.max(1)).max(1),
        })
    }

    /// From now on, the NIC's DMA leaves lines there; without a placement, where they are.
    pub(super) fn place(&mut self, placement: Option<LinePlacement>) -> Result<(), String> {
        let Some(placement) = placement else {
            return Ok(());
        };
        let placed = self.data_plane.set_placement(card_placement(placement));
        placed.map_err(|error| error.to_string())
    }

    /// Takes turns until packets arrive: the link needs a moment to come up.
    pub(super) fn warm_up(&mut self, interrupt: &Interrupt) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < FIRST_PACKET && !interrupt.is_set() {
            self.data_plane.poll();
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
        let seconds = FIRST_PACKET.as_secs();
        Err(format!("no packet arrived within {seconds} s"))
    }

    /// The NIC takes the sent packets and fills the receive rings. Then `work` handles a batch several times.
    /// Returns the cycles of that, which include the cost of reading the clock, and the packets.
    #[inline(always)]
    pub(super) fn timed(&mut self, mut work: impl FnMut(&mut Forwarder) -> u32) -> (u64, u64) {
        self.data_plane.poll();
        let mut packets = 0;
        let start = sys::tsc_ordered();
        for _ in 0..self.batches {
            packets += u64::from(work(&mut self.forwarder));
        }
        let end = sys::tsc_ordered();
        (end.wrapping_sub(start), packets)
    }

    /// One timed turn. Several queues have a loop of their own, so that the one for a single queue stays as
    /// it is.
    fn turn(&mut self) -> (u64, u64) {
        match (self.queues, self.queue) {
            (1, _) => self.timed(Forwarder::turn),
            (_, queue) => self.timed(|forwarder| forwarder.queue_turn(queue)),
        }
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

    /// Time of a load from a packet that DMA has just left at the cell's placement, in TSC cycles; `None` if
    /// lines stay where they are.
    pub(super) fn placed_load(&mut self) -> Option<f64> {
        self.data_plane.poll();
        let load = self.data_plane.placed_load_ticks();
        self.turn();
        load
    }

    pub(super) fn counts(&self) -> Counts {
        self.forwarder.counts()
    }

    pub(super) fn close(mut self) -> Result<(), forwarder_library::Error> {
        let forwarder = self.forwarder;
        while_stepping(&mut self.data_plane, || forwarder.close())
    }
}

/// Cycles between two readings of the clock with nothing between them: the median.
pub(super) fn timing_overhead() -> u64 {
    let reading = |_| {
        let start = sys::tsc_ordered();
        sys::tsc_ordered().wrapping_sub(start) as f64
    };
    median((0..OVERHEAD_READINGS).map(reading)) as u64
}
