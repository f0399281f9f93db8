//! `triptych clocks`: shows, fixes and restores the clocks of the processor's cores.

use std::path::PathBuf;

use anyhow::{bail, Result};
use clap::{Args, Subcommand};
use perfcounters::process::allowed_cpus;
use perfcounters::Interrupt;

use super::cpufreq::Cpufreq;
use super::note::{left_behind, Clocks};
use super::{core_clock, holder};
use crate::usage::Outcome;

/// Arguments of `triptych clocks`.
#[derive(Debug, Args)]
pub struct ClocksArguments {
    /// What to do.
    #[command(subcommand)]
    action: Action,
    /// Use the files of a machine below this folder (for tests)
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        hide = true,
        global = true
    )]
    root: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the limits of all CPUs, and the measured clock of each core
    Show,
    /// Fix all CPUs at a clock without turbo, until `clocks restore` (needs root)
    Set {
        /// The clock in GHz, such as 1.6
        #[arg(value_name = "GHZ", value_parser = ghz)]
        ghz: f64,
    },
    /// Restore the settings from before `clocks set`, or from before a run that was killed (needs root)
    Restore,
    /// Fix the clock until standard input ends; `run` starts it
    #[command(hide = true)]
    Hold {
        #[arg(value_parser = ghz)]
        ghz: f64,
    },
}

/// Parses a clock in GHz.
///
/// # Errors
/// A text that is not a clock.
pub fn ghz(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ghz) if (0.1..=10.0).contains(&ghz) => Ok(ghz),
        _ => Err(format!("{text:?} is not a clock in GHz, from 0.1 to 10")),
    }
}

/// Runs `triptych clocks`.
///
/// # Errors
/// [`super::cpufreq::ClockError`].
pub fn run(arguments: &ClocksArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let root = &arguments.root;
    match arguments.action {
        Action::Show => {
            let cpufreq = Cpufreq::below(root);
            for cpu in allowed_cpus() {
                match core_clock::measure(cpu) {
                    Some(ghz) => println!("CPU {cpu}: {ghz:.2} GHz under load, measured"),
                    None => println!("CPU {cpu}: not measurable"),
                }
            }
            let settings = cpufreq.read()?;
            let (low, high) = cpufreq.range(&settings)?;
            println!("range: {low} to {high} GHz");
            for limits in &settings.policies {
                let [min, max] = [limits.min_khz, limits.max_khz].map(|khz| khz as f64 / 1e6);
                println!("policy {}: {min} to {max} GHz", limits.policy);
            }
            match &settings.turbo {
                Some((switch, value)) => println!("turbo: {switch:?} is {value}"),
                None => println!("turbo: the kernel has no switch"),
            }
            if left_behind(root)?.is_some() {
                println!("a run or `clocks set` has changed these settings: `clocks restore` restores them");
            }
        }
        Action::Set { ghz } => {
            Clocks::take(root)?.fix(ghz)?;
            println!(
                "all CPUs run at {ghz} GHz without turbo; `triptych clocks restore` ends that"
            );
        }
        Action::Restore => match Clocks::take(root)?.restore()? {
            true => println!("the earlier clock settings are restored"),
            false => println!("no run has changed the clock settings"),
        },
        Action::Hold { ghz } => {
            // A closed terminal ends the run, and the clocks must be restored.
            if let Err(error) =
                signal_hook::flag::register(signal_hook::consts::SIGHUP, interrupt.flag())
            {
                bail!("cannot handle signals: {error}");
            }
            holder::run(ghz, root, interrupt)?;
        }
    }
    Ok(Outcome::Good)
}
