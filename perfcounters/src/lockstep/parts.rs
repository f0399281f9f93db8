//! The parts of a driver, each called and timed alone, for micro-benchmarks.

use std::path::Path;
use std::time::Instant;

use forwarder_library::{Forwarder, Library, Setup};
use record::{DEFAULT_FRAME_SIZE, DEFAULT_RING_SIZE};

use super::ports::{while_stepping, SoftwarePorts};
use super::station::{timing_overhead, FIRST_PACKET, PACKETS_PER_TURN};
use crate::backend::MeasureError;
use crate::sys;
use crate::temporary::TemporaryFolder;

pub use crate::sys::{pin_this_thread as pin, tsc_ordered as clock};
pub use forwarder_library::Part;

/// A driver between two ports of a software NIC, in lockstep in the calling thread.
pub struct SteppedDriver {
    ports: SoftwarePorts,
    forwarder: Forwarder,
    /// Calls in one timed turn.
    calls: u32,
    /// Cost of reading the clock, cycles.
    overhead: u64,
    /// Holds the NIC's sockets.
    _folder: TemporaryFolder,
}

/// Cost of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turn {
    /// Cycles of the time-stamp counter.
    pub cycles: u64,
    /// Packets, of both devices together.
    pub packets: u64,
}

impl SteppedDriver {
    /// Opens the driver in a `libforwarder.so`, and takes turns until packets arrive.
    pub fn open(library: &Path, batch: u32) -> Result<Self, MeasureError> {
        let folder = TemporaryFolder::create()?;
        let mut ports = SoftwarePorts::start(&folder.path().join("nic"), DEFAULT_FRAME_SIZE, None)?;
        let library = Library::load(library)?;
        let [a, b] = ports.devices();
        let setup = Setup {
            batch,
            ring_size: DEFAULT_RING_SIZE,
            queues: 1,
            link_timeout: None,
        };
        let forwarder = while_stepping(&mut ports, || library.open([&a, &b], setup))?;
        let mut driver = Self {
            ports,
            forwarder,
            calls: (PACKETS_PER_TURN / batch.max(1)).max(1),
            overhead: timing_overhead(),
            _folder: folder,
        };
        let start = Instant::now();
        while driver.turn(Part::Forward)?.packets == 0 {
            if start.elapsed() > FIRST_PACKET {
                let seconds = FIRST_PACKET.as_secs();
                return Err(format!("no packet arrived within {seconds} s").into());
            }
        }
        Ok(driver)
    }

    /// The NIC takes the sent packets and fills the receive rings. Then a part of the driver handles
    /// 128 packets per device, or one batch if that is larger. The clock times only the driver.
    pub fn turn(&mut self, part: Part) -> Result<Turn, String> {
        self.ports.step();
        let mut packets = Some(0);
        let start = sys::tsc_ordered();
        for _ in 0..self.calls {
            let some = self.forwarder.part(part);
            packets = packets.and_then(|packets| Some(packets + u64::from(some?)));
        }
        let end = sys::tsc_ordered();
        Ok(Turn {
            cycles: end.wrapping_sub(start).saturating_sub(self.overhead),
            packets: packets.ok_or_else(|| {
                format!("this libforwarder.so cannot run {part:?} alone: rebuild it")
            })?,
        })
    }

    /// Closes the driver.
    pub fn close(self) -> Result<(), forwarder_library::Error> {
        let Self {
            mut ports,
            forwarder,
            ..
        } = self;
        while_stepping(&mut ports, || forwarder.close())
    }
}
