//! How much each parameter of a processor matters.

use model::cpu::{Cpu, Parameter};
use model::evaluation::{Evaluation, Machine};
use model::pipeline::{Costs, Llvm};
use model::stream::Stream;

use crate::backend::MeasureError;

/// What a parameter is multiplied by.
const FACTORS: [f64; 2] = [0.8, 1.2];

/// The parameter to which all cycles of a CPU file refer. Changing it alone has no meaning.
const NOMINAL_CLOCK: &str = "core.clock_mhz";

/// The cycles with one parameter changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The parameter: `l3.latency`.
    pub parameter: String,
    /// What it was multiplied by, before rounding.
    pub factor: f64,
    /// Core cycles per packet.
    pub cycles: f64,
}

/// A driver's cycles on a processor, and those with each parameter changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The evaluation with the parameters of the CPU file.
    pub unchanged: Evaluation,
    /// The changes, in the order of the file.
    pub changed: Vec<Changed>,
    /// Parameters that cannot be changed so, such as a number of entries that must be a power of two.
    pub skipped: Vec<String>,
}

fn failed(cause: impl std::fmt::Display) -> MeasureError {
    MeasureError::Other(format!("the model: {cause}"))
}

/// Executes a recording on `cpu` at a clock of `mhz`. `vary` says whether to do so again with each whole
/// number of the CPU file 20 % smaller and larger, by at least 1.
///
/// # Errors
/// LLVM does not know an instruction of the recording.
pub fn evaluate(
    llvm: &Llvm,
    cpu: &Cpu,
    mhz: u32,
    stream: &Stream,
    vary: bool,
) -> Result<Sensitivity, MeasureError> {
    // The costs of instructions come from LLVM alone, so they hold for every change.
    let costs = Costs::new(llvm, cpu, &stream.code).map_err(failed)?;
    let run = |cpu: &Cpu| {
        let regions = stream.regions.clone();
        Machine::new(cpu, mhz, &stream.code, &costs, regions)
            .run(stream)
            .map_err(failed)
    };
    let mut found = Sensitivity {
        unchanged: run(cpu)?,
        changed: Vec::new(),
        skipped: Vec::new(),
    };
    if !vary {
        return Ok(found);
    }
    for parameter in cpu.parameters() {
        let Some(number) = wanted(parameter) else {
            continue;
        };
        for factor in FACTORS {
            match cpu.with(&parameter.name, multiplied(number, factor)) {
                Ok(other) => found.changed.push(Changed {
                    parameter: parameter.name.clone(),
                    factor,
                    cycles: run(&other)?.cycles_per_packet(),
                }),
                Err(_) => found.skipped.push(parameter.name.clone()),
            }
        }
    }
    Ok(found)
}

/// The value of a parameter that is worth changing.
fn wanted(parameter: &Parameter) -> Option<u32> {
    let number = parameter.number()?;
    (number > 0 && parameter.name != NOMINAL_CLOCK).then_some(number)
}

/// The number times a factor, rounded, and different from it.
fn multiplied(number: u32, factor: f64) -> u32 {
    let rounded = (f64::from(number) * factor).round() as u32;
    match (rounded == number, factor < 1.0) {
        (true, true) => number - 1,
        (true, false) => number + 1,
        (false, _) => rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_number_differs_by_at_least_one() {
        assert_eq!(multiplied(100, 0.8), 80);
        assert_eq!(multiplied(100, 1.2), 120);
        assert_eq!(multiplied(2, 0.8), 1);
        assert_eq!(multiplied(2, 1.2), 3);
        assert_eq!(multiplied(1, 0.8), 0);
    }

    #[test]
    fn parameters_without_a_positive_number_stay() {
        let cpu = Cpu::named("haswell").unwrap();
        let names: Vec<_> = cpu
            .parameters()
            .iter()
            .filter(|parameter| wanted(parameter).is_some())
            .map(|parameter| parameter.name.as_str())
            .collect();
        assert!(names.contains(&"l3.latency") && names.contains(&"core.fill_buffers"));
        // No DDIO, a policy, and the clock of the file.
        for absent in ["ddio.ways", "l1d.policy", NOMINAL_CLOCK] {
            assert!(!names.contains(&absent), "{absent}");
        }
    }
}
