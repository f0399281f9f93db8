//! Boots the emulated Arm machines, which run the checks of the perf backend. `make pmu-test` runs it.

mod initramfs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::Process;
use perfcounters::Interrupt;
use pmu_guest::{checks::ALL_HOLD, Machine};

/// The folder of the machines' logs.
const LOGS: &str = "build/logs/pmu";
/// How long a machine may run: twenty times the usual time on an idle host.
const LIMIT: Duration = Duration::from_secs(300);
/// The script's exit status if it cannot fetch the machine.
const CANNOT_FETCH: i32 = 2;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all checks on all machines. Returns whether they hold.
fn run() -> Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("bench/setup/pmu-guest.sh");
    let fetched = Command::new(&script)
        .output()
        .with_context(|| script.display().to_string())?;
    let messages = String::from_utf8_lossy(&fetched.stderr);
    eprint!("{messages}");
    match fetched.status.code() {
        Some(0) => {}
        Some(CANNOT_FETCH) => {
            let reason = messages.lines().last().unwrap_or_default();
            // `.ci/checks` looks for this line.
            println!("skipped: {}", reason.trim_start_matches("setup: "));
            return Ok(true);
        }
        _ => bail!("{}: {}", script.display(), fetched.status),
    }
    let fetched = PathBuf::from(String::from_utf8(fetched.stdout)?.trim_end());
    // The folder that cargo built this test in.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .context("the target folder")?;
    let initramfs = initramfs::pack(&root, &fetched, target)?;
    let mut all = true;
    for machine in &Machine::ALL {
        all &= boot(machine, &fetched, initramfs.path(), &root.join(LOGS))?;
    }
    Ok(all)
}

/// Boots a machine, runs all checks in it, and waits for its end. Prints the lines of the checks, and
/// returns whether all hold. The console and QEMU's messages go to files in `logs`.
fn boot(machine: &Machine, fetched: &Path, initramfs: &Path, logs: &Path) -> Result<bool> {
    fs::create_dir_all(logs)?;
    let name = machine.name;
    let log = logs.join(format!("{name}.log"));
    let command = qemu(machine, fetched, initramfs, &log);
    let mut process = Process::start(&format!("{name}.qemu"), command, None, logs, Stdio::null())?;
    process.wait(LIMIT, &Interrupt::new())?;
    let console = fs::read(&log).with_context(|| log.display().to_string())?;
    let console = String::from_utf8_lossy(&console);
    let lines = console.lines().filter(|line| line.starts_with("check "));
    lines.for_each(|line| println!("{name}: {}", line.trim_end()));
    let hold = console.lines().any(|line| line.trim_end() == ALL_HOLD);
    if !hold {
        println!("{name}: not all checks hold, see {}", log.display());
    }
    Ok(hold)
}

fn qemu(machine: &Machine, fetched: &Path, initramfs: &Path, log: &Path) -> Command {
    let kernel = format!(
        "console=ttyAMA0 panic=-1 loglevel=4 machine={}",
        machine.name
    );
    let mut command = Command::new(fetched.join("qemu"));
    command
        .args(["-nographic", "-nodefaults", "-no-reboot"])
        .args(["-machine", "virt", "-accel", "tcg", "-m", "256M"])
        .args(["-cpu", machine.name])
        // One processor, because QEMU counts the instructions of all processors together.
        .args(["-smp", "1"])
        // The guest's time follows from its instructions. While it is idle, its time jumps.
        .args(["-icount", &format!("shift={},sleep=off", machine.shift)])
        .args(["-append", &kernel])
        .args(["-serial", &format!("file:{}", log.display())])
        .arg("-kernel")
        .arg(fetched.join("vmlinuz"))
        .arg("-initrd")
        .arg(initramfs);
    command
}
