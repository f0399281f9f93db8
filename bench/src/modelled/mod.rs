//! `triptych model`: what a packet costs a driver on a named processor, and why.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::Write as _;

use anyhow::{bail, Context, Result};
use model::caches::Counts;
use model::cpu::Cpu;
use model::pipeline::{Cause, Llvm};
use perfcounters::device::NicProgram;
use perfcounters::model::processor::Processors;
use perfcounters::model::Model;
use perfcounters::placement::Topology;
use perfcounters::{Backend, Cell, Interrupt};
use record::Conditions;

use crate::builds::cells::Builds;
use crate::builds::peers::Peers;
use crate::builds::variants::Driver;
use crate::usage::UsageError;
use arguments::ModelArguments;

pub mod arguments;

/// The first line of the file with sensitivities.
const HEADER: &str = "cpu,implementation,batch_size,parameter,factor,cycles_per_packet\n";
/// The name of the row that changes no parameter.
const UNCHANGED: &str = "none";

/// Traces the drivers, prints a table for each, and writes the sensitivities.
///
/// # Errors
/// If a driver is not built or cannot be traced, LLVM is missing, or the file cannot be written.
pub fn run(arguments: &ModelArguments, interrupt: &Interrupt) -> Result<()> {
    let llvm = Llvm::find().context("cycles need LLVM: run bench/setup/llvm-mca.sh")?;
    let cpu = Cpu::named(&arguments.cpu.0)?;
    let tracer = Model {
        nic: NicProgram::new(arguments.build_dir.join("bin/nic")),
        placement: Topology::here().choose(None),
        processors: Processors::default(),
        interrupt: interrupt.clone(),
    };
    if let Some(why) = tracer.unavailable() {
        bail!("drivers cannot be traced here: {why}");
    }
    let mhz = (arguments.clock.0 * 1000.0).round() as u32;
    // Before the work, not after it: an error in the path costs no time.
    let file = match &arguments.sensitivity {
        Some(path) => {
            let unwritable = || format!("cannot write {}", path.display());
            Some((File::create(path).with_context(unwritable)?, unwritable))
        }
        None => None,
    };
    let mut rows = HEADER.to_owned();
    let mut skipped = BTreeSet::new();
    for cell in cells(arguments)? {
        let stream = tracer.full_batches(&cell)?.stream;
        let vary = arguments.sensitivity.is_some();
        let found = perfcounters::model::sensitivity::evaluate(&llvm, &cpu, mhz, &stream, vary)?;
        println!(
            "{}",
            table(&cell, &cpu, arguments.clock.0, &found.unchanged)
        );
        let (implementation, batch) = (cell.implementation, cell.conditions.batch);
        let mut row = |parameter: &str, factor: f64, cycles: f64| {
            let name = &cpu.name;
            writeln!(
                rows,
                "{name},{implementation},{batch},{parameter},{factor},{cycles}"
            )
        };
        row(UNCHANGED, 1.0, found.unchanged.cycles_per_packet())?;
        for changed in &found.changed {
            row(&changed.parameter, changed.factor, changed.cycles)?;
        }
        skipped.extend(found.skipped);
    }
    if !skipped.is_empty() {
        let names: Vec<String> = skipped.into_iter().collect();
        eprintln!(
            "triptych: not changed, because no such processor is possible: {}",
            names.join(", ")
        );
    }
    if let Some((mut file, unwritable)) = file {
        file.write_all(rows.as_bytes()).with_context(unwritable)?;
    }
    Ok(())
}

/// The built drivers that the command line names, at each batch size.
fn cells(arguments: &ModelArguments) -> Result<Vec<Cell>> {
    let peers = Peers::read(&arguments.build_dir).map_err(UsageError)?;
    let drivers: Vec<Driver> = arguments
        .implementations
        .iter()
        .map(|implementation| (*implementation, arguments.variant.clone()))
        .collect();
    let builds = Builds::describe(&arguments.build_dir, &drivers, peers);
    let conditions = arguments
        .batch
        .iter()
        .map(|batch| Conditions::with_batch(*batch));
    let cells: Vec<Cell> = conditions
        .flat_map(|conditions| builds.cells(conditions, &drivers))
        .collect();
    for cell in &cells {
        if !cell.program.is_file() {
            bail!(
                "{cell} is not built: {} is missing; `make build`, `make variants` and `make peers` build drivers",
                cell.program.display()
            );
        }
    }
    if cells.is_empty() {
        bail!(UsageError(
            "no driver has this variant at these batch sizes".to_owned()
        ));
    }
    Ok(cells)
}

/// The figures of a driver as text.
fn table(cell: &Cell, cpu: &Cpu, clock: f64, found: &model::evaluation::Evaluation) -> String {
    let per_packet = |count| Counts::per_packet(count, found.packets);
    let accesses = &found.accesses;
    let mut text = format!("{cell}, modelled: {} at {clock} GHz\n", cpu.title);
    let rows = [
        ("cycles", found.timing.cycles),
        ("instructions", found.timing.instructions),
        ("branches", found.branches.all),
        ("mispredicts", found.branches.mispredicted()),
        ("loads", accesses.loads),
        ("  from L1", accesses.load_l1),
        ("  on their way to L1", accesses.load_fill_buffer),
        ("  from L2", accesses.load_l2),
        ("  from L3", accesses.load_l3),
        ("  from memory", accesses.load_memory),
        ("stores", accesses.stores),
        ("  that miss L1", accesses.stores_missing),
    ];
    for (name, count) in rows {
        text.push_str(&format!("  {name:22} {:8.2}\n", per_packet(count)));
    }
    text.push_str("  cycles by cause\n");
    for cause in Cause::ALL {
        let cycles = found.timing.causes[cause];
        if cycles > 0 {
            text.push_str(&format!(
                "    {:20} {:8.2}\n",
                cause.name(),
                per_packet(cycles)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::Implementation;

    use super::*;
    use crate::builds::cells::{cell, describe_build};

    #[test]
    fn the_table_names_processor_clock_and_causes() {
        let build = describe_build(Path::new("/nonexistent"), Implementation::C, "default");
        let cell = cell(
            Path::new("/nonexistent"),
            &build,
            Conditions::with_batch(32),
        );
        let mut found = model::evaluation::Evaluation {
            packets: 10,
            ..Default::default()
        };
        (found.timing.cycles, found.timing.instructions) = (500, 800);
        found.timing.causes[Cause::L3] = 200;
        let cpu = Cpu::named("haswell").unwrap();
        let text = table(&cell, &cpu, 1.6, &found);
        assert!(text.starts_with("c/default batch 32"), "{text}");
        assert!(text.contains("Haswell) at 1.6 GHz"), "{text}");
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("  cycles ").ends_with("50.00"), "{text}");
        assert!(line("loads from L3").ends_with("20.00"), "{text}");
        // A cause without cycles is no news.
        assert!(!text.contains("fences"), "{text}");
    }
}
