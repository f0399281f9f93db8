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
use nic::{DmaAccess, Port};
use safety_lab::canaries::rings;
use safety_lab::testbed::Turns;
use tracer::{Access, AccessKind, Follower, Place, Run};

use super::format::{Dma, Frame, Line, Step};
use super::model::{
    buffer_of, rx_status, Model, Ring, BUFFER, BUFFERS, DESCRIPTOR, HEADROOM, MAX_SIZE,
};
use super::source::Lines;
use super::stack::Stack;
use super::RING_SIZE;

/// Pools of the lab's programs.
const POOLS: usize = 3;
/// Most instructions of the driver in a turn, for a driver that waits and never sleeps.
const TURN: usize = 400_000;
/// Bytes of a frame that a recording shows.
const FRAME_BYTES: usize = 64;
/// The call by which the programs of the lab give up the processor.
const SLEEPS: [u64; 2] = [libc::SYS_nanosleep as u64, libc::SYS_clock_nanosleep as u64];

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
    plan: Plan,
    ports: Vec<Port>,
    driver: Follower,
    lines: Lines,
    stacks: Vec<Stack>,
    model: Model,
    rings: [u64; 2],
    pub steps: Vec<Step>,
    pub points: BTreeMap<&'static str, Line>,
    pub error: Option<anyhow::Error>,
    instructions: u64,
    ran: Vec<Line>,
    /// Frames on their way to port 0, with their numbers; and the frame in each buffer.
    frames: HashMap<Vec<u8>, u64>,
    arrived: u64,
    packets: HashMap<usize, u64>,
    /// Batches so far, and packets of this one.
    batches: u64,
    received: u64,
    /// The descriptor that the driver fills for sending.
    filling: usize,
    faults: [usize; 2],
}

/// A handle to what a recorder sees. The testbed has the other.
#[derive(Clone)]
pub struct Recorder(Rc<RefCell<Seen>>);

