//! What a driver costs on a processor.

use model::cpu::Cpu;
use model::evaluation::{all_code, Evaluation, Machine};
use model::pipeline::{Costs, Llvm};
use model::virtual_time::{Turn, TurnCosts};

use super::processor::Processor;
use super::traces::{LessThanABatch, Traces};
use crate::backend::MeasureError;

/// What a driver costs on a processor at one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The part with full batches.
    pub full: Evaluation,
    /// The turns of one port by the frames that they find; `None` if only full batches were recorded.
    pub turns: Option<TurnCosts>,
}

fn failed(cause: impl std::fmt::Display) -> MeasureError {
    MeasureError::Other(format!("the model: {cause}"))
}

/// The cost of a driver at each clock of a processor, in their order.
///
/// # Errors
/// LLVM does not know an instruction of the driver, or the traces belong to different code.
pub(super) fn costs(
    processor: &Processor,
    llvm: &Llvm,
    traces: &Traces,
) -> Result<Vec<(u32, Cost)>, MeasureError> {
    let code = all_code(traces.streams()).map_err(failed)?;
    let costs = Costs::new(llvm, &processor.cpu, &code).map_err(failed)?;
    let at = |mhz: &u32| {
        let regions = traces.full.regions.clone();
        let mut machine = Machine::new(&processor.cpu, *mhz, &code, &costs, regions);
        let full = machine.run(&traces.full).map_err(failed)?;
        let turns = match &traces.less {
            Some(less) => {
                let full = turn(traces.batch, &full);
                Some(turn_costs(&mut machine, full, less)?)
            }
            None => None,
        };
        Ok((*mhz, Cost { full, turns }))
    };
    processor.clocks_mhz.iter().map(at).collect()
}

/// The costs of all turns on a processor, which has just executed the one with a full batch.
fn turn_costs(
    machine: &mut Machine<'_>,
    full: Turn,
    less: &LessThanABatch,
) -> Result<TurnCosts, MeasureError> {
    let mut turns = vec![full];
    for (frames, stream) in &less.few {
        turns.push(turn(*frames, &machine.run(stream).map_err(failed)?));
    }
    let idle = machine.run(&less.idle).map_err(failed)?;
    turns.push(Turn {
        frames: 0,
        cycles: idle.timing.cycles as f64 / less.idle_turns as f64,
    });
    TurnCosts::new(turns).map_err(failed)
}

/// A turn that found `frames` frames each time.
fn turn(frames: u32, evaluation: &Evaluation) -> Turn {
    Turn {
        frames,
        cycles: evaluation.cycles_per_packet() * f64::from(frames),
    }
}

/// Cycles per packet with full batches and a software card on the same core, as `lockstep` measures
/// them, at the nominal clock of `cpu`.
///
/// # Errors
/// See [`costs`].
pub(super) fn lockstep_cycles(
    cpu: &Cpu,
    llvm: &Llvm,
    traces: &Traces,
) -> Result<f64, MeasureError> {
    let code = &traces.full.code;
    let costs = Costs::new(llvm, cpu, code).map_err(failed)?;
    let regions = traces.full.regions.clone();
    let mut machine =
        Machine::new(cpu, cpu.core.clock_mhz, code, &costs, regions).with_card_on_this_core();
    let full = machine.run(&traces.full).map_err(failed)?;
    Ok(full.cycles_per_packet())
}
