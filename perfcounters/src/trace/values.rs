//! What a trace shows, as samples.

use caches::cpu::Cpu;
use caches::evaluation::evaluate;
use caches::hierarchy::Dma;
use caches::stream::Stream;
use record::{BackendName, LinePlacement, Metric, Sample};

use crate::backend::Cell;

/// The counts of an execution, which are equal on all processors.
pub(super) fn counts(cell: &Cell, found: &tracer::Counts) -> Vec<Sample> {
    let sums = [
        (Metric::Instructions, found.instructions),
        (Metric::Branches, found.branches),
        (Metric::ConditionalBranches, found.conditional),
        // As the published counter counts them: see `metrics.toml`.
        (Metric::Loads, found.loads + found.prefetches),
        (Metric::Stores, found.stores),
    ];
    per_packet(cell, &sums, found.packets)
}

/// Levels and mispredictions on a processor, for each place where DMA may leave the lines.
pub(super) fn simulated(cell: &Cell, cpu: &Cpu, stream: &Stream) -> Vec<Sample> {
    let mut places = vec![(Dma::Memory, LinePlacement::Memory)];
    if cpu.ddio_ways > 0 {
        places.push((Dma::L3, LinePlacement::L3));
    }
    let at = |(dma, place)| {
        let found = evaluate(cpu, dma, stream);
        let sums = [
            (Metric::BranchMisses, found.mispredicted),
            (Metric::L1Hits, found.l1),
            (Metric::L2Hits, found.l2),
            (Metric::L3Hits, found.l3),
            (Metric::L3Misses, found.memory),
        ];
        let mut samples = per_packet(cell, &sums, stream.packets);
        for sample in &mut samples {
            sample.cpu.clone_from(&cpu.name);
            sample.conditions.placement = Some(place);
        }
        samples
    };
    places.into_iter().flat_map(at).collect()
}

fn per_packet(cell: &Cell, sums: &[(Metric, u64)], packets: u64) -> Vec<Sample> {
    let packets = packets.max(1);
    let sample = |(metric, sum): &(Metric, u64)| {
        let value = *sum as f64 / packets as f64;
        let mut sample = cell.sample(BackendName::Trace, *metric, value, packets, 0);
        sample.conditions.placement = None;
        sample
    };
    sums.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use caches::stream::{Access, AccessKind, Accesses, Event, Step};
    use record::Implementation;

    use super::*;
    use crate::common;

    fn cell() -> Cell {
        common::cell(Path::new("/nonexistent"), "c", Implementation::C)
    }

    /// A driver that sent four packets and loaded one of their lines, which the card had written.
    fn stream() -> Stream {
        let address = 0x1_0000;
        let load = Access {
            address,
            bytes: 8,
            kind: AccessKind::Load,
            register: false,
        };
        let step = Step {
            address: 0x1000,
            accesses: Accesses::from_slice(&[load]),
            target: 0x1003,
        };
        let write = Event::Device {
            address,
            bytes: 64,
            write: true,
        };
        Stream {
            events: vec![write, Event::Step(step)],
            packets: 4,
            ..Stream::default()
        }
    }

    #[test]
    fn counts_are_divided_by_the_packets() {
        let samples = counts(&cell(), &tracer::Counts::of(&stream()));
        let values = samples.iter().map(|sample| (sample.metric, sample.value));
        let (one, none) = (0.25, 0.0);
        assert!(values.eq([
            (Metric::Instructions, one),
            (Metric::Branches, none),
            (Metric::ConditionalBranches, none),
            (Metric::Loads, one),
            (Metric::Stores, none),
        ]));
        assert!(samples
            .iter()
            .all(|sample| sample.packets == 4 && sample.cpu.is_empty()));
    }

    #[test]
    fn simulated_values_name_their_processor_and_where_dma_goes() {
        let who_served = |name| {
            let samples = simulated(&cell(), &Cpu::named(name).unwrap(), &stream());
            assert!(samples.iter().all(|sample| sample.cpu == name));
            let served = samples.iter().filter(|sample| sample.value == 0.25);
            let served = served.map(|sample| (sample.conditions.placement, sample.metric));
            served.collect::<Vec<_>>()
        };
        let memory = (Some(LinePlacement::Memory), Metric::L3Misses);
        let l3 = (Some(LinePlacement::L3), Metric::L3Hits);
        assert_eq!(who_served("haswell"), [memory, l3]);
        // AMD documents no writes of cards into L3.
        assert_eq!(who_served("zen4"), [memory]);
    }
}