impl Recorder {
    /// Follows a driver. `stopped`: it stands still before its first instruction.
    pub fn attach(
        program: &Path,
        pid: u32,
        ports: &[Port],
        plan: Plan,
        stopped: bool,
    ) -> Result<Self> {
        let driver = Follower::attach(pid, stopped)?;
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
            points: BTreeMap::new(),
            error: None,
            instructions: 0,
            ran: Vec::new(),
            frames: HashMap::new(),
            arrived: 0,
            packets: HashMap::new(),
            batches: 0,
            received: 0,
            filling: 0,
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
        if seen.is_full() {
            seen.steps.push(Step {
                actor: "lab",
                point: "lab.after",
                text: "The recording ends here. The run goes on.".into(),
                ..Step::default()
            });
            seen.release();
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
            .filter(|(_, size)| *size >= BUFFERS as u64 * BUFFER);
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

    fn find_rings(&mut self) {
        let [rx, _] = rings(&self.ports[0]);
        let [_, tx] = rings(&self.ports[1]);
        self.rings = [rx.iova, tx.iova];
    }

    fn is_full(&self) -> bool {
        self.steps.len() >= self.plan.most
    }

    fn records(&self) -> bool {
        (self.plan.starting || self.arrived >= self.plan.quiet)
            && !self.is_full()
            && self.driver.follows()
    }

    /// Adds a step, with all that has changed.
    fn add(&mut self, mut step: Step) {
        if self.records() {
            self.model.show(&self.ports, &mut step);
            // Looking at the rings is logged, too.
            self.ports.iter().for_each(|port| drop(port.take_dma()));
            self.steps.push(step);
        }
    }

    /// Adds a step that changes no ring. What the card does after it can be seen already, and belongs to a later step.
    fn add_alone(&mut self, step: Step) {
        if self.records() {
            self.steps.push(step);
        }
    }

    fn arrives(&mut self, frame: &[u8]) {
        // The card may have acted on its own since its last turn.
        self.card_turn(&[]);
        let number = self.arrived;
        self.arrived += 1;
        self.frames.insert(frame.to_vec(), number);
        self.add(Step {
            actor: "wire",
            point: "wire.arrives",
            text: format!(
                "A frame of {} bytes arrives at port 0: packet {number}",
                frame.len()
            ),
            packet: Some(number),
            frame: Some(shown(frame)),
            ..Step::default()
        });
    }

    fn card_turn(&mut self, sent: &[Vec<u8>]) {
        self.find_rings();
        for (port, accesses) in [self.worth_a_step(0), self.worth_a_step(1)]
            .into_iter()
            .enumerate()
        {
            for access in accesses {
                self.card_accesses(port, access);
            }
        }
        for port in 0..2 {
            let faults = self.ports[port].dma_faults();
            for fault in faults.iter().skip(self.faults[port]) {
                let direction = format!("{:?}", fault.direction).to_lowercase();
                self.add(Step {
                    actor: "device",
                    point: "device.refused",
                    text: format!(
                        "The IOMMU refuses a {direction} of {} bytes: {}",
                        fault.len, fault.refusal
                    ),
                    dma: vec![Dma {
                        direction: if direction == "write" {
                            "write"
                        } else {
                            "read"
                        },
                        what: "outside the maps",
                        iova: format!("{:#x}", fault.iova),
                        bytes: fault.len,
                        map: None,
                        refused: Some(fault.refusal.to_string()),
                    }],
                    note: Some("The memory is unchanged.".into()),
                    ..Step::default()
                });
            }
            self.faults[port] = faults.len();
        }
        for frame in sent {
            let came = |frame: &[u8]| {
                let mut frame = frame.to_vec();
                if let Some(byte) = frame.get_mut(1) {
                    *byte = byte.wrapping_sub(1);
                }
                self.frames.get(&frame).copied()
            };
            let packet = came(frame);
            let note = "No such frame has arrived: bytes are missing, added or changed.";
            self.add(Step {
                actor: "wire",
                point: "device.sends",
                text: format!("A frame of {} bytes leaves port 1", frame.len()),
                packet,
                frame: Some(shown(frame)),
                note: packet.is_none().then(|| note.to_owned()),
                ..Step::default()
            });
        }
    }

    /// The card's accesses since the last turn. Fetches of adjacent descriptors are one. A card that only fetches
    /// descriptors, again and again, waits for frames.
    fn worth_a_step(&self, port: usize) -> Vec<DmaAccess> {
        let mut accesses = self.ports[port].take_dma();
        accesses.dedup_by(|next, kept| {
            let of_ring = !kept.write && !next.write && self.descriptors(kept.iova, 1).is_some();
            let adjacent = of_ring && next.iova == kept.iova + u64::from(kept.bytes);
            if adjacent {
                kept.bytes += next.bytes;
            }
            adjacent
        });
        let waits =
            |access: &DmaAccess| !access.write && self.descriptors(access.iova, 1).is_some();
        if accesses.iter().all(waits) {
            accesses.clear();
        }
        accesses
    }

    /// The descriptors that an access touches: the ring, the first and their number.
    fn descriptors(&self, iova: u64, bytes: u64) -> Option<(Ring, usize, usize)> {
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

    /// The buffer of the first pool at an IOVA, and the offset of its data.
    fn buffer(&self, iova: u64) -> Option<(usize, u64)> {
        let inside = iova.checked_sub(self.model.pool)?;
        let number = usize::try_from(inside / BUFFER).ok()?;
        (number < BUFFERS).then_some((number, inside % BUFFER))
    }

    fn words(&self, ring: Ring, index: usize) -> [u64; 2] {
        let mut bytes = [0; DESCRIPTOR as usize];
        let iova = self.rings[ring as usize] + index as u64 * DESCRIPTOR;
        let _ = self.ports[0].driver_memory().read(iova, &mut bytes);
        [0, 8].map(|at| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        })
    }

    fn card_accesses(&mut self, port: usize, DmaAccess { iova, bytes, write }: DmaAccess) {
        let bytes = u64::from(bytes);
        let mut step = Step {
            actor: "device",
            ..Step::default()
        };
        let mut only = false;
        let (what, map);
        if let Some((ring, first, count)) = self.descriptors(iova, bytes) {
            let name = ["receive", "transmit"][ring as usize];
            (what, map) = (
                ["receive descriptor", "transmit descriptor"][ring as usize],
                ["receive ring", "transmit ring"][ring as usize],
            );
            let last = first + count - 1;
            let which = match count {
                1 => format!("descriptor {first}"),
                _ => format!("descriptors {first} to {last}"),
            };
            let buffer = self.model.slot(ring, first);
            step.packet = buffer.and_then(|buffer| self.packets.get(&buffer).copied());
            only = true;
            (step.point, step.text) = match (ring, write) {
                (Ring::Receive, false) => (
                    "device.reads_rx_descriptor",
                    format!("The card fetches {which} of the receive ring"),
                ),
                (Ring::Transmit, false) => (
                    "device.reads_tx_descriptor",
                    format!("The card fetches {which} of the transmit ring"),
                ),
                (Ring::Receive, true) => {
                    let (_, _, length) = rx_status(self.words(ring, first)[1]);
                    if length > MAX_SIZE {
                        step.note = Some(format!(
                            "The length is a lie: a buffer holds {MAX_SIZE} bytes."
                        ));
                    }
                    (
                        "device.writes_back_rx",
                        format!("The card writes {which} back: DD, {length} bytes"),
                    )
                }
                (Ring::Transmit, true) => (
                    "device.writes_back_tx",
                    format!("The card reports {which} of the {name} ring as sent: DD"),
                ),
            };
        } else if let Some((buffer, offset)) = self.buffer(iova) {
            (what, map) = ("frame", "pool");
            let point = match write {
                true if offset == HEADROOM && port == 0 => {
                    let mut frame = vec![0; bytes as usize];
                    let _ = self.ports[0].driver_memory().read(iova, &mut frame);
                    if let Some(number) = self.frames.get(&frame) {
                        self.packets.insert(buffer, *number);
                    }
                    "device.writes_frame"
                }
                true => "device.rogue_write",
                false => "device.reads_frame",
            };
            step.packet = self.packets.get(&buffer).copied();
            step.point = point;
            step.text = match point {
                "device.writes_frame" => format!("The card writes the frame to buffer {buffer}"),
                "device.reads_frame" => format!("The card reads {bytes} bytes of buffer {buffer} to send them"),
                _ => format!("The card writes {bytes} bytes to buffer {buffer}, offset {offset}, which it does not own"),
            };
            if offset + bytes > BUFFER {
                step.note = Some("The access goes beyond the end of the buffer.".into());
            }
        } else {
            // The other way's rings and buffers are idle, and are not shown.
            return;
        }
        step.dma = vec![Dma {
            direction: if write { "write" } else { "read" },
            what,
            iova: format!("{iova:#x}"),
            bytes,
            map: Some(map),
            refused: None,
        }];
        match write && only {
            true => self.add(step),
            // What the card writes later is there already.
            false => self.add_alone(step),
        }
    }

    /// Executes an instruction, and what it calls outside the way of packets. `false`: the driver is let go, or sleeps.
    fn step(&mut self) -> Result<bool> {
        let Some(executed) = self.driver.step()? else {
            return Ok(false);
        };
        let place = self.lines.at(executed.address);
        if let Some(place) = &place {
            self.instructions += 1;
            if let Some(line) = &place.line {
                if !self.ran.contains(line) {
                    self.ran.push(line.clone());
                }
            }
        }
        let line = place.and_then(|place| place.line);
        for access in &executed.accesses {
            self.driver_accesses(access, line.as_ref());
        }
        let sleeps = |call| SLEEPS.contains(&call);
        if let Some(back) = executed.returns_to {
            if self.lines.at(self.driver.next()).is_none() {
                return Ok(self.driver.run_to(back, sleeps)? == Run::Arrived);
            }
        }
        Ok(!executed.system_call.is_some_and(sleeps))
    }

    /// Lets the driver run until it sleeps.
    fn driver_turn(&mut self) -> Result<()> {
        for _ in 0..TURN {
            if !self.step()? {
                break;
            }
        }
        // What runs between packets is no part of the next step.
        self.instructions = 0;
        self.ran.clear();
        Ok(())
    }

    /// Runs a driver that starts up to the first doorbell, from the moment at which its receive ring has a place.
    ///
    /// `card` gives the card its turns.
    pub fn start(&mut self, pid: u32, mut card: impl FnMut()) -> Result<()> {
        // The pools come first. The next memory is that of the ring, which the driver fills before the card knows it.
        let ring = |seen: &Self| seen.ports[0].dma_maps().get(POOLS).copied();
        while ring(self).is_none() {
            card();
            if self.driver.run_through_call()? == tracer::Pause::Gone {
                return Ok(());
            }
        }
        self.learn(pid)?;
        self.rings[0] = ring(self).context("the driver has no ring")?.0;
        self.model.filled = Some(self.rings[0]);
        let rung = |seen: &Self| {
            seen.steps
                .last()
                .is_some_and(|step| step.point == "start.RDT")
        };
        for _ in 0..10 * TURN {
            if rung(self) {
                break;
            }
            if !self.step()? {
                card();
            }
        }
        self.plan.starting = false;
        Ok(())
    }

    fn driver_accesses(&mut self, access: &Access, line: Option<&Line>) {
        if access.kind == AccessKind::Prefetch {
            return;
        }
        let store = access.kind == AccessKind::Store;
        match self.driver.place(access.address) {
            Some(Place::Register { port: 0, offset })
                if store && offset == u64::from(r::RDT(0)) =>
            {
                self.doorbell(Ring::Receive, line)
            }
            Some(Place::Register { port: 1, offset })
                if store && offset == u64::from(r::TDT(0)) =>
            {
                self.doorbell(Ring::Transmit, line)
            }
            Some(Place::Register { .. }) => {}
            Some(Place::Memory(iova)) => {
                if let Some((ring, index, _)) = self.descriptors(iova, access.bytes.into()) {
                    let upper = (iova - self.rings[ring as usize]) % DESCRIPTOR >= 8;
                    self.descriptor(ring, index, upper, store, line);
                    if u64::from(access.bytes) == DESCRIPTOR {
                        self.descriptor(ring, index, true, store, line);
                    }
                } else if let (Some((buffer, offset)), true) = (self.buffer(iova), store) {
                    let of_program = line.is_some_and(|(file, _)| file.starts_with("programs/"));
                    if offset >= HEADROOM || of_program {
                        self.touch(buffer, offset, line);
                    }
                }
            }
            None => {
                if let Some(place) = self
                    .stacks
                    .first()
                    .and_then(|stack| stack.place(access.address))
                {
                    for nth in 0..access.bytes.div_ceil(8) as usize {
                        self.pool(place + nth, store, line);
                    }
                }
            }
        }
    }

    /// Adds a step of the driver.
    fn by_driver(&mut self, mut step: Step, line: Option<&Line>) {
        step.actor = if step.actor.is_empty() {
            "driver"
        } else {
            step.actor
        };
        step.instructions = Some(std::mem::take(&mut self.instructions));
        let ran = std::mem::take(&mut self.ran);
        step.ran = ran
            .iter()
            .map(|(file, line)| format!("{file}:{line}"))
            .collect();
        step.batch = Some(self.batches);
        step.line = line.cloned();
        if self.records() {
            ran.iter()
                .chain(line)
                .for_each(|line| self.lines.show(line));
        }
        if let (Some(line), true) = (line, self.records()) {
            self.points
                .entry(step.point)
                .or_insert_with(|| line.clone());
        }
        self.add(step);
    }

    fn doorbell(&mut self, ring: Ring, line: Option<&Line>) {
        let (point, name) = match ring {
            Ring::Receive if self.plan.starting => ("start.RDT", "RDT"),
            Ring::Receive => ("rx.RDT", "RDT"),
            Ring::Transmit => ("tx.TDT", "TDT"),
        };
        if point == "start.RDT" && self.ports[0].registers().peek(r::RDT(0)) == 0 {
            // The ring's registers are cleared before it is enabled.
            return;
        }
        let value = self.ports[ring as usize].rings();
        let value = [value.receive.tail, value.transmit.tail][ring as usize];
        if point == "start.RDT" {
            self.model.taken.clear();
            self.model.filled = None;
        }
        self.received = 0;
        self.by_driver(
            Step {
                point,
                text: format!("The driver rings the doorbell: {name} is {value}"),
                ..Step::default()
            },
            line,
        );
    }

    fn descriptor(
        &mut self,
        ring: Ring,
        index: usize,
        upper: bool,
        store: bool,
        line: Option<&Line>,
    ) {
        let [lower, word] = self.words(ring, index);
        let mut step = Step::default();
        let old = self.model.slot(ring, index);
        let packet = |seen: &Self, buffer: Option<usize>| {
            buffer.and_then(|buffer| seen.packets.get(&buffer).copied())
        };
        match (ring, store, upper) {
            (Ring::Receive, false, true) => {
                let (done, ends, length) = rx_status(word);
                if !done && self.received == 0 {
                    return;
                }
                if done && self.received == 0 {
                    self.batches += 1;
                }
                self.received += u64::from(done);
                step.point = if done { "rx.status" } else { "rx.empty" };
                step.packet = packet(self, old.filter(|_| done));
                step.text = match (done, ends) {
                    (true, true) => {
                        format!("The driver reads descriptor {index}: DD is set, {length} bytes")
                    }
                    (true, false) => format!("The driver reads descriptor {index}: DD without EOP"),
                    (false, _) => format!(
                        "Descriptor {index} has no DD: the batch ends with {} packets",
                        self.received
                    ),
                };
                if done && length > MAX_SIZE {
                    step.note = Some(format!(
                        "{length} bytes cannot be in a buffer of {MAX_SIZE}."
                    ));
                }
            }
            (Ring::Receive, true, false) => {
                let Some(buffer) = buffer_of(self.model.pool, lower) else {
                    step.point = "rx.refill_address";
                    step.text = format!(
                        "The driver writes an address to descriptor {index} that is no buffer"
                    );
                    step.note = Some("The card will write there.".into());
                    return self.by_driver(step, line);
                };
                step.packet = packet(self, old);
                if let (Some(place), true) = (self.model.place(buffer), old != Some(buffer)) {
                    step.note = Some(format!(
                        "Buffer {buffer} has two owners: it is also {place}."
                    ));
                }
                if self.plan.starting {
                    step.point = "start.fill";
                    step.text = format!(
                        "The driver writes the address of buffer {buffer} to descriptor {index}"
                    );
                } else {
                    step.point = "rx.refill_address";
                    step.text = format!("The driver writes the address of the empty buffer {buffer} to descriptor {index}");
                    if let Some(old) = old.filter(|old| *old != buffer) {
                        self.model.held.insert(old);
                    }
                }
            }
            (Ring::Receive, true, true) if !self.plan.starting => {
                if let Some(buffer) = old {
                    self.model.taken.remove(&buffer);
                }
                step.point = "rx.refill_zero";
                step.text = format!("The driver clears DD of descriptor {index}");
            }
            (Ring::Transmit, false, true) => {
                let done = word & 1 << 32 != 0;
                let state = if done {
                    "DD is set: sent"
                } else {
                    "no DD: not sent yet"
                };
                step.point = "tx.status";
                step.text =
                    format!("The driver looks at descriptor {index} of the transmit ring: {state}");
            }
            (Ring::Transmit, true, false) => {
                let buffer = buffer_of(self.model.pool, lower);
                self.filling = index;
                step.point = "tx.address";
                step.packet = packet(self, buffer);
                step.text = match buffer {
                    Some(buffer) => format!("The driver writes the address of buffer {buffer} to descriptor {index} of the transmit ring"),
                    None => format!("The driver writes an address to descriptor {index} that is no buffer of this pool"),
                };
                if let Some(buffer) = buffer {
                    self.model.held.remove(&buffer);
                    if let Some(place) = self.model.place(buffer) {
                        step.note = Some(format!(
                            "Buffer {buffer} has two owners: it is also {place}."
                        ));
                    }
                    self.model.slots[1].insert(index, buffer);
                }
            }
            (Ring::Transmit, true, true) => {
                let length = word & 0xffff;
                step.point = "tx.command";
                step.packet = packet(self, old);
                step.text = format!(
                    "The driver writes length {length} and the command to descriptor {index}"
                );
                if length > MAX_SIZE {
                    step.note = Some(format!(
                        "The card will send {} bytes of other memory.",
                        length - MAX_SIZE
                    ));
                }
            }
            _ => return,
        }
        self.by_driver(step, line);
    }

    fn touch(&mut self, buffer: usize, offset: u64, line: Option<&Line>) {
        let inside = offset.checked_sub(HEADROOM);
        let text = match inside {
            Some(byte) => {
                format!("The application changes byte {byte} of the packet in buffer {buffer}")
            }
            None => format!("The application writes to the headroom of buffer {buffer}"),
        };
        let owner = self.model.held.contains(&buffer);
        let place = self.model.place(buffer).filter(|_| !owner);
        let step = Step {
            actor: "application",
            point: "application.touch",
            text,
            packet: self.packets.get(&buffer).copied(),
            note: place.map(|place| {
                format!("The application does not own buffer {buffer}: it is {place}.")
            }),
            ..Step::default()
        };
        self.by_driver(step, line);
    }

    /// The driver reads or writes a place of the pool's stack.
    fn pool(&mut self, place: usize, store: bool, line: Option<&Line>) {
        let Some(stack) = self.stacks.first() else {
            return;
        };
        let pointer = self.driver.word(stack.addresses.start + 8 * place as u64);
        let Some(buffer) = pointer.and_then(|pointer| stack.buffer(pointer)) else {
            return;
        };
        let count = if store { place } else { place + 1 };
        let mut free = match self.model.free.take() {
            Some(free) => free,
            None => stack.read(&self.driver, count),
        };
        free.truncate(count);
        let mut step = Step::default();
        if store {
            if free.contains(&buffer) {
                step.note = Some(format!("Buffer {buffer} is in the pool twice."));
            }
            step.point = "pool.free";
            step.text = format!("The driver returns buffer {buffer} to the pool");
            step.packet = self.packets.remove(&buffer);
            free.push(buffer);
            self.model.held.remove(&buffer);
            self.model.taken.remove(&buffer);
            self.model.slots[1].retain(|_, slot| *slot != buffer);
        } else {
            step.point = "pool.take";
            step.text = format!("The driver takes the empty buffer {buffer} from the pool");
            free.pop();
            self.model.taken.insert(buffer);
        }
        self.model.free = Some(free);
        if !self.plan.starting {
            self.by_driver(step, line);
        }
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

fn shown(frame: &[u8]) -> Frame {
    let bytes = frame.iter().take(FRAME_BYTES);
    Frame {
        length: frame.len(),
        bytes: bytes.map(|byte| format!("{byte:02x}")).collect(),
    }
}
