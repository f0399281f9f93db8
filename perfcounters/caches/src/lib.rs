//! A functional simulation of a named processor's caches and branch predictor.
//!
//! The input is the stream of instructions that a driver executed, with every memory access, and the
//! card's accesses to the driver's memory ([`stream`]). The result says which level served each load,
//! and which branches were predicted wrongly ([`evaluate`]). There is no time in it: the
//! same stream and the same processor give the same result to the last digit.

mod array;
pub mod cpu;
mod frames;
pub mod hierarchy;
mod predictor;
pub mod stream;

use cpu::Cpu;
use hierarchy::{Dma, Hierarchy, Level};
use predictor::Predictor;
use stream::{AccessKind, Event, Stream};

/// The measured part of a stream on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Loads that L1 served.
    pub l1: u64,
    /// Loads that L2 served.
    pub l2: u64,
    /// Loads that L3 served.
    pub l3: u64,
    /// Loads that the main memory served: L3 misses.
    pub memory: u64,
    /// Branches that were predicted wrongly.
    pub mispredicted: u64,
}

/// Executes a stream on the caches and the predictor of `cpu`, both empty at the start. The card's
/// writes go where `dma` says. Only the measured part counts; the one before it warms both.
#[must_use]
pub fn evaluate(cpu: &Cpu, dma: Dma, stream: &Stream) -> Evaluation {
    let mut hierarchy = Hierarchy::new(cpu, dma, stream.regions.clone());
    let mut predictor = Predictor::new(cpu);
    let mut found = Evaluation::default();
    for (index, event) in stream.events.iter().enumerate() {
        if index == stream.measured_from {
            found = Evaluation::default();
        }
        let step = match event {
            Event::Step(step) => step,
            Event::Device { write: false, .. } => continue,
            Event::Device { address, bytes, .. } => {
                hierarchy.device_writes(*address, *bytes);
                continue;
            }
        };
        hierarchy.step(step.address);
        // No cache holds registers.
        for access in step.accesses.iter().filter(|access| !access.register) {
            let level = hierarchy.access(access);
            match level {
                _ if access.kind != AccessKind::Load => {}
                Level::L1 => found.l1 += 1,
                Level::L2 => found.l2 += 1,
                Level::L3 => found.l3 += 1,
                Level::Memory => found.memory += 1,
                Level::Underway => {}
            }
        }
        found.mispredicted += u64::from(predictor.misses(step));
    }
    found
}

#[cfg(test)]
mod tests {
    use iced_x86::FlowControl;

    use super::*;
    use crate::cpu::LINE;
    use crate::stream::{Access, Accesses, Step};

    const CODE: u64 = 0x1000;
    const JUMP: u64 = 0x1003;
    const BUFFER: u64 = 0x10_0000;
    const REGISTER: u64 = 0x20_0000;
    /// More than the reorder buffer holds, and less than L1.
    const LINES: u64 = 256;

    fn step(address: u64, kind: Option<AccessKind>, at: u64) -> Event {
        let access = |kind| Access {
            address: at,
            bytes: 8,
            kind,
            register: at == REGISTER,
        };
        Event::Step(Step {
            address,
            next: address + 3,
            branch: (address == JUMP).then_some(FlowControl::IndirectBranch),
            accesses: kind.map(access).into_iter().collect::<Accesses>(),
            target: CODE,
        })
    }

    /// A driver that loads from and stores to `LINES` lines, each with an indirect jump, a card that reads them, and a
    /// register of that card.
    fn round() -> Vec<Event> {
        let of_line = |line| {
            let address = BUFFER + line * LINE;
            let read = Event::Device {
                address,
                bytes: 64,
                write: false,
            };
            let load = Some(AccessKind::Load);
            [
                read,
                step(CODE, load, address),
                step(CODE, Some(AccessKind::Store), address),
                step(JUMP, load, REGISTER),
            ]
        };
        (0..LINES).flat_map(of_line).collect()
    }

    #[test]
    fn the_first_part_warms_caches_and_predictor_and_does_not_count() {
        let mut stream = Stream {
            events: round(),
            ..Stream::default()
        };
        let cpu = Cpu::named("haswell").unwrap();
        let cold = evaluate(&cpu, Dma::Memory, &stream);
        assert!(cold.memory > 0 && cold.mispredicted > 0, "{cold:?}");
        stream.measured_from = stream.events.len();
        stream.events.extend(round());
        let expected = Evaluation {
            l1: LINES,
            ..Evaluation::default()
        };
        assert_eq!(evaluate(&cpu, Dma::Memory, &stream), expected);
    }
}
