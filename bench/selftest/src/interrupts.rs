//! Interrupts: MSI-X vector 0 of a port, raised by software through EICS.
//!
//! The driver polls here and uses no interrupts. This check shows that messages of the port reach the
//! process: MSI-X, interrupt remapping, VFIO. It opens the ports itself, after the driver.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ixgbe::vfio::BareDevice;
use nic::registers as r;
use perfcounters::Interrupt;
use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};

use crate::finding::Finding;
use crate::ports::named;

/// Interrupts raised on each port.
const ROUNDS: usize = 100;
/// Time within which an interrupt must arrive.
const LIMIT: Duration = Duration::from_secs(1);
/// Time in which a masked interrupt must not arrive.
const SILENCE: Duration = Duration::from_millis(20);
/// RX queue 0, to which IVAR gives vector 0.
const CAUSE: u32 = 1;
/// All causes. Bit 31 is reserved.
const ALL_CAUSES: u32 = 0x7fff_ffff;
/// The command register in configuration space, and its bit for bus mastering. A message is a write
/// of the device to memory.
const PCI_COMMAND: u32 = 0x04;
const PCI_COMMAND_MASTER: u16 = 1 << 2;

/// Checks the interrupts of both ports.
pub(crate) fn check(devices: &[String; 2], interrupt: &Interrupt, say: &mut dyn FnMut(Finding)) {
    for (port, device) in devices.iter().enumerate() {
        let check = format!("interrupts {port}");
        say(match measure(device, interrupt) {
            Ok(times) => judge(check, times),
            Err(error) => Finding::fail(check, format!("{error:#}")),
        });
    }
}

fn judge(check: String, mut times: Vec<Duration>) -> Finding {
    times.sort_unstable();
    let count = times.len();
    let us = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e6);
    let (median, longest) = (us(times.get(count / 2)), us(times.last()));
    let text = format!(
        "{count} MSI-X messages by EICS, median {median:.0} us, longest {longest:.0} us; none while masked"
    );
    Finding::pass(check, text)
        .figure("messages", count)
        .figure("median_us", median)
        .figure("longest_us", longest)
}

/// Raises interrupts on one port, and returns how long each took.
fn measure(address: &str, interrupt: &Interrupt) -> Result<Vec<Duration>> {
    let device = BareDevice::open(address)?;
    let signal = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .context("cannot create an eventfd")?;
    set_up(&device, &signal)?;
    let measured = raise_all(&device, &signal, interrupt);
    // The port must be quiet, whatever happened.
    let quiet = tear_down(&device);
    let times = measured.with_context(|| format!("{address}: registers {}", state(&device)))?;
    quiet?;
    Ok(times)
}

/// Datasheet 4.6.6: connects the cause to vector 0, and the vector to the eventfd.
fn set_up(device: &BareDevice, signal: &OwnedFd) -> Result<()> {
    device.write32(r::EIMC, ALL_CAUSES)?;
    device.read32(r::EICR)?;
    device.signal_msix(Some(signal.as_fd()))?;
    let command = device.config_read16(PCI_COMMAND)?;
    device.config_write16(PCI_COMMAND, command | PCI_COMMAND_MASTER)?;
    let mode = r::GPIE_MSIX_MODE | r::GPIE_EIMEN | r::GPIE_PBA_SUPPORT;
    device.write32(r::GPIE, mode)?;
    device.write32(r::IVAR(0), r::IVAR_RX_EVEN_VALID)?;
    device.write32(r::EITR(0), 0)?;
    // The message clears its cause.
    device.write32(r::EIAC, CAUSE)?;
    Ok(device.write32(r::EIMS, CAUSE)?)
}

fn tear_down(device: &BareDevice) -> Result<()> {
    device.write32(r::EIMC, ALL_CAUSES)?;
    for register in [r::IVAR(0), r::EIAC, r::GPIE] {
        device.write32(register, 0)?;
    }
    device.signal_msix(None)?;
    let command = device.config_read16(PCI_COMMAND)?;
    Ok(device.config_write16(PCI_COMMAND, command & !PCI_COMMAND_MASTER)?)
}

fn raise_all(
    device: &BareDevice,
    signal: &OwnedFd,
    interrupt: &Interrupt,
) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        anyhow::ensure!(!interrupt.is_set(), "interrupted");
        let begin = Instant::now();
        device.write32(r::EICS, CAUSE)?;
        let arrived = wait(signal, LIMIT)?;
        anyhow::ensure!(
            arrived == 1,
            "message {round}: {arrived} instead of 1 arrived within {} s; check interrupt remapping \
             (`dmesg | grep -i -e remap -e DMAR`)",
            LIMIT.as_secs()
        );
        times.push(begin.elapsed());
    }
    device.write32(r::EIMC, CAUSE)?;
    device.write32(r::EICS, CAUSE)?;
    let arrived = wait(signal, SILENCE)?;
    anyhow::ensure!(
        arrived == 0,
        "{arrived} messages arrived although EIMC masked them"
    );
    Ok(times)
}

/// Waits until the eventfd is signalled. Returns how often it was, 0 if the time is up.
fn wait(signal: &OwnedFd, limit: Duration) -> Result<u64> {
    let mut polled = [PollFd::new(signal, PollFlags::IN)];
    let limit = Timespec::try_from(limit).context("a time limit is too long")?;
    if poll(&mut polled, Some(&limit)).context("cannot wait for an eventfd")? == 0 {
        return Ok(0);
    }
    let mut count = [0; 8];
    rustix::io::read(signal, &mut count).context("cannot read an eventfd")?;
    Ok(u64::from_ne_bytes(count))
}

/// The registers that decide about interrupts, for a report.
fn state(device: &BareDevice) -> String {
    let value = |(name, offset)| match device.read32(offset) {
        Ok(value) => format!("{name} {value:#x}"),
        Err(_) => format!("{name} unreadable"),
    };
    named![EIMS, EICS, GPIE, IVAR(0)].map(value).join(", ")
}
