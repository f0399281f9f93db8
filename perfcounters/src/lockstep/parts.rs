//! The parts of a driver, each called and timed alone, for micro-benchmarks.

use std::path::Path;

use forwarder_library::PacketPath;
use record::Conditions;

use super::station::{timing_overhead, Station};
use crate::backend::MeasureError;
use crate::interrupt::Interrupt;
use crate::temporary::TemporaryFolder;

pub use crate::sys::{pin_this_thread as pin, tsc_ordered as clock};
pub use forwarder_library::Part;

/// A driver between two ports of a software NIC, in lockstep in the calling thread.
pub struct SteppedDriver {
    station: Station,
    /// Cost of reading the clock, cycles.
    overhead: u64,
    /// Holds the NIC's sockets.
    _folder: TemporaryFolder,
}

impl SteppedDriver {
    /// Opens the driver in a `libforwarder.so`, and takes turns until packets arrive.
    pub fn open(library: &Path, batch: u32) -> Result<Self, MeasureError> {
        let folder = TemporaryFolder::create()?;
        let conditions = Conditions::with_batch(batch);
        let path = PacketPath::Default;
        let mut station = Station::open(library, path, &conditions, &folder.path().join("nic"))?;
        station.warm_up(&Interrupt::new())?;
        Ok(Self {
            station,
            overhead: timing_overhead(),
            _folder: folder,
        })
    }

    /// The NIC takes the sent packets and fills the receive rings. Then a part of the driver handles
    /// 128 packets per device, or one batch if that is larger. Returns the cycles of the time-stamp counter
    /// that the driver took, and the packets of both devices together.
    pub fn turn(&mut self, part: Part) -> Result<(u64, u64), String> {
        let mut missing = false;
        let (cycles, packets) = self.station.timed(|forwarder| {
            let packets = forwarder.part(part);
            missing |= packets.is_none();
            packets.unwrap_or(0)
        });
        match missing {
            false => Ok((cycles.saturating_sub(self.overhead), packets)),
            true => Err(format!(
                "this libforwarder.so cannot run {part:?} alone: rebuild it"
            )),
        }
    }

    /// Closes the driver.
    pub fn close(self) -> Result<(), forwarder_library::Error> {
        self.station.close()
    }
}
