//! What a processor's caches and branch predictor make of an execution.

use crate::cpu::Cpu;
use crate::hierarchy::{Dma, Hierarchy, Level};
use crate::predictor::Predictor;
use crate::stream::{branch, AccessKind, Event, Stream};

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
        let code = stream.code.get(&step.address);
        if let Some((code, kind)) = code.and_then(|code| Some((code, branch(code)?))) {
            let wrong = predictor.branch(kind, code.len(), step);
            found.mispredicted += u64::from(wrong);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;
    use crate::cpu::LINE;
    use crate::stream::{Access, Accesses, Step};

    const CODE: u64 = 0x1000;
    const BUFFER: u64 = 0x10_0000;
    /// More than the reorder buffer holds, and less than L1.
    const LINES: u64 = 256;

    fn step(address: u64, kind: Option<AccessKind>, at: u64) -> Event {
        let access = |kind| Access {
            address: at,
            bytes: 8,
            kind,
            register: false,
        };
        Event::Step(Step {
            address,
            accesses: kind.map(access).into_iter().collect::<Accesses>(),
            target: CODE,
        })
    }

    /// A driver that loads from and stores to `LINES` lines, each with an indirect jump, and a card that reads them.
    fn round() -> Vec<Event> {
        let mut events = Vec::new();
        for line in 0..LINES {
            let address = BUFFER + line * LINE;
            events.push(Event::Device {
                address,
                bytes: 64,
                write: false,
            });
            events.push(step(CODE, Some(AccessKind::Load), address));
            events.push(step(CODE, Some(AccessKind::Store), address));
            events.push(step(CODE + 3, None, 0));
        }
        events
    }

    #[test]
    fn the_first_part_warms_caches_and_predictor_and_does_not_count() {
        let mut stream = Stream {
            events: round(),
            ..Stream::default()
        };
        let jump = Decoder::new(64, &[0xff, 0xe0], DecoderOptions::NONE).decode();
        stream.code.insert(CODE + 3, jump);
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
