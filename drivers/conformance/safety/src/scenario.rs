//! How each hazard is provoked: what the program does, what the device does, what comes on the wire.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nic::registers as r;
use nic::{Faults, MmioMode, RxLie};
use rustix::process::Signal;

use crate::canaries::{rings, BUFFER, DATA, POOL_CAPACITY};
use crate::stage::{Stage, DURING, FRAME};

/// More than a packet buffer holds, and little enough to be sent on.
const LENGTH_BEYOND: u16 = 4000;
/// Bytes that no driver writes.
const JUNK: u8 = 0xff;
/// As a receive descriptor: done, the end of a frame, 3855 bytes long.
const RING_JUNK: u8 = 0x0f;
/// A driver without a processor may take so long.
const HANDED_OVER: Duration = Duration::from_secs(3);
/// Bursts of frames, without a pause, for a race.
const RACE_BURSTS: u32 = 3000;
/// Where nothing is mapped: the drivers' IOVAs are below.
const NOWHERE: u64 = 1 << 46;
/// DD, EOP and the length of an ordinary frame, as the second word of a receive descriptor.
const DONE: u64 = (FRAME as u64) << 32 | 3;
/// DD in the second word of a transmit descriptor.
const SENT: u64 = 1 << 32;

/// A hazard's course: start, [`Stage`] in good order, the hazard, good order again, end.
pub struct Scenario {
    /// What the program is told to do.
    pub deed: &'static str,
    /// How the driver reaches the registers.
    pub mmio: MmioMode,
    /// How both ports misbehave from the start.
    pub at_start: fn(&mut Faults),
    /// The hazard.
    pub during: fn(&mut Stage) -> Result<()>,
    /// How port 0 misbehaves after it, to the end.
    pub at_end: fn(&mut Faults),
    /// Whether the driver's own sources are patched.
    pub patched: bool,
}

const PLAIN: Scenario = Scenario {
    deed: "forward",
    mmio: MmioMode::Shared,
    at_start: |_| {},
    during: ordinary,
    at_end: |_| {},
    patched: false,
};

