//! How the lab provokes each hazard: what the program does, what the NIC does, what arrives on the
//! wire.
//!
//! An application's mistake (`app-X`) is the action `X` of the lab's programs, and a driver's
//! mistake (`drv-X`) is a patch. Both run in ordinary traffic and need no entry here. [`SCENARIOS`]
//! lists the other hazards.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use nic::registers as r;
use nic::{Faults, MmioMode, ReceiveFault};
use rustix::process::Signal;

use crate::canaries::{rings, BUFFER, DATA, POOL_CAPACITY};
use crate::evidence::{Evidence, ProgramEnd};
use crate::testbed::{Testbed, FRAME};

/// Frames before the hazard. The lab's programs start their action after as many.
const FRAMES_BEFORE: u64 = 100;
/// Frames during the hazard, unless the scenario sends others.
const FRAMES_DURING: u64 = 200;
/// Frames after the hazard: enough for the rings to wrap several times.
const FRAMES_AFTER: u64 = 400;
/// A length in bytes that exceeds a packet buffer, but that the driver can still send.
const LENGTH_BEYOND: u16 = 4000;
/// A byte that no driver writes.
const JUNK: u8 = 0xff;
/// Read as a receive descriptor, this byte means: done, end of a frame, 3855 bytes long.
const RING_JUNK: u8 = 0x0f;
/// How long the lab waits for a driver that has no processor.
const HAND_OVER_LIMIT: Duration = Duration::from_secs(3);
/// Bursts of frames that the lab sends without a pause, to provoke a race.
const RACE_BURSTS: u32 = 3000;
/// An IOVA that the drivers never map: theirs are lower.
const UNMAPPED_IOVA: u64 = 1 << 46;
/// Second word of a receive descriptor: DD, EOP and the length of an ordinary frame.
const RX_DONE: u64 = (FRAME as u64) << 32 | 3;
/// DD in the second word of a transmit descriptor.
const TX_DD: u64 = 1 << 32;

/// How a hazard is provoked. A run has five steps: start, ordinary traffic, the hazard, ordinary
/// traffic, stop.
#[derive(Clone, Copy, Debug)]
pub struct Scenario<'a> {
    /// What the lab's program does besides forwarding; `forward` means nothing else.
    pub action: &'a str,
    /// How the driver reaches the registers.
    pub mmio: MmioMode,
    /// Sets the faults that both ports have from the start.
    pub at_start: fn(&mut Faults),
    /// Provokes the hazard.
    pub during: fn(&mut Testbed) -> Result<()>,
    /// Sets the faults that port 0 has after the hazard, until the end.
    pub at_end: fn(&mut Faults),
    /// Whether the driver's sources are patched.
    pub patched: bool,
}

const ORDINARY: Scenario = Scenario {
    action: "forward",
    mmio: MmioMode::Shared,
    at_start: |_| {},
    during: ordinary_traffic,
    at_end: |_| {},
    patched: false,
};

