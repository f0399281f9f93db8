//! One run: a driver's lab program beside the NIC, frames through both, a hazard on the way.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nic::registers as r;
use nic::{DataPlane, Faults, Nic, NicConfig, Port};
use rustix::process::{kill_process, Pid, Signal};
use tempfile::TempDir;

use crate::canaries::Canaries;
use crate::evidence::{DeviceDrops, Ended, Evidence, Report};
use crate::frames::Ledger;
use crate::scenario::Scenario;

/// Until the devices run, or the program gives up.
const START_LIMIT: Duration = Duration::from_secs(15);
/// From the order to end until the end; the drivers' own waits are bounded by less.
const END_LIMIT: Duration = Duration::from_secs(15);
/// No frame has come back for so long: those that have not are lost.
const QUIET: Duration = Duration::from_millis(100);
/// No frame has come back for so long at the end: none ever will.
const STALLED: Duration = Duration::from_secs(1);
/// Frames that are on their way at once; a ring has 64 descriptors.
const BURST: u64 = 16;
/// Bursts of which nothing comes back, one after the other, after which nothing more will.
const DEAD_BURSTS: u32 = 3;
/// Wrong frames after which it is clear that there is no end of them.
const WILD: u64 = 2000;
/// Frames before the hazard: as many as the programs wait for.
const BEFORE: u64 = 100;
/// Frames during the hazard, if it does not say otherwise.
pub const DURING: u64 = 200;
/// Frames after it: the rings wrap several times.
const AFTER: u64 = 400;
/// Bytes of an ordinary frame.
pub const FRAME: usize = 200;

/// A driver's program and the NIC, in the middle of a run.
#[derive(Debug)]
pub struct Stage {
    // In the order in which they must go.
    program: Program,
    data_plane: DataPlane,
    nic: Nic,
    /// Of the driver's memory.
    pub canaries: Option<Canaries>,
    /// Of the frames.
    pub ledger: Ledger,
    dead_bursts: u32,
    _directory: TempDir,
}

/// Runs a program through a scenario, and tells what was seen.
///
/// # Errors
/// If the lab itself does not work; what the program does is never an error.
pub fn run(path: &Path, scenario: &Scenario) -> Result<Evidence> {
    let directory = tempfile::tempdir()?;
    let mut config = NicConfig::new(directory.path(), 2).with_mmio(scenario.mmio);
    config = config.with_each_port(|port| {
        port.capture = true;
        (scenario.at_start)(&mut port.faults);
    });
    let nic = Nic::new(config)?;
    let devices: Vec<_> = nic.ports().iter().map(Port::device_name).collect();
    let data_plane = nic.data_plane()?;
    let program = Program::start(path, scenario.deed, &devices)?;
    let mut stage = Stage {
        program,
        data_plane,
        nic,
        canaries: None,
        ledger: Ledger::default(),
        dead_bursts: 0,
        _directory: directory,
    };
    if stage.wait_until_running()? {
        stage.canaries = Some(Canaries::plant(stage.nic.ports())?);
        stage.exchange(BEFORE)?;
        (scenario.during)(&mut stage)?;
        stage.fault(scenario.at_end);
        stage.exchange(AFTER)?;
    }
    stage.end()
}

impl Stage {
    /// A port of the NIC; the frames come in at 0, and out at 1.
    pub fn port(&self, index: usize) -> &Port {
        &self.nic.ports()[index]
    }

    /// Changes how port 0 misbehaves.
    pub fn fault(&self, set: impl FnOnce(&mut Faults)) {
        let mut faults = Faults::default();
        set(&mut faults);
        self.port(0).set_faults(faults);
    }

