//! A driver under control: it forwards natively, or step by step, and the card takes its turns.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use model::stream::Stream;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;

use crate::addresses::{large_pages, mappings, without_overlaps, Addresses, Mapping};
use crate::card::{Card, Turn};
use crate::discovery::{discover, Findings};
use crate::error::TraceError;
use crate::launch::Launch;
use crate::memory::text;
use crate::recorder::{Executed, Extent, Recording, Stepper};
use crate::tracee::{Stop, Tracee};
use crate::waker::wake;

/// Nanoseconds by which a native round moves the driver's clock. Drivers that choose between interrupts
/// and polling look at the rate of seconds.
const ROUND: u64 = 500_000;
/// Native rounds by which a driver must poll, at most, and those that prove it.
const ROUNDS: u32 = 9_000;
const STEADY: usize = 64;
/// Rounds for each system call of a driver that polls. It may look at a clock now and then.
const ROUNDS_A_CALL: u64 = 8;

/// What to do with a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Most frames that wait in each receive ring; `None` for full rings.
    pub ready: Option<u32>,
    /// Packets that the driver forwards natively first.
    pub native: u64,
    /// The recorded part that does not count.
    pub warm: Extent,
    /// The recorded part that counts.
    pub measured: Extent,
}

impl Default for Plan {
    /// Full rings. Pool and rings of 512 descriptors have gone round before the measured part begins.
    fn default() -> Self {
        Self {
            ready: None,
            native: 4_096,
            warm: Extent::Packets(1_024),
            measured: Extent::Packets(1_024),
        }
    }
}

/// A file that the driver executes, to find functions and lines by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The file.
    pub path: PathBuf,
    /// The addresses of the mapped part.
    pub addresses: Range<u64>,
    /// The offset of that part in the file.
    pub offset: u64,
}

/// A recorded execution.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Instructions, addresses and transfers.
    pub stream: Stream,
    /// The files of the executed code.
    pub images: Vec<Image>,
}

/// A driver that stands still between two calls. Dropping it ends the driver.
pub struct Session<'a> {
    launch: &'a Launch,
    tracee: Tracee<'a>,
    thread: Pid,
    card: Card,
    addresses: Addresses,
    maps: Vec<Mapping>,
    findings: Findings,
    /// The instruction and the tail register at which a round of the driver's loop ends.
    end_of_round: Option<(u64, u64)>,
    /// Frames that the card has stored and not fetched again.
    waiting: u64,
}