/// All hazards that the lab can provoke, by id.
pub const SCENARIOS: &[(&str, Scenario)] = &[
    // ---- Application: the program's deed, in ordinary traffic ----
    ("app-use-after-send", deed("use-after-send")),
    ("app-double-free", deed("double-free")),
    ("app-use-after-pool", deed("use-after-pool")),
    ("app-write-past-end", deed("write-past-end")),
    ("app-write-before-start", deed("write-before-start")),
    (
        "app-two-threads",
        Scenario {
            during: much,
            ..deed("two-threads")
        },
    ),
    ("app-leak", deed("leak")),
    // ---- Device ----
    (
        "dev-length-beyond-buffer",
        lie(|stage| {
            with(
                stage,
                |faults| faults.rx_lie = Some(RxLie::Length(LENGTH_BEYOND)),
                32,
            )
        }),
    ),
    (
        "dev-length-zero",
        lie(|stage| with(stage, |faults| faults.rx_lie = Some(RxLie::Length(0)), 32)),
    ),
    (
        "dev-dd-without-eop",
        lie(|stage| with(stage, |faults| faults.rx_lie = Some(RxLie::NoEop), 32)),
    ),
    ("dev-dd-not-handed-over", lie(done_too_early)),
    ("dev-ring-overrun", lie(ring_overrun)),
    ("dev-early-dd-on-tx", lie(sent_too_early)),
    (
        "dev-head-beyond-ring",
        Scenario {
            at_end: |faults| faults.head_beyond_ring = true,
            ..PLAIN
        },
    ),
    ("dev-write-after-return", lie(write_after_return)),
    ("dev-write-metadata", lie(write_metadata)),
    (
        "dev-write-unmapped",
        lie(|stage| {
            stage.port(0).rogue_write(NOWHERE, &[JUNK; 64]);
            ordinary(stage)
        }),
    ),
    ("dev-write-rx-ring", lie(write_rx_ring)),
    ("dev-write-tx-ring", lie(write_tx_ring)),
    (
        "dev-write-freed-memory",
        Scenario {
            during: write_freed,
            ..deed("free-pool")
        },
    ),
    (
        "dev-removed",
        Scenario {
            mmio: MmioMode::Trap,
            during: |stage| {
                stage.fault(|faults| faults.removed = true);
                stage.poll_for(Duration::from_millis(150));
                Ok(())
            },
            at_end: |faults| faults.removed = true,
            ..PLAIN
        },
    ),
    (
        "dev-reset-never-ends",
        Scenario {
            at_start: |faults| faults.never_finish_reset = true,
            ..PLAIN
        },
    ),
    ("dev-link-flapping", lie(link_flapping)),
    (
        "dev-interrupt-storm",
        lie(|stage| with(stage, |faults| faults.interrupt_storm = true, DURING)),
    ),
    // ---- Driver: a patch, in ordinary traffic ----
    ("drv-ring-wrap", patch("forward")),
    ("drv-rdt-too-far", patch("forward")),
    (
        "drv-batch-larger-than-ring",
        Scenario {
            during: pile_up,
            ..patch("large-batch")
        },
    ),
    ("drv-iova-overflow", patch("forward")),
    ("drv-odd-ring-size", patch("odd-ring")),
    ("drv-stale-descriptor", patch("forward")),
    // ---- Wire ----
    ("wire-runt", lie(|stage| of_sizes(stage, &[24, 32, 46, 59]))),
    (
        "wire-giant",
        lie(|stage| of_sizes(stage, &[1600, 2048, 4000, 9000, 15_868])),
    ),
    (
        "wire-bad-crc",
        lie(|stage| {
            for _ in 0..16 {
                let frame = stage.ledger.next(FRAME);
                stage.port(0).inject_with_bad_crc(&frame)?;
            }
            ordinary(stage)
        }),
    ),
    (
        "wire-all-zero",
        lie(|stage| {
            let frames: Vec<_> = (60..76).map(|len| vec![0; len]).collect();
            for frame in &frames {
                stage.ledger.enter(frame.clone());
            }
            stage.send(&frames)?;
            ordinary(stage)
        }),
    ),
    (
        "wire-size-boundary",
        // With CRC 1517 to 1523: 1518 is the longest without a VLAN tag, 1522 with one.
        lie(|stage| of_sizes(stage, &[1513, 1514, 1515, 1517, 1518, 1519])),
    ),
    ("wire-broadcast-flood", lie(broadcast_flood)),
];

/// The scenario of a hazard.
///
/// # Errors
/// If there is none.
pub fn scenario(hazard: &str) -> Result<&'static Scenario> {
    SCENARIOS
        .iter()
        .find(|(id, _)| *id == hazard)
        .map(|(_, scenario)| scenario)
        .with_context(|| format!("hazard {hazard} has no scenario"))
}

const fn deed(deed: &'static str) -> Scenario {
    Scenario { deed, ..PLAIN }
}

const fn lie(during: fn(&mut Stage) -> Result<()>) -> Scenario {
    Scenario { during, ..PLAIN }
}

const fn patch(deed: &'static str) -> Scenario {
    Scenario {
        deed,
        patched: true,
        ..PLAIN
    }
}

fn ordinary(stage: &mut Stage) -> Result<()> {
    stage.exchange(DURING)
}

/// Traffic for a race: always something to receive, so that it is lost for certain.
fn much(stage: &mut Stage) -> Result<()> {
    for burst in 0..RACE_BURSTS {
        let frames: Vec<_> = (0..32).map(|_| stage.ledger.next(60)).collect();
        for frame in &frames {
            stage.port(0).inject(frame)?;
        }
        stage.poll();
        if burst % 16 == 0 {
            // Both of the program's threads shall have a processor now and then.
            sleep(Duration::from_micros(300));
        }
        if !stage.alive()? {
            break;
        }
    }
    ordinary(stage)
}

