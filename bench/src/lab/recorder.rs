//! Watches a driver and its card, which take turns, and writes down each step.
//!
//! The driver executes one instruction at a time. A step is an access of the driver to what it shares with the card, or
//! to its pool's stack; or an access of the card to memory. So the steps of all drivers are the same, as far as the drivers do the same.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};
use nic::registers as r;
use nic::Port;
use perfcounters::Interrupt;
use safety_lab::canaries::{rings, BUFFER, POOL_CAPACITY};
use safety_lab::testbed::Turns;
use tracer::Follower;

use super::format::{Line, Step};
use super::model::{words, Model, Ring, DESCRIPTOR, RING_SIZE};
use super::source::Lines;
use super::stack::Stack;

/// What is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Frames that pass before the recording begins.
    pub quiet: u64,
    /// Most steps.
    pub most: usize,
    /// Whether the driver is being started.
    pub starting: bool,
}

/// What the recorder has seen so far.
pub struct Seen {
    pub(super) plan: Plan,
    pub(super) ports: Vec<Port>,
    pub(super) driver: Follower,
    pub(super) lines: Lines,
    pub(super) stacks: Vec<Stack>,
    pub(super) model: Model,
    pub(super) rings: [u64; 2],
    pub steps: Vec<Step>,
    /// Whether the recording has ended, and the driver still runs in turns.
    full: bool,
    pub points: BTreeMap<&'static str, Line>,
    pub error: Option<anyhow::Error>,
    pub(super) instructions: u64,
    pub(super) ran: Vec<Line>,
    /// Frames on their way to port 0, with their numbers; and the frame in each buffer.
    pub(super) frames: HashMap<Vec<u8>, u64>,
    pub(super) arrived: u64,
    pub(super) packets: HashMap<usize, u64>,
    /// Batches so far, and packets of this one.
    pub(super) batches: u64,
    pub(super) received: u64,
    pub(super) faults: [usize; 2],
}

/// A handle to what a recorder sees. The testbed has the other.
#[derive(Clone)]
pub struct Recorder(Rc<RefCell<Seen>>);

impl Recorder {
    /// Follows a driver. One that is being started stands still before its first instruction.
    pub fn attach(
        program: &Path,
        pid: u32,
        ports: &[Port],
        plan: Plan,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let stopped = plan.starting;
        let driver = Follower::attach(pid, stopped, interrupt.flag())?;
        let lines = Lines::of(program, pid)?;
        // Switching the log off forgets what an earlier recording has left.
        ports.iter().for_each(|port| port.log_dma(false));
        ports.iter().for_each(|port| port.log_dma(true));
        let mut seen = Seen {
            plan,
            ports: ports.to_vec(),
            driver,
            lines,
            stacks: Vec::new(),
            model: Model::default(),
            rings: [0; 2],
            steps: Vec::new(),
            full: false,
            points: BTreeMap::new(),
            error: None,
            instructions: 0,
            ran: Vec::new(),
            frames: HashMap::new(),
            arrived: 0,
            packets: HashMap::new(),
            batches: 0,
            received: 0,
            faults: [0; 2],
        };
        if !stopped {
            seen.learn(pid)?;
            seen.driver_turn()?;
        }
        Ok(Self(Rc::new(RefCell::new(seen))))
    }

    /// Goes on from the recording of the driver's start.
    pub fn take_over(&self, start: &Self) {
        let (mut seen, mut start) = (self.seen(), start.seen());
        seen.model = std::mem::take(&mut start.model);
        seen.points = std::mem::take(&mut start.points);
        seen.lines.show_all(&start.lines);
    }

    /// What it has seen.
    pub fn seen(&self) -> std::cell::RefMut<'_, Seen> {
        self.0.borrow_mut()
    }
}

impl Turns for Recorder {
    fn arrives(&mut self, frame: &[u8]) {
        self.seen().arrives(frame);
    }

    fn turn(&mut self, sent: &[Vec<u8>], held: bool) {
        let mut seen = self.seen();
        if !seen.driver.follows() || seen.error.is_some() {
            return;
        }
        seen.card_turn(sent);
        if !held {
            seen.error = seen.driver_turn().err();
        }
        if seen.is_full() && !seen.full {
            seen.full = true;
            seen.steps.push(Step::by(
                "lab",
                "lab.after",
                "The recording ends here. The run goes on.".into(),
            ));
        }
    }

