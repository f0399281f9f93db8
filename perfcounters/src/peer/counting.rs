//! Exact counts of a peer, by valgrind.
//!
//! Valgrind writes its counts down several times while the program forwards. Each part between two dumps
//! gives the cost of its packets, and has neither the start nor the end of the program. The program waits
//! for packets when the card falls behind. Nothing in the program counts these waits, but each of them
//! makes a part more expensive. So the cheapest parts that agree had none.

use std::path::Path;
use std::time::Duration;

use record::Placement;

use super::run::{Patience, PeerSetup};
use super::vgdb::{self, Dump, Dumper};
use crate::backend::{Cell, MeasureError};
use crate::callgrind::{PerPacket, Totals};
use crate::device::{NicProgram, Traffic};
use crate::interrupt::Interrupt;
use crate::process;

/// Parts that must agree.
const AGREEING: usize = 3;
/// Most parts of a measurement. A quiet machine needs three.
const PARTS: usize = 16;
/// Parts agree if their instructions per packet differ by this share, or by [`INSTRUCTIONS`].
const SHARE: f64 = 0.003;
/// The smallest difference of instructions per packet that matters: a part begins and ends within a batch.
const INSTRUCTIONS: f64 = 0.3;
/// Largest share of packets that were received and not sent in an undisturbed part.
const DROPPED: f64 = 0.001;
/// Fewest packets of a part. A part of fewer packets has a larger error, because it ends within a batch.
const LEAST_PACKETS: u64 = 25_600;
/// Usual speed of a peer under valgrind, packets per second; for estimates.
const USUAL: f64 = 150_000.0;
/// Frames after which the start of a program is over.
const STARTED: u64 = 10_000;

/// About how long one measurement takes.
pub fn estimate(packets: u64) -> Duration {
    // The start of a program takes some seconds under valgrind.
    Duration::from_secs_f64(4.0 + packets as f64 / USUAL)
}

/// How to count.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The software card.
    pub nic: &'a NicProgram,
    /// CPUs of peer and card.
    pub placement: &'a Placement,
    /// Packets to count, in all parts that agree. A part has at least 25,600.
    pub packets: u64,
    /// Valgrind's options for the simulated caches.
    pub caches: &'a [&'a str],
    /// Stops the measurement when set.
    pub interrupt: &'a Interrupt,
}

/// What valgrind counted.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerCounts {
    /// Events per packet.
    pub per_packet: PerPacket,
    /// Largest difference of the instructions per packet of the parts that were used.
    pub spread: f64,
    /// Number of parts that were used.
    pub parts: usize,
    /// Number of parts that were counted.
    pub counted: usize,
    /// Whether enough parts agree, so that the counts are exact.
    pub undisturbed: bool,
}

impl PeerCounts {
    /// The disturbance of counts that are not [undisturbed](field@Self::undisturbed).
    pub fn disturbance(&self) -> String {
        format!(
            "only {} of {} parts agree: the software NIC fell behind, and the counts are not exact; is \
             the machine busy?",
            self.parts, self.counted
        )
    }
}

/// One part: the packets between two dumps, and their counts.
#[derive(Debug, Clone, Copy)]
struct Part {
    totals: Totals,
    packets: u64,
    dropped: u64,
}

impl Part {
    /// `None` if no packet was sent.
    fn between(before: &Dump, after: &Dump) -> Option<Self> {
        let packets = after.card.transmitted - before.card.transmitted;
        let held = |dump: &Dump| dump.card.delivered - dump.card.transmitted;
        (packets > 0).then(|| Self {
            totals: after.totals,
            packets,
            // What the program holds at a dump may be a little more or less than at the other.
            dropped: held(after).saturating_sub(held(before)),
        })
    }

    fn instructions(&self) -> f64 {
        self.totals.ir as f64 / self.packets as f64
    }

    fn dropped_ratio(&self) -> f64 {
        self.dropped as f64 / self.packets as f64
    }
}

/// The cheapest parts that agree, at least one. Parts with dropped packets are left out, if there are
/// others: a dropped packet skips the send path.
fn cheapest(parts: &[Part]) -> Vec<Part> {
    let mut sound: Vec<Part> = parts
        .iter()
        .filter(|part| part.dropped_ratio() <= DROPPED)
        .copied()
        .collect();
    if sound.is_empty() {
        sound = parts.to_vec();
    }
    sound.sort_by(|a, b| a.instructions().total_cmp(&b.instructions()));
    let limit = sound
        .first()
        .map_or(0.0, |part| part.instructions() + tolerance(part));
    sound.retain(|part| part.instructions() <= limit);
    sound
}

