//! What the lab saw in a run, and the outcome that follows. This module does not know the catalogue.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::frames::ReturnedFrames;
use crate::outcome::Outcome;
use crate::paths::root;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnd {
    /// It exited with this status.
    Exit(i32),
    /// This signal ended it, and the lab did not send the signal.
    Signal(i32),
    /// The lab killed it after the time limit.
    Killed,
}

/// What a lab program reports at its end. Packets of both directions are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramReport {
    /// Packets received.
    pub rx: u64,
    /// Packets handed to the other device.
    pub tx: u64,
    /// Packets received and dropped because the transmit ring was full.
    pub dropped: u64,
    /// Frames that the driver discarded and counted.
    pub discarded: u64,
    /// Receive calls that found the pool empty.
    pub pool_empty: u64,
    /// Packet buffers that did not return to their pools.
    pub missing: u64,
    /// Packet buffers that returned more than once.
    pub twice: u64,
}

/// What the NIC counted of frames that it did not deliver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDrops {
    /// RUC: too short.
    pub short: u64,
    /// ROC: too long.
    pub long: u64,
    /// CRCERRS: wrong CRC.
    pub bad_crc: u64,
    /// QPRDC: no free descriptor.
    pub no_descriptor: u64,
    /// MPC: packet buffer full.
    pub no_buffer: u64,
    /// On the wire while the link was down or reception was off.
    pub link_down: u64,
}

impl DeviceDrops {
    fn sum(&self) -> u64 {
        self.short + self.long + self.bad_crc + self.no_descriptor + self.no_buffer + self.link_down
    }
}

/// A compiler's error message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerError {
    /// Error codes (`E0382`), each once. Some errors have none.
    pub codes: Vec<String>,
    /// First line of the first error.
    pub first_line: String,
}

/// Everything that the lab saw of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The compiler's error, if the program did not compile and so did not run.
    pub compiler_error: Option<CompilerError>,
    /// How the program ended.
    pub program_end: Option<ProgramEnd>,
    /// The program's standard error.
    pub stderr: String,
    /// The program's report, if it got to its end.
    pub report: Option<ProgramReport>,
    /// The first few changed canaries, in words.
    pub damage: Vec<String>,
    /// How many canaries were changed in all.
    pub damaged: usize,
    /// Frames on the wire that should have come back.
    pub sent: u64,
    /// Frames of those that did not come back.
    pub lost: u64,
    /// Frames that came back.
    pub returned: ReturnedFrames,
    /// Whether no frame got through at the end, although the program ran.
    pub stalled: bool,
    /// Accesses that the IOMMU refused.
    pub dma_faults: u64,
    /// The first of those, in words.
    pub first_fault: String,
    /// The driver's mistakes in the eyes of the NIC.
    pub notes: Vec<String>,
    /// What the NIC dropped.
    pub drops: DeviceDrops,
}

impl Evidence {
    /// The message of a sanitizer or of a language check, in one line.
    fn complaint(&self) -> Option<String> {
        let sanitizers = [
            "ERROR: AddressSanitizer",
            "ERROR: LeakSanitizer",
            "runtime error:",
        ];
        let mut lines = self.stderr.lines();
        let line =
            lines.find(|line| sanitizers.iter().any(|text| line.contains(text)) || panics(line))?;
        // A panic names the place on its first line and the reason on its second.
        match line.split_once("panicked at ") {
            Some((_, place)) => {
                let reason = lines.next().unwrap_or_default();
                Some(shorten(&format!("panicked at {place} {reason}")))
            }
            None => Some(shorten(line)),
        }
    }

    /// The outcome, and the evidence for it in words.
    pub fn outcome(&self) -> (Outcome, String) {
        if let Some(error) = &self.compiler_error {
            let codes = error.codes.join(", ");
            let separator = if codes.is_empty() { "" } else { ": " };
            return (
                Outcome::DoesNotCompile,
                format!("{codes}{separator}{}", error.first_line),
            );
        }
        let complaint = self.complaint();
        match self.program_end {
            Some(ProgramEnd::Killed) => {
                return (
                    Outcome::Hang,
                    "did not stop and was killed after the time limit".to_owned(),
                )
            }
            Some(ProgramEnd::Signal(number)) => {
                let name = signal_name(number);
                let text = complaint.map_or(name.clone(), |line| format!("{name}, {line}"));
                return (Outcome::Trap, text);
            }
            _ => {}
        }
        if let Some(complaint) = complaint {
            return (Outcome::Trap, complaint);
        }
        let report = self.report.unwrap_or_default();
        self.memory_outcome(report)
            .or_else(|| self.error_outcome())
            .or_else(|| self.queue_outcome(report))
            .unwrap_or_else(|| self.loss_outcome(report))
    }

