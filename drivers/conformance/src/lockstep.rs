//! A forwarder and the NIC's data plane, taking turns in one thread.
//!
//! So a test decides what happens when: the same steps give the same result, in every run and, if
//! the implementations are alike, with each of them.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use nic::{DataPlane, NicConfig, Port, Progress, SessionReport, TraceEntry};

use crate::{Counts, DeviceStats, Forwarder, Implementation, Library, TestNic};

/// Most rounds in [`Lockstep::run_until_idle`]. Each moves a packet at least.
const MAX_ROUNDS: usize = 10_000_000;

/// Descriptors of a ring, where a test does not say otherwise.
const RING_SIZE: u32 = 512;

/// A forwarder between the two ports of a NIC.
#[derive(Debug)]
pub struct Lockstep {
    // In the order in which they must go.
    forwarder: Option<Forwarder>,
    data_plane: DataPlane,
    nic: TestNic,
}

impl Lockstep {
    /// Starts a NIC, and a forwarder on it. `change` makes the NIC other than [`NicConfig::new`].
    ///
    /// # Errors
    /// If either does not start.
    pub fn open(
        implementation: Implementation,
        batch: u32,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        Self::open_with_rings(implementation, batch, RING_SIZE, change)
    }

    /// The same, with rings of another size.
    ///
    /// # Errors
    /// If either does not start.
    pub fn open_with_rings(
        implementation: Implementation,
        batch: u32,
        ring_size: u32,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        let library = Library::load(implementation)?;
        let nic = TestNic::still(change)?;
        let mut data_plane = nic.nic().data_plane()?;
        let [device_a, device_b] = nic.devices();
        let forwarder = polled(&mut data_plane, || {
            library.open(&device_a, &device_b, batch, ring_size)
        })?;
        Ok(Self {
            forwarder: Some(forwarder),
            data_plane,
            nic,
        })
    }

    /// A port of the NIC.
    pub fn port(&self, index: usize) -> &Port {
        &self.nic.ports()[index]
    }

    /// The forwarder.
    ///
    /// # Errors
    /// If it is closed.
    pub fn forwarder(&mut self) -> Result<&mut Forwarder> {
        self.forwarder.as_mut().context("the forwarder is closed")
    }

    /// The NIC's turn: everything that has come is received, everything handed over is sent.
    pub fn poll(&mut self) -> Progress {
        self.data_plane.poll()
    }

    /// The forwarder's turn: a batch each way. Returns how many packets it received.
    ///
    /// # Errors
    /// If it is closed.
    pub fn turn(&mut self) -> Result<u32> {
        Ok(self.forwarder()?.turn())
    }

    /// Turns of both, until neither has anything left to do. Returns how many packets were
    /// received.
    ///
    /// # Errors
    /// If it does not come to an end.
    pub fn run_until_idle(&mut self) -> Result<u64> {
        let mut received = 0;
        for _ in 0..MAX_ROUNDS {
            let progress = self.poll();
            let packets = self.turn()?;
            received += u64::from(packets);
            if progress.is_idle() && packets == 0 {
                return Ok(received);
            }
        }
        anyhow::bail!("still busy after {MAX_ROUNDS} rounds, {received} packets")
    }

    /// What the forwarder has done so far.
    ///
    /// # Errors
    /// If it is closed.
    pub fn counts(&mut self) -> Result<Counts> {
        Ok(self.forwarder()?.counts())
    }

    /// What both devices have counted so far, as the forwarder sees it.
    ///
    /// # Errors
    /// The forwarder's message.
    pub fn device_stats(&mut self) -> Result<[DeviceStats; 2]> {
        let forwarder = self.forwarder()?;
        Ok([forwarder.device_stats(0)?, forwarder.device_stats(1)?])
    }

    /// The register accesses since the last time, if they are recorded.
    pub fn take_trace(&self) -> Vec<TraceEntry> {
        self.nic.nic().take_trace()
    }

    /// Closes the forwarder, while the NIC goes on.
    ///
    /// # Errors
    /// The forwarder's message.
    pub fn close(&mut self) -> Result<()> {
        let forwarder = self
            .forwarder
            .take()
            .context("the forwarder is closed already")?;
        let closed = polled(&mut self.data_plane, || forwarder.close());
        self.sessions()?;
        settle(&mut self.data_plane);
        closed
    }

    /// How the forwarder, closed by now, left the devices.
    ///
    /// # Errors
    /// If it is still there.
    pub fn sessions(&self) -> Result<Vec<SessionReport>> {
        self.nic.sessions()
    }
}

/// Lets the data plane notice that drivers are gone, and count the frames that went with them.
pub(crate) fn settle(data_plane: &mut DataPlane) {
    // In the first round a port may be told after it has published its counts.
    data_plane.poll();
    data_plane.poll();
}

/// Does something during which a driver waits for the data plane: that goes on in another thread.
fn polled<T>(data_plane: &mut DataPlane, act: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                data_plane.poll();
                std::thread::yield_now();
            }
        });
        let result = act();
        done.store(true, Ordering::Release);
        result
    })
}
