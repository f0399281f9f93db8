//! How the lab provokes each hazard: what the program does, what the NIC does, what arrives on the
//! wire.
//!
//! An application's mistake (`app-X`) is the action `X` of the lab's programs, and a driver's
//! mistake (`drv-X`) is a patch. Both run in ordinary traffic and need no entry here. [`SCENARIOS`]
//! lists the other hazards.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use nic::registers as r;
use nic::MmioMode;
use rustix::process::Signal;

use crate::canaries::{rings, BUFFER, DATA, POOL_CAPACITY};
use crate::evidence::Evidence;
use crate::frames::frame;
use crate::testbed::{Testbed, FRAME};

/// Frames before the hazard. The lab's programs start their action after as many.
const FRAMES_BEFORE: u64 = 100;
/// Those of them that are watched.
const FRAMES_WATCHED: u64 = 80;
/// Frames that arrive while the NIC has a fault.
const FRAMES_WITH_FAULT: u64 = 32;
/// Ordinary frames after that, while the program's action or the patch has its effect.
const FRAMES_DURING: u64 = 200;
/// Frames after the hazard: enough for the rings to wrap several times.
const FRAMES_AFTER: u64 = 400;
/// A byte that no driver writes.
const JUNK: u8 = 0xff;
/// Read as a receive descriptor, this byte means: done, end of a frame, 3855 bytes long.
const RING_JUNK: u8 = 0x0f;
/// Bursts of frames that the lab sends without a pause, to provoke a race.
const RACE_BURSTS: u32 = 3000;
/// An IOVA that the drivers never map: theirs are lower.
const UNMAPPED_IOVA: u64 = 1 << 46;
/// Bytes of a descriptor.
const DESCRIPTOR: u64 = 16;
/// Second word of a receive descriptor: DD, EOP and the length of an ordinary frame.
const RX_DONE: u64 = (FRAME as u64) << 32 | r::RXD_EOP | r::RXD_DD;
/// DD in the second word of a transmit descriptor.
const TX_DD: u64 = 1 << 32;
/// The numbers of broadcasts, which other frames do not have.
const FIRST_BROADCAST: u64 = 1 << 32;

/// How a hazard is provoked. A run has five steps: start, ordinary traffic, the hazard, ordinary
/// traffic, stop.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What the lab's program does besides forwarding, if it is not the hazard's name.
    action: Option<&'static str>,
    /// How the driver reaches the registers.
    mmio: MmioMode,
    /// The fault that both ports have from the start.
    at_start: Option<&'static str>,
    /// Provokes the hazard. Ordinary traffic follows.
    during: fn(&mut Testbed) -> Result<()>,
    /// The fault that port 0 has after that, until the end.
    at_end: Option<&'static str>,
}

const ORDINARY: Scenario = Scenario {
    action: None,
    mmio: MmioMode::Shared,
    at_start: None,
    during: |_| Ok(()),
    at_end: None,
};

/// The hazards that need more than a program's action or a patch in ordinary traffic, by id.
#[rustfmt::skip] // a hazard a line
pub const SCENARIOS: &[(&str, Scenario)] = &[
    // ---- Application ----
    ("app-two-threads", during(race_traffic)),
    ("app-foreign-free", during(race_traffic)),
    // ---- Device ----
    ("dev-length-beyond-buffer", during(|testbed| with_fault(testbed, "rx-length-beyond"))),
    ("dev-length-zero", during(|testbed| with_fault(testbed, "rx-length-zero"))),
    ("dev-dd-without-eop", during(|testbed| with_fault(testbed, "rx-no-eop"))),
    ("dev-dd-not-handed-over", during(rx_dd_too_early)),
    ("dev-ring-overrun", during(ring_overrun)),
    ("dev-early-dd-on-tx", during(tx_dd_too_early)),
    ("dev-head-beyond-ring", at_end("head-beyond-ring")),
    ("dev-write-after-return", during(write_after_return)),
    ("dev-write-while-held", acting("hold", during(write_while_held))),
    // In front of the data, where the C driver keeps its metadata.
    ("dev-write-metadata", during(|testbed| write_to_buffers(testbed, 0, &[JUNK; DATA as usize]))),
    ("dev-write-unmapped", during(write_unmapped)),
    ("dev-write-rx-ring", during(write_rx_ring)),
    ("dev-write-tx-ring", during(write_tx_ring)),
    ("dev-write-freed-memory", acting("free-pool", during(write_freed_memory))),
    ("dev-removed", Scenario { mmio: MmioMode::Trap, ..at_end("removed") }),
    ("dev-reset-never-ends", Scenario { at_start: Some("never-finish-reset"), ..ORDINARY }),
    ("dev-link-flapping", during(link_flapping)),
    ("dev-interrupt-storm", during(|testbed| with_fault(testbed, "interrupt-storm"))),
    // ---- Driver ----
    ("drv-batch-larger-than-ring", acting("large-batch", during(fill_large_batch))),
    ("drv-odd-ring-size", acting("odd-ring", ORDINARY)),
    ("drv-tx-stale-descriptor", during(send_while_stalled)),
    // ---- Wire ----
    ("wire-runt", during(|testbed| frames_of_sizes(testbed, &[24, 32, 46, 59]))),
    ("wire-giant", during(|testbed| frames_of_sizes(testbed, &[1600, 2048, 4000, 9000, 15_868]))),
    ("wire-bad-crc", during(bad_crc)),
    ("wire-all-zero", during(all_zero_frames)),
    // With CRC 1517 to 1523: the limit is 1518 without a VLAN tag and 1522 with one.
    ("wire-size-boundary", during(|testbed| frames_of_sizes(testbed, &[1513, 1514, 1515, 1517, 1518, 1519]))),
    ("wire-broadcast-flood", during(broadcast_flood)),
];