    /// Whether the program still runs.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn alive(&mut self) -> Result<bool> {
        self.program.running()
    }

    /// Sends the program a signal, if it still runs, and gives it time to arrive.
    ///
    /// # Errors
    /// If it cannot be sent.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        self.program.signal(signal)?;
        sleep(Duration::from_millis(5));
        Ok(())
    }

    fn wait_until_running(&mut self) -> Result<bool> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            self.data_plane.poll();
            let up = self.nic.ports().iter().all(|port| {
                let state = port.snapshot();
                state.rx_enabled && state.tx_enabled && state.tx_queues == [0]
            });
            if up {
                // The driver still has to see that the link is up.
                self.poll_for(Duration::from_millis(20));
                return self.alive();
            }
            if !self.alive()? || Instant::now() >= deadline {
                return Ok(false);
            }
            sleep(Duration::from_micros(200));
        }
    }

    /// Lets the NIC work for a while.
    pub fn poll_for(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            self.poll();
            sleep(Duration::from_micros(20));
        }
    }

    /// One round of the NIC; what the driver has sent is taken in. Whether there was any.
    pub fn poll(&mut self) -> bool {
        self.data_plane.poll();
        let mut any = false;
        for port in self.nic.ports() {
            for frame in port.take_transmitted() {
                self.ledger.take(&frame);
                any = true;
            }
        }
        any
    }

    /// Sends ordinary frames through the driver, a burst at a time, and waits for them.
    ///
    /// # Errors
    /// If the NIC does not take a frame.
    pub fn exchange(&mut self, frames: u64) -> Result<()> {
        let mut left = frames;
        while left > 0 && self.dead_bursts < DEAD_BURSTS && !self.runs_wild() && self.alive()? {
            let burst = left.min(BURST);
            left -= burst;
            let made: Vec<_> = (0..burst).map(|_| self.ledger.next(FRAME)).collect();
            let before = self.ledger.returned;
            self.send(&made)?;
            self.dead_bursts = if self.ledger.returned == before {
                self.dead_bursts + 1
            } else {
                0
            };
        }
        Ok(())
    }

    /// Sends frames that are in the ledger, and waits until they are back or lost.
    ///
    /// # Errors
    /// If the NIC does not take a frame.
    pub fn send(&mut self, frames: &[Vec<u8>]) -> Result<()> {
        let lost_before = self.ledger.lost().saturating_sub(frames.len() as u64);
        for frame in frames {
            self.port(0).inject(frame)?;
        }
        self.settle(lost_before, QUIET)
    }

    /// Whether the driver sends without end what nobody sent it: enough has been seen then.
    fn runs_wild(&self) -> bool {
        let returned = &self.ledger.returned;
        returned.altered + returned.duplicated > WILD
    }

    /// Waits until all are back but those that had been lost before, or nothing comes for so long.
    fn settle(&mut self, lost_before: u64, quiet: Duration) -> Result<()> {
        let mut last = Instant::now();
        while self.ledger.lost() > lost_before && last.elapsed() < quiet && !self.runs_wild() {
            if self.poll() {
                last = Instant::now();
            } else if !self.alive()? {
                break;
            } else {
                sleep(Duration::from_micros(20));
            }
        }
        Ok(())
    }

    /// Ends the program and gathers the evidence.
    fn end(mut self) -> Result<Evidence> {
        if self.dead_bursts > 0 && self.alive()? {
            // Perhaps the driver had no processor for a while.
            let before = self.ledger.returned;
            self.settle(0, STALLED)?;
            if self.ledger.returned != before {
                self.dead_bursts = 0;
            }
        }
        let stalled = self.dead_bursts > 0;
        let (dma_faults, first_fault) = self.dma_faults();
        let notes = self.nic.ports().iter().flat_map(Port::notes).collect();
        let drops = self.drops();
        let ended = self.stop_program()?;
        let (late, late_fault) = self.late_faults();
        let (damage, damaged) = match &self.canaries {
            Some(canaries) => canaries.damage(),
            None => (Vec::new(), 0),
        };
        Ok(Evidence {
            refusal: None,
            ended: Some(ended),
            stderr: self.program.stderr()?,
            report: self.program.report()?,
            damage,
            damaged,
            sent: self.ledger.entered(),
            lost: self.ledger.lost(),
            returned: self.ledger.returned,
            stalled,
            dma_faults: dma_faults.max(late),
            first_fault: if first_fault.is_empty() {
                late_fault
            } else {
                first_fault
            },
            notes,
            drops,
        })
    }

    /// The order to end, and the end; the NIC goes on meanwhile.
    fn stop_program(&mut self) -> Result<Ended> {
        self.program.signal(Signal::INT)?;
        let deadline = Instant::now() + END_LIMIT;
        while self.alive()? {
            if Instant::now() >= deadline {
                self.program.kill()?;
                return Ok(Ended::Killed);
            }
            self.poll();
            sleep(Duration::from_micros(200));
        }
        self.program.ended()
    }

    fn dma_faults(&self) -> (u64, String) {
        let count = self.nic.ports().iter().map(|port| port.stats().dma_faults);
        let first = self.nic.ports().iter().find_map(|port| {
            let fault = port.dma_faults().first().copied()?;
            Some(describe(port.index(), &fault))
        });
        (count.sum(), first.unwrap_or_default())
    }

    /// The same, from the reports on the sessions that have ended.
    fn late_faults(&self) -> (u64, String) {
        let count = self.nic.ports().iter().map(|port| port.stats().dma_faults);
        let first = self.nic.ports().iter().find_map(|port| {
            let fault = port.last_session()?.dma_faults.first().copied()?;
            Some(describe(port.index(), &fault))
        });
        (count.sum(), first.unwrap_or_default())
    }

    fn drops(&self) -> DeviceDrops {
        let port = self.port(0);
        let registers = port.registers();
        let peek = |address| u64::from(registers.peek(address));
        DeviceDrops {
            short: peek(r::RUC),
            long: peek(r::ROC),
            bad_crc: peek(r::CRCERRS),
            no_descriptor: peek(r::QPRDC(0)),
            no_buffer: peek(r::MPC(0)),
            link_down: port.stats().dropped_not_running,
        }
    }
}

