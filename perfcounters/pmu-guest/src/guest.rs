//! Boots a machine, and reads what its checks print.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::process::Process;
use perfcounters::Interrupt;

use crate::image::Image;
use crate::machine::Machine;

/// How long a machine may run: twenty times the usual time on an idle host.
const LIMIT: Duration = Duration::from_secs(300);

/// The result of each check by its name: the reason if it failed.
pub type Outcome = BTreeMap<String, Result<(), String>>;

/// Boots a machine, runs all checks in it, and waits for its end. The console and QEMU's messages go
/// to files in `logs`.
///
/// # Errors
/// If the machine does not end in time, or without results.
pub fn boot(machine: &Machine, image: &Image, logs: &Path) -> Result<Outcome> {
    fs::create_dir_all(logs)?;
    let log = logs.join(format!("{}.log", machine.name));
    let command = qemu_command(machine, image, &log);
    let name = format!("{}.qemu", machine.name);
    Process::start(&name, command, None, logs, Stdio::null())?.wait(LIMIT, &Interrupt::new())?;
    let console = fs::read(&log).with_context(|| log.display().to_string())?;
    let outcome = parse(&String::from_utf8_lossy(&console));
    ensure!(
        !outcome.is_empty(),
        "{} printed no results, see {}",
        machine.name,
        log.display()
    );
    Ok(outcome)
}

/// The results among the lines of the console: `check NAME: ok` or `check NAME: REASON`.
fn parse(console: &str) -> Outcome {
    let line = |line: &str| {
        let (name, result) = line.trim_end().strip_prefix("check ")?.split_once(": ")?;
        let result = match result {
            "ok" => Ok(()),
            reason => Err(reason.to_owned()),
        };
        Some((name.to_owned(), result))
    };
    console.lines().filter_map(line).collect()
}

fn qemu_command(machine: &Machine, image: &Image, log: &Path) -> Command {
    let mut command = Command::new(&image.qemu);
    command
        .args(["-nographic", "-nodefaults", "-no-reboot"])
        .args(["-machine", "virt", "-accel", "tcg", "-m", "256M"])
        .args(["-cpu", machine.processor])
        // One processor, because QEMU counts the instructions of all processors together.
        .args(["-smp", "1"])
        // The guest's time follows from its instructions. While it is idle, its time jumps.
        .args(["-icount", &format!("shift={},sleep=off", machine.shift)])
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(image.initramfs())
        .args([
            "-append",
            &format!("console=ttyAMA0 panic=-1 loglevel=4 machine={}", machine.name),
        ])
        .args(["-serial", &format!("file:{}", log.display())]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_among_the_kernels_messages() {
        let console = "[    0.1] Booting\r\ncheck a: ok\r\ncheck b-c: 3 is not 4: really\r\n\
                       checks are over\r\ninit: the checks ended with status 1\r\n";
        let outcome = parse(console);
        assert_eq!(outcome.len(), 2);
        assert_eq!(outcome["a"], Ok(()));
        assert_eq!(outcome["b-c"], Err("3 is not 4: really".into()));
        assert!(parse("Kernel panic").is_empty());
    }
}
