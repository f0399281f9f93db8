//! What was seen in a run, and the outcome that follows from it. Nothing here knows the catalogue.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::frames::Returned;
use crate::outcome::Outcome;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// By itself.
    Exit(i32),
    /// By a signal that nobody sent.
    Signal(i32),
    /// Not: it was killed at the end of its time.
    Killed,
}

/// What a lab program says at its end. Packets of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Received.
    pub rx: u64,
    /// Handed to the other device.
    pub tx: u64,
    /// Received, but the transmit ring was full.
    pub dropped: u64,
    /// Frames that the driver did not hand out, and counted.
    pub discarded: u64,
    /// Receive calls that found the pool empty.
    pub pool_empty: u64,
    /// Packet buffers that did not come back to their pools.
    pub missing: u64,
    /// Packet buffers that came back more than once.
    pub twice: u64,
}

/// What the device counted of frames that it did not deliver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDrops {
    /// RUC: too short.
    pub short: u64,
    /// ROC: too long.
    pub long: u64,
    /// CRCERRS: with a wrong CRC.
    pub bad_crc: u64,
    /// QPRDC: no descriptor was free.
    pub no_descriptor: u64,
    /// MPC: the packet buffer was full.
    pub no_buffer: u64,
    /// On the wire while the link was down or reception was off.
    pub link_down: u64,
}

impl DeviceDrops {
    fn sum(&self) -> u64 {
        self.short + self.long + self.bad_crc + self.no_descriptor + self.no_buffer + self.link_down
    }
}

/// What a compiler said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Error codes (`E0382`), each once.
    pub codes: Vec<String>,
    /// The first error's first line.
    pub first_line: String,
}

/// Everything that was seen of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Nothing ran: the compiler refused.
    pub refusal: Option<Refusal>,
    /// How the program ended.
    pub ended: Option<Ended>,
    /// What it wrote to its standard error, but for sanitizers' details.
    pub stderr: String,
    /// What it said at its end, if it got there.
    pub report: Option<Report>,
    /// Canaries that were changed, the first few, and how many in all.
    pub damage: Vec<String>,
    /// How many.
    pub damaged: usize,
    /// Frames that were put on the wire and should have come back.
    pub sent: u64,
    /// Those that did not.
    pub lost: u64,
    /// Those that did.
    pub returned: Returned,
    /// Whether at the end no frame got through any more, though the program ran.
    pub stalled: bool,
    /// Transfers that the IOMMU refused: how many, and the first in words.
    pub dma_faults: u64,
    /// In words.
    pub first_fault: String,
    /// What the NIC thinks the driver did wrong.
    pub notes: Vec<String>,
    /// What the device dropped.
    pub drops: DeviceDrops,
}

impl Evidence {
    /// What a sanitizer or a check of the language says, shortened to one line.
    fn complaint(&self) -> Option<String> {
        let telling = [
            "ERROR: AddressSanitizer",
            "ERROR: LeakSanitizer",
            "runtime error:",
        ];
        let mut lines = self.stderr.lines();
        let line =
            lines.find(|line| telling.iter().any(|text| line.contains(text)) || panics(line))?;
        // A panic says where on the first line, and what on the second.
        match line.split_once("panicked at ") {
            Some((_, place)) => {
                let what = lines.next().unwrap_or_default();
                Some(shorten(&format!("panicked at {place} {what}")))
            }
            None => Some(shorten(line)),
        }
    }

    /// The outcome, and what it is concluded from.
    pub fn outcome(&self) -> (Outcome, String) {
        if let Some(refusal) = &self.refusal {
            let codes = refusal.codes.join(", ");
            return (
                Outcome::DoesNotCompile,
                format!("{codes}: {}", refusal.first_line),
            );
        }
        let complaint = self.complaint();
        match self.ended {
            Some(Ended::Killed) => {
                return (
                    Outcome::Hang,
                    "had to be killed at the end of its time".to_owned(),
                )
            }
            Some(Ended::Signal(number)) => {
                let name = signal_name(number);
                let text = complaint.map_or(name.clone(), |line| format!("{name}, {line}"));
                return (Outcome::Trap, text);
            }
            _ => {}
        }
        if let Some(complaint) = complaint {
            return (Outcome::Trap, complaint);
        }
        self.outcome_of_survivor()
    }

    /// The outcome if nothing ended the program but itself.
    fn outcome_of_survivor(&self) -> (Outcome, String) {
        let report = self.report.unwrap_or_default();
        let Returned {
            duplicated,
            altered,
            longer,
            shorter,
            ..
        } = self.returned;
        if self.damaged > 0 || report.twice > 0 || shorter > 0 {
            let mut text = Vec::new();
            if self.damaged > 0 {
                let more = self.damaged - self.damage.len().min(self.damaged);
                let mut line = format!("changed: {}", self.damage.join(", "));
                if more > 0 {
                    let _ = write!(line, " and {more} more");
                }
                text.push(line);
            }
            if report.twice > 0 {
                text.push(format!("{} buffers twice in their pool", report.twice));
            }
            if shorter > 0 {
                text.push(format!("{shorter} packets lost their end"));
            }
            return (Outcome::Corruption, text.join("; "));
        }
        if longer > 0 {
            return (
                Outcome::Disclosure,
                format!("{longer} packets were sent with other memory behind their end"),
            );
        }
        match self.ended {
            Some(Ended::Exit(0)) => {}
            Some(Ended::Exit(code)) => {
                let line = self
                    .stderr
                    .lines()
                    .find(|line| line.starts_with("lab: "))
                    .map_or_else(|| "no message".to_owned(), shorten);
                return (Outcome::Error, format!("exit status {code}: {line}"));
            }
            _ => return (Outcome::Error, "did not start".to_owned()),
        }
        if report.missing > 0 {
            return (
                Outcome::Leak,
                format!(
                    "{} buffers did not come back to their pools",
                    report.missing
                ),
            );
        }
        if self.stalled {
            return (
                Outcome::Stall,
                format!(
                    "no packet got through any more; {} of {} lost",
                    self.lost, self.sent
                ),
            );
        }
        if self.dma_faults > 0 {
            return (
                Outcome::Iommu,
                format!(
                    "{} DMA faults, the first: {}; forwarding went on, {} of {} lost, {} altered",
                    self.dma_faults, self.first_fault, self.lost, self.sent, altered
                ),
            );
        }
        if duplicated + altered > 0 {
            return (
                Outcome::WrongPacket,
                format!("{altered} packets were sent altered, {duplicated} twice"),
            );
        }
        self.outcome_of_loss(report)
    }

