//! A driver under control: it forwards natively, then step by step, and the card takes its turns.

use caches::stream::{Access, AccessKind, Event, Stream};
use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;

use crate::addresses::{mappings, tails, Addresses};
use crate::card::Card;
use crate::error::TraceError;
use crate::launch::Launch;
use crate::stepper::Stepper;
use crate::tracee::{Stop, Tracee};

/// Nanoseconds by which a native round moves the driver's clock. Drivers that choose between interrupts
/// and polling look at the rate of seconds.
const ROUND: u64 = 500_000;
/// Native rounds by which a driver must poll, at most, and those that prove it.
const ROUNDS: usize = 9_000;
const STEADY: usize = 64;
/// Waits of a driver that polls in those rounds, at most. It may look at a clock now and then.
const WAITS: u64 = 8;
/// Frames that first wait in each ring. A driver that waits for an interrupt starts again, and gets them
/// when it waits: it enables its interrupts behind its first doorbells.
const READY: u32 = 256;
/// What must end first, and what a user can do if it does not.
const FIRST: &str = "ring a doorbell of a card that shares its registers (nic --mmio shared)";

/// The packets that a driver sends in the parts of a trace. Each part ends with a turn of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Before anything is recorded.
    pub native: u64,
    /// In the recorded part that does not count.
    pub warm: u64,
    /// In the recorded part that counts.
    pub measured: u64,
    /// Whether the tracer executes common instructions itself, which is faster.
    pub emulate: bool,
}

impl Default for Plan {
    /// Pool and rings of 512 descriptors have gone round before the measured part begins.
    fn default() -> Self {
        Self {
            native: 4_096,
            warm: 1_024,
            measured: 1_024,
            emulate: true,
        }
    }
}

/// A driver that stands still between two calls. Dropping it ends the driver.
struct Session<'a> {
    launch: &'a Launch,
    tracee: Tracee<'a>,
    card: Card,
    /// Frames that wait in each ring until the driver has sent the first packets.
    ready: u32,
    /// Where a round of the driver's loop ends, and the first packets were sent: the thread, the address
    /// behind the instruction, and the tail register.
    end_of_round: Option<(Pid, u64, u64)>,
}