const fn during(during: fn(&mut Testbed) -> Result<()>) -> Scenario {
    Scenario { during, ..ORDINARY }
}

const fn at_end(fault: &'static str) -> Scenario {
    Scenario {
        at_end: Some(fault),
        ..ORDINARY
    }
}

const fn acting(action: &'static str, scenario: Scenario) -> Scenario {
    Scenario {
        action: Some(action),
        ..scenario
    }
}

/// The scenario of a hazard.
///
/// # Errors
/// If the hazard has none.
pub fn of(hazard: &str) -> Result<Scenario> {
    if let Some((_, scenario)) = SCENARIOS.iter().find(|(id, _)| *id == hazard) {
        return Ok(*scenario);
    }
    if hazard.starts_with("app-") || patch_of(hazard).is_some() {
        return Ok(ORDINARY);
    }
    bail!("hazard {hazard} has no scenario: add one to SCENARIOS in safety/src/scenario.rs")
}

/// The hazard, if it is a driver's mistake and so has a patch.
pub fn patch_of(hazard: &str) -> Option<&str> {
    hazard.starts_with("drv-").then_some(hazard)
}

/// Provokes a hazard with a lab program and returns what was seen.
///
/// # Errors
/// If the lab itself fails. Whatever a driver does is evidence, not an error.
/// `watch` is called after the first of the ordinary frames.
pub fn run_watched(
    program: &Path,
    hazard: &str,
    watch: impl FnOnce(&mut Testbed) -> Result<()>,
) -> Result<Evidence> {
    let scenario = of(hazard)?;
    let action = scenario.action.or(hazard.strip_prefix("app-"));
    let action = action.unwrap_or("forward");
    let mut testbed = Testbed::start(program, action, scenario.mmio, scenario.at_start)?;
    if testbed.wait_until_running()? {
        testbed.plant_canaries()?;
        testbed.exchange(FRAMES_BEFORE - FRAMES_WATCHED)?;
        watch(&mut testbed)?;
        testbed.exchange(FRAMES_WATCHED)?;
        testbed.begin();
        (scenario.during)(&mut testbed)?;
        testbed.exchange(FRAMES_DURING)?;
        testbed.set_fault(0, scenario.at_end)?;
        testbed.exchange(FRAMES_AFTER)?;
    }
    let evidence = testbed.stop()?;
    ensure!(
        evidence.end.is_none_or(|end| end.code() != Some(2)),
        "the lab's program does not know the action {action}: {}",
        evidence.stderr
    );
    Ok(evidence)
}

/// Sends enough frames without a pause that two threads always have something to receive, and so
/// collide.
fn race_traffic(testbed: &mut Testbed) -> Result<()> {
    for burst in 0..RACE_BURSTS {
        testbed.inject(32, 60)?;
        testbed.poll();
        if burst % 16 == 0 {
            // Gives both threads of the program a processor now and then.
            sleep(Duration::from_micros(300));
        }
        if !testbed.alive()? {
            break;
        }
    }
    Ok(())
}

/// Sends frames while port 0 has a fault.
fn with_fault(testbed: &mut Testbed, fault: &str) -> Result<()> {
    testbed.set_fault(0, Some(fault))?;
    testbed.exchange(FRAMES_WITH_FAULT)?;
    testbed.set_fault(0, None)
}

