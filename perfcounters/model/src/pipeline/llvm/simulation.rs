//! Lets `llvm-mca` itself simulate a straight line of instructions, to compare the window with it.
//!
//! `llvm-mca` knows no misprediction, fill buffer or store buffer, and every load takes a fixed time. It needs 15 µs for an
//! instruction, and longer ones the longer the block is. So it checks a part of a stream and does not time the whole.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::assembly::{disassemble, TARGET};
use super::program::{Llvm, LlvmError};
use crate::stream::Decoded;

/// The most instructions in one run. Beyond it, the time for each instruction grows.
const CHUNK: usize = 10_000;

/// The views that cost time and say nothing about the sum.
const OPTIONS: [&str; 4] = [
    "-iterations=1",
    "-call-latency=1",
    "-instruction-info=0",
    "-resource-pressure=0",
];

/// An instruction on the straight line.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'a> {
    /// The instruction.
    pub decoded: &'a Decoded,
    /// The cycles of its load, if they are not those of LLVM's table.
    pub load: Option<u32>,
}

/// What `llvm-mca` found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    /// Cycles, of which each run of 10,000 instructions includes the filling and draining of the pipeline.
    pub cycles: u64,
    /// Instructions.
    pub instructions: u64,
}

/// Lets `llvm-mca` simulate instructions on the processor `mcpu`. It takes every branch as predicted.
///
/// # Errors
/// LLVM's programs failed, or do not know the processor or an instruction.
pub fn simulate(llvm: &Llvm, mcpu: &str, line: &[Timed<'_>]) -> Result<Simulated, LlvmError> {
    let unique: BTreeMap<u64, &Decoded> = line
        .iter()
        .map(|timed| (timed.decoded.instruction.ip(), timed.decoded))
        .collect();
    let texts = disassemble(llvm, unique.values().copied())?;
    let texts: BTreeMap<u64, &str> = unique
        .keys()
        .copied()
        .zip(texts.iter().map(|line| line.text.as_str()))
        .collect();
    let cpu = format!("-mcpu={mcpu}");
    let arguments: Vec<&str> = ["-mtriple", TARGET, &cpu]
        .into_iter()
        .chain(OPTIONS)
        .collect();
    let mut sum = Simulated::default();
    for chunk in line.chunks(CHUNK) {
        let output = llvm.run("llvm-mca", &arguments, &assembly(chunk, &texts))?;
        sum.cycles += total_cycles(&output)?;
        sum.instructions += chunk.len() as u64;
    }
    Ok(sum)
}

/// The straight line, with a comment around each load that has a latency of its own.
fn assembly(line: &[Timed<'_>], texts: &BTreeMap<u64, &str>) -> String {
    let mut assembly = String::new();
    for timed in line {
        let text = texts
            .get(&timed.decoded.instruction.ip())
            .copied()
            .unwrap_or("nop");
        let _ = match timed.load {
            Some(cycles) => writeln!(
                assembly,
                "# LLVM-MCA-LATENCY {cycles}\n{text}\n# LLVM-MCA-LATENCY"
            ),
            None => writeln!(assembly, "{text}"),
        };
    }
    assembly
}

/// Reads the line `Total Cycles:      12345`.
fn total_cycles(output: &str) -> Result<u64, LlvmError> {
    output
        .lines()
        .find_map(|line| line.strip_prefix("Total Cycles:"))
        .and_then(|cycles| cycles.trim().parse().ok())
        .ok_or_else(|| LlvmError::Malformed {
            program: "llvm-mca".to_owned(),
            problem: "no number of cycles".to_owned(),
        })
}
