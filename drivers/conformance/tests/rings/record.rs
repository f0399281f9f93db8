//! The moments of the tour, from a run of a driver on the software card.
//!
//! Driver and card take turns, and the card sees every access to a register. So the rings can be
//! looked at between two turns, and in the middle of a driver's call, just before a doorbell.

use anyhow::{ensure, Context, Result};
use conformance::{setup, Implementation, Lockstep, TestNic};
use nic::registers as r;
use nic::{Hardware, MmioMode, RingView, RingViews, WatchedWrite};

use crate::ring::{Buffers, Kind, Moment};

/// Descriptors of a ring: the fewest that the drivers allow.
pub const RING_SIZE: u32 = 64;
/// Most packets in a batch.
const BATCH: u32 = 32;
/// Frames that arrive first. The card reports sent packets in groups of four (WTHRESH).
const FIRST: usize = 4;
/// Frames after which the driver looks for sent packets.
const MANY: usize = 32;

/// A run, and the moments so far.
struct Recorder {
    lockstep: Lockstep,
    buffers: Buffers,
    moments: Vec<Moment>,
}

impl Recorder {
    /// Adds a moment of a ring.
    fn add(
        &mut self,
        step: usize,
        title: &str,
        ring: Kind,
        view: &RingView,
        first: usize,
    ) -> Result<()> {
        let descriptors = self.buffers.read(ring, view)?;
        ensure!(descriptors.len() == RING_SIZE as usize, "step {step}");
        self.moments.push(Moment {
            step,
            title: title.to_owned(),
            ring,
            head: view.head,
            tail: view.tail,
            first,
            descriptors,
        });
        Ok(())
    }

    /// Adds a moment of the receive ring at which the packets arrive.
    fn receive(&mut self, step: usize, title: &str, view: &RingViews, first: usize) -> Result<()> {
        self.add(step, title, Kind::Receive, &view.receive, first)
    }

    /// Adds a moment of the transmit ring at which they leave.
    fn transmit(&mut self, step: usize, title: &str, view: &RingViews, first: usize) -> Result<()> {
        self.add(step, title, Kind::Transmit, &view.transmit, first)
    }

    /// The rings of a port now.
    fn now(&self, port: usize) -> RingViews {
        self.lockstep.port(port).rings()
    }

    /// Remembers the buffers that the rings point to now, before the card overwrites them.
    fn remember(&mut self) -> Result<()> {
        let (receive, transmit) = (self.now(0).receive, self.now(1).transmit);
        self.buffers.read(Kind::Receive, &receive)?;
        self.buffers.read(Kind::Transmit, &transmit)?;
        Ok(())
    }

    /// The rings of a port just before the last write to a register.
    fn before(&self, port: usize, address: u32) -> Result<RingViews> {
        let writes = self.lockstep.port(port).take_watched();
        let last = |write: &&WatchedWrite| write.address == address;
        let write = writes.iter().rev().find(last);
        Ok(write
            .with_context(|| format!("port {port}: no write to {address:#x}"))?
            .rings
            .clone())
    }

    /// Frames arrive at port 0.
    fn arrive(&mut self, frames: usize) -> Result<()> {
        self.lockstep.inject(0, frames)?;
        self.lockstep.poll();
        Ok(())
    }

    /// The driver forwards them.
    fn forward(&mut self, frames: usize) -> Result<()> {
        let received = self.lockstep.turn()? as usize;
        ensure!(received == frames, "{received} packets, expected {frames}");
        Ok(())
    }
}

/// The moments of a driver's run, in the order of the steps.
///
/// # Errors
/// If the driver does not behave as the tour says.
pub fn record(implementation: Implementation) -> Result<Vec<Moment>> {
    let (rdt, tdt) = (r::RDT(0), r::TDT(0));
    // The diagrams are those of the model.
    let nic = TestNic::still(|config| {
        let config = config.with_mmio(MmioMode::Trap);
        config.with_each_port(|port| port.hardware = Hardware::default())
    })?;
    nic.ports()[0].watch(&[rdt]);
    nic.ports()[1].watch(&[tdt]);
    let lockstep = Lockstep::on(nic, implementation, setup(BATCH, RING_SIZE))?;
    let mut run = Recorder {
        lockstep,
        buffers: Buffers::default(),
        moments: Vec::new(),
    };
    let last = RING_SIZE as usize - 2;

    let filled = run.before(0, rdt)?;
    run.receive(
        9,
        "The driver has filled the ring. The card owns nothing.",
        &filled,
        last,
    )?;
    run.receive(10, "Before the doorbell", &filled, last)?;
    let enabled = run.now(0);
    run.receive(10, "After the doorbell", &enabled, last)?;

    run.receive(1, "Before the frames arrive", &enabled, last)?;
    run.arrive(FIRST)?;
    let arrived = run.now(0);
    run.receive(1, "After four frames", &arrived, last)?;

    let empty = run.now(1);
    run.forward(FIRST)?;
    run.receive(2, "Before rx_batch", &arrived, last)?;
    let exchanged = run.before(0, rdt)?;
    run.receive(2, "In rx_batch: four buffers exchanged", &exchanged, last)?;
    let handed_over = run.now(0);
    run.receive(2, "After the doorbell", &handed_over, last)?;

    run.transmit(6, "Before tx_batch", &empty, last)?;
    let written = run.before(1, tdt)?;
    run.transmit(6, "In tx_batch: four descriptors written", &written, last)?;
    run.transmit(7, "Before the doorbell", &written, last)?;
    let rung = run.now(1);
    run.transmit(7, "After the doorbell", &rung, last)?;

    run.lockstep.poll();
    let sent = run.now(1);
    run.transmit(8, "The card has sent four packets", &sent, last)?;
    run.arrive(MANY - FIRST)?;
    run.forward(MANY - FIRST)?;
    run.remember()?;
    run.lockstep.poll();
    let many = run.now(1);
    run.transmit(8, "The card has sent 32 packets", &many, MANY - FIRST)?;
    // This call of tx_batch takes the 32 buffers back, after rx_batch has taken its buffers.
    run.arrive(FIRST)?;
    run.forward(FIRST)?;
    let cleaned = run.now(1);
    run.transmit(
        8,
        "The next call takes 32 buffers back and sends four packets",
        &cleaned,
        MANY - FIRST,
    )?;
    run.remember()?;
    run.arrive(FIRST)?;
    run.forward(FIRST)?;
    let reused = run.now(0);
    run.receive(
        8,
        "The next receive call reuses the buffers freed last",
        &reused,
        MANY,
    )?;
    run.lockstep.close()?;
    // The tour begins with a packet, and comes to the start of the driver at its end.
    run.moments.sort_by_key(|moment| moment.step);
    Ok(run.moments)
}
