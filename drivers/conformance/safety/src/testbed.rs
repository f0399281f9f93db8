//! A driver's lab program beside the NIC, and the frames that pass through both.

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
use nic::{DataPlane, Faults, MmioMode, Nic, NicConfig, Port};
use rustix::process::{kill_process, Pid, Signal};
use tempfile::TempDir;

use crate::canaries::Canaries;
use crate::evidence::{DeviceDrops, Evidence, ProgramEnd, ProgramReport};
use crate::frames::FrameLedger;

/// How long the program may take to start both devices.
const START_LIMIT: Duration = Duration::from_secs(15);
/// How long the program may take to stop after SIGINT. The drivers' own waits are shorter.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// Frames that have not come back after so long without any frame are lost.
const QUIET: Duration = Duration::from_millis(100);
/// The same at the end of the run, where it decides whether the queue has stalled.
const QUIET_AT_END: Duration = Duration::from_secs(1);
/// Frames in flight at once; a ring has 64 descriptors.
const BURST: u64 = 16;
/// The lab sends no more frames after so many bursts in a row without an answer.
const MAX_DEAD_BURSTS: u32 = 3;
/// The lab waits no longer after so many wrong frames: the driver may send them forever.
const MAX_WRONG_FRAMES: u64 = 2000;
/// The lab reads at most so many bytes of a program's output, which may be endless.
const MAX_OUTPUT: u64 = 1 << 20;
/// Bytes of an ordinary frame.
pub const FRAME: usize = 200;

/// A running driver program and the NIC. Frames arrive at port 0 and leave at port 1.
#[derive(Debug)]
pub struct Testbed {
    // Dropped in this order.
    program: Program,
    data_plane: DataPlane,
    nic: Nic,
    /// Canaries in the driver's memory, once it is mapped.
    pub canaries: Option<Canaries>,
    /// The frames that were sent and that came back.
    pub ledger: FrameLedger,
    dead_bursts: u32,
    _directory: TempDir,
}

