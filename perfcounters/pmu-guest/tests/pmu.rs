//! Boots the emulated Arm machines, which run the checks of the perf backend. `make test ONLY=pmu-test` runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use guest::{fetch, repository, Initramfs};
use perfcounters::process::Process;
use perfcounters::Interrupt;
use pmu_guest::{Machine, ALL_HOLD};
use tempfile::NamedTempFile;

/// The folder of the machines' logs.
const LOGS: &str = "build/logs/pmu";
/// How long a machine may run: twenty times the usual time on an idle host.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs all checks on all machines.
fn main() -> Result<ExitCode> {
    let Some(fetched) = fetch("pmu-guest")? else {
        return Ok(ExitCode::SUCCESS);
    };
    // The folder that cargo built this test in.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .context("the target folder")?;
    let initramfs = pack(&fetched, target)?;
    let mut all = true;
    for machine in &Machine::ALL {
        let logs = repository().join(LOGS);
        all &= boot(machine, &fetched, initramfs.path(), &logs)?;
    }
    Ok(ExitCode::from(u8::from(!all)))
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

/// Builds `pmu-checks` for the guest, and packs it. Cargo builds in `target`.
fn pack(fetched: &Path, target: &Path) -> Result<NamedTempFile> {
    let triple = fs::read_to_string(fetched.join("target"))?;
    let program = build(triple.trim(), target)?;
    let init = concat!(env!("CARGO_MANIFEST_DIR"), "/init.sh");
    let mut files = Initramfs::default();
    for folder in ["dev", "proc", "sys"] {
        files.folder(folder);
    }
    files.file(Path::new(init), "init");
    files.file(&fetched.join("busybox"), "bin/busybox");
    // The first program needs a shell before it can make the other links of busybox.
    files.file(&fetched.join("busybox"), "bin/sh");
    files.file(&program, "bin/pmu-checks");
    let initramfs = NamedTempFile::with_prefix("initramfs-")?;
    files.write(initramfs.as_file())?;
    Ok(initramfs)
}

/// Builds `pmu-checks` for a target of Rust, as a program without shared libraries.
fn build(triple: &str, target: &Path) -> Result<PathBuf> {
    // A crate asks for libdl, which musl's libc contains. Rust's copy of musl lacks the empty archive.
    let libraries = target.join(triple).join("libdl");
    fs::create_dir_all(&libraries).with_context(|| libraries.display().to_string())?;
    fs::write(libraries.join("libdl.a"), "!<arch>\n")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let variable = |name: &str| {
        let triple = triple.replace('-', "_").to_uppercase();
        format!("CARGO_TARGET_{triple}_{name}")
    };
    let status = Command::new(cargo)
        .current_dir(repository())
        .args(["build", "--quiet", "--package", "pmu-guest"])
        .args(["--bin", "pmu-checks", "--target", triple, "--target-dir"])
        .arg(target)
        // Rust's own linker and C library, so that the host needs no cross compiler.
        .env(variable("LINKER"), "rust-lld")
        .env(
            variable("RUSTFLAGS"),
            format!("-L native={}", libraries.display()),
        )
        .env_remove("RUSTFLAGS")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("cargo")?;
    ensure!(status.success(), "pmu-checks does not build for {triple}");
    Ok(target.join(triple).join("debug/pmu-checks"))
}
