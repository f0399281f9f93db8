//! The out-of-order window: when each instruction is dispatched, executed and retired.

use std::collections::{HashMap, VecDeque};

use super::buffers::{Forwarding, Requests, StoreBuffer};
use super::costs::{Costs, Operation, Order, VALUES};
use super::error::PipelineError;
use super::front_end::FrontEnd;
use super::ports::Ports;
use super::timing::{Cause, Causes, Timing};
use crate::caches::{Level, Served};
use crate::cpu::{Cpu, Latencies, LINE};
use crate::stream::{Access, AccessKind, Memory, Step};

/// A line that is on its way to L1.
#[derive(Clone, Copy, Debug)]
struct Fill {
    arrives: u64,
    cause: Cause,
}

/// The data of an instruction's loads.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    at: u64,
    cause: Cause,
}

/// A core that executes one instruction after another.
///
/// It goes through the program once. For each instruction it computes the cycles of dispatch, execution and retirement from
/// those of earlier instructions. All state is whole numbers, and maps are only looked up, so equal input gives equal output.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    costs: &'a Costs,
    width: u32,
    front_end: FrontEnd,
    reorder_buffer: u32,
    load_buffer: usize,
    mispredict_penalty: u64,
    forwarding: u64,
    latencies: Latencies,
    /// When each value is known.
    ready: Box<[u64; VALUES]>,
    ports: Ports,
    fill_buffers: Requests,
    fills: HashMap<u64, Fill>,
    stores: StoreBuffer,
    /// Retirement and slots of the instructions in the reorder buffer.
    in_flight: VecDeque<(u64, u32)>,
    slots_in_flight: u32,
    /// Retirement of the loads in the load buffer.
    loads: VecDeque<u64>,
    dispatch: u64,
    dispatched: u32,
    /// Instructions are dispatched from this cycle on, for this reason.
    resume: (u64, Cause),
    /// Loads start from this cycle on, because of a fence.
    loads_from: u64,
    retire: u64,
    retired: u32,
    instructions: u64,
    spent: Vec<Causes>,
}

impl<'a> Window<'a> {
    /// A core of the kind `cpu` at a clock of `mhz`, with empty buffers.
    pub fn new(cpu: &Cpu, mhz: u32, costs: &'a Costs) -> Self {
        let core = &cpu.core;
        Self {
            costs,
            width: costs.width(),
            front_end: FrontEnd::new(core),
            reorder_buffer: core.reorder_buffer,
            load_buffer: core.load_buffer.max(1) as usize,
            mispredict_penalty: u64::from(core.mispredict_penalty),
            forwarding: u64::from(core.store_forwarding),
            latencies: cpu.latencies(mhz),
            ready: Box::new([0; VALUES]),
            ports: Ports::new(),
            fill_buffers: Requests::new(core.fill_buffers),
            fills: HashMap::new(),
            stores: StoreBuffer::new(core),
            in_flight: VecDeque::new(),
            slots_in_flight: 0,
            loads: VecDeque::new(),
            dispatch: 0,
            dispatched: 0,
            resume: (0, Cause::Core),
            loads_from: 0,
            retire: 0,
            retired: 0,
            instructions: 0,
            spent: vec![Causes::default(); costs.addresses().count()],
        }
    }

    /// Core cycles until the retirement of the last instruction.
    pub fn cycles(&self) -> u64 {
        self.retire
    }

    /// Executes one instruction. `served` says for each of its accesses which level answered.
    ///
    /// # Errors
    /// The costs lack the instruction, or `served` has not one entry for each access.
    pub fn execute(
        &mut self,
        step: &Step,
        served: &[Served],
        mispredicted: bool,
    ) -> Result<(), PipelineError> {
        let costs = self.costs;
        let index = costs
            .index(step.address)
            .ok_or(PipelineError::UnknownInstruction(step.address))?;
        if served.len() != step.accesses.len() {
            return Err(PipelineError::Accesses {
                address: step.address,
                accesses: step.accesses.len(),
                served: served.len(),
            });
        }
        let operation = costs.operation(index);
        let slots = operation.slots;

        let (dispatched, held_up) = self.dispatch(slots, step);
        if operation
            .behind_branch
            .is_some_and(|next| next != step.target)
        {
            self.front_end.taken();
        }
        let from = match operation.order {
            Order::None => dispatched + 1,
            Order::Retired => self.retire.max(dispatched + 1),
            Order::Drained => self
                .stores
                .empty_from()
                .max(self.retire)
                .max(dispatched + 1),
        };
        let loaded = self.load(operation, step, served, from);
        let operands = self.latest(&operation.operands).max(loaded.at);
        let issued = self.ports.take(&operation.other_uses, operands);
        let done = issued + u64::from(operation.latency);
        for value in &operation.results {
            self.ready[usize::from(*value)] = done;
        }
        let cause = match operation.order {
            Order::None => loaded.cause,
            _ => Cause::Order,
        };
        self.retire(index, slots, dispatched, done, held_up, cause);
        self.after(operation, step, served, done, mispredicted);
        Ok(())
    }