/// Some frames while a fault is on, then ordinary traffic.
fn with(stage: &mut Stage, set: impl FnOnce(&mut Faults), frames: u64) -> Result<()> {
    stage.fault(set);
    stage.exchange(frames)?;
    stage.fault(|_| {});
    ordinary(stage)
}

/// Frames that the program collects, to send them in one call.
fn pile_up(stage: &mut Stage) -> Result<()> {
    for _ in 0..8 {
        let tail = stage.port(0).registers().peek(r::RDT(0));
        for _ in 0..16 {
            let frame = stage.ledger.next(FRAME);
            stage.port(0).inject(&frame)?;
        }
        let deadline = Instant::now() + HANDED_OVER;
        while stage.port(0).registers().peek(r::RDT(0)) != (tail + 16) % 64
            && Instant::now() < deadline
            && stage.alive()?
        {
            stage.poll_for(Duration::from_millis(1));
        }
    }
    ordinary(stage)
}

/// DD in the one receive descriptor that the driver keeps back.
fn done_too_early(stage: &mut Stage) -> Result<()> {
    let [rx, _] = rings(stage.port(0));
    let kept = u64::from(stage.port(0).registers().peek(r::RDT(0)));
    let at = rx.iova + kept * 16;
    stage.port(0).rogue_write(at + 8, &DONE.to_le_bytes());
    // The driver comes to it when the device has not yet written to it.
    stage.exchange(rx.bytes / 16 - 1)?;
    ordinary(stage)
}

/// More frames at once than there are descriptors, and the device goes round over those that it has
/// written back already.
fn ring_overrun(stage: &mut Stage) -> Result<()> {
    stage.fault(|faults| faults.ignore_tail = true);
    // The driver is elsewhere meanwhile, else it may be quick enough.
    stage.signal(Signal::STOP)?;
    for _ in 0..100 {
        let frame = stage.ledger.next(FRAME);
        stage.port(0).inject(&frame)?;
    }
    stage.poll();
    stage.fault(|_| {});
    stage.signal(Signal::CONT)?;
    ordinary(stage)
}

/// Has the driver receive frames and put them into the transmit ring of port 1, which stands still;
/// fewer than the rings have descriptors.
fn hand_over(stage: &mut Stage, frames: u32) -> Result<()> {
    let tails = |stage: &Stage| {
        let peek = |port, address| stage.port(port).registers().peek(address);
        [peek(0, r::RDT(0)), peek(1, r::TDT(0))]
    };
    let [_, tx] = rings(stage.port(1));
    let size = u32::try_from(tx.bytes / 16)?;
    let wanted = tails(stage).map(|tail| (tail + frames) % size);
    for _ in 0..frames {
        let frame = stage.ledger.next(FRAME);
        stage.port(0).inject(&frame)?;
    }
    let deadline = Instant::now() + HANDED_OVER;
    while tails(stage) != wanted && Instant::now() < deadline && stage.alive()? {
        stage.poll_for(Duration::from_millis(1));
    }
    Ok(())
}

/// The device says of packets that they are sent, while it still has to read them.
fn sent_too_early(stage: &mut Stage) -> Result<()> {
    // Held back until the ring is full of them.
    stage.port(1).set_faults(stalled());
    let [_, tx] = rings(stage.port(1));
    for _ in 0..3 {
        hand_over(stage, 40)?;
        let mut word = [0; 8];
        let memory = stage.port(1).driver_memory();
        for at in (tx.iova..tx.iova + tx.bytes).step_by(16) {
            if memory.read(at + 8, &mut word) {
                let done = u64::from_le_bytes(word) | SENT;
                stage.port(1).rogue_write(at + 8, &done.to_le_bytes());
            }
        }
        stage.poll_for(Duration::from_millis(5));
    }
    stage.port(1).set_faults(Faults::default());
    ordinary(stage)
}