    fn outcome_of_loss(&self, report: Report) -> (Outcome, String) {
        if self.lost == 0 {
            let mut text = format!("{} packets came back unaltered", self.returned.ok);
            if report.discarded > 0 {
                let _ = write!(text, "; driver: discarded {} others", report.discarded);
            }
            return (Outcome::Nothing, text);
        }
        let counted = report.discarded + report.dropped + self.drops.sum();
        // How many, the evidence tells: what a device that lies calls a frame is its own affair.
        let DeviceDrops {
            short,
            long,
            bad_crc,
            no_descriptor,
            no_buffer,
            link_down,
        } = self.drops;
        let counters: Vec<_> = [
            ("driver: discarded", report.discarded),
            ("driver: dropped", report.dropped),
            ("RUC", short),
            ("ROC", long),
            ("CRCERRS", bad_crc),
            ("QPRDC", no_descriptor),
            ("MPC", no_buffer),
            ("wire: link down", link_down),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
        let lost = format!("{} of {} lost", self.lost, self.sent);
        if counted > 0 {
            (
                Outcome::CountedDrop,
                format!("{lost}; {}", counters.join(", ")),
            )
        } else {
            (Outcome::Loss, format!("{lost}; counted by nobody"))
        }
    }
}

fn panics(line: &str) -> bool {
    line.contains("panicked at")
}

/// A line without addresses and process ids, so that it is the same in every run.
fn shorten(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if bare.starts_with("0x") && bare.len() > "0xffffffff".len() {
            "…"
        } else if word.starts_with("vfio-user:") {
            word.rsplit('/').next().unwrap_or(word)
        } else {
            word
        }
    });
    let words: Vec<_> = words.collect();
    let text = words.join(" ");
    // AddressSanitizer begins with the process id, and goes on with registers.
    let text = text.trim_start_matches(|c: char| c == '=' || c.is_ascii_digit());
    let text = [" (pc ", " on address"]
        .iter()
        .fold(text, |text, end| text.split(end).next().unwrap_or_default());
    let root = format!("{}/", crate::root().display());
    let text = text.replace(&root, "");
    text.chars().take(160).collect()
}

fn signal_name(number: i32) -> String {
    match number {
        4 => "SIGILL".to_owned(),
        5 => "SIGTRAP".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        11 => "SIGSEGV".to_owned(),
        other => format!("signal {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survivor() -> Evidence {
        Evidence {
            ended: Some(Ended::Exit(0)),
            report: Some(Report::default()),
            sent: 10,
            ..Evidence::default()
        }
    }

    #[test]
    fn the_worst_that_was_seen_decides() {
        let mut evidence = survivor();
        assert_eq!(evidence.outcome().0, Outcome::Nothing);
        evidence.lost = 2;
        assert_eq!(evidence.outcome().0, Outcome::Loss);
        evidence.drops.long = 2;
        assert_eq!(evidence.outcome().0, Outcome::CountedDrop);
        evidence.returned.altered = 1;
        assert_eq!(evidence.outcome().0, Outcome::WrongPacket);
        evidence.dma_faults = 1;
        assert_eq!(evidence.outcome().0, Outcome::Iommu);
        evidence.stalled = true;
        assert_eq!(evidence.outcome().0, Outcome::Stall);
        evidence.report = Some(Report {
            missing: 1,
            ..Report::default()
        });
        assert_eq!(evidence.outcome().0, Outcome::Leak);
        evidence.ended = Some(Ended::Exit(1));
        assert_eq!(evidence.outcome().0, Outcome::Error);
        evidence.returned.longer = 1;
        assert_eq!(evidence.outcome().0, Outcome::Disclosure);
        evidence.damaged = 1;
        assert_eq!(evidence.outcome().0, Outcome::Corruption);
        evidence.stderr = "==7==ERROR: AddressSanitizer: SEGV".to_owned();
        assert_eq!(evidence.outcome().0, Outcome::Trap);
        evidence.ended = Some(Ended::Killed);
        assert_eq!(evidence.outcome().0, Outcome::Hang);
    }

    #[test]
    fn a_signal_is_a_trap_and_named() {
        let mut evidence = survivor();
        evidence.ended = Some(Ended::Signal(11));
        assert_eq!(evidence.outcome(), (Outcome::Trap, "SIGSEGV".to_owned()));
    }

    #[test]
    fn addresses_are_left_out() {
        let line =
            "==12==ERROR: AddressSanitizer: SEGV on unknown address 0x7f0000001000 (pc 0x5 bp)";
        assert_eq!(
            shorten(line),
            "ERROR: AddressSanitizer: SEGV on unknown address …"
        );
    }
}