/// The hazards that need more than a program's action or a patch in ordinary traffic, by id.
const SCENARIOS: &[(&str, Scenario)] = &[
    // ---- Application ----
    (
        "app-two-threads",
        Scenario {
            action: "two-threads",
            during: race_traffic,
            ..ORDINARY
        },
    ),
    (
        "app-foreign-free",
        Scenario {
            action: "foreign-free",
            during: race_traffic,
            ..ORDINARY
        },
    ),
    // ---- Device ----
    (
        "dev-length-beyond-buffer",
        during(|testbed| {
            with_fault(
                testbed,
                |faults| faults.receive = Some(ReceiveFault::Length(LENGTH_BEYOND)),
                32,
            )
        }),
    ),
    (
        "dev-length-zero",
        during(|testbed| {
            with_fault(
                testbed,
                |faults| faults.receive = Some(ReceiveFault::Length(0)),
                32,
            )
        }),
    ),
    (
        "dev-dd-without-eop",
        during(|testbed| {
            with_fault(
                testbed,
                |faults| faults.receive = Some(ReceiveFault::NoEndOfPacket),
                32,
            )
        }),
    ),
    ("dev-dd-not-handed-over", during(rx_dd_too_early)),
    ("dev-ring-overrun", during(ring_overrun)),
    ("dev-early-dd-on-tx", during(tx_dd_too_early)),
    (
        "dev-head-beyond-ring",
        Scenario {
            at_end: |faults| faults.head_beyond_ring = true,
            ..ORDINARY
        },
    ),
    ("dev-write-after-return", during(write_after_return)),
    (
        "dev-write-while-held",
        Scenario {
            action: "hold",
            during: write_while_held,
            ..ORDINARY
        },
    ),
    ("dev-write-metadata", during(write_metadata)),
    (
        "dev-write-unmapped",
        during(|testbed| {
            testbed.port(0).rogue_write(UNMAPPED_IOVA, &[JUNK; 64]);
            ordinary_traffic(testbed)
        }),
    ),
    ("dev-write-rx-ring", during(write_rx_ring)),
    ("dev-write-tx-ring", during(write_tx_ring)),
    (
        "dev-write-freed-memory",
        Scenario {
            action: "free-pool",
            during: write_freed_memory,
            ..ORDINARY
        },
    ),
    (
        "dev-removed",
        Scenario {
            mmio: MmioMode::Trap,
            during: |testbed| {
                testbed.set_faults(0, |faults| faults.removed = true);
                testbed.poll_for(Duration::from_millis(150));
                Ok(())
            },
            at_end: |faults| faults.removed = true,
            ..ORDINARY
        },
    ),
    (
        "dev-reset-never-ends",
        Scenario {
            at_start: |faults| faults.never_finish_reset = true,
            ..ORDINARY
        },
    ),
    ("dev-link-flapping", during(link_flapping)),
    (
        "dev-interrupt-storm",
        during(|testbed| {
            with_fault(
                testbed,
                |faults| faults.interrupt_storm = true,
                FRAMES_DURING,
            )
        }),
    ),
    // ---- Driver ----
    (
        "drv-batch-larger-than-ring",
        Scenario {
            action: "large-batch",
            during: fill_large_batch,
            patched: true,
            ..ORDINARY
        },
    ),
    (
        "drv-odd-ring-size",
        Scenario {
            action: "odd-ring",
            patched: true,
            ..ORDINARY
        },
    ),
    (
        "drv-tx-stale-descriptor",
        Scenario {
            during: send_while_stalled,
            patched: true,
            ..ORDINARY
        },
    ),
    // ---- Wire ----
    (
        "wire-runt",
        during(|testbed| frames_of_sizes(testbed, &[24, 32, 46, 59])),
    ),
    (
        "wire-giant",
        during(|testbed| frames_of_sizes(testbed, &[1600, 2048, 4000, 9000, 15_868])),
    ),
    ("wire-bad-crc", during(bad_crc)),
    ("wire-all-zero", during(all_zero_frames)),
    (
        "wire-size-boundary",
        // With CRC 1517 to 1523: the limit is 1518 without a VLAN tag and 1522 with one.
        during(|testbed| frames_of_sizes(testbed, &[1513, 1514, 1515, 1517, 1518, 1519])),
    ),
    ("wire-broadcast-flood", during(broadcast_flood)),
];

/// The scenario of a hazard.
///
/// # Errors
/// If the hazard has none.
pub fn scenario(hazard: &str) -> Result<Scenario<'_>> {
    if let Some((_, scenario)) = SCENARIOS.iter().find(|(id, _)| *id == hazard) {
        return Ok(*scenario);
    }
    if let Some(action) = hazard.strip_prefix("app-") {
        return Ok(Scenario { action, ..ORDINARY });
    }
    if hazard.starts_with("drv-") {
        return Ok(Scenario {
            patched: true,
            ..ORDINARY
        });
    }
    bail!("hazard {hazard} has no scenario: add one to SCENARIOS in safety/src/scenario.rs")
}

/// The ids of all hazards in [`SCENARIOS`].
pub fn listed() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|(id, _)| *id)
}