    /// The outcome if memory was changed or disclosed.
    fn memory_outcome(&self, report: ProgramReport) -> Option<(Outcome, String)> {
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
        let ReturnedFrames {
            longer, shorter, ..
        } = self.returned;
        if shorter > 0 {
            text.push(format!("{shorter} packets lost their end"));
        }
        if !text.is_empty() {
            return Some((Outcome::Corruption, text.join("; ")));
        }
        (longer > 0).then(|| {
            (
                Outcome::Disclosure,
                format!("{longer} packets were sent with other memory behind their end"),
            )
        })
    }

    /// The outcome if the program ended with an error, or did not start.
    fn error_outcome(&self) -> Option<(Outcome, String)> {
        let text = match self.program_end {
            Some(ProgramEnd::Exit(0)) => return None,
            Some(ProgramEnd::Exit(code)) => {
                let line = self
                    .stderr
                    .lines()
                    .find(|line| line.starts_with("lab: "))
                    .map_or_else(|| "no message".to_owned(), shorten);
                format!("exit status {code}: {line}")
            }
            _ => "did not start".to_owned(),
        };
        Some((Outcome::Error, text))
    }

    /// The outcome if buffers leaked, a queue stalled, the NIC's access was refused, or a packet
    /// was wrong.
    fn queue_outcome(&self, report: ProgramReport) -> Option<(Outcome, String)> {
        let Self { lost, sent, .. } = self;
        let ReturnedFrames {
            altered,
            duplicated,
            ..
        } = self.returned;
        if report.missing > 0 {
            let text = format!("{} buffers did not return to their pools", report.missing);
            return Some((Outcome::Leak, text));
        }
        if self.stalled {
            let text = format!("no packet got through any more; {lost} of {sent} lost");
            return Some((Outcome::Stall, text));
        }
        if self.dma_faults > 0 {
            let text = format!(
                "{} DMA faults, the first: {}; forwarding went on, {lost} of {sent} lost, {altered} altered",
                self.dma_faults, self.first_fault
            );
            return Some((Outcome::Iommu, text));
        }
        (duplicated + altered > 0).then(|| {
            (
                Outcome::WrongPacket,
                format!("{altered} packets were sent altered, {duplicated} twice"),
            )
        })
    }

    fn loss_outcome(&self, report: ProgramReport) -> (Outcome, String) {
        if self.lost == 0 {
            let mut text = format!("{} packets came back unaltered", self.returned.ok);
            if report.discarded > 0 {
                let _ = write!(text, "; driver: discarded {} others", report.discarded);
            }
            return (Outcome::NoEffect, text);
        }
        let counted = report.discarded + report.dropped + self.drops.sum();
        let DeviceDrops {
            short,
            long,
            bad_crc,
            no_descriptor,
            no_buffer,
            link_down,
        } = self.drops;
        // The counts need not add up to the loss: a lying NIC may count one frame differently.
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
            (Outcome::Loss, format!("{lost}; no counter shows it"))
        }
    }
}

fn panics(line: &str) -> bool {
    line.contains("panicked at")
}

/// Removes addresses, process ids and folders from a line, which differ from run to run.
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
    // AddressSanitizer puts the process id first and registers last.
    let text = text.trim_start_matches(|c: char| c == '=' || c.is_ascii_digit());
    let text = [" (pc ", " on address"]
        .iter()
        .fold(text, |text, end| text.split(end).next().unwrap_or_default());
    let text = text.replace(&format!("{}/", root().display()), "");
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
            program_end: Some(ProgramEnd::Exit(0)),
            report: Some(ProgramReport::default()),
            sent: 10,
            ..Evidence::default()
        }
    }

    #[test]
    fn the_worst_evidence_decides() {
        let mut evidence = survivor();
        assert_eq!(evidence.outcome().0, Outcome::NoEffect);
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
        evidence.report = Some(ProgramReport {
            missing: 1,
            ..ProgramReport::default()
        });
        assert_eq!(evidence.outcome().0, Outcome::Leak);
        evidence.program_end = Some(ProgramEnd::Exit(1));
        assert_eq!(evidence.outcome().0, Outcome::Error);
        evidence.returned.longer = 1;
        assert_eq!(evidence.outcome().0, Outcome::Disclosure);
        evidence.damaged = 1;
        assert_eq!(evidence.outcome().0, Outcome::Corruption);
        evidence.stderr = "==7==ERROR: AddressSanitizer: SEGV".to_owned();
        assert_eq!(evidence.outcome().0, Outcome::Trap);
        evidence.program_end = Some(ProgramEnd::Killed);
        assert_eq!(evidence.outcome().0, Outcome::Hang);
    }

    #[test]
    fn a_signal_is_a_trap_with_its_name() {
        let mut evidence = survivor();
        evidence.program_end = Some(ProgramEnd::Signal(11));
        assert_eq!(evidence.outcome(), (Outcome::Trap, "SIGSEGV".to_owned()));
    }

    #[test]
    fn messages_lose_their_addresses() {
        let line =
            "==12==ERROR: AddressSanitizer: SEGV on unknown address 0x7f0000001000 (pc 0x5 bp)";
        assert_eq!(
            shorten(line),
            "ERROR: AddressSanitizer: SEGV on unknown address …"
        );
    }
}
