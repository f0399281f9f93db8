//! Where packet buffers are: on huge pages if there are any, else on ordinary ones, and that is
//! said.
//!
//! Huge pages are the whole machine's. One test at a time changes how many there are, and puts the
//! number back. Where it may not, what was not tested is said, as "not measurable here".

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Output, TestNic};
use nic::Traffic;
use rustix::process::Signal;

for_each_implementation!(it_runs_with_huge_pages_and_without);

const LIMIT: Duration = Duration::from_secs(20);

/// Huge pages of 2 MiB that are reserved.
const RESERVED: &str = "/proc/sys/vm/nr_hugepages";
/// Pages that two pools of 2048 buffers of 2 KiB and four rings of 8 KiB fill.
const NEEDED: u64 = 2 * 2 + 4;

/// A number of reserved huge pages; when dropped, it is again as it was.
struct HugePages {
    before: u64,
}

impl HugePages {
    /// Nothing if this process may not change it, or there is no memory for so many.
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

impl Drop for HugePages {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(RESERVED, self.before.to_string()) {
            eprintln!(
                "{RESERVED} was {} and cannot be set back: {error}",
                self.before
            );
        }
    }
}

fn reserved() -> Result<u64> {
    let text = std::fs::read_to_string(RESERVED).context(RESERVED)?;
    Ok(text.trim().parse()?)
}

/// Kilobytes of a process's DMA memory, by page size in kilobytes.
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
        // Each mapping: a line with its addresses and name, then its figures.
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

/// Runs a forwarder until it has traffic; also returns its memory.
fn run(implementation: Implementation) -> Result<(Output, BTreeMap<u64, u64>)> {
    let mut nic =
        TestNic::running(|config| config.with_each_port(|port| port.traffic = Traffic::Saturate))?;
    let mut running = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(10_000)?;
    let memory = dma_memory(running.id())?;
    running.signal(Signal::TERM)?;
    let output = running.wait(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &output.totals()?)?;
    Ok((output, memory))
}

fn it_runs_with_huge_pages_and_without(implementation: Implementation) -> Result<()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);

    match HugePages::reserve(0)? {
        Some(_reservation) => {
            let (output, memory) = run(implementation)?;
            ensure!(
                memory.keys().eq([&4]),
                "without huge pages: {memory:?} kB by page size"
            );
            let warnings = output
                .stderr
                .lines()
                .filter(|line| line.contains("huge pages"));
            ensure!(
                warnings.count() == 1,
                "a warning, once, that there are none: {output}"
            );
            output.expect_says(["hugepages"])?;
        }
        None => eprintln!("without huge pages: not measurable here: {RESERVED} cannot be set to 0"),
    }
    // More than are needed, as others may use huge pages, too.
    let plenty = reserved()? + 4 * NEEDED;
    match HugePages::reserve(plenty)? {
        Some(_reservation) => {
            let (output, memory) = run(implementation)?;
            ensure!(
                memory.keys().eq([&2048]),
                "with huge pages: {memory:?} kB by page size"
            );
            ensure!(memory[&2048] == NEEDED * 2048, "{memory:?} kB by page size");
            ensure!(output.stderr.is_empty(), "{output}");
        }
        None => {
            eprintln!("with huge pages: not measurable here: {RESERVED} cannot be set to {plenty}");
        }
    }
    Ok(())
}