/// Starts a driver twice, first to find its doorbells, and calls `work` with the second one.
///
/// # Errors
/// See [`TraceError`], and those of `work`. Driver and launcher have ended when this returns.
pub fn with_session<T: Send>(
    launch: &Launch,
    work: impl FnOnce(&mut Session<'_>) -> Result<T, TraceError> + Send,
) -> Result<T, TraceError> {
    // A thread of its own: it waits for its children only, and its processor is the driver's.
    std::thread::scope(|scope| {
        let tracing = scope.spawn(|| {
            pin(launch.cpu)?;
            let findings = discover(launch)?;
            let mut session = Session::start(launch, findings)?;
            work(&mut session)
        });
        match tracing.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Records one execution.
///
/// # Errors
/// See [`TraceError`].
pub fn trace(launch: &Launch, plan: &Plan) -> Result<Trace, TraceError> {
    with_session(launch, |session| session.follow(plan))
}

/// Lets the driver run to its first look at a receive ring. Returns the thread that looks.
fn first_look(tracee: &mut Tracee<'_>, driver: Pid) -> Result<Pid, TraceError> {
    let mut stop = tracee.go_on(driver)?;
    loop {
        stop = match stop {
            Stop::Breakpoint(thread) => return Ok(thread),
            Stop::Asked(thread) => tracee.go_on(thread)?,
            Stop::Driver => tracee.go_on(driver)?,
        };
    }
}

fn two_threads(stop: Stop) -> TraceError {
    TraceError::NoDriver(format!(
        "another thread of the program drives the card too ({stop:?}); trace a program with one \
         forwarding thread"
    ))
}

/// Whether a driver makes hardly any system calls, given their sums after the last rounds.
fn polls(calls: &VecDeque<u64>) -> bool {
    match (calls.front(), calls.back()) {
        (Some(first), Some(last)) if calls.len() >= STEADY => {
            (last - first) * ROUNDS_A_CALL <= STEADY as u64
        }
        _ => false,
    }
}

fn pin(cpu: Option<usize>) -> Result<(), TraceError> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(TraceError::ptrace("choose the processor"))
}

impl<'a> Session<'a> {
    /// Starts the driver, and stops it at its first look at a receive ring.
    fn start(launch: &'a Launch, findings: Findings) -> Result<Self, TraceError> {
        let mut tracee = Tracee::start(launch)?;
        for (address, word) in &findings.looks {
            tracee.set_late(*address, *word)?;
        }
        tracee
            .watchdog
            .step("reach the first look for packets", launch.limit);
        let driver = tracee.driver();
        let ended = AtomicBool::new(false);
        let (thread, woken) = std::thread::scope(|scope| {
            let waking = scope.spawn(|| wake(&launch.control, driver, &ended));
            let thread = first_look(&mut tracee, driver);
            ended.store(true, Ordering::Relaxed);
            let woken = waking.join();
            let woken = woken.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, TraceError>((thread?, woken?))
        })?;
        tracee.clear_breakpoints(thread)?;
        tracee.clock.round_up_to_a_minute();
        let mut card = Card::connect(&launch.control)?;
        let maps = mappings(&text(driver, "maps")?);
        let addresses = Addresses::new(&card.memory()?, &maps);
        let waiting = woken + card.turn_quietly(None)?.received;
        Ok(Self {
            launch,
            tracee,
            thread,
            card,
            addresses,
            maps,
            findings,
            end_of_round: None,
            waiting,
        })
    }

    /// Does what a plan says.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn follow(&mut self, plan: &Plan) -> Result<Trace, TraceError> {
        self.run(plan.ready, plan.native)?;
        self.record(plan.ready, plan.warm, plan.measured)
    }

    /// Lets the driver forward natively: at least `packets` packets, until no more frames wait than
    /// `ready` permits, to the end of a round. The card takes a turn at each doorbell. A driver that
    /// sleeps between frames goes on until it polls: the driver's clock moves by 0.5 ms in a round.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn run(&mut self, ready: Option<u32>, packets: u64) -> Result<(), TraceError> {
        self.tracee.watchdog.step("forward", self.launch.limit);
        for (address, _) in self.findings.doorbells.clone() {
            self.tracee.set_breakpoint(self.thread, address)?;
        }
        let most = ready.map_or(u64::MAX, |ready| {
            u64::from(ready) * self.addresses.rx_rings.len() as u64
        });
        let mut sent = 0;
        let mut rounds = 0;
        let mut calls = VecDeque::new();
        while sent < packets || self.waiting > most || !(polls(&calls) || rounds > ROUNDS) {
            // Without frames, no round ends any more.
            if ready == Some(0) && self.waiting == 0 {
                break;
            }
            sent += self.run_to_end_of_round(ready)?;
            rounds += 1;
            calls.push_back(self.tracee.system_calls);
            if calls.len() > STEADY {
                calls.pop_front();
            }
            self.tracee.clock.sleep(ROUND);
        }
        self.tracee.clear_breakpoints(self.thread)
    }

    /// Lets the driver run until it has sent packets at the end of a round. Returns their number.
    fn run_to_end_of_round(&mut self, ready: Option<u32>) -> Result<u64, TraceError> {
        let mut sent = 0;
        loop {
            match self.tracee.go_on(self.thread)? {
                // A program may empty its rings in one thread, and forward in another.
                Stop::Breakpoint(thread) if self.end_of_round.is_none() => self.thread = thread,
                Stop::Breakpoint(thread) if thread == self.thread => {}
                other => return Err(two_threads(other)),
            };
            let address = self.tracee.registers(self.thread)?.rip;
            self.tracee.remove_breakpoint(self.thread, address)?;
            let mut stepper = Stepper::new(self.thread, self.launch.check);
            let executed = stepper.step(&mut self.tracee, &self.addresses)?;
            stepper.finish(&self.tracee)?;
            self.tracee.set_breakpoint(self.thread, address)?;
            let Some(tail) = executed.tail else { continue };
            let turn = self.card.turn_quietly(ready)?;
            self.count(&turn);
            sent += turn.transmitted;
            if self.ends_round(&executed, tail, &turn) {
                return Ok(sent);
            }
        }
    }

    fn count(&mut self, turn: &Turn) {
        self.waiting = (self.waiting + turn.received).saturating_sub(turn.transmitted);
    }

    /// Whether a round ends at a doorbell: at the one that sent the first packets.
    fn ends_round(&mut self, executed: &Executed, tail: u64, turn: &Turn) -> bool {
        let here = (executed.step.address, tail);
        if self.end_of_round.is_none() && turn.transmitted > 0 {
            self.end_of_round = Some(here);
        }
        self.end_of_round == Some(here)
    }

    /// Records a part that does not count, and a part that does. The driver takes single steps, and
    /// the card a turn at each doorbell.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn record(
        &mut self,
        ready: Option<u32>,
        warm: Extent,
        measured: Extent,
    ) -> Result<Trace, TraceError> {
        self.tracee.watchdog.step("record", self.launch.limit);
        let mut stepper = Stepper::new(self.thread, self.launch.check);
        let mut recording = Recording::default();
        self.record_part(&mut stepper, &mut recording, ready, warm)?;
        recording.begin_measured();
        self.record_part(&mut stepper, &mut recording, ready, measured)?;
        stepper.finish(&self.tracee)?;
        let mut stream = recording.into_stream(stepper.into_code());
        let mut regions = self.addresses.card_memory();
        regions.extend(large_pages(&text(self.tracee.driver(), "smaps")?));
        stream.regions = without_overlaps(regions);
        Ok(Trace {
            stream,
            images: self.images(),
        })
    }

    fn record_part(
        &mut self,
        stepper: &mut Stepper,
        recording: &mut Recording,
        ready: Option<u32>,
        extent: Extent,
    ) -> Result<(), TraceError> {
        let before = recording.packets();
        let mut polls = 0;
        let mut poll = None;
        while extent != Extent::Packets(0) && extent != Extent::Polls(polls) {
            let executed = stepper.step(&mut self.tracee, &self.addresses)?;
            if executed.look == Some(0) {
                let address = executed.step.address;
                polls += u64::from(*poll.get_or_insert(address) == address);
            }
            let Some(tail) = executed.tail else {
                recording.step(executed.step);
                continue;
            };
            let turn = self.card.turn(ready)?;
            self.count(&turn);
            let end = self.ends_round(&executed, tail, &turn);
            recording.step(executed.step);
            recording.turn(&turn, &self.addresses)?;
            match extent {
                Extent::Packets(packets) if end && recording.packets() - before >= packets => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn images(&self) -> Vec<Image> {
        let executable = self.maps.iter().filter(|mapping| mapping.executable);
        executable
            .filter(|mapping| mapping.path.starts_with('/'))
            .map(|mapping| Image {
                path: PathBuf::from(&mapping.path),
                addresses: mapping.addresses.clone(),
                offset: mapping.offset,
            })
            .collect()
    }
}
