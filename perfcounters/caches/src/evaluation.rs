//! What a processor's caches and branch predictor make of an execution.

use crate::cpu::Cpu;
use crate::hierarchy::{Counts, Dma, Hierarchy};
use crate::predictor::{BranchCounts, Predictor};
use crate::stream::{Event, Stream};

/// The measured part of a stream on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Packets that the driver sent.
    pub packets: u64,
    /// Loads by the level that served them.
    pub loads: Counts,
    /// Branches and mispredictions.
    pub branches: BranchCounts,
}

/// Executes a stream on the caches and the predictor of `cpu`, both empty at the start. The card's
/// writes go where `dma` says. Only the measured part counts; the one before it warms both.
#[must_use]
pub fn evaluate(cpu: &Cpu, dma: Dma, stream: &Stream) -> Evaluation {
    let mut hierarchy = Hierarchy::new(cpu, dma, stream.regions.clone());
    let mut predictor = Predictor::new(cpu);
    for (index, event) in stream.events.iter().enumerate() {
        if index == stream.measured_from {
            hierarchy.reset_counts();
            predictor.reset_counts();
        }
        match event {
            Event::Device(access) => hierarchy.device(access),
            Event::Step(step) => {
                hierarchy.step(step);
                let decoded = stream.code.get(step.address);
                let branch = decoded.and_then(|it| Some((it.branch?, it.instruction.len())));
                if let Some((kind, length)) = branch {
                    predictor.branch(kind, length, step);
                }
            }
        }
    }
    Evaluation {
        packets: stream.packets,
        loads: hierarchy.counts(),
        branches: predictor.counts(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::LINE;
    use crate::stream::{
        Access, AccessKind, Accesses, DeviceAccess, DeviceAccessKind, Memory, Step,
    };

    const LOAD: u64 = 0x1000;
    const BUFFER: u64 = 0x10_0000;
    /// More than the reorder buffer holds, and less than L1.
    const LINES: u64 = 256;

    /// A driver that loads `LINES` lines. With `card`, the card writes each line before.
    fn loads(card: bool) -> Vec<Event> {
        let mut events = Vec::new();
        for line in 0..LINES {
            let address = BUFFER + line * LINE;
            if card {
                events.push(Event::Device(DeviceAccess {
                    address,
                    bytes: 16,
                    kind: DeviceAccessKind::Write,
                }));
            }
            let access = Access {
                address,
                bytes: 8,
                kind: AccessKind::Load,
                memory: Memory::WriteBack,
            };
            events.push(Event::Step(Step {
                address: LOAD,
                accesses: Accesses::from_slice(&[access]),
                taken: None,
                target: LOAD,
            }));
        }
        events
    }

    /// What the second of two equal parts counts.
    fn second_of_two(card: bool, dma: Dma) -> Counts {
        let mut events = loads(card);
        let measured_from = events.len();
        events.extend(loads(card));
        let mut stream = Stream {
            events,
            measured_from,
            packets: LINES,
            ..Stream::default()
        };
        stream.code.insert(LOAD, &[0x48, 0x8b, 0x07]).unwrap();
        let found = evaluate(&Cpu::named("haswell").unwrap(), dma, &stream);
        assert_eq!((found.packets, found.branches.all), (LINES, 0));
        found.loads
    }

    #[test]
    fn the_first_part_warms_the_caches_and_does_not_count() {
        let counts = second_of_two(false, Dma::Memory);
        assert_eq!((counts.loads, counts.l1), (LINES, LINES));
    }

    #[test]
    fn lines_that_the_card_writes_are_where_dma_left_them() {
        let memory = second_of_two(true, Dma::Memory);
        assert_eq!((memory.l1, memory.l3), (0, 0), "{memory:?}");
        let l3 = second_of_two(true, Dma::L3);
        assert_eq!((l3.l1, l3.memory), (0, 0), "{l3:?}");
    }
}
