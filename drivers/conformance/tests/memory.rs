//! Packet buffers are on huge pages if there are any. Otherwise they are on ordinary pages and the
//! driver warns.
//!
//! The whole machine shares the huge pages. One test at a time changes their number and restores it.
//! Without the permission to do so, a test prints "not measurable here".

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::{ensure, Context, Result};
use conformance::{for_each_implementation, saturated, Implementation, Output, TestNic};
use rustix::process::Signal;

for_each_implementation!(it_runs_with_and_without_huge_pages);

/// The file with the number of reserved huge pages of 2 MiB.
const RESERVED: &str = "/proc/sys/vm/nr_hugepages";
/// Huge pages for two pools of 2048 buffers of 2 KiB, and for four rings of 8 KiB.
const NEEDED: u64 = 2 * 2 + 4;

/// A number of reserved huge pages. Dropping it restores the previous number.
struct HugePageReservation {
    before: u64,
}

impl HugePageReservation {
    /// Reserves `wanted` pages. Returns `None` without permission or memory.
    fn reserve(wanted: u64) -> Result<Option<Self>> {
        let reservation = Self {
            before: reserved()?,
        };
        if std::fs::write(RESERVED, wanted.to_string()).is_err() || reserved()? != wanted {
            return Ok(None);
        }
        Ok(Some(reservation))
    }
}

impl Drop for HugePageReservation {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(RESERVED, self.before.to_string()) {
            eprintln!(
                "{RESERVED} was {} and cannot be restored: {error}",
                self.before
            );
        }
    }
}

fn reserved() -> Result<u64> {
    let text = std::fs::read_to_string(RESERVED).context(RESERVED)?;
    Ok(text.trim().parse()?)
}

/// A process's DMA memory in kB, by page size in kB.
fn dma_memory(id: u32) -> Result<BTreeMap<u64, u64>> {
    let text = std::fs::read_to_string(format!("/proc/{id}/smaps"))?;
    let mut memory = BTreeMap::new();
    let (mut ours, mut size) = (false, 0);
    for line in text.lines() {
        let kilobytes = |name: &str| -> Option<u64> {
            line.strip_prefix(name)?
                .trim()
                .strip_suffix(" kB")?
                .parse()
                .ok()
        };
        // Each mapping starts with a line of addresses and name, and its sizes follow.
        if line.contains("/memfd:") || line.contains("/anon_hugepage") {
            ours = line.contains("/memfd:ixgbe-dma") || line.contains("/anon_hugepage");
        } else if line
            .split_once('-')
            .is_some_and(|(start, _)| u64::from_str_radix(start, 16).is_ok())
        {
            ours = false;
        }
        if let Some(kilobytes) = kilobytes("Size:").filter(|_| ours) {
            size = kilobytes;
        }
        if let Some(page) = kilobytes("KernelPageSize:").filter(|_| ours) {
            *memory.entry(page).or_default() += size;
        }
    }
    Ok(memory)
}

/// Runs a forwarder until it has traffic. Returns its output and its memory as [`dma_memory`].
fn run(driver: Implementation) -> Result<(Output, BTreeMap<u64, u64>)> {
    let mut nic = TestNic::running(saturated)?;
    let running = nic.forwarder(driver)?.start()?;
    nic.wait_for_traffic(10_000)?;
    let memory = dma_memory(running.id())?;
    let output = running.end_by(Signal::TERM)?;
    nic.check_run(&output)?;
    Ok((output, memory))
}

fn it_runs_with_and_without_huge_pages(driver: Implementation) -> Result<()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);

    match HugePageReservation::reserve(0)? {
        Some(_reservation) => {
            let (output, memory) = run(driver)?;
            ensure!(memory.keys().eq([&4]), "{memory:?} kB by page size");
            let lines = output.stderr.lines();
            let warnings = lines.filter(|line| line.contains("huge pages")).count();
            ensure!(warnings == 1, "{warnings} warnings: {output}");
            output.expect_stderr(["hugepages"])?;
        }
        None => eprintln!("without huge pages: not measurable here: {RESERVED} cannot be set to 0"),
    }
    // Other processes may use huge pages as well.
    let plenty = reserved()? + 4 * NEEDED;
    match HugePageReservation::reserve(plenty)? {
        Some(_reservation) => {
            let (output, memory) = run(driver)?;
            let expected = BTreeMap::from([(2048, NEEDED * 2048)]);
            ensure!(memory == expected, "{memory:?} kB by page size");
            ensure!(output.stderr.is_empty(), "{output}");
        }
        None => {
            eprintln!("with huge pages: not measurable here: {RESERVED} cannot be set to {plenty}");
        }
    }
    Ok(())
}
