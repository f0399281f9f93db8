//! A driver under control: it forwards natively, or step by step, and the card takes its turns.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use caches::stream::Stream;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;

use crate::addresses::{mappings, Addresses};
use crate::card::{Card, Turn};
use crate::discovery::{discover, Findings};
use crate::error::TraceError;
use crate::launch::Launch;
use crate::memory::text;
use crate::recorder::{Executed, Recording, Stepper};
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

/// The packets that a driver sends in the parts of a trace. Each part ends where a round of the driver's
/// loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Before anything is recorded.
    pub native: u64,
    /// In the recorded part that does not count.
    pub warm: u64,
    /// In the recorded part that counts.
    pub measured: u64,
}

impl Default for Plan {
    /// Pool and rings of 512 descriptors have gone round before the measured part begins.
    fn default() -> Self {
        Self {
            native: 4_096,
            warm: 1_024,
            measured: 1_024,
        }
    }
}

/// A driver that stands still between two calls. Dropping it ends the driver.
struct Session<'a> {
    launch: &'a Launch,
    tracee: Tracee<'a>,
    thread: Pid,
    card: Card,
    addresses: Addresses,
    findings: Findings,
    /// The instruction and the tail register at which a round of the driver's loop ends.
    end_of_round: Option<(u64, u64)>,
}

/// Starts a driver twice, first to find its doorbells, and records the second one.
///
/// # Errors
/// See [`TraceError`]. Driver and launcher have ended when this returns.
pub fn trace(launch: &Launch, plan: &Plan) -> Result<Stream, TraceError> {
    // A thread of its own: it waits for its children only, and its processor is the driver's.
    std::thread::scope(|scope| {
        let tracing = scope.spawn(|| {
            pin(launch.cpu)?;
            let findings = discover(launch)?;
            let mut session = Session::start(launch, findings)?;
            session.run(plan.native)?;
            session.record(plan.warm, plan.measured)
        });
        match tracing.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
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
        let thread = std::thread::scope(|scope| {
            let waking = scope.spawn(|| wake(&launch.control, driver, &ended));
            let thread = first_look(&mut tracee, driver);
            ended.store(true, Ordering::Relaxed);
            let woken = waking.join();
            woken.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            thread
        })?;
        tracee.clear_breakpoints(thread)?;
        tracee.clock.round_up_to_a_minute();
        let mut card = Card::connect(&launch.control)?;
        let maps = mappings(&text(driver, "maps")?);
        let addresses = Addresses::new(&card.memory()?, &maps);
        card.turn_quietly(None)?;
        Ok(Self {
            launch,
            tracee,
            thread,
            card,
            addresses,
            findings,
            end_of_round: None,
        })
    }

    /// Lets the driver forward at least `packets` packets natively, to the end of a round. The card takes
    /// a turn at each doorbell. A driver that sleeps between frames goes on until it polls: the driver's
    /// clock moves by 0.5 ms in a round.
    fn run(&mut self, packets: u64) -> Result<(), TraceError> {
        self.tracee.watchdog.step("forward", self.launch.limit);
        for (address, _) in self.findings.doorbells.clone() {
            self.tracee.set_breakpoint(self.thread, address)?;
        }
        let mut sent = 0;
        let mut rounds = 0;
        let mut calls = VecDeque::new();
        while sent < packets || !(polls(&calls) || rounds > ROUNDS) {
            sent += self.run_to_end_of_round()?;
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
    fn run_to_end_of_round(&mut self) -> Result<u64, TraceError> {
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
            let turn = self.card.turn_quietly(None)?;
            sent += turn.transmitted;
            if self.ends_round(&executed, tail, &turn) {
                return Ok(sent);
            }
        }
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
    fn record(&mut self, warm: u64, measured: u64) -> Result<Stream, TraceError> {
        self.tracee.watchdog.step("record", self.launch.limit);
        let mut stepper = Stepper::new(self.thread, self.launch.check);
        let mut recording = Recording::default();
        self.record_part(&mut stepper, &mut recording, warm)?;
        recording.begin_measured();
        self.record_part(&mut stepper, &mut recording, measured)?;
        stepper.finish(&self.tracee)?;
        let mut stream = recording.into_stream(stepper.into_code());
        stream.regions = self.addresses.card_memory();
        Ok(stream)
    }

    fn record_part(
        &mut self,
        stepper: &mut Stepper,
        recording: &mut Recording,
        packets: u64,
    ) -> Result<(), TraceError> {
        let all = recording.packets() + packets;
        while recording.packets() < all {
            let executed = stepper.step(&mut self.tracee, &self.addresses)?;
            let Some(tail) = executed.tail else {
                recording.step(executed.step);
                continue;
            };
            let turn = self.card.turn()?;
            let end = self.ends_round(&executed, tail, &turn);
            recording.step(executed.step);
            recording.turn(&turn, &self.addresses)?;
            if end && recording.packets() >= all {
                break;
            }
        }
        Ok(())
    }
}