fn stalled() -> Faults {
    let mut faults = Faults::default();
    faults.stall_tx = true;
    faults
}

/// The device writes to the data of all packets while the driver has them: they were received, and
/// wait to be sent.
fn write_after_return(stage: &mut Stage) -> Result<()> {
    stage.port(1).set_faults(stalled());
    hand_over(stage, 8)?;
    write_to_buffers(stage, DATA + 100, &[JUNK; 8])?;
    stage.port(1).set_faults(Faults::default());
    ordinary(stage)
}

/// The device writes in front of the data of all packets: where the C driver has its metadata.
fn write_metadata(stage: &mut Stage) -> Result<()> {
    write_to_buffers(stage, 0, &[JUNK; DATA as usize])?;
    ordinary(stage)
}

/// What is written is the hazard, not its consequence: canaries take it as given.
fn write_to_buffers(stage: &mut Stage, offset: u64, bytes: &[u8]) -> Result<()> {
    let canaries = stage.canaries.as_ref().context("no canaries")?;
    let pool = canaries.pools()[0];
    for nth in 0..POOL_CAPACITY {
        stage
            .port(0)
            .rogue_write(pool + nth * BUFFER + offset, bytes);
    }
    if let Some(canaries) = stage.canaries.as_mut() {
        canaries.accept();
    }
    Ok(())
}

fn write_rx_ring(stage: &mut Stage) -> Result<()> {
    let [rx, _] = rings(stage.port(0));
    stage
        .port(0)
        .rogue_write(rx.iova, &vec![RING_JUNK; usize::try_from(rx.bytes)?]);
    // The driver comes to see it before the next frame.
    sleep(Duration::from_millis(200));
    ordinary(stage)
}

fn write_tx_ring(stage: &mut Stage) -> Result<()> {
    stage.port(1).set_faults(stalled());
    hand_over(stage, 8)?;
    let [_, tx] = rings(stage.port(1));
    stage
        .port(1)
        .rogue_write(tx.iova, &vec![JUNK; usize::try_from(tx.bytes)?]);
    stage.port(1).set_faults(Faults::default());
    ordinary(stage)
}

/// The program frees a pool that no queue uses, and the device writes to where it was.
fn write_freed(stage: &mut Stage) -> Result<()> {
    ordinary(stage)?;
    let spare = *stage
        .canaries
        .as_ref()
        .context("no canaries")?
        .pools()
        .last()
        .context("no pools")?;
    stage.port(0).rogue_write(spare + DATA, &[JUNK; 60]);
    ordinary(stage)
}

/// The link goes down and comes up again, in traffic.
fn link_flapping(stage: &mut Stage) -> Result<()> {
    for _ in 0..20 {
        stage.exchange(8)?;
        stage.fault(|faults| faults.no_link = true);
        let lost: Vec<_> = (0..4).map(|_| stage.ledger.next(FRAME)).collect();
        for frame in &lost {
            stage.port(0).inject(frame)?;
        }
        stage.poll_for(Duration::from_millis(2));
        stage.fault(|_| {});
    }
    ordinary(stage)
}

/// Frames of these sizes, which may be dropped, and ordinary ones after them.
fn of_sizes(stage: &mut Stage, sizes: &[usize]) -> Result<()> {
    for _ in 0..4 {
        let frames: Vec<_> = sizes.iter().map(|size| stage.ledger.next(*size)).collect();
        stage.send(&frames)?;
    }
    ordinary(stage)
}

/// Far more broadcasts at once than there are descriptors and room in the packet buffer.
fn broadcast_flood(stage: &mut Stage) -> Result<()> {
    let frames: Vec<_> = (0..5000)
        .map(|_| {
            let mut frame = stage.ledger.next_unentered(FRAME);
            frame[..6].fill(0xff);
            frame
        })
        .collect();
    for frame in &frames {
        stage.ledger.enter(frame.clone());
    }
    stage.send(&frames)?;
    ordinary(stage)
}