    fn hazard(&mut self) {
        let mut seen = self.seen();
        seen.plan.quiet = 0;
        seen.add(Step {
            actor: "lab",
            point: "lab.before",
            text: "The hazard begins".into(),
            ..Step::default()
        });
    }

    fn end(&mut self) {
        self.seen().release();
    }
}

impl Seen {
    /// Learns where rings, pools and registers are.
    pub fn learn(&mut self, pid: u32) -> Result<()> {
        let shared = self.ports.iter().map(Port::shared_memory).collect();
        self.driver.learn(shared)?;
        self.stacks = Stack::find(pid)?;
        let pools = self.ports[0].dma_maps();
        let mut pools = pools
            .iter()
            .filter(|(_, size)| *size >= POOL_CAPACITY * BUFFER);
        self.model.pool = pools.next().context("the driver has no pool")?.0;
        let packets = self.driver.address_of(0, self.model.pool);
        // The C driver's stack of the first pool points into it. In safe Rust, it is the one with the lowest address.
        let of_pool =
            |stack: &Stack| packets.is_some_and(|packets| stack.buffer(packets) == Some(0));
        if let Some(found) = self.stacks.iter().position(of_pool) {
            self.stacks.swap(0, found);
        }
        self.find_rings();
        Ok(())
    }

    pub(super) fn find_rings(&mut self) {
        let [rx, _] = rings(&self.ports[0]);
        let [_, tx] = rings(&self.ports[1]);
        self.rings = [rx.iova, tx.iova];
    }

    pub(super) fn is_full(&self) -> bool {
        self.steps.len() >= self.plan.most
    }

    pub(super) fn records(&self) -> bool {
        (self.plan.starting || self.arrived >= self.plan.quiet)
            && !self.is_full()
            && self.driver.follows()
    }

    /// Adds a step, with all that has changed.
    pub(super) fn add(&mut self, mut step: Step) {
        if self.records() {
            self.model.show(&self.ports, &mut step);
            self.steps.push(step);
        }
    }

    /// Adds a step that changes no ring. What the card does after it can be seen already, and belongs to a later step.
    pub(super) fn add_alone(&mut self, step: Step) {
        if self.records() {
            self.steps.push(step);
        }
    }

    /// The descriptors that an access touches: the ring, the first and their number.
    pub(super) fn descriptors(&self, iova: u64, bytes: u64) -> Option<(Ring, usize, usize)> {
        let of = |ring: Ring, base: u64, size: u32| {
            let inside = iova
                .checked_sub(base)
                .filter(|inside| *inside < size.into())?;
            let first = usize::try_from(inside / DESCRIPTOR).ok()?;
            Some((ring, first, bytes.div_ceil(DESCRIPTOR).max(1) as usize))
        };
        let peek = |port: usize, register| self.ports[port].registers().peek(register);
        let receive = match self.plan.starting {
            true => (RING_SIZE as u64 * DESCRIPTOR) as u32,
            false => peek(0, r::RDLEN(0)),
        };
        of(Ring::Receive, self.rings[0], receive)
            .or_else(|| of(Ring::Transmit, self.rings[1], peek(1, r::TDLEN(0))))
    }

    /// Both words of a descriptor.
    pub(super) fn words(&self, ring: Ring, index: usize) -> [u64; 2] {
        let mut bytes = [0; DESCRIPTOR as usize];
        let iova = self.rings[ring as usize] + index as u64 * DESCRIPTOR;
        let _ = self.ports[0].driver_memory().read(iova, &mut bytes);
        let mut both = words(&bytes);
        [both.next(), both.next()].map(Option::unwrap_or_default)
    }

    /// The packet in a buffer.
    pub(super) fn packet(&self, buffer: Option<usize>) -> Option<u64> {
        self.packets.get(&buffer?).copied()
    }

    /// The text of the lines that ran.
    pub fn code(&self) -> BTreeMap<String, BTreeMap<usize, String>> {
        self.lines.text()
    }

    /// Lets the driver go on alone.
    pub fn release(&mut self) {
        self.driver.release();
        self.ports.iter().for_each(|port| port.log_dma(false));
    }
}
