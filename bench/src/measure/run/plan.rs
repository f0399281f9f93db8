//! `triptych run --dry-run`: says what a run would measure, for how long, and what it would change.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;
use perfcounters::Interrupt;
use record::Conditions;

use super::arguments::RunArguments;
use super::backends::BackendFactory;
use super::card;
use super::config::Config;
use super::matrix::{ComparedDrivers, Matrix};
use super::selection::configuration;
use super::setup::RunSetup;
use crate::machine::clocks::cpufreq::Cpufreq;
use crate::machine::clocks::holder::needs_sudo;
use crate::machine::host::system::System;
use crate::measure::pktgen::command_line;
use crate::progress::rounded;
use crate::usage::UsageError;

/// Prints the plan of a run. Problems that would stop the run are listed, but are no errors here.
///
/// # Errors
/// [`UsageError`] for a configuration that no machine can measure.
pub(super) fn print(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    let config = configuration(arguments).map_err(UsageError::from)?;
    let setup = RunSetup::new(&config, &arguments.build_dir)?;
    let backends = BackendFactory {
        config: &config,
        build: &arguments.build_dir,
        placement: &setup.placement,
        interrupt,
    };
    let mut text = String::new();
    let mut problems = card::problems(&config, &System::here());
    describe_ports(&mut text, &config, &mut problems);
    describe_clocks(&mut text, &config, arguments, &mut problems);
    let time = describe_cells(&mut text, &setup, &backends, &mut problems)?;
    let runs = config.clocks_ghz.len().max(1);
    let all = time * u32::try_from(runs).unwrap_or(u32::MAX);
    let _ = write!(text, "\ntime: about {}", rounded(all));
    let _ = match runs {
        1 => writeln!(text),
        _ => writeln!(text, " ({} for each clock)", rounded(time)),
    };
    if !problems.is_empty() {
        let _ = writeln!(
            text,
            "\nThis would stop the run, or leave a part of it out:"
        );
        for problem in problems {
            let _ = writeln!(text, "  {problem}");
        }
    }
    print!("{text}");
    Ok(())
}

fn describe_ports(text: &mut String, config: &Config, problems: &mut Vec<String>) {
    let _ = match &config.devices {
        None => writeln!(
            text,
            "ports: those of the software card, which the run starts"
        ),
        Some([first, second]) => writeln!(text, "ports: {first} and {second}"),
    };
    let _ = match card::generator(config) {
        Err(error) => {
            problems.push(error.to_string());
            Ok(())
        }
        Ok(Some(generator)) => writeln!(
            text,
            "load: this command sends to both ports\n  {}",
            command_line::of(&generator)
        ),
        Ok(None) if config.devices.is_some() => {
            writeln!(text, "load: you send to both ports, for the whole run")
        }
        Ok(None) => Ok(()),
    };
}

fn describe_clocks(
    text: &mut String,
    config: &Config,
    arguments: &RunArguments,
    problems: &mut Vec<String>,
) {
    if config.clocks_ghz.is_empty() {
        let _ = writeln!(text, "clocks: the run keeps the settings of this machine");
        return;
    }
    let root = &arguments.clocks_root;
    let cpufreq = Cpufreq::below(root);
    let settings = cpufreq.read();
    if let Err(error) = &settings {
        problems.push(error.to_string());
    }
    let sudo = if needs_sudo(root) { "sudo -n " } else { "" };
    for clock in &config.clocks_ghz {
        let _ = writeln!(
            text,
            "clock: {} GHz on all CPUs, without turbo, in a run of its own\n  {sudo}triptych clocks hold \
             {} restores the settings when the run ends (cpupower frequency-set -d {}GHz -u {}GHz)",
            clock.0, clock.0, clock.0, clock.0
        );
        for change in settings.iter().flat_map(|now| cpufreq.plan(now, clock.0)) {
            let _ = writeln!(
                text,
                "  writes {} to {}",
                change.value,
                change.path.display()
            );
        }
    }
}

/// Describes the cells of all backends, and returns the estimated time of one run.
fn describe_cells(
    text: &mut String,
    setup: &RunSetup,
    backends: &BackendFactory<'_>,
    problems: &mut Vec<String>,
) -> Result<Duration> {
    let mut time = Duration::ZERO;
    for (name, groups) in &setup.matrix.saturating {
        let backend = backends.backend(*name)?;
        if let Some(why) = backend.unavailable() {
            problems.push(format!("{name} is not measurable here: {why}"));
            continue;
        }
        let (mut cells, mut part) = (0, Duration::ZERO);
        for cell in groups
            .iter()
            .flat_map(|(conditions, drivers)| setup.builds.cells(*conditions, drivers))
            .flat_map(|cell| backend.cells_of(&cell))
        {
            cells += 1;
            part += backend.estimate(&cell);
        }
        let repeats = backend.repeats().len();
        part *= u32::try_from(repeats).unwrap_or(u32::MAX);
        let _ = writeln!(
            text,
            "\n{name}: {cells} cells, {repeats} repeats, about {}",
            rounded(part)
        );
        for group in groups {
            let _ = writeln!(text, "  {}", describe_group(group));
        }
        time += part;
    }
    describe_loads(text, &setup.matrix);
    Ok(time)
}

fn describe_group((conditions, drivers): &ComparedDrivers) -> String {
    let drivers: Vec<_> = drivers
        .iter()
        .map(|(implementation, variant)| match variant.as_str() {
            "default" => implementation.to_string(),
            variant => format!("{implementation} ({variant})"),
        })
        .collect();
    let Conditions {
        batch,
        ring_size,
        frame_size,
        queues,
        ..
    } = conditions;
    let queues = match queues {
        1 => String::new(),
        several => format!(", {several} queues"),
    };
    format!(
        "batch {batch}, rings of {ring_size}, {frame_size}-byte frames{queues}: {}",
        drivers.join(", ")
    )
}

fn describe_loads(text: &mut String, matrix: &Matrix) {
    if !matrix.loaded.is_empty() {
        let _ = writeln!(
            text,
            "\nlatency: {} conditions and loads",
            matrix.loaded.len()
        );
    }
}