/// Runs a lab program through a scenario and returns what was seen.
///
/// # Errors
/// If the lab itself fails. Whatever a driver does is evidence, not an error.
pub fn run(program: &std::path::Path, scenario: &Scenario) -> Result<Evidence> {
    let mut testbed = Testbed::start(program, scenario.action, scenario.mmio, scenario.at_start)?;
    if testbed.wait_until_running()? {
        testbed.plant_canaries()?;
        testbed.exchange(FRAMES_BEFORE)?;
        (scenario.during)(&mut testbed)?;
        testbed.set_faults(0, scenario.at_end);
        testbed.exchange(FRAMES_AFTER)?;
    }
    let evidence = testbed.stop()?;
    ensure!(
        evidence.program_end != Some(ProgramEnd::Exit(2)),
        "the lab's program does not know the action {}: {}",
        scenario.action,
        evidence.stderr
    );
    Ok(evidence)
}

const fn during(during: fn(&mut Testbed) -> Result<()>) -> Scenario<'static> {
    Scenario { during, ..ORDINARY }
}

fn ordinary_traffic(testbed: &mut Testbed) -> Result<()> {
    testbed.exchange(FRAMES_DURING)
}

/// Sends enough frames without a pause that two threads always have something to receive, and so
/// collide.
fn race_traffic(testbed: &mut Testbed) -> Result<()> {
    for burst in 0..RACE_BURSTS {
        let frames: Vec<_> = (0..32).map(|_| testbed.ledger.next(60)).collect();
        for frame in &frames {
            testbed.port(0).inject(frame)?;
        }
        testbed.poll();
        if burst % 16 == 0 {
            // Gives both threads of the program a processor now and then.
            sleep(Duration::from_micros(300));
        }
        if !testbed.alive()? {
            break;
        }
    }
    ordinary_traffic(testbed)
}

/// Sends `frames` frames while port 0 has a fault, then ordinary traffic.
fn with_fault(testbed: &mut Testbed, set: impl FnOnce(&mut Faults), frames: u64) -> Result<()> {
    testbed.set_faults(0, set);
    testbed.exchange(frames)?;
    testbed.set_faults(0, |_| {});
    ordinary_traffic(testbed)
}

/// Sends frames that the program collects in order to send them in one call.
fn fill_large_batch(testbed: &mut Testbed) -> Result<()> {
    for _ in 0..8 {
        let tail = testbed.port(0).registers().peek(r::RDT(0));
        for _ in 0..16 {
            let frame = testbed.ledger.next(FRAME);
            testbed.port(0).inject(&frame)?;
        }
        let deadline = Instant::now() + HAND_OVER_LIMIT;
        while testbed.port(0).registers().peek(r::RDT(0)) != (tail + 16) % 64
            && Instant::now() < deadline
            && testbed.alive()?
        {
            testbed.poll_for(Duration::from_millis(1));
        }
    }
    ordinary_traffic(testbed)
}

/// Sets DD in the one receive descriptor that the driver keeps back.
fn rx_dd_too_early(testbed: &mut Testbed) -> Result<()> {
    let [rx, _] = rings(testbed.port(0));
    let kept = u64::from(testbed.port(0).registers().peek(r::RDT(0)));
    let at = rx.iova + kept * 16;
    testbed.port(0).rogue_write(at + 8, &RX_DONE.to_le_bytes());
    // After so many frames the driver reads that descriptor, and the NIC has not written it yet.
    testbed.exchange(rx.bytes / 16 - 1)?;
    ordinary_traffic(testbed)
}

/// Delivers more frames at once than the ring has descriptors. The NIC ignores the tail and reuses
/// descriptors that it has already written back.
fn ring_overrun(testbed: &mut Testbed) -> Result<()> {
    testbed.set_faults(0, |faults| faults.ignore_tail = true);
    // Stops the driver, which might otherwise refill the ring in time.
    testbed.signal(Signal::STOP)?;
    for _ in 0..100 {
        let frame = testbed.ledger.next(FRAME);
        testbed.port(0).inject(&frame)?;
    }
    testbed.poll();
    testbed.set_faults(0, |_| {});
    testbed.signal(Signal::CONT)?;
    ordinary_traffic(testbed)
}