/// Starts a driver, and records it once its pool and its rings have gone round.
///
/// # Errors
/// See [`TraceError`]. Driver and launcher have ended when this returns.
pub fn trace(launch: &Launch, plan: &Plan) -> Result<Stream, TraceError> {
    // A thread of its own: it waits for its children only, and its processor is the driver's.
    std::thread::scope(|scope| {
        let tracing = scope.spawn(|| {
            pin(launch.cpu)?;
            let attempt = |ready| {
                let mut card = Card::connect(&launch.control)?;
                let registers = card.memory()?.iter().map(|port| port.registers).collect();
                let mut session = Session {
                    launch,
                    tracee: Tracee::start(launch, registers, FIRST)?,
                    card,
                    ready,
                    end_of_round: None,
                };
                let outcome = match session.run(plan.native) {
                    Ok(thread) => thread
                        .map(|thread| session.record(thread, plan))
                        .transpose(),
                    Err(error) => Err(error),
                };
                outcome.map_err(|error| session.tracee.explain(error))
            };
            let sleeps = || TraceError::Unexpected("the program only waits".to_owned());
            match attempt(READY)? {
                Some(stream) => Ok(stream),
                None => attempt(0)?.ok_or_else(sleeps),
            }
        });
        match tracing.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn pin(cpu: Option<usize>) -> Result<(), TraceError> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(TraceError::system(format!("use processor {cpu}")))
}

impl Session<'_> {
    /// Lets the driver forward at least `packets` packets natively, to the end of a round. The card takes
    /// a turn at each doorbell. A driver that sleeps between frames goes on until it polls: the driver's
    /// clock moves by 0.5 ms in a round. Returns the forwarding thread; `None` if it misses its frames.
    fn run(&mut self, packets: u64) -> Result<Option<Pid>, TraceError> {
        let mut stop = self.tracee.next()?;
        self.tracee.watchdog.step("forward", self.launch.limit);
        let mut sent = 0;
        // The driver's waits at the end of each round.
        let mut waits = Vec::new();
        loop {
            let before = waits.iter().rev().nth(STEADY - 1);
            let polls = before.is_some_and(|before| self.tracee.waits - before <= WAITS);
            if sent >= packets && (polls || waits.len() > ROUNDS) {
                break;
            }
            let Some(more) = self.run_to_end_of_round(&mut stop)? else {
                return Ok(None);
            };
            sent += more;
            waits.push(self.tracee.waits);
            self.tracee.clock.sleep(ROUND);
        }
        self.tracee.unwatch(stop.0)?;
        Ok(Some(stop.0))
    }

    /// Lets the driver run until it has sent packets at the end of a round. Returns their number.
    fn run_to_end_of_round(&mut self, stop: &mut Stop) -> Result<Option<u64>, TraceError> {
        let (mut sent, mut rang) = (0, None);
        // The last stop was the end of a round.
        if self.end_of_round.is_some() {
            *stop = self.next_doorbell(*stop)?;
        }
        loop {
            let first = self.end_of_round.is_none().then_some(self.ready);
            match *stop {
                (thread, Some(tail)) => {
                    rang = Some(thread);
                    let behind = self.tracee.registers(thread)?.rip;
                    let turn = self.card.turn_quietly(first)?;
                    sent += turn.transmitted;
                    let place = Some((thread, behind, tail));
                    if self.end_of_round.is_none() && turn.transmitted > 0 {
                        self.tracee.clock.round_up_to_a_minute();
                        self.end_of_round = place;
                    }
                    if self.end_of_round == place {
                        return Ok(Some(sent));
                    }
                }
                (thread, None) if first.is_some() && rang == Some(thread) => {
                    if self.ready > 0 {
                        return Ok(None);
                    }
                    self.ready = READY;
                    self.card.turn_quietly(Some(READY))?;
                }
                (_, None) => {}
            }
            *stop = self.next_doorbell(*stop)?;
        }
    }

    fn next_doorbell(&mut self, (thread, _): Stop) -> Result<Stop, TraceError> {
        let next = self.tracee.go_on(thread)?;
        // A program may set its rings up in one thread, and forward in another.
        let other = |(forwarder, ..): (Pid, _, _)| forwarder != next.0;
        match next.1.is_some() && self.end_of_round.is_some_and(other) {
            true => Err(TraceError::Unexpected(
                "two threads of the program drive the card; trace a program with one forwarding thread"
                    .to_owned(),
            )),
            false => Ok(next),
        }
    }

    /// Records a part that does not count, and a part that does. The driver executes one instruction at
    /// a time, and the card takes a turn at each doorbell.
    fn record(&mut self, thread: Pid, plan: &Plan) -> Result<Stream, TraceError> {
        self.tracee.watchdog.step("record", self.launch.limit);
        let ports = self.card.memory()?;
        let maps = mappings(&self.tracee.maps()?);
        let registers: Vec<_> = ports.iter().map(|port| port.registers).collect();
        let (addresses, tails) = (Addresses::new(&ports, &maps), tails(&registers, &maps));
        let mut stepper = Stepper::new(thread, &self.tracee, plan.emulate)?;
        let mut stream = Stream {
            regions: addresses.card_memory(),
            ..Stream::default()
        };
        for packets in [plan.warm, plan.measured] {
            (stream.measured_from, stream.packets) = (stream.events.len(), 0);
            while stream.packets < packets {
                let step = stepper.step(&mut self.tracee, &addresses)?;
                let rings = |access: &Access| {
                    access.kind == AccessKind::Store && tails.contains(&access.address)
                };
                let rung = step.accesses.iter().any(rings);
                stream.events.push(Event::Step(step));
                if rung {
                    self.record_turn(&addresses, &mut stream)?;
                }
            }
        }
        Ok(stream)
    }

    fn record_turn(
        &mut self,
        addresses: &Addresses,
        stream: &mut Stream,
    ) -> Result<(), TraceError> {
        let turn = self.card.turn()?;
        for (port, kind, iova, bytes) in turn.dma {
            let address = addresses.of_iova(port, iova).ok_or_else(|| {
                let text = format!("the driver does not map what the card uses at IOVA {iova:#x}");
                TraceError::Unexpected(text)
            })?;
            stream.events.push(Event::Device {
                address,
                bytes,
                write: kind == 'w',
            });
        }
        stream.packets += turn.transmitted;
        Ok(())
    }
}
