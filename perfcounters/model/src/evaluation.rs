//! What a processor makes of the parts of an execution: counts, levels, mispredictions and cycles.

use std::collections::BTreeMap;

use crate::caches::{Counts, Hierarchy};
use crate::cpu::Cpu;
use crate::pipeline::{Costs, PipelineError, Timing, Window};
use crate::predictor::{BranchCounts, BranchTable, Predictor};
use crate::stream::{
    Access, AccessKind, Code, CodeError, DeviceAccess, DeviceAccessKind, Event, Memory, Region,
    Step, Stream,
};

/// The measured part of a stream on a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Packets that the driver sent.
    pub packets: u64,
    /// Instructions, loads and stores by the level that served them, and the card's accesses.
    pub accesses: Counts,
    /// Branches and mispredictions.
    pub branches: BranchCounts,
    /// Cycles, their causes, and the cycles of each instruction.
    pub timing: Timing,
}

impl Evaluation {
    /// Core cycles per packet; 0 without packets.
    #[must_use]
    pub fn cycles_per_packet(&self) -> f64 {
        Counts::per_packet(self.timing.cycles, self.packets)
    }
}

/// The instructions of several recordings of one process.
///
/// # Errors
/// The recordings have different instructions at one address.
pub fn all_code<'s>(streams: impl IntoIterator<Item = &'s Stream>) -> Result<Code, CodeError> {
    let mut all = Code::new();
    for decoded in streams.into_iter().flat_map(|stream| stream.code.iter()) {
        all.insert(decoded.instruction.ip(), decoded.bytes())?;
    }
    Ok(all)
}

/// A processor that executes one recording after another. Caches, predictor and core keep their state
/// in between, so one recording warms them for the next.
#[derive(Debug)]
pub struct Machine<'a> {
    hierarchy: Hierarchy,
    predictor: Predictor,
    branches: BranchTable,
    window: Window<'a>,
    card_on_this_core: bool,
}

impl<'a> Machine<'a> {
    /// A processor with empty caches at a clock of `mhz`. `costs` are those of `code` on this processor;
    /// they do not depend on the clock. `regions` are those of [`Stream::regions`].
    #[must_use]
    pub fn new(cpu: &Cpu, mhz: u32, code: &Code, costs: &'a Costs, regions: Vec<Region>) -> Self {
        Self {
            hierarchy: Hierarchy::with(cpu, mhz, regions),
            predictor: Predictor::new(cpu),
            branches: BranchTable::new(code),
            window: Window::new(cpu, mhz, costs),
            card_on_this_core: false,
        }
    }

    /// The same processor with a software card on the same core, as the backend `lockstep` has it. What
    /// the card reads and writes passes through this core's caches, and its registers are normal memory.
    /// The card's own time does not count.
    #[must_use]
    pub fn with_card_on_this_core(mut self) -> Self {
        self.card_on_this_core = true;
        self
    }

    /// Executes a recording, and returns what its measured part cost.
    ///
    /// # Errors
    /// The costs lack an instruction of the recording.
    pub fn run(&mut self, stream: &Stream) -> Result<Evaluation, PipelineError> {
        let mut before = self.begin();
        for (index, event) in stream.events.iter().enumerate() {
            if index == stream.measured_from {
                before = self.begin();
            }
            match event {
                Event::Device(access) if self.card_on_this_core => {
                    let _ = self.hierarchy.step(&as_step(access));
                }
                Event::Device(access) => self.hierarchy.device(access),
                Event::Step(step) => {
                    let software_card = self.card_on_this_core.then(|| without_registers(step));
                    let step = software_card.as_ref().unwrap_or(step);
                    let served = self.hierarchy.step(step);
                    let mispredicted = match self.branches.get(step.address) {
                        Some((kind, length)) => self.predictor.branch(kind, length, step),
                        None => false,
                    };
                    self.window.execute(step, &served, mispredicted)?;
                }
            }
        }
        if stream.measured_from >= stream.events.len() {
            before = self.begin();
        }
        Ok(Evaluation {
            packets: stream.packets,
            accesses: self.hierarchy.counts(),
            branches: self.predictor.counts(),
            timing: since(self.window.timing(), &before),
        })
    }

    /// A part begins: all counts start at 0. Returns the time so far.
    fn begin(&mut self) -> Timing {
        self.hierarchy.reset_counts();
        self.predictor.reset_counts();
        self.window.timing()
    }
}

/// The step with the registers of a software card, which are normal memory.
fn without_registers(step: &Step) -> Step {
    let mut step = step.clone();
    for access in &mut step.accesses {
        access.memory = Memory::WriteBack;
    }
    step
}

/// The card's access as one of the core.
fn as_step(access: &DeviceAccess) -> Step {
    let access = Access {
        address: access.address,
        bytes: access.bytes.min(u16::MAX.into()) as u16,
        kind: match access.kind {
            DeviceAccessKind::Read => AccessKind::Load,
            DeviceAccessKind::Write => AccessKind::Store,
        },
        memory: Memory::WriteBack,
    };
    Step {
        address: 0,
        accesses: [access].into_iter().collect(),
        taken: None,
        target: 0,
    }
}

/// The part of `now` that came after `before`.
fn since(now: Timing, before: &Timing) -> Timing {
    let by_address: BTreeMap<_, _> = now
        .by_address
        .into_iter()
        .map(|(address, spent)| {
            let earlier = before.by_address.get(&address).copied().unwrap_or_default();
            (address, spent - earlier)
        })
        .filter(|(_, spent)| spent.total() > 0)
        .collect();
    Timing {
        cycles: now.cycles - before.cycles,
        instructions: now.instructions - before.instructions,
        causes: now.causes - before.causes,
        by_address,
    }
}