/// Makes the driver receive frames and put them into the transmit ring of port 1, which must be
/// stalled. `frames` must be fewer than a ring has descriptors.
fn hand_over(testbed: &mut Testbed, frames: u32) -> Result<()> {
    let tails = |testbed: &Testbed| {
        let peek = |port, address| testbed.port(port).registers().peek(address);
        [peek(0, r::RDT(0)), peek(1, r::TDT(0))]
    };
    let [_, tx] = rings(testbed.port(1));
    let size = u32::try_from(tx.bytes / 16)?;
    let wanted = tails(testbed).map(|tail| (tail + frames) % size);
    for _ in 0..frames {
        let frame = testbed.ledger.next(FRAME);
        testbed.port(0).inject(&frame)?;
    }
    let deadline = Instant::now() + HAND_OVER_LIMIT;
    while tails(testbed) != wanted && Instant::now() < deadline && testbed.alive()? {
        testbed.poll_for(Duration::from_millis(1));
    }
    Ok(())
}

/// The driver gets more packets to send than the transmit ring holds, while the NIC sends none.
fn send_while_stalled(testbed: &mut Testbed) -> Result<()> {
    testbed.set_faults(1, |faults| faults.stall_tx = true);
    for _ in 0..3 {
        hand_over(testbed, 40)?;
    }
    testbed.set_faults(1, |_| {});
    ordinary_traffic(testbed)
}

/// The NIC reports packets as sent before it reads them.
fn tx_dd_too_early(testbed: &mut Testbed) -> Result<()> {
    // The NIC sends nothing until the driver has filled the ring.
    testbed.set_faults(1, |faults| faults.stall_tx = true);
    let [_, tx] = rings(testbed.port(1));
    for _ in 0..3 {
        hand_over(testbed, 40)?;
        let mut word = [0; 8];
        let memory = testbed.port(1).driver_memory();
        for at in (tx.iova..tx.iova + tx.bytes).step_by(16) {
            if memory.read(at + 8, &mut word) {
                let done = u64::from_le_bytes(word) | TX_DD;
                testbed.port(1).rogue_write(at + 8, &done.to_le_bytes());
            }
        }
        testbed.poll_for(Duration::from_millis(5));
    }
    testbed.set_faults(1, |_| {});
    ordinary_traffic(testbed)
}

/// The NIC writes to the data of packets that it has delivered and that now wait to be sent.
fn write_after_return(testbed: &mut Testbed) -> Result<()> {
    testbed.set_faults(1, |faults| faults.stall_tx = true);
    hand_over(testbed, 8)?;
    write_to_buffers(testbed, DATA + 100, &[JUNK; 8])?;
    testbed.set_faults(1, |_| {});
    ordinary_traffic(testbed)
}

/// The NIC writes to the data of packets that it has delivered and that the program holds for a while
/// before it sends them.
fn write_while_held(testbed: &mut Testbed) -> Result<()> {
    const FRAMES: u32 = 8;
    let [rx, _] = rings(testbed.port(0));
    let size = u32::try_from(rx.bytes / 16)?;
    let tail = |testbed: &Testbed| testbed.port(0).registers().peek(r::RDT(0));
    let wanted = (tail(testbed) + FRAMES) % size;
    // Stops the program, so that it receives all frames in one batch.
    testbed.signal(Signal::STOP)?;
    for _ in 0..FRAMES {
        let frame = testbed.ledger.next(FRAME);
        testbed.port(0).inject(&frame)?;
    }
    testbed.poll();
    testbed.signal(Signal::CONT)?;
    let deadline = Instant::now() + HAND_OVER_LIMIT;
    while tail(testbed) != wanted && Instant::now() < deadline && testbed.alive()? {
        sleep(Duration::from_micros(20));
    }
    write_to_buffers(testbed, DATA + 100, &[JUNK; 8])?;
    ordinary_traffic(testbed)
}

/// The NIC writes in front of the data of all packets, where the C driver keeps its metadata.
fn write_metadata(testbed: &mut Testbed) -> Result<()> {
    write_to_buffers(testbed, 0, &[JUNK; DATA as usize])?;
    ordinary_traffic(testbed)
}