/// Acts while port 1 sends nothing.
fn while_stalled(
    testbed: &mut Testbed,
    act: impl FnOnce(&mut Testbed) -> Result<()>,
) -> Result<()> {
    testbed.set_fault(1, Some("stall"))?;
    act(testbed)?;
    testbed.set_fault(1, None)
}

/// Descriptors in a receive ring, and in a transmit ring.
fn ring_size(testbed: &Testbed) -> Result<u32> {
    let [rx, _] = rings(testbed.port(0));
    Ok(u32::try_from(rx.bytes / DESCRIPTOR)?)
}

/// RDT of port 0, where frames arrive.
fn rx_tail(testbed: &Testbed) -> u32 {
    testbed.port(0).registers().peek(r::RDT(0))
}

/// TDT of port 1, where frames leave.
fn tx_tail(testbed: &Testbed) -> u32 {
    testbed.port(1).registers().peek(r::TDT(0))
}

/// Sends frames that the program collects in order to send them in one call.
fn fill_large_batch(testbed: &mut Testbed) -> Result<()> {
    let size = ring_size(testbed)?;
    for _ in 0..8 {
        let wanted = (rx_tail(testbed) + 16) % size;
        testbed.inject(16, FRAME)?;
        testbed.poll_until(|testbed| rx_tail(testbed) == wanted)?;
    }
    Ok(())
}

/// Sets DD in the one receive descriptor that the driver keeps back.
fn rx_dd_too_early(testbed: &mut Testbed) -> Result<()> {
    let [rx, _] = rings(testbed.port(0));
    let at = rx.iova + u64::from(rx_tail(testbed)) * DESCRIPTOR;
    testbed.port(0).rogue_write(at + 8, &RX_DONE.to_le_bytes());
    // After so many frames the driver reads that descriptor, and the NIC has not written it yet.
    testbed.exchange(u64::from(ring_size(testbed)?) - 1)
}

/// Delivers more frames at once than the ring has descriptors. The NIC ignores the tail and reuses
/// descriptors that it has already written back.
fn ring_overrun(testbed: &mut Testbed) -> Result<()> {
    testbed.set_fault(0, Some("ignore-tail"))?;
    // Stops the driver, which might otherwise refill the ring in time.
    testbed.signal(Signal::STOP)?;
    testbed.inject(100, FRAME)?;
    testbed.poll();
    testbed.set_fault(0, None)?;
    testbed.signal(Signal::CONT)
}

/// Makes the driver receive frames and put them into the transmit ring of port 1, which must be
/// stalled. `frames` must be fewer than a ring has descriptors.
fn hand_over(testbed: &mut Testbed, frames: u32) -> Result<()> {
    let size = ring_size(testbed)?;
    let tails = |testbed: &Testbed| [rx_tail(testbed), tx_tail(testbed)];
    let wanted = tails(testbed).map(|tail| (tail + frames) % size);
    testbed.inject(frames, FRAME)?;
    testbed.poll_until(|testbed| tails(testbed) == wanted)
}

/// The driver gets more packets to send than the transmit ring holds, while the NIC sends none.
fn send_while_stalled(testbed: &mut Testbed) -> Result<()> {
    while_stalled(testbed, |testbed| {
        (0..3).try_for_each(|_| hand_over(testbed, 40))
    })
}

/// The NIC reports packets as sent before it reads them: it waits until the driver has filled the ring.
fn tx_dd_too_early(testbed: &mut Testbed) -> Result<()> {
    while_stalled(testbed, |testbed| {
        let [_, tx] = rings(testbed.port(1));
        for _ in 0..3 {
            hand_over(testbed, 40)?;
            let mut word = [0; 8];
            let port = testbed.port(1);
            for at in (tx.iova..tx.iova + tx.bytes).step_by(DESCRIPTOR as usize) {
                if port.driver_memory().read(at + 8, &mut word) {
                    let done = u64::from_le_bytes(word) | TX_DD;
                    port.rogue_write(at + 8, &done.to_le_bytes());
                }
            }
            testbed.poll_for(Duration::from_millis(5));
        }
        Ok(())
    })
}

/// The NIC writes to the data of packets that it has delivered and that now wait to be sent.
fn write_after_return(testbed: &mut Testbed) -> Result<()> {
    while_stalled(testbed, |testbed| {
        hand_over(testbed, 8)?;
        write_to_buffers(testbed, DATA + 100, &[JUNK; 8])
    })
}

