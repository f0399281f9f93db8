//! `triptych clocks`: shows, fixes and restores the clocks of the processor's cores.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use perfcounters::process::allowed_cpus;

use super::{core_clock, is_changed, script};
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
    /// Print the limits of all CPUs in kHz, and the measured clock of each core
    Show,
    /// Fix all CPUs at a clock without turbo, until `clocks restore` (needs root)
    Set {
        /// The clock in GHz, such as 1.6
        #[arg(value_name = "GHZ", value_parser = ghz)]
        ghz: f64,
    },
    /// Restore the settings from before `clocks set`, or from before a run that was killed (needs root)
    Restore,
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

/// Runs `triptych clocks`. The script takes the place of this process.
///
/// # Errors
/// If there is no shell.
pub fn run(arguments: &ClocksArguments) -> Result<Outcome> {
    let root = &arguments.root;
    let mut command = match arguments.action {
        Action::Show => {
            for cpu in allowed_cpus() {
                match core_clock::measure(cpu) {
                    Some(ghz) => println!("CPU {cpu}: {ghz:.2} GHz under load, measured"),
                    None => println!("CPU {cpu}: not measurable"),
                }
            }
            if is_changed(root) {
                println!("a run or `clocks set` has changed the settings: `clocks restore` restores them");
            }
            script("show", root, "")
        }
        Action::Set { ghz } => script("set", root, &ghz.to_string()),
        Action::Restore if is_changed(root) => script("restore", root, ""),
        Action::Restore => {
            println!("no run has changed the clock settings");
            return Ok(Outcome::Good);
        }
    };
    Err(command.exec()).context("cannot start a shell")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{flock, FlockOperation};
    use std::fs;

    #[test]
    fn the_first_settings_are_restored_less_those_of_a_cpu_that_went_offline() {
        let root = tempfile::tempdir().unwrap();
        let cpus = root.path().join("sys/devices/system/cpu/cpufreq");
        let act = |action, ghz: &str| {
            let output = script(action, root.path(), ghz).output().unwrap();
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
        };
        assert!(act("set", "1.6").contains("a virtual machine has none"));
        fs::create_dir_all(root.path().join("run")).unwrap();
        for policy in ["policy0", "policy10"] {
            fs::create_dir_all(cpus.join(policy)).unwrap();
            for kind in ["cpuinfo", "scaling"] {
                for (limit, khz) in [("min", "800000\n"), ("max", "3700000\n")] {
                    fs::write(cpus.join(format!("{policy}/{kind}_{limit}_freq")), khz).unwrap();
                }
            }
        }
        fs::write(cpus.join("boost"), "1\n").unwrap();
        let before = act("show", "");
        assert!(act("set", "4.2").contains("0.8 to 3.7 GHz (without turbo)"));
        assert_eq!((act("show", ""), is_changed(root.path())), (before, false));
        assert!(act("set", "1.6").contains("at 1.6 GHz"));
        assert!(act("set", "3.3").contains("at 3.3 GHz"));
        let fixed = "range in kHz: 800000 3700000\nboost 0\npolicy0 3300000 3300000\npolicy10 3300000 3300000\n";
        assert_eq!(act("show", ""), fixed);
        fs::remove_dir_all(cpus.join("policy10")).unwrap();
        assert!(act("restore", "").contains("are restored"));
        let restored = "range in kHz: 800000 3700000\nboost 1\npolicy0 800000 3700000\n";
        assert_eq!(act("show", ""), restored);

        // A holder that is about to restore them is waited for.
        let holder = fs::File::open(&cpus).unwrap();
        flock(&holder, FlockOperation::LockExclusive).unwrap();
        std::thread::scope(|threads| {
            let restored = threads.spawn(|| act("restore", ""));
            std::thread::sleep(std::time::Duration::from_millis(300));
            drop(holder);
            assert!(restored.join().unwrap().contains("are restored"));
        });
    }
}