/// The NIC writes `bytes` at `offset` of each buffer of pool 0. The canaries accept the new bytes:
/// the write is the hazard and not its consequence.
fn write_to_buffers(testbed: &mut Testbed, offset: u64, bytes: &[u8]) -> Result<()> {
    let canaries = testbed.canaries.as_ref().context("no canaries")?;
    let pool = canaries.pools()[0];
    for nth in 0..POOL_CAPACITY {
        testbed
            .port(0)
            .rogue_write(pool + nth * BUFFER + offset, bytes);
    }
    if let Some(canaries) = testbed.canaries.as_mut() {
        canaries.accept();
    }
    Ok(())
}

fn write_rx_ring(testbed: &mut Testbed) -> Result<()> {
    let [rx, _] = rings(testbed.port(0));
    testbed
        .port(0)
        .rogue_write(rx.iova, &vec![RING_JUNK; usize::try_from(rx.bytes)?]);
    // The driver reads the ring before the next frame arrives.
    sleep(Duration::from_millis(200));
    ordinary_traffic(testbed)
}

fn write_tx_ring(testbed: &mut Testbed) -> Result<()> {
    testbed.set_faults(1, |faults| faults.stall_tx = true);
    hand_over(testbed, 8)?;
    let [_, tx] = rings(testbed.port(1));
    testbed
        .port(1)
        .rogue_write(tx.iova, &vec![JUNK; usize::try_from(tx.bytes)?]);
    testbed.set_faults(1, |_| {});
    ordinary_traffic(testbed)
}

/// The program frees a pool that no queue uses, and the NIC writes to the freed memory.
fn write_freed_memory(testbed: &mut Testbed) -> Result<()> {
    ordinary_traffic(testbed)?;
    let spare = *testbed
        .canaries
        .as_ref()
        .context("no canaries")?
        .pools()
        .last()
        .context("no pools")?;
    testbed.port(0).rogue_write(spare + DATA, &[JUNK; 60]);
    ordinary_traffic(testbed)
}

/// The link goes down and comes up again, 20 times in traffic.
fn link_flapping(testbed: &mut Testbed) -> Result<()> {
    for _ in 0..20 {
        testbed.exchange(8)?;
        testbed.set_faults(0, |faults| faults.no_link = true);
        let lost: Vec<_> = (0..4).map(|_| testbed.ledger.next(FRAME)).collect();
        for frame in &lost {
            testbed.port(0).inject(frame)?;
        }
        testbed.poll_for(Duration::from_millis(2));
        testbed.set_faults(0, |_| {});
    }
    ordinary_traffic(testbed)
}

/// Frames of these sizes, which may be dropped, then ordinary traffic.
fn frames_of_sizes(testbed: &mut Testbed, sizes: &[usize]) -> Result<()> {
    for _ in 0..4 {
        let frames: Vec<_> = sizes
            .iter()
            .map(|size| testbed.ledger.next(*size))
            .collect();
        testbed.send(&frames)?;
    }
    ordinary_traffic(testbed)
}

fn bad_crc(testbed: &mut Testbed) -> Result<()> {
    for _ in 0..16 {
        let frame = testbed.ledger.next(FRAME);
        testbed.port(0).inject_with_bad_crc(&frame)?;
    }
    ordinary_traffic(testbed)
}

fn all_zero_frames(testbed: &mut Testbed) -> Result<()> {
    let frames: Vec<_> = (60..76).map(|len| vec![0; len]).collect();
    for frame in &frames {
        testbed.ledger.enter(frame.clone());
    }
    testbed.send(&frames)?;
    ordinary_traffic(testbed)
}

/// Far more broadcasts at once than the rings and the packet buffer hold.
fn broadcast_flood(testbed: &mut Testbed) -> Result<()> {
    let frames: Vec<_> = (0..5000)
        .map(|_| {
            let mut frame = testbed.ledger.next_unentered(FRAME);
            frame[..6].fill(0xff);
            frame
        })
        .collect();
    for frame in &frames {
        testbed.ledger.enter(frame.clone());
    }
    testbed.send(&frames)?;
    ordinary_traffic(testbed)
}