/// The NIC writes to the data of packets that it has delivered and that the program holds for a while
/// before it sends them.
fn write_while_held(testbed: &mut Testbed) -> Result<()> {
    const FRAMES: u32 = 8;
    let wanted = (rx_tail(testbed) + FRAMES) % ring_size(testbed)?;
    // Stops the program, so that it receives all frames in one batch.
    testbed.signal(Signal::STOP)?;
    testbed.inject(FRAMES, FRAME)?;
    testbed.poll();
    testbed.signal(Signal::CONT)?;
    testbed.poll_until(|testbed| rx_tail(testbed) == wanted)?;
    write_to_buffers(testbed, DATA + 100, &[JUNK; 8])
}

/// The NIC writes `bytes` at `offset` of each buffer of pool 0. The canaries accept the new bytes:
/// the write is the hazard and not its consequence.
fn write_to_buffers(testbed: &mut Testbed, offset: u64, bytes: &[u8]) -> Result<()> {
    let pool = pool(testbed, 0)?;
    for nth in 0..POOL_CAPACITY {
        let at = pool + nth * BUFFER + offset;
        testbed.port(0).rogue_write(at, bytes);
    }
    testbed.canaries.as_mut().context("no canaries")?.accept();
    Ok(())
}

/// IOVA of a pool: port 0's, port 1's, or the spare one that no queue uses.
fn pool(testbed: &Testbed, nth: usize) -> Result<u64> {
    let canaries = testbed.canaries.as_ref().context("no canaries")?;
    canaries.pools.get(nth).copied().context("no such pool")
}

fn write_unmapped(testbed: &mut Testbed) -> Result<()> {
    testbed.port(0).rogue_write(UNMAPPED_IOVA, &[JUNK; 64]);
    Ok(())
}

fn write_rx_ring(testbed: &mut Testbed) -> Result<()> {
    let [rx, _] = rings(testbed.port(0));
    let junk = vec![RING_JUNK; usize::try_from(rx.bytes)?];
    testbed.port(0).rogue_write(rx.iova, &junk);
    // The driver reads the ring before the next frame arrives.
    testbed.poll_for(Duration::from_millis(200));
    Ok(())
}

fn write_tx_ring(testbed: &mut Testbed) -> Result<()> {
    while_stalled(testbed, |testbed| {
        hand_over(testbed, 8)?;
        let [_, tx] = rings(testbed.port(1));
        let junk = vec![JUNK; usize::try_from(tx.bytes)?];
        testbed.port(1).rogue_write(tx.iova, &junk);
        Ok(())
    })
}

/// The program frees a pool that no queue uses, and the NIC writes to the freed memory.
fn write_freed_memory(testbed: &mut Testbed) -> Result<()> {
    testbed.exchange(FRAMES_DURING)?;
    let spare = pool(testbed, 2)?;
    testbed.port(0).rogue_write(spare + DATA, &[JUNK; 60]);
    Ok(())
}

/// The link goes down and comes up again, 20 times in traffic.
fn link_flapping(testbed: &mut Testbed) -> Result<()> {
    for _ in 0..20 {
        testbed.exchange(8)?;
        testbed.set_fault(0, Some("no-link"))?;
        testbed.inject(4, FRAME)?;
        testbed.poll_for(Duration::from_millis(2));
        testbed.set_fault(0, None)?;
    }
    Ok(())
}

/// Frames of these sizes, which may be dropped.
fn frames_of_sizes(testbed: &mut Testbed, sizes: &[usize]) -> Result<()> {
    for _ in 0..4 {
        let frames = sizes.iter().map(|size| testbed.ledger.next(*size));
        let frames: Vec<_> = frames.collect();
        testbed.send(&frames)?;
    }
    Ok(())
}

fn bad_crc(testbed: &mut Testbed) -> Result<()> {
    for _ in 0..16 {
        let frame = testbed.ledger.next(FRAME);
        testbed.port(0).inject_with_bad_crc(&frame)?;
    }
    Ok(())
}

fn all_zero_frames(testbed: &mut Testbed) -> Result<()> {
    send_own(testbed, (60..76).map(|len| vec![0; len]).collect())
}

/// Far more broadcasts at once than the rings and the packet buffer hold.
fn broadcast_flood(testbed: &mut Testbed) -> Result<()> {
    let broadcast = |number| {
        let mut frame = frame(FIRST_BROADCAST + number, FRAME);
        frame[..6].fill(0xff);
        frame
    };
    send_own(testbed, (0..5000).map(broadcast).collect())
}

/// Sends frames that the ledger did not make.
fn send_own(testbed: &mut Testbed, frames: Vec<Vec<u8>>) -> Result<()> {
    for frame in &frames {
        testbed.ledger.enter(frame.clone());
    }
    testbed.send(&frames)
}
