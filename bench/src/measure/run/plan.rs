//! `triptych run --dry-run`: says what a run would measure, for how long, and what it would change.

use std::time::Duration;

use anyhow::Result;
use perfcounters::Interrupt;
use record::Conditions;

use super::arguments::RunArguments;
use super::card;
use super::config::Config;
use super::generator::Pktgen;
use super::matrix::Compared;
use super::selection::configuration;
use super::setup::RunSetup;
use crate::machine::clocks::needs_sudo;
use crate::machine::host::system::System;
use crate::progress::rounded;

/// Prints the plan of a run. Problems that would stop the run are listed, but are no errors here.
///
/// # Errors
/// A usage error for a configuration that no machine can measure.
pub(super) fn print(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    let config = configuration(arguments)?;
    let setup = RunSetup::new(&config, &arguments.build_dir, interrupt)?;
    let mut plan = Plan {
        text: String::new(),
        problems: card::problems(&config, &System::here()),
    };
    plan.ports(&config, interrupt);
    plan.clocks(&config, arguments);
    let time = plan.cells(&setup)?;
    let runs = config.clocks_ghz.len().max(1);
    let all = rounded(time * u32::try_from(runs).unwrap_or(u32::MAX));
    plan.say(match runs {
        1 => format!("\ntime: about {all}"),
        _ => format!("\ntime: about {all} ({} for each clock)", rounded(time)),
    });
    if !plan.problems.is_empty() {
        plan.say("\nThis would stop the run, or leave a part of it out:");
        plan.say(format!("  {}", plan.problems.join("\n  ")));
    }
    print!("{}", plan.text);
    Ok(())
}

struct Plan {
    text: String,
    problems: Vec<String>,
}

impl Plan {
    fn say(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn ports(&mut self, config: &Config, interrupt: &Interrupt) {
        match &config.devices {
            None => self.say("ports: those of the software card, which the run starts"),
            Some([first, second]) => self.say(format!("ports: {first} and {second}")),
        }
        match Pktgen::new(config, interrupt) {
            Err(error) => self.problems.push(error.to_string()),
            Ok(Some(generator)) => self.say(format!(
                "load: this command sends to both ports\n  {}",
                generator.command_line()
            )),
            Ok(None) if config.devices.is_some() => {
                self.say("load: you send to both ports, for the whole run");
            }
            Ok(None) => {}
        }
    }

    fn clocks(&mut self, config: &Config, arguments: &RunArguments) {
        if config.clocks_ghz.is_empty() {
            self.say("clocks: the run keeps the settings of this machine");
            return;
        }
        let root = &arguments.clocks_root;
        let cpus = root.join("sys/devices/system/cpu");
        if !cpus.join("cpufreq/policy0").exists() {
            self.problems.push(format!(
                "this machine has no clock settings ({} has no policies); --keep-clock measures without",
                cpus.join("cpufreq").display()
            ));
        }
        let cpus = cpus.display();
        let who = if needs_sudo(root) { ", by sudo -n" } else { "" };
        for ghz in &config.clocks_ghz {
            self.say(format!(
                "clock: {ghz} GHz on all CPUs, without turbo, in a run of its own\n  \
                 as cpupower frequency-set -d {ghz}GHz -u {ghz}GHz{who}, restored when the run ends\n  \
                 writes {:.0} to {cpus}/cpufreq/policy*/scaling_min_freq and scaling_max_freq\n  \
                 switches turbo off by {cpus}/intel_pstate/no_turbo or {cpus}/cpufreq/boost",
                ghz * 1e6
            ));
        }
    }

    /// Describes the cells of all backends, and returns the estimated time of one run.
    fn cells(&mut self, setup: &RunSetup<'_>) -> Result<Duration> {
        let mut time = Duration::ZERO;
        for (name, groups) in &setup.matrix.saturating {
            let backend = setup.backends.backend(*name)?;
            if let Some(why) = backend.unavailable() {
                self.problems
                    .push(format!("{name} is not measurable here: {why}"));
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
            self.say(format!(
                "\n{name}: {cells} cells, {repeats} repeats, about {}",
                rounded(part)
            ));
            for group in groups {
                self.say(format!("  {}", describe_group(group)));
            }
            time += part;
        }
        let loaded = setup.matrix.loaded.len();
        if loaded > 0 {
            self.say(format!("\nlatency: {loaded} conditions and loads"));
        }
        Ok(time)
    }
}

fn describe_group((conditions, drivers): &Compared<Conditions>) -> String {
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