    /// The times and causes so far.
    pub fn timing(&self) -> Timing {
        let mut timing = Timing {
            cycles: self.retire,
            instructions: self.instructions,
            ..Timing::default()
        };
        for (address, index) in self.costs.addresses() {
            let spent = self.spent[index as usize];
            if spent.total() > 0 {
                timing.by_address.insert(address, spent);
                timing.causes += spent;
            }
        }
        timing
    }

    /// The cycle in which the last of the values is known.
    fn latest(&self, values: &[u16]) -> u64 {
        values
            .iter()
            .map(|value| self.ready[usize::from(*value)])
            .max()
            .unwrap_or(0)
    }

    /// Finds the cycle in which the instruction enters the window, and what held it up until then.
    fn dispatch(&mut self, slots: u32, step: &Step) -> (u64, Cause) {
        let mut cause = Cause::Core;
        self.front_end.wait_until(self.resume.0);
        let mut at = self.dispatch;
        let fetched = self.front_end.fetch(slots);
        if fetched > at {
            (at, cause) = (fetched, Cause::FrontEnd);
        }
        if self.resume.0 >= at {
            (at, cause) = self.resume;
        }
        while self.slots_in_flight + slots > self.reorder_buffer {
            let Some((retired, freed)) = self.in_flight.pop_front() else {
                break;
            };
            self.slots_in_flight -= freed;
            at = at.max(retired);
        }
        for access in &step.accesses {
            if access.kind == AccessKind::Store {
                let free = self.stores.free_from();
                if free > at {
                    (at, cause) = (free, Cause::StoreBuffer);
                }
            } else {
                while self.loads.len() >= self.load_buffer {
                    at = at.max(self.loads.pop_front().unwrap_or(0));
                }
            }
        }
        if at > self.dispatch {
            (self.dispatch, self.dispatched) = (at, 0);
        }
        if self.dispatched > 0 && self.dispatched + slots > self.width {
            (self.dispatch, self.dispatched) = (self.dispatch + 1, 0);
        }
        self.dispatched += slots;
        while self.dispatched > self.width {
            self.dispatch += 1;
            self.dispatched -= self.width;
        }
        self.front_end.dispatched(self.dispatch, slots);
        self.ports.forget_before(self.dispatch);
        self.fill_buffers.forget_before(self.dispatch);
        (self.dispatch, cause)
    }

    /// Computes the addresses and does the loads. Returns when the data are there, and what they waited for.
    fn load(&mut self, operation: &Operation, step: &Step, served: &[Served], from: u64) -> Loaded {
        let address = self.latest(&operation.addresses).max(from);
        let mut loaded = Loaded {
            at: address,
            cause: Cause::Core,
        };
        if operation.address_uses.is_empty() && step.accesses.is_empty() {
            return loaded;
        }
        let issued = self.ports.take(&operation.address_uses, address);
        loaded.at = issued;
        for (access, served) in step.accesses.iter().zip(served) {
            match access.kind {
                AccessKind::Load => {
                    let data = self.load_one(access, *served, issued.max(self.loads_from));
                    if data.at > loaded.at {
                        loaded = data;
                    }
                }
                AccessKind::Prefetch => {
                    self.fetch(access.address / LINE, *served, issued);
                }
                AccessKind::Store => {}
            }
        }
        loaded
    }

    /// Does one load that starts in the cycle `at`.
    fn load_one(&mut self, access: &Access, served: Served, at: u64) -> Loaded {
        if access.memory == Memory::Uncached {
            let start = at.max(self.retire).max(self.stores.empty_from());
            return Loaded {
                at: start + u64::from(self.latencies.uncached_load),
                cause: Cause::Uncached,
            };
        }
        let mut at = self.stores.aliased_until(access, at);
        match self.stores.forward(access, at) {
            Forwarding::Nothing => {}
            Forwarding::From(data) => {
                return Loaded {
                    at: at.max(data) + self.forwarding,
                    cause: Cause::Core,
                }
            }
            Forwarding::BlockedUntil(left) => at = left,
        }
        let first = self.fetch(access.address / LINE, served, at);
        let last_line = (access.address + u64::from(access.bytes) - 1) / LINE;
        if last_line == access.address / LINE {
            return first;
        }
        let last = self.fetch(last_line, served, at);
        if last.at > first.at {
            last
        } else {
            first
        }
    }

