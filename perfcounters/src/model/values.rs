//! What the model found, as samples.

use model::caches::Counts;
use model::cpu::Cpu;
use model::evaluation::Evaluation;
use model::virtual_time::{simulate, Card, Load, Outcome, Setup};
use record::{BackendName, Metric, Sample};

use super::cost::Cost;
use crate::backend::{Cell, MeasureError};

/// Packets of a simulation in virtual time.
const SIMULATED: u64 = 400_000;

/// The published loads, for which the latency is computed: millions of packets a second.
const LOADS_MPPS: [f64; 3] = [1.0, 10.0, 20.0];

/// The percentiles of the latency. Rarer ones would be those of interrupts, which the model does not
/// have.
const LATENCIES: [(Metric, f64); 4] = [
    (Metric::LatencyP50Us, 50.0),
    (Metric::LatencyP90Us, 90.0),
    (Metric::LatencyP99Us, 99.0),
    (Metric::LatencyP99_9Us, 99.9),
];

/// The counts of an execution, which are equal on all processors.
pub(super) fn counts(cell: &Cell, evaluated: &tracer::Counts) -> Vec<Sample> {
    // As the published counter counts them: see `metrics.toml`.
    let loads = evaluated.loads + evaluated.prefetches;
    let sums = [
        (Metric::Instructions, evaluated.instructions),
        (Metric::Branches, evaluated.branches),
        (Metric::ConditionalBranches, evaluated.conditional),
        (Metric::Loads, loads),
        (Metric::Stores, evaluated.stores),
    ];
    let packets = evaluated.packets.max(1);
    let per_packet = |(metric, sum): &(Metric, u64)| {
        let value = Counts::per_packet(*sum, packets);
        cell.sample(BackendName::Model, *metric, value, packets, 0)
    };
    sums.iter().map(per_packet).collect()
}

/// The values of a driver on a processor at one clock.
///
/// # Errors
/// Virtual time cannot be simulated for the cell.
pub(super) fn modelled(
    cell: &Cell,
    cpu: &Cpu,
    mhz: u32,
    cost: &Cost,
    card: &Card,
) -> Result<Vec<Sample>, MeasureError> {
    let clock = f64::from(mhz) / 1000.0;
    let on_cpu = |sample: Sample| sample.on_cpu(&cpu.name, Some(clock));
    let mut samples = of_full_batches(cell, &cost.full);
    // Only full batches were recorded of some drivers. Throughput and latency need the others, too.
    let Some(turns) = &cost.turns else {
        return Ok(samples.into_iter().map(on_cpu).collect());
    };
    for load in std::iter::once(None).chain(LOADS_MPPS.map(Some)) {
        let setup = Setup {
            clock_hz: u64::from(mhz) * 1_000_000,
            batch: cell.conditions.batch,
            ring_size: cell.conditions.ring_size,
            frame_size: cell.conditions.frame_size,
            load: load.map_or(Load::LineRate, Load::Mpps),
            packets: SIMULATED,
        };
        let outcome = simulate(turns, card, &setup)
            .map_err(|error| MeasureError::Other(format!("virtual time: {error}")))?;
        samples.extend(in_virtual_time(cell, load, &outcome));
    }
    Ok(samples.into_iter().map(on_cpu).collect())
}

/// Cycles, mispredictions and levels.
fn of_full_batches(cell: &Cell, full: &Evaluation) -> Vec<Sample> {
    let (packets, accesses) = (full.packets.max(1), &full.accesses);
    let per_packet = |count| Counts::per_packet(count, packets);
    let cycles = full.cycles_per_packet();
    let values = [
        (Metric::CoreCycles, cycles),
        (Metric::Ipc, per_packet(full.timing.instructions) / cycles),
        (
            Metric::BranchMisses,
            per_packet(full.branches.mispredicted()),
        ),
        (Metric::L1Hits, per_packet(accesses.load_l1)),
        (Metric::L2Hits, per_packet(accesses.load_l2)),
        (Metric::L3Hits, per_packet(accesses.load_l3)),
        (Metric::L3Misses, per_packet(accesses.load_memory)),
    ];
    let sample = |(metric, value)| cell.sample(BackendName::Model, metric, value, packets, 0);
    values.map(sample).to_vec()
}