fn describe(port: usize, fault: &nic::DmaFault) -> String {
    let nic::DmaFault {
        direction,
        purpose,
        len,
        refusal,
        ..
    } = fault;
    format!("port {port}, {direction:?} of {len} bytes for {purpose:?}: {refusal}")
}

/// A lab program that runs. Dropping it kills it.
#[derive(Debug)]
struct Program {
    child: Child,
    stdout: File,
    stderr: File,
    status: Option<ExitStatus>,
}

impl Program {
    fn start(path: &Path, deed: &str, devices: &[String]) -> Result<Self> {
        // Files, not pipes: nobody has to read while it runs.
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let child = Command::new(path)
            .arg(deed)
            .args(devices)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            // Leaks of the deed itself are counted by the program; a core dump helps nobody.
            .env("ASAN_OPTIONS", "detect_leaks=1:symbolize=0")
            .spawn()
            .with_context(|| path.display().to_string())?;
        Ok(Self {
            child,
            stdout,
            stderr,
            status: None,
        })
    }

    fn running(&mut self) -> Result<bool> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status.is_none())
    }

    fn signal(&mut self, signal: Signal) -> Result<()> {
        if self.running()? {
            let pid = i32::try_from(self.child.id())?;
            kill_process(Pid::from_raw(pid).context("no process id")?, signal)?;
        }
        Ok(())
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.status = Some(self.child.wait()?);
        Ok(())
    }

    fn ended(&self) -> Result<Ended> {
        let status = self.status.context("still runs")?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
        })
    }

    fn stderr(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&contents(&self.stderr)?).into_owned())
    }

    fn report(&self) -> Result<Option<Report>> {
        let text = contents(&self.stdout)?;
        Ok(serde_json::from_slice(&text).ok())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn contents(file: &File) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
    file.read_exact_at(&mut bytes, 0)?;
    // More than anybody reads: a program gone wild.
    let mut short = Vec::new();
    bytes.take(1 << 20).read_to_end(&mut short)?;
    Ok(short)
}