impl Testbed {
    /// Starts a NIC, and a lab program that performs `action`. `faults` sets the faults of both
    /// ports.
    ///
    /// # Errors
    /// If the NIC or the program cannot be started.
    pub fn start(
        program: &Path,
        action: &str,
        mmio: MmioMode,
        faults: fn(&mut Faults),
    ) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let mut config = NicConfig::new(directory.path(), 2).with_mmio(mmio);
        config = config.with_each_port(|port| {
            port.capture = true;
            faults(&mut port.faults);
        });
        let nic = Nic::new(config)?;
        let devices: Vec<_> = nic.ports().iter().map(Port::device_name).collect();
        let data_plane = nic.data_plane()?;
        let program = Program::start(program, action, &devices)?;
        Ok(Self {
            program,
            data_plane,
            nic,
            canaries: None,
            ledger: FrameLedger::default(),
            dead_bursts: 0,
            _directory: directory,
        })
    }

    /// A port of the NIC.
    pub fn port(&self, index: usize) -> &Port {
        &self.nic.ports()[index]
    }

    /// Replaces the faults of a port with those that `set` sets.
    pub fn set_faults(&self, port: usize, set: impl FnOnce(&mut Faults)) {
        let mut faults = Faults::default();
        set(&mut faults);
        self.port(port).set_faults(faults);
    }

    /// Plants the canaries. The driver must have mapped its memory, and no frame may be in flight.
    ///
    /// # Errors
    /// If the memory is not laid out as the lab expects.
    pub fn plant_canaries(&mut self) -> Result<()> {
        self.canaries = Some(Canaries::plant(self.nic.ports())?);
        Ok(())
    }

    /// Whether the program still runs.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn alive(&mut self) -> Result<bool> {
        self.program.running()
    }

    /// Sends the program a signal if it still runs, and waits 5 ms for it to act.
    ///
    /// # Errors
    /// If the signal cannot be sent.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        self.program.signal(signal)?;
        sleep(Duration::from_millis(5));
        Ok(())
    }

    /// Waits until both devices run. Returns false if the program ended or took too long.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn wait_until_running(&mut self) -> Result<bool> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            self.data_plane.poll();
            let up = self.nic.ports().iter().all(|port| {
                let state = port.snapshot();
                state.rx_enabled && state.tx_enabled && state.tx_queues == [0]
            });
            if up {
                // The driver has yet to see that the link is up.
                self.poll_for(Duration::from_millis(20));
                return self.alive();
            }
            if !self.alive()? || Instant::now() >= deadline {
                return Ok(false);
            }
            sleep(Duration::from_micros(200));
        }
    }

    /// Runs the NIC's data plane for a while.
    pub fn poll_for(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            self.poll();
            sleep(Duration::from_micros(20));
        }
    }

    /// Runs one round of the NIC's data plane and enters the frames that the driver sent. Returns
    /// whether there were any.
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

    /// Sends ordinary frames through the driver in bursts, and waits for each burst.
    ///
    /// # Errors
    /// If the NIC does not accept a frame.
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
            self.dead_bursts = if self.ledger.returned == before {
                self.dead_bursts + 1
            } else {
                0
            };
        }
        Ok(())
    }

    /// Sends frames that are in the ledger, and waits until they have come back or are lost.
    ///
    /// # Errors
    /// If the NIC does not accept a frame.
    pub fn send(&mut self, frames: &[Vec<u8>]) -> Result<()> {
        let lost_before = self.ledger.lost().saturating_sub(frames.len() as u64);
        for frame in frames {
            self.port(0).inject(frame)?;
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
        while self.ledger.lost() > lost_before && last.elapsed() < quiet && !self.sends_endlessly()
        {
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

    /// Stops the program and gathers the evidence.
    ///
    /// # Errors
    /// If a system call fails.
    pub fn stop(mut self) -> Result<Evidence> {
        if self.dead_bursts > 0 && self.alive()? {
            // The driver may have had no processor for a while.
            let before = self.ledger.returned;
            self.settle(0, QUIET_AT_END)?;
            if self.ledger.returned != before {
                self.dead_bursts = 0;
            }
        }
        let stalled = self.dead_bursts > 0;
        let (dma_faults, first_fault) = self.dma_faults();
        let notes = self.nic.ports().iter().flat_map(Port::notes).collect();
        let drops = self.drops();
        let program_end = self.stop_program()?;
        let (late_faults, late_fault) = self.dma_faults_of_ended_sessions();
        let (damage, damaged) = match &self.canaries {
            Some(canaries) => canaries.damage(),
            None => (Vec::new(), 0),
        };
        Ok(Evidence {
            compiler_error: None,
            program_end: Some(program_end),
            stderr: self.program.stderr()?,
            report: self.program.report()?,
            damage,
            damaged,
            sent: self.ledger.entered(),
            lost: self.ledger.lost(),
            returned: self.ledger.returned,
            stalled,
            dma_faults: dma_faults.max(late_faults),
            first_fault: if first_fault.is_empty() {
                late_fault
            } else {
                first_fault
            },
            notes,
            drops,
        })
    }

    /// Sends SIGINT and waits for the end of the program, while the NIC goes on.
    fn stop_program(&mut self) -> Result<ProgramEnd> {
        self.program.signal(Signal::INT)?;
        let deadline = Instant::now() + STOP_LIMIT;
        while self.alive()? {
            if Instant::now() >= deadline {
                self.program.kill()?;
                return Ok(ProgramEnd::Killed);
            }
            self.poll();
            sleep(Duration::from_micros(200));
        }
        self.program.end()
    }

    /// How many DMA faults the running sessions had, and the first in words.
    fn dma_faults(&self) -> (u64, String) {
        let count = self.nic.ports().iter().map(|port| port.stats().dma_faults);
        let first = self.nic.ports().iter().find_map(|port| {
            let fault = port.dma_faults().first().copied()?;
            Some(describe_fault(port.index(), &fault))
        });
        (count.sum(), first.unwrap_or_default())
    }

    /// The same for the sessions that have ended.
    fn dma_faults_of_ended_sessions(&self) -> (u64, String) {
        let count = self.nic.ports().iter().map(|port| port.stats().dma_faults);
        let first = self.nic.ports().iter().find_map(|port| {
            let fault = port.last_session()?.dma_faults.first().copied()?;
            Some(describe_fault(port.index(), &fault))
        });
        (count.sum(), first.unwrap_or_default())
    }

    fn drops(&self) -> DeviceDrops {
        let port = self.port(0);
        let registers = port.registers();
        let peek = |address| u64::from(registers.peek(address));
        let stats = port.stats();
        DeviceDrops {
            short: peek(r::RUC),
            long: peek(r::ROC),
            bad_crc: peek(r::CRCERRS),
            // The driver reads QPRDC and MPC for its statistics, which clears them.
            no_descriptor: stats.dropped_no_descriptor,
            no_buffer: stats.dropped_no_buffer,
            link_down: stats.dropped_not_running,
        }
    }
}

fn describe_fault(port: usize, fault: &nic::DmaFault) -> String {
    let nic::DmaFault {
        direction,
        purpose,
        len,
        refusal,
        ..
    } = fault;
    format!("port {port}, {direction:?} of {len} bytes for {purpose:?}: {refusal}")
}

/// A running lab program. Dropping it kills the process.
#[derive(Debug)]
struct Program {
    child: Child,
    stdout: File,
    stderr: File,
    status: Option<ExitStatus>,
}

impl Program {
    fn start(path: &Path, action: &str, devices: &[String]) -> Result<Self> {
        // Files and not pipes: a full pipe would block the program, and the lab reads only at the
        // end.
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let child = Command::new(path)
            .arg(action)
            .args(devices)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            // LeakSanitizer watches the driver's heap; the program counts packet buffers itself.
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

    fn end(&self) -> Result<ProgramEnd> {
        let status = self.status.context("the program still runs")?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => ProgramEnd::Exit(code),
            (None, signal) => ProgramEnd::Signal(signal.unwrap_or_default()),
        })
    }

    fn stderr(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&contents(&self.stderr)?).into_owned())
    }

    fn report(&self) -> Result<Option<ProgramReport>> {
        let text = contents(&self.stdout)?;
        Ok(serde_json::from_slice(&text).ok())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both calls fail if the program has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn contents(file: &File) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
    file.read_exact_at(&mut bytes, 0)?;
    let mut short = Vec::new();
    bytes.take(MAX_OUTPUT).read_to_end(&mut short)?;
    Ok(short)
}