    /// Reads a line that is in L1, on its way, or at another level. Returns when its data are there.
    fn fetch(&mut self, line: u64, served: Served, at: u64) -> Loaded {
        let at = at + u64::from(served.translation_cycles);
        let hit = at + u64::from(self.latencies.l1);
        if let Some(fill) = self.fills.get(&line) {
            if fill.arrives > at {
                return Loaded {
                    at: hit.max(fill.arrives),
                    cause: fill.cause,
                };
            }
        }
        let (latency, cause) = match served.level {
            Level::L1 | Level::Uncached => {
                return Loaded {
                    at: hit,
                    cause: Cause::Core,
                }
            }
            // An instruction requested the line, and it has arrived. Otherwise a prefetcher did.
            Level::FillBuffer if self.fills.contains_key(&line) => {
                return Loaded {
                    at: hit,
                    cause: Cause::Core,
                }
            }
            Level::FillBuffer => {
                return Loaded {
                    at: hit.max(at + u64::from(served.cycles)),
                    cause: Cause::FillBuffers,
                }
            }
            Level::L2 => (self.latencies.l2, Cause::L2),
            Level::L3 => (self.latencies.l3, Cause::L3),
            Level::Memory => (self.latencies.memory, Cause::Memory),
        };
        let latency = u64::from(latency);
        let start = self.fill_buffers.start(at, latency);
        // Most of the time was spent on the way to a fill buffer, not behind it.
        let cause = if start - at > latency {
            Cause::FillBuffers
        } else {
            cause
        };
        let arrives = start + latency;
        self.fills.insert(line, Fill { arrives, cause });
        Loaded { at: arrives, cause }
    }

    /// Retires the instruction in order, and notes what its cycles were spent on.
    fn retire(
        &mut self,
        index: u32,
        slots: u32,
        dispatched: u64,
        done: u64,
        held_up: Cause,
        cause: Cause,
    ) {
        let before = self.retire;
        let mut at = done.max(dispatched + 1).max(before);
        if at > before {
            self.retired = slots;
        } else if self.retired + slots > self.width {
            at += 1;
            self.retired = slots;
        } else {
            self.retired += slots;
        }
        let spent = &mut self.spent[index as usize];
        let before_dispatch = dispatched.clamp(before, at);
        spent[held_up] += before_dispatch - before;
        spent[cause] += at - before_dispatch;
        self.retire = at;
        self.instructions += 1;
        self.in_flight.push_back((at, slots));
        self.slots_in_flight += slots;
    }

    /// What the instruction does after its retirement, and what it means for later ones.
    fn after(
        &mut self,
        operation: &Operation,
        step: &Step,
        served: &[Served],
        done: u64,
        mispredicted: bool,
    ) {
        for (access, served) in step.accesses.iter().zip(served) {
            match (access.kind, access.memory) {
                (AccessKind::Store, Memory::Uncached) => {
                    let price = u64::from(self.latencies.uncached_store);
                    self.stores
                        .add(access, done, self.retire, self.retire, price);
                }
                (AccessKind::Store, Memory::WriteBack) => {
                    let (line, hit) = self.own_line(access, *served);
                    self.stores.add(access, done, self.retire, line, 1);
                    if hit {
                        self.stores.last_hit();
                    }
                }
                _ => self.loads.push_back(self.retire),
            }
        }
        match operation.order {
            Order::None => {}
            Order::Retired => self.resume = (self.retire, Cause::Order),
            Order::Drained => self.loads_from = self.loads_from.max(done),
        }
        if mispredicted {
            let resume = done + self.mispredict_penalty;
            if resume > self.resume.0 {
                self.resume = (resume, Cause::Mispredict);
            }
        }
    }

    /// Requests the line of a retired store. Returns the cycle in which the core owns it, and whether L1 had it.
    fn own_line(&mut self, access: &Access, served: Served) -> (u64, bool) {
        let at = if served.level == Level::L1 {
            self.retire
        } else {
            self.retire.max(self.stores.misses_from())
        };
        let first_line = access.address / LINE;
        let last_line = (access.address + u64::from(access.bytes) - 1) / LINE;
        // A line in L1 is there at once: the latency of a load is not that of a store.
        let mut owned = at + u64::from(served.translation_cycles);
        let mut hit = true;
        for line in first_line..=last_line {
            let data = self.fetch(line, served, at);
            if data.cause != Cause::Core {
                owned = owned.max(data.at);
                hit = false;
            }
        }
        (owned, hit)
    }
}
