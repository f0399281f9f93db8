//! A driver's lab program beside the NIC, and the frames that pass through both.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use harness::{Program, Running};
use nic::registers as r;
use nic::{DataPlane, DmaFault, Faults, MmioMode, Nic, NicConfig, Port};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::canaries::Canaries;
use crate::evidence::Evidence;
use crate::frames::FrameLedger;

/// How long the program may take to start both devices.
const START_LIMIT: Duration = Duration::from_secs(15);
/// How long the program may take to stop after SIGINT. The drivers' own waits are shorter.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// How long the lab waits for a driver that has no processor.
const HAND_OVER_LIMIT: Duration = Duration::from_secs(3);
/// Frames that have not come back after so long without any frame are lost.
const QUIET: Duration = Duration::from_millis(100);
/// The same in turns of the driver.
const QUIET_TURNS: u32 = 40;
/// The same at the end of the run, where it decides whether the queue has stalled.
const QUIET_AT_END: Duration = Duration::from_secs(1);
/// Pause between two rounds of the NIC that have nothing to do.
const PAUSE: Duration = Duration::from_micros(20);
/// Frames in flight at once; a ring has 64 descriptors.
const BURST: u64 = 16;
/// The lab sends no more frames after so many bursts in a row without an answer.
const MAX_DEAD_BURSTS: u32 = 3;
/// The lab waits no longer after so many wrong frames: the driver may send them forever.
const MAX_WRONG_FRAMES: u64 = 2000;
/// Bytes of an ordinary frame.
pub const FRAME: usize = 200;

/// Gives the driver its turns in place of the scheduler, and watches. The recorder of the lab does.
pub trait Turns {
    /// A frame is on its way to port 0.
    fn arrives(&mut self, frame: &[u8]);
    /// The card has had its turn, and port 1 has sent these frames. The driver gets its turn, unless it is `held`.
    fn turn(&mut self, sent: &[Vec<u8>], held: bool);
    /// The hazard begins.
    fn hazard(&mut self);
    /// The driver runs alone from now on.
    fn end(&mut self);
}

/// A running driver program and the NIC. Frames arrive at port 0 and leave at port 1.
pub struct Testbed {
    // Dropped in this order.
    program: Running,
    data_plane: DataPlane,
    nic: Nic,
    /// Canaries in the driver's memory, once it is mapped.
    pub canaries: Option<Canaries>,
    /// The frames that were sent and that came back.
    pub ledger: FrameLedger,
    dead_bursts: u32,
    turns: Option<Box<dyn Turns>>,
    /// Whether a stopped driver gets no turns.
    held: bool,
    _directory: TempDir,
}

/// The faults with one of that name, or with none.
fn faults(name: Option<&str>) -> Result<Faults> {
    let mut faults = Faults::default();
    name.map_or(Ok(()), |name| faults.add(name))?;
    Ok(faults)
}

impl Testbed {
    /// Starts a NIC whose ports have a fault, and a lab program that performs `action`.
    pub fn start(
        program: &Path,
        action: &str,
        mmio: MmioMode,
        fault: Option<&str>,
    ) -> Result<Self> {
        Self::with_program(Program::at(program), action, mmio, fault)
    }