fn tolerance(part: &Part) -> f64 {
    (SHARE * part.instructions()).max(INSTRUCTIONS)
}

/// The counts per packet of all these parts together.
fn together(parts: &[Part], counted: usize) -> Result<PeerCounts, MeasureError> {
    let packets = parts.iter().map(|part| part.packets).sum();
    let totals = parts.iter().map(|part| part.totals);
    let totals = totals.reduce(|sum, part| sum.plus(&part));
    let instructions = || parts.iter().map(Part::instructions);
    let spread = instructions().fold(0.0, f64::max) - instructions().fold(f64::INFINITY, f64::min);
    Ok(PeerCounts {
        per_packet: PerPacket::of_part(&totals.unwrap_or_default(), packets)?,
        spread: spread.max(0.0),
        parts: parts.len(),
        counted,
        undisturbed: parts.len() >= AGREEING
            && parts.iter().all(|part| part.dropped_ratio() <= DROPPED),
    })
}

/// The reason why valgrind cannot count a peer; `None` if it can.
pub fn unavailable() -> Option<String> {
    process::find_program(vgdb::VGDB).is_none().then(|| {
        "vgdb is not installed, which asks valgrind for its counts; it belongs to valgrind"
            .to_owned()
    })
}

/// Counts a peer.
///
/// # Errors
/// If the peer fails, or the card finds wrong frames.
pub fn count(cell: &Cell, setup: &Setup<'_>) -> Result<PeerCounts, MeasureError> {
    let peer = PeerSetup {
        cell,
        nic: setup.nic,
        traffic: Traffic::Saturate,
        placement: setup.placement,
        tool: &|folder: &Path| vgdb::callgrind(folder, setup.caches),
        patience: Patience::default(),
        interrupt: setup.interrupt,
    };
    let of_part = (setup.packets / AGREEING as u64).max(LEAST_PACKETS);
    let mut run = peer.start()?;
    let mut now = run.wait_for_frames(STARTED)?;
    let mut dumper = Dumper::new(run.folder());
    let mut before = None;
    let mut parts = Vec::new();
    // One dump more than parts, and as many again that were too late.
    for _ in 0..2 * (PARTS + 1) {
        let dump = dumper.dump(&mut run)?;
        if let (Some(before), Some(after)) = (&before, &dump) {
            parts.extend(Part::between(before, after));
            if cheapest(&parts).len() >= AGREEING || parts.len() >= PARTS {
                break;
            }
        }
        if let Some(dump) = &dump {
            now = dump.card;
        }
        before = dump;
        run.wait_for_frames(now.transmitted + of_part)?;
    }
    run.kill()?;
    if parts.is_empty() {
        return Err(MeasureError::Other(
            "the machine is too busy: the card's counters could not be read while valgrind kept the \
             program stopped"
                .to_owned(),
        ));
    }
    together(&cheapest(&parts), parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Metric;

    fn part(instructions: f64, dropped: u64) -> Part {
        Part {
            totals: Totals {
                ir: (instructions * 100_000.0).round() as u64,
                ..Totals::default()
            },
            packets: 100_000,
            dropped,
        }
    }

    #[test]
    fn parts_with_waits_or_drops_are_left_out() {
        let parts = [
            part(150.0, 0),
            part(133.2, 0),
            part(120.0, 5000),
            part(133.0, 32),
            part(134.5, 0),
            part(133.1, 0),
        ];
        let chosen = cheapest(&parts);
        let counts = together(&chosen, parts.len()).unwrap();
        assert_eq!((counts.parts, counts.counted), (3, 6));
        assert!(counts.undisturbed);
        let instructions = counts.per_packet.get(Metric::Instructions).unwrap();
        assert!((instructions - 133.1).abs() < 1e-6, "{instructions}");
        assert!((counts.spread - 0.2).abs() < 1e-6);
        assert_eq!(counts.per_packet.packets, 300_000);
    }

    #[test]
    fn too_few_agreeing_parts_are_a_disturbance() {
        let parts = [part(150.0, 0), part(133.2, 0), part(140.0, 0)];
        let counts = together(&cheapest(&parts), 3).unwrap();
        assert!(!counts.undisturbed);
        assert!(counts.disturbance().contains("only 1 of 3 parts"));
        // Drops everywhere give a figure, but no exact one.
        let parts = [part(120.0, 5000), part(120.1, 5000), part(120.0, 5000)];
        assert!(!together(&cheapest(&parts), 3).unwrap().undisturbed);
    }
}
