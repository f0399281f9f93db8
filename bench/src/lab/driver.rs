//! What the driver and the application do, as steps: each is an access to what they share with the card, or to the pool.

use anyhow::{Context, Result};
use nic::registers as r;
use safety_lab::canaries::DATA;
use tracer::{Access, AccessKind, Pause, Place, Run};

use super::format::{Line, Step};
use super::model::{rx_status, Ring, DESCRIPTOR, MAX_SIZE};
use super::recorder::Seen;

/// Pools of the lab's programs.
const POOLS: usize = 3;
/// Most instructions of the driver in a turn, for a driver that waits and never sleeps.
const TURN: usize = 60_000;
/// The same until the first doorbell.
const START: usize = 4_000_000;
/// The same in system calls, when nothing is recorded any more. A driver without a sleep among so many runs alone.
const CALLS: usize = 1_000;
/// No code is there.
const NOWHERE: u64 = 0;
/// The calls by which the programs of the lab give up the processor.
const SLEEPS: [u64; 2] = [libc::SYS_nanosleep as u64, libc::SYS_clock_nanosleep as u64];

impl Seen {
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
    pub(super) fn driver_turn(&mut self) -> Result<()> {
        if self.is_full() {
            let mut calls = 0;
            self.driver.run_to(NOWHERE, |call| {
                calls += 1;
                SLEEPS.contains(&call) || calls == CALLS
            })?;
            // It does not yield, so it needs time and not turns.
            if calls == CALLS {
                self.release();
            }
            return Ok(());
        }
        for _ in 0..TURN {
            if !self.step()? || self.is_full() {
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
            if self.driver.run_through_call()? == Pause::Gone {
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
        for _ in 0..START {
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
                    self.descriptor((ring, index), upper, store, line);
                    if u64::from(access.bytes) == DESCRIPTOR {
                        self.descriptor((ring, index), true, store, line);
                    }
                } else if let (Some((buffer, offset)), true) = (self.model.buffer(iova), store) {
                    let of_program = line.is_some_and(|(file, _)| file.starts_with("programs/"));
                    if offset >= DATA || of_program {
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

    /// The driver reads or writes a word of a descriptor.
    fn descriptor(&mut self, at: (Ring, usize), upper: bool, store: bool, line: Option<&Line>) {
        let (ring, index) = at;
        let [lower, word] = self.words(ring, index);
        let old = self.model.slot(ring, index);
        let step = match (ring, store, upper) {
            (Ring::Receive, false, true) => self.rx_status(index, word, old),
            (Ring::Receive, true, false) => Some(self.rx_refill(index, lower, old)),
            (Ring::Receive, true, true) if !self.plan.starting => {
                if let Some(buffer) = old {
                    self.model.taken.remove(&buffer);
                }
                let text = format!("The driver clears DD of descriptor {index}");
                Some(Step::by("driver", "rx.refill_zero", text))
            }
            (Ring::Transmit, false, true) => {
                let state = match word & r::TXD_DD {
                    0 => "no DD: not sent yet",
                    _ => "DD is set: sent",
                };
                let text =
                    format!("The driver looks at descriptor {index} of the transmit ring: {state}");
                Some(Step::by("driver", "tx.status", text))
            }
            (Ring::Transmit, true, false) => Some(self.tx_address(index, lower)),
            (Ring::Transmit, true, true) => Some(self.tx_command(index, word, old)),
            _ => None,
        };
        if let Some(step) = step {
            self.by_driver(step, line);
        }
    }

    /// The driver reads the status of a receive descriptor. It does so all the time while no frame arrives.
    fn rx_status(&mut self, index: usize, word: u64, buffer: Option<usize>) -> Option<Step> {
        let (done, ends, length) = rx_status(word);
        if self.received == 0 {
            if !done {
                return None;
            }
            self.batches += 1;
        }
        if !done {
            let text = format!(
                "Descriptor {index} has no DD: the batch ends with {} packets",
                self.received
            );
            return Some(Step::by("driver", "rx.empty", text));
        }
        self.received += 1;
        let text = match ends {
            true => format!("The driver reads descriptor {index}: DD is set, {length} bytes"),
            false => format!("The driver reads descriptor {index}: DD without EOP"),
        };
        let note = format!("{length} bytes cannot be in a buffer of {MAX_SIZE}.");
        Some(Step {
            packet: self.packet(buffer),
            note: (length > MAX_SIZE).then_some(note),
            ..Step::by("driver", "rx.status", text)
        })
    }

    /// The driver gives a receive descriptor a buffer.
    fn rx_refill(&mut self, index: usize, address: u64, old: Option<usize>) -> Step {
        let Some(buffer) = self.model.buffer_of(address) else {
            let text =
                format!("The driver writes an address to descriptor {index} that is no buffer");
            return Step {
                note: Some("The card will write there.".into()),
                ..Step::by("driver", "rx.refill_address", text)
            };
        };
        let twice = self.model.place(buffer).filter(|_| old != Some(buffer));
        let point = match self.plan.starting {
            true => "start.fill",
            false => "rx.refill_address",
        };
        if let Some(old) = old.filter(|old| *old != buffer && !self.plan.starting) {
            self.model.held.insert(old);
        }
        let text =
            format!("The driver writes the address of buffer {buffer} to descriptor {index}");
        Step {
            packet: self.packet(old),
            note: twice.map(|place| two_owners(buffer, &place)),
            ..Step::by("driver", point, text)
        }
    }

    /// The driver gives a transmit descriptor a buffer.
    fn tx_address(&mut self, index: usize, address: u64) -> Step {
        let Some(buffer) = self.model.buffer_of(address) else {
            let text = format!(
                "The driver writes an address to descriptor {index} that is no buffer of this pool"
            );
            return Step::by("driver", "tx.address", text);
        };
        self.model.held.remove(&buffer);
        let twice = self.model.place(buffer);
        self.model.slots[Ring::Transmit as usize].insert(index, buffer);
        let text = format!("The driver writes the address of buffer {buffer} to descriptor {index} of the transmit ring");
        Step {
            packet: self.packet(Some(buffer)),
            note: twice.map(|place| two_owners(buffer, &place)),
            ..Step::by("driver", "tx.address", text)
        }
    }

    fn tx_command(&self, index: usize, word: u64, buffer: Option<usize>) -> Step {
        let length = word & 0xffff;
        let other = length.saturating_sub(MAX_SIZE);
        let note = format!("The card will send {other} bytes of other memory.");
        let text =
            format!("The driver writes length {length} and the command to descriptor {index}");
        Step {
            packet: self.packet(buffer),
            note: (other > 0).then_some(note),
            ..Step::by("driver", "tx.command", text)
        }
    }

    fn touch(&mut self, buffer: usize, offset: u64, line: Option<&Line>) {
        let inside = offset.checked_sub(DATA);
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
}

fn two_owners(buffer: usize, place: &str) -> String {
    format!("Buffer {buffer} has two owners: it is also {place}.")
}
