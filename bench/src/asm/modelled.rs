//! The modelled cycles of each instruction, for the listing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use model::cpu::Cpu;
use model::pipeline::{Cause, Causes, Llvm};
use object::{Object, ObjectSegment};
use perfcounters::device::NicProgram;
use perfcounters::model::processor::Processors;
use perfcounters::model::{CodeFile, Model};
use perfcounters::placement::Topology;
use perfcounters::Interrupt;
use record::{Conditions, Implementation};

use super::arguments::AsmArguments;
use crate::builds::cells::{cell, describe_build};
use crate::builds::variants::DEFAULT;
use crate::settings::values::CpuName;

/// What each instruction of a program cost, by its address in the listing.
pub(super) struct Modelled {
    /// The processor, the clock and the batch size.
    pub(super) title: String,
    packets: u64,
    spent: BTreeMap<u64, Causes>,
}

impl Modelled {
    /// Traces the program and runs it on the processor.
    ///
    /// # Errors
    /// If the program cannot be traced or read, or LLVM is missing.
    pub(super) fn new(
        arguments: &AsmArguments,
        cpu: &CpuName,
        implementation: Implementation,
        program: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let llvm = Llvm::find().context("cycles need LLVM: run bench/setup/llvm-mca.sh")?;
        let cpu = Cpu::named(&cpu.0)?;
        let build = describe_build(&arguments.build_dir, implementation, DEFAULT);
        let conditions = Conditions::with_batch(arguments.batch);
        let mut cell = cell(&arguments.build_dir, &build, conditions);
        cell.program = fs::canonicalize(program)
            .with_context(|| format!("cannot find {}", program.display()))?;
        let tracer = Model {
            nic: NicProgram::new(arguments.build_dir.join("bin/nic")),
            placement: Topology::here().choose(None),
            processors: Processors::default(),
            interrupt: interrupt.clone(),
        };
        let recording = tracer.full_batches(&cell)?;
        let mhz = (arguments.clock.0 * 1000.0).round() as u32;
        let (stream, code) = (&recording.stream, &recording.code);
        let found =
            perfcounters::model::sensitivity::evaluate(&llvm, &cpu, mhz, stream, false)?.unchanged;
        let segments = segments(&cell.program)?;
        let own = |file: &&CodeFile| file.path == cell.program;
        let spent = found
            .timing
            .by_address
            .iter()
            .filter_map(|(address, spent)| {
                let file = code
                    .iter()
                    .filter(own)
                    .find(|file| file.addresses.contains(address))?;
                Some((listed(&segments, file, *address)?, *spent))
            });
        Ok(Self {
            title: format!(
                "{} at {} GHz, batch {}",
                cpu.title, arguments.clock.0, arguments.batch
            ),
            packets: stream.packets.max(1),
            spent: spent.collect(),
        })
    }

    /// Cycles per packet of the instruction at an address of the listing.
    pub(super) fn cycles(&self, address: u64) -> f64 {
        let spent = self.spent.get(&address);
        spent.map_or(0.0, |spent| spent.total() as f64 / self.packets as f64)
    }

    /// What the core mostly waited for at this instruction, if that took more than half of its cycles.
    pub(super) fn stall(&self, address: u64) -> Option<&'static str> {
        let spent = self.spent.get(&address)?;
        let stall = Cause::ALL
            .into_iter()
            .filter(|cause| *cause != Cause::Core)
            .find(|cause| spent[*cause] * 2 > spent.total())?;
        Some(stall.name())
    }
}

/// The loaded parts of a program: address in the listing, offset in the file, bytes.
fn segments(program: &Path) -> Result<Vec<(u64, u64, u64)>> {
    let unreadable = || format!("cannot read {}", program.display());
    let bytes = fs::read(program).with_context(unreadable)?;
    let file = object::File::parse(&*bytes).with_context(unreadable)?;
    let parts = file.segments().map(|segment| {
        let (offset, size) = segment.file_range();
        (segment.address(), offset, size)
    });
    Ok(parts.collect())
}

/// The address in the listing of an instruction that a process executed.
fn listed(segments: &[(u64, u64, u64)], file: &CodeFile, address: u64) -> Option<u64> {
    let place = address - file.addresses.start + file.offset;
    let (start, offset, _) = segments
        .iter()
        .find(|(_, offset, size)| (*offset..offset + size).contains(&place))?;
    Some(place - offset + start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executed_addresses_become_those_of_the_listing() {
        let segments = [(0x0, 0x0, 0x800), (0x2000, 0x1000, 0x500)];
        let file = CodeFile {
            path: "/driver".into(),
            addresses: 0x5555_5555_6000..0x5555_5555_7000,
            offset: 0x1000,
        };
        assert_eq!(listed(&segments, &file, 0x5555_5555_6010), Some(0x2010));
        assert_eq!(listed(&segments, &file, 0x5555_5555_6600), None);
    }

    #[test]
    fn an_instruction_names_what_most_of_its_cycles_waited_for() {
        let mut spent = Causes::default();
        (spent[Cause::Core], spent[Cause::L3]) = (10, 30);
        let modelled = Modelled {
            title: String::new(),
            packets: 20,
            spent: BTreeMap::from([(0x10, spent)]),
        };
        assert_eq!(modelled.cycles(0x10), 2.0);
        assert_eq!(modelled.stall(0x10), Some("loads from L3"));
        assert_eq!((modelled.cycles(0x20), modelled.stall(0x20)), (0.0, None));
    }
}
