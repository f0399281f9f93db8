//! `triptych run --dry-run`: says what a run would measure, for how long, and what it would change.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use perfcounters::Interrupt;
use record::Conditions;

use super::arguments::RunArguments;
use super::card;
use super::generator::Pktgen;
use super::matrix::Compared;
use super::selection::configuration;
use super::setup::RunSetup;
use crate::build::builds::variants::{Driver, DEFAULT};
use crate::machine::clocks::needs_sudo;
use crate::machine::host::system::System;
use crate::progress::rounded;

/// Prints the plan of a run. Problems that would stop the run are listed, but are no errors here.
pub(super) fn print(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    let config = configuration(arguments)?;
    let setup = RunSetup::new(&config, &arguments.build_dir, interrupt)?;
    let mut problems = card::problems(&config, &System::here());
    match &config.devices {
        None => println!("ports: those of the software card, which the run starts"),
        Some([first, second]) => println!("ports: {first} and {second}"),
    }
    match Pktgen::new(&config, interrupt) {
        Err(error) => problems.push(error.to_string()),
        Ok(Some(generator)) => println!(
            "load: this command sends to both ports\n  {}",
            generator.command_line()
        ),
        Ok(None) if config.devices.is_some() => {
            println!("load: you send to both ports, for the whole run");
        }
        Ok(None) => {}
    }
    problems.extend(print_clocks(&config.clocks_ghz, &arguments.clocks_root));
    let time = print_cells(&setup, &mut problems)?;
    let runs = u32::try_from(config.clocks_ghz.len().max(1)).unwrap_or(u32::MAX);
    let each = match runs {
        1 => String::new(),
        _ => format!(" ({} for each clock)", rounded(time)),
    };
    println!("\ntime: about {}{each}", rounded(time * runs));
    if !problems.is_empty() {
        println!("\nThis would stop the run, or leave a part of it out:");
        println!("  {}", problems.join("\n  "));
    }
    Ok(())
}

/// Returns what would stop the run.
fn print_clocks(clocks_ghz: &[f64], root: &Path) -> Option<String> {
    if clocks_ghz.is_empty() {
        println!("clocks: the run keeps the settings of this machine");
        return None;
    }
    let folder = root.join("sys/devices/system/cpu");
    let cpus = folder.display();
    let who = if needs_sudo(root) { ", by sudo -n" } else { "" };
    for ghz in clocks_ghz {
        println!(
            "clock: {ghz} GHz on all CPUs, without turbo, in a run of its own\n  \
             as cpupower frequency-set -d {ghz}GHz -u {ghz}GHz{who}, restored when the run ends\n  \
             writes {:.0} to {cpus}/cpufreq/policy*/scaling_min_freq and scaling_max_freq\n  \
             switches turbo off by {cpus}/intel_pstate/no_turbo or {cpus}/cpufreq/boost",
            ghz * 1e6
        );
    }
    (!folder.join("cpufreq/policy0").exists()).then(|| {
        format!(
            "this machine has no clock settings ({cpus}/cpufreq has no policies); --keep-clock measures \
             without"
        )
    })
}

/// Prints the cells of all backends, and returns the estimated time of one run.
fn print_cells(setup: &RunSetup<'_>, problems: &mut Vec<String>) -> Result<Duration> {
    let mut time = Duration::ZERO;
    for (name, groups) in &setup.matrix.saturating {
        let backend = setup.backends.backend(*name)?;
        if let Some(why) = backend.unavailable() {
            problems.push(format!("{name} is not measurable here: {why}"));
            continue;
        }
        let cells = setup.cells(backend.as_ref(), groups);
        let repeats = backend.repeats().len();
        let once: Duration = cells.iter().map(|cell| backend.estimate(cell)).sum();
        let part = once * u32::try_from(repeats).unwrap_or(u32::MAX);
        let (cells, about) = (cells.len(), rounded(part));
        println!("\n{name}: {cells} cells, {repeats} repeats, about {about}");
        for group in groups {
            println!("  {}", describe_group(group));
        }
        time += part;
    }
    let loaded = setup.matrix.loaded.len();
    if loaded > 0 {
        println!("\nlatency: {loaded} conditions and loads");
    }
    Ok(time)
}

fn describe_group((conditions, drivers): &Compared<Conditions>) -> String {
    let name = |(implementation, variant): &Driver| match variant.as_str() {
        DEFAULT => implementation.to_string(),
        variant => format!("{implementation} ({variant})"),
    };
    let drivers: Vec<_> = drivers.iter().map(name).collect();
    let queues = match conditions.queues {
        1 => String::new(),
        several => format!(", {several} queues"),
    };
    format!(
        "batch {}, rings of {}, {}-byte frames{queues}: {}",
        conditions.batch,
        conditions.ring_size,
        conditions.frame_size,
        drivers.join(", ")
    )
}