    /// Starts a NIC, and a lab program that forwards. The program stands still in front of its first instruction.
    pub fn start_stopped(program: &Path) -> Result<Self> {
        let shell = Program::at("/bin/sh").args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]);
        Self::with_program(shell.arg(program), "forward", MmioMode::Shared, None)
    }

    fn with_program(
        program: Program,
        action: &str,
        mmio: MmioMode,
        fault: Option<&str>,
    ) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let faults = faults(fault)?;
        let config = NicConfig::new(directory.path(), 2).with_mmio(mmio);
        let nic = Nic::new(config.with_each_port(|port| {
            port.capture = true;
            port.faults = faults;
        }))?;
        let devices: Vec<_> = nic.ports().iter().map(Port::device_name).collect();
        // LeakSanitizer watches the driver's heap; the program counts packet buffers itself.
        let leaks = [("ASAN_OPTIONS", "detect_leaks=1:symbolize=0")];
        let program = program.arg(action).args(devices).envs(leaks);
        Ok(Self {
            data_plane: nic.data_plane()?,
            program: program.start()?,
            nic,
            canaries: None,
            ledger: FrameLedger::default(),
            dead_bursts: 0,
            turns: None,
            held: false,
            _directory: directory,
        })
    }

    /// From now on the driver runs in turns.
    pub fn take_turns(&mut self, turns: Box<dyn Turns>) {
        self.turns = Some(turns);
    }

    /// The hazard begins.
    pub fn begin(&mut self) {
        if let Some(turns) = &mut self.turns {
            turns.hazard();
        }
    }

    /// The driver's process.
    pub fn process(&self) -> u32 {
        self.program.id()
    }

    /// The ports of the NIC.
    pub fn ports(&self) -> &[Port] {
        self.nic.ports()
    }

    /// A port of the NIC.
    pub fn port(&self, index: usize) -> &Port {
        &self.nic.ports()[index]
    }

    /// Replaces the faults of a port.
    pub fn set_fault(&self, port: usize, fault: Option<&str>) -> Result<()> {
        self.port(port).set_faults(faults(fault)?);
        Ok(())
    }

    /// Plants the canaries. The driver must have mapped its memory, and no frame may be in flight.
    pub fn plant_canaries(&mut self) -> Result<()> {
        self.canaries = Some(Canaries::plant(self.nic.ports())?);
        Ok(())
    }

    /// Whether the program still runs.
    pub fn alive(&mut self) -> Result<bool> {
        self.program.is_running()
    }

    /// Sends the program a signal if it still runs, and waits 5 ms for it to act.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        if self.turns.is_some() && [Signal::STOP, Signal::CONT].contains(&signal) {
            self.held = signal == Signal::STOP;
            return Ok(());
        }
        if self.alive()? {
            self.program.signal(signal)?;
        }
        sleep(Duration::from_millis(5));
        Ok(())
    }

    /// Waits until both devices run. Returns false if the program ended or took too long.
    pub fn wait_until_running(&mut self) -> Result<bool> {
        let is_up = |testbed: &Self| {
            testbed.nic.ports().iter().all(|port| {
                let state = port.snapshot();
                state.rx_enabled && state.tx_enabled && state.tx_queues == [0]
            })
        };
        self.wait(START_LIMIT, is_up)?;
        if is_up(self) {
            // The driver has yet to see that the link is up.
            self.poll_for(Duration::from_millis(20));
        }
        Ok(is_up(self) && self.alive()?)
    }

    /// Runs the NIC's data plane for a while.
    pub fn poll_for(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            self.poll();
            sleep(PAUSE);
        }
    }

    /// Runs the NIC's data plane until a condition holds, the program ends, or the driver took too long.
    pub fn poll_until(&mut self, done: impl Fn(&Self) -> bool) -> Result<()> {
        self.wait(HAND_OVER_LIMIT, done)
    }

    fn wait(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> Result<()> {
        let deadline = Instant::now() + limit;
        while !done(self) && Instant::now() < deadline && self.alive()? {
            self.poll();
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Runs one round of the NIC's data plane and enters the frames that the driver sent. Returns
    /// whether there were any.
    pub fn poll(&mut self) -> bool {
        self.data_plane.poll();
        let ports = self.nic.ports().iter();
        let sent: Vec<_> = ports.flat_map(Port::take_transmitted).collect();
        for frame in &sent {
            self.ledger.take(frame);
        }
        if let Some(turns) = &mut self.turns {
            turns.turn(&sent, self.held);
        }
        !sent.is_empty()
    }

    /// Puts a frame on the wire of port 0.
    fn put(&mut self, frame: &[u8]) -> Result<()> {
        if let Some(turns) = &mut self.turns {
            turns.arrives(frame);
        }
        Ok(self.port(0).inject(frame)?)
    }

    /// Puts new frames on the wire, and waits for nothing.
    pub fn inject(&mut self, frames: u32, size: usize) -> Result<()> {
        for _ in 0..frames {
            let frame = self.ledger.next(size);
            self.put(&frame)?;
        }
        Ok(())
    }

    /// Sends ordinary frames through the driver in bursts, and waits for each burst.
    pub fn exchange(&mut self, frames: u64) -> Result<()> {
        let mut left = frames;
        while left > 0
            && self.dead_bursts < MAX_DEAD_BURSTS
            && !self.sends_endlessly()
            && self.alive()?
        {
            let burst = left.min(BURST);
            left -= burst;
            let made: Vec<_> = (0..burst).map(|_| self.ledger.next(FRAME)).collect();
            let before = self.ledger.returned;
            self.send(&made)?;
            self.dead_bursts += 1;
            if self.ledger.returned != before {
                self.dead_bursts = 0;
            }
        }
        Ok(())
    }

    /// Sends frames that are in the ledger, and waits until they have come back or are lost.
    pub fn send(&mut self, frames: &[Vec<u8>]) -> Result<()> {
        let lost_before = self.ledger.lost().saturating_sub(frames.len() as u64);
        for frame in frames {
            self.put(frame)?;
        }
        self.settle(lost_before, QUIET)
    }

    /// Whether the driver has sent so many wrong frames that the lab need not wait for more.
    fn sends_endlessly(&self) -> bool {
        let returned = &self.ledger.returned;
        returned.altered + returned.duplicated > MAX_WRONG_FRAMES
    }

    /// Waits until at most `lost_before` frames are missing, or until no frame has come back for
    /// `quiet`.
    fn settle(&mut self, lost_before: u64, quiet: Duration) -> Result<()> {
        let mut last = Instant::now();
        // In turns, time says nothing: a driver that has had so many turns has had its chance.
        let mut turns = if self.turns.is_some() { QUIET_TURNS } else { 0 };
        while self.ledger.lost() > lost_before
            && (turns > 0 || last.elapsed() < quiet)
            && !self.sends_endlessly()
        {
            turns = turns.saturating_sub(1);
            if self.poll() {
                last = Instant::now();
            } else if !self.alive()? {
                break;
            } else {
                sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Stops the program and gathers the evidence.
    pub fn stop(mut self) -> Result<Evidence> {
        if self.dead_bursts > 0 && self.alive()? {
            // The driver may have had no processor for a while.
            let before = self.ledger.returned;
            self.settle(0, QUIET_AT_END)?;
            if self.ledger.returned != before {
                self.dead_bursts = 0;
            }
        }
        if let Some(mut turns) = self.turns.take() {
            turns.end();
        }
        let (first_fault, faults) = (self.first_dma_fault(), self.dma_faults());
        let drops = self.drops();
        self.signal(Signal::INT)?;
        self.wait(STOP_LIMIT, |_| false)?;
        let end = self.program.end_or_kill()?;
        let [stdout, stderr] = self.program.so_far()?;
        let (damage, damaged) = match &self.canaries {
            Some(canaries) => canaries.damage(),
            None => (Vec::new(), 0),
        };
        Ok(Evidence {
            end,
            stderr,
            report: serde_json::from_str(&stdout).unwrap_or_default(),
            damage,
            damaged,
            sent: self.ledger.entered(),
            lost: self.ledger.lost(),
            returned: self.ledger.returned,
            stalled: self.dead_bursts > 0,
            dma_faults: faults.max(self.dma_faults()),
            first_fault: first_fault.or(self.first_dma_fault()).unwrap_or_default(),
            drops,
        })
    }

    fn dma_faults(&self) -> u64 {
        let ports = self.nic.ports().iter();
        ports.map(|port| port.stats().dma_faults).sum()
    }

    /// The first access that the IOMMU refused, in this session of a port or in its last.
    fn first_dma_fault(&self) -> Option<String> {
        self.nic.ports().iter().find_map(|port| {
            let ended = || port.last_session()?.dma_faults.first().copied();
            let fault = port.dma_faults().first().copied().or_else(ended)?;
            let DmaFault {
                direction,
                purpose,
                len,
                refusal,
                ..
            } = fault;
            let port = port.index();
            Some(format!(
                "port {port}, {direction:?} of {len} bytes for {purpose:?}: {refusal}"
            ))
        })
    }

    /// The frames that the NIC did not deliver, by counter.
    fn drops(&self) -> Vec<(&'static str, u64)> {
        let port = self.port(0);
        let registers = port.registers();
        // The driver reads QPRDC and MPC for its statistics, which clears them.
        let stats = port.stats();
        let mut drops = vec![
            ("wire: link down", stats.dropped_not_running),
            ("QPRDC", stats.dropped_no_descriptor),
            ("MPC", stats.dropped_no_buffer),
        ];
        for (name, register) in [("RUC", r::RUC), ("ROC", r::ROC), ("CRCERRS", r::CRCERRS)] {
            drops.push((name, u64::from(registers.peek(register))));
        }
        drops
    }
}