/// Throughput at line rate, or the latency under a load.
fn in_virtual_time(cell: &Cell, load: Option<f64>, outcome: &Outcome) -> Vec<Sample> {
    let mut values = match load {
        None => vec![
            (Metric::Mpps, outcome.mpps),
            (Metric::FullBatchRatio, outcome.full_batch_ratio),
        ],
        Some(_) => vec![(Metric::LossRatio, outcome.loss_ratio)],
    };
    if load.is_some() {
        let latency = |(metric, percent)| Some((metric, outcome.latency_us(percent)?));
        values.extend(LATENCIES.into_iter().filter_map(latency));
    }
    let packets = outcome.packets().max(1);
    let sample = |(metric, value)| {
        let mut sample = cell.sample(BackendName::Model, metric, value, packets, 0);
        sample.conditions.offered_mpps = load;
        sample
    };
    values.into_iter().map(sample).collect()
}

/// The cycles that the model predicts for `lockstep` on this machine.
pub(super) fn on_this_machine(cell: &Cell, host: &Cpu, cycles: f64, packets: u64) -> Sample {
    let clock = f64::from(host.core.clock_mhz) / 1000.0;
    cell.sample(
        BackendName::Model,
        Metric::LockstepCycles,
        cycles,
        packets.max(1),
        0,
    )
    .on_cpu(&host.name, Some(clock))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::Implementation;

    use super::*;
    use crate::common::cell;

    fn value(samples: &[Sample], metric: Metric, load: Option<f64>) -> f64 {
        let mut found = samples
            .iter()
            .filter(|sample| sample.metric == metric && sample.conditions.offered_mpps == load);
        found.next().unwrap().value
    }

    #[test]
    fn counts_are_divided_by_the_packets() {
        let evaluated = tracer::Counts {
            packets: 32,
            instructions: 2_400,
            branches: 320,
            conditional: 160,
            loads: 608,
            prefetches: 32,
            stores: 400,
        };
        let samples = counts(
            &cell(Path::new("/nonexistent"), "c", Implementation::C),
            &evaluated,
        );
        for (metric, expected) in [
            (Metric::Instructions, 75.0),
            (Metric::Branches, 10.0),
            (Metric::ConditionalBranches, 5.0),
            (Metric::Loads, 20.0),
            (Metric::Stores, 12.5),
        ] {
            assert_eq!(value(&samples, metric, None), expected);
        }
        assert!(samples
            .iter()
            .all(|sample| sample.cpu.is_empty() && sample.packets == 32));
    }

    #[test]
    fn modelled_values_name_their_processor_and_clock() {
        use model::virtual_time::{Turn, TurnCosts};

        let mut full = Evaluation {
            packets: 1000,
            ..Evaluation::default()
        };
        full.timing.cycles = 100_000;
        full.timing.instructions = 200_000;
        full.accesses.load_l2 = 500;
        let turns = [(0, 30.0), (32, 3200.0)].map(|(frames, cycles)| Turn { frames, cycles });
        let cost = Cost {
            full,
            turns: Some(TurnCosts::new(turns).unwrap()),
        };
        let cpu = Cpu::named("haswell").unwrap();
        let card = Card::intel_82599().unwrap();
        let cell = cell(Path::new("/nonexistent"), "c", Implementation::C);
        let samples = modelled(&cell, &cpu, 1600, &cost, &card).unwrap();
        assert!(samples
            .iter()
            .all(|sample| sample.cpu == "haswell" && sample.clock_ghz == Some(1.6)));
        assert_eq!(value(&samples, Metric::CoreCycles, None), 100.0);
        assert_eq!(value(&samples, Metric::Ipc, None), 2.0);
        assert_eq!(value(&samples, Metric::L2Hits, None), 0.5);
        // 100 cycles a packet at 1.6 GHz.
        assert!((value(&samples, Metric::Mpps, None) - 16.0).abs() < 0.05);
        let median = value(&samples, Metric::LatencyP50Us, Some(1.0));
        assert!(median > 1.5 && median < 4.0, "{median}");
    }
}
