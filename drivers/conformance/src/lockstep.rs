//! A forwarder and the NIC's data plane that take turns in one thread.
//!
//! A test decides the order of the turns. The same steps therefore give the same result in every
//! run, and with every implementation that behaves alike.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use forwarder_library::{Counts, DeviceStats, Forwarder, Library, PacketPath, Setup};
use nic::{DataPlane, Faults, NicConfig, Port, Progress, SessionReport, TraceEntry};
use record::Implementation;

use crate::expect;
use crate::test_nic::{settle, TestNic};
use harness::{built, path_name, Totals};

/// Limit of the rounds in [`Lockstep::run_until_idle`]. Each round moves at least one packet.
const MAX_ROUNDS: usize = 10_000_000;

/// Descriptors of a ring, unless a test chooses another number.
const RING_SIZE: u32 = 512;

/// One queue pair, by the path that `TRIPTYCH_PATH` names.
pub fn setup(batch: u32, ring_size: u32) -> Setup {
    Setup {
        batch,
        ring_size,
        queues: 1,
        path: path_name()
            .and_then(|name| PacketPath::named(&name))
            .unwrap_or_default(),
        link_timeout: None,
    }
}

/// An implementation's library `libforwarder.so`.
pub fn forwarder_library(implementation: Implementation) -> Result<PathBuf> {
    built(&format!("bin/{implementation}/libforwarder.so"))
}

/// A forwarder between the two ports of a NIC.
#[derive(Debug)]
pub struct Lockstep {
    // Dropped in this order.
    forwarder: Option<Forwarder>,
    data_plane: DataPlane,
    nic: TestNic,
}

impl Lockstep {
    /// Starts a NIC and a forwarder on it. `change` changes the NIC's default configuration.
    pub fn open(
        implementation: Implementation,
        batch: u32,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        Self::open_with(implementation, setup(batch, RING_SIZE), change)
    }

    /// The same with all that a forwarder can be opened with.
    pub fn open_with(
        implementation: Implementation,
        setup: Setup,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        Self::on(TestNic::still(change)?, implementation, setup)
    }

    /// Starts a forwarder on a NIC.
    pub fn on(nic: TestNic, implementation: Implementation, setup: Setup) -> Result<Self> {
        let library = Library::load(&forwarder_library(implementation)?)?;
        let mut data_plane = nic.nic().data_plane()?;
        let [device_a, device_b] = nic.devices();
        let forwarder = polled(&mut data_plane, || {
            library.open([&device_a, &device_b], setup)
        })?;
        Ok(Self {
            forwarder: Some(forwarder),
            data_plane,
            nic,
        })
    }

    /// The ports of the NIC.
    pub fn ports(&self) -> &[Port] {
        self.nic.ports()
    }

    /// A port of the NIC.
    pub fn port(&self, index: usize) -> &Port {
        &self.nic.ports()[index]
    }

    /// The forwarder.
    pub fn forwarder(&mut self) -> Result<&mut Forwarder> {
        self.forwarder.as_mut().context("the forwarder is closed")
    }

    /// The NIC's turn: it delivers all frames that have arrived and sends all packets handed to it.
    pub fn poll(&mut self) -> Progress {
        self.data_plane.poll()
    }

    /// Each takes `turns` turns.
    pub fn run(&mut self, turns: usize) -> Result<()> {
        for _ in 0..turns {
            self.poll();
            self.turn()?;
        }
        Ok(())
    }

    /// `frames` equal frames of 60 bytes arrive at a port.
    pub fn inject(&self, port: usize, frames: usize) -> Result<()> {
        for _ in 0..frames {
            self.port(port).inject(&[0x5a; 60])?;
        }
        Ok(())
    }

    /// Gives both ports these faults instead of the present ones.
    pub fn set_faults(&self, faults: Faults) {
        self.ports().iter().for_each(|port| port.set_faults(faults));
    }

    /// Packets that both ports have sent.
    pub fn transmitted(&self) -> u64 {
        self.nic.transmitted()
    }

    /// The forwarder's turn: it forwards a batch each way, on each queue. Returns how many packets it
    /// received.
    pub fn turn(&mut self) -> Result<u32> {
        let forwarder = self.forwarder()?;
        match forwarder.queues() {
            1 => Ok(forwarder.turn()),
            queues => Ok((0..queues).map(|queue| forwarder.queue_turn(queue)).sum()),
        }
    }

    /// Lets both take turns until both are idle. Returns how many packets the forwarder received.
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
        anyhow::bail!("still busy after {MAX_ROUNDS} rounds and {received} packets")
    }

    /// The forwarder's counts so far.
    pub fn counts(&mut self) -> Result<Counts> {
        Ok(self.forwarder()?.counts())
    }

    /// The counts of both devices so far, as the forwarder reads them.
    pub fn device_stats(&mut self) -> Result<[DeviceStats; 2]> {
        let forwarder = self.forwarder()?;
        Ok([forwarder.device_stats(0)?, forwarder.device_stats(1)?])
    }

    /// The register accesses since the last call, if the NIC records them.
    pub fn take_trace(&self) -> Vec<TraceEntry> {
        self.nic.nic().take_trace()
    }

    /// Closes the forwarder, while the NIC goes on.
    pub fn close(&mut self) -> Result<()> {
        let forwarder = self
            .forwarder
            .take()
            .context("the forwarder is closed already")?;
        let closed = polled(&mut self.data_plane, || forwarder.close());
        self.sessions()?;
        settle(&mut self.data_plane);
        Ok(closed?)
    }

    /// The same, and checks that it left both devices at rest.
    pub fn close_at_rest(&mut self) -> Result<()> {
        self.close()?;
        self.nic.expect_rest()
    }

    /// The same, and checks that each packet was sent once and unaltered, or counted as dropped.
    pub fn close_without_loss(&mut self) -> Result<()> {
        let Counts {
            rx, tx, dropped, ..
        } = self.counts()?;
        self.close_at_rest()?;
        let totals = Totals {
            rx,
            tx,
            dropped,
            ..Totals::default()
        };
        expect::nothing_lost(self.ports(), &totals)
    }

    /// The NIC's reports on the devices after the forwarder was closed.
    pub fn sessions(&self) -> Result<Vec<SessionReport>> {
        self.nic.sessions()
    }
}

/// Calls `act`, which waits for the data plane, while another thread polls the data plane.
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
