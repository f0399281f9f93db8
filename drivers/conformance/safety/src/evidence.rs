//! What the lab saw in a run, and the outcome that follows. This module does not know the catalogue.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::Deserialize;
use signal_hook::low_level::signal_name;

use crate::builds::root;
use crate::frames::ReturnedFrames;
use crate::outcome::Outcome;

/// What a lab program reports at its end. Packets of both directions are added.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramReport {
    /// Packets received and dropped because the transmit ring was full.
    pub dropped: u64,
    /// Frames that the driver discarded and counted.
    pub discarded: u64,
    /// Packet buffers that did not return to their pools.
    pub missing: u64,
    /// Packet buffers that returned more than once.
    pub twice: u64,
}

/// Everything that the lab saw of one run.
#[derive(Debug, Default)]
pub struct Evidence {
    /// How the program ended, or nothing if the lab killed it after the time limit.
    pub end: Option<ExitStatus>,
    /// The program's standard error.
    pub stderr: String,
    /// The program's report; all zeros if it did not get to its end.
    pub report: ProgramReport,
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
    /// The frames that the NIC did not deliver, by counter.
    pub drops: Vec<(&'static str, u64)>,
}

impl Evidence {
    /// The message of a sanitizer or of a language check, in one line.
    fn complaint(&self) -> Option<String> {
        let complaints = [
            "ERROR: AddressSanitizer",
            "ERROR: LeakSanitizer",
            "runtime error:",
            "panicked at ",
        ];
        let mut lines = self.stderr.lines();
        let line = lines.find(|line| complaints.iter().any(|text| line.contains(text)))?;
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
        let Some(end) = self.end else {
            let text = "did not stop and was killed after the time limit";
            return (Outcome::Hang, text.to_owned());
        };
        let complaint = self.complaint();
        if let Some(number) = end.signal() {
            let name = signal_name(number).map_or(format!("signal {number}"), str::to_owned);
            let text = complaint.map_or(name.clone(), |line| format!("{name}, {line}"));
            return (Outcome::Trap, text);
        }
        complaint
            .map(|complaint| (Outcome::Trap, complaint))
            .or_else(|| self.memory_outcome())
            .or_else(|| self.error_outcome(end.code()?))
            .or_else(|| self.queue_outcome())
            .unwrap_or_else(|| self.loss_outcome())
    }

    /// The outcome if memory was changed or disclosed.
    fn memory_outcome(&self) -> Option<(Outcome, String)> {
        let mut text = Vec::new();
        if self.damaged > 0 {
            let more = match self.damaged.saturating_sub(self.damage.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            text.push(format!("changed: {}{more}", self.damage.join(", ")));
        }
        if self.report.twice > 0 {
            text.push(format!("{} buffers twice in their pool", self.report.twice));
        }
        if self.returned.shorter > 0 {
            text.push(format!("{} packets lost their end", self.returned.shorter));
        }
        if !text.is_empty() {
            return Some((Outcome::Corruption, text.join("; ")));
        }
        let longer = self.returned.longer;
        let text = format!("{longer} packets were sent with other memory behind their end");
        (longer > 0).then_some((Outcome::Disclosure, text))
    }

    /// The outcome if the program ended with an error, or did not start.
    fn error_outcome(&self, code: i32) -> Option<(Outcome, String)> {
        let mut lines = self.stderr.lines();
        let line = lines.find(|line| line.starts_with("lab: "));
        let line = line.map_or("no message".to_owned(), shorten);
        (code != 0).then(|| (Outcome::Error, format!("exit status {code}: {line}")))
    }

    /// The outcome if buffers leaked, a queue stalled, the NIC's access was refused, or a packet
    /// was wrong.
    fn queue_outcome(&self) -> Option<(Outcome, String)> {
        let Self { lost, sent, .. } = self;
        let ReturnedFrames {
            altered,
            duplicated,
            ..
        } = self.returned;
        if self.report.missing > 0 {
            let missing = self.report.missing;
            let text = format!("{missing} buffers did not return to their pools");
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
        let text = format!("{altered} packets were sent altered, {duplicated} twice");
        (duplicated + altered > 0).then_some((Outcome::WrongPacket, text))
    }

    fn loss_outcome(&self) -> (Outcome, String) {
        let Self { lost, sent, .. } = self;
        let ProgramReport {
            dropped, discarded, ..
        } = self.report;
        if *lost == 0 {
            let others = match discarded {
                0 => String::new(),
                some => format!("; driver: discarded {some} others"),
            };
            let text = format!("{} packets came back unaltered{others}", self.returned.ok);
            return (Outcome::NoEffect, text);
        }
        // The counts need not add up to the loss: a lying NIC may count one frame differently.
        let counters = [
            ("driver: discarded", discarded),
            ("driver: dropped", dropped),
        ];
        let counters: Vec<_> = counters
            .iter()
            .chain(&self.drops)
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let lost = format!("{lost} of {sent} lost");
        if counters.is_empty() {
            return (Outcome::Loss, format!("{lost}; no counter shows it"));
        }
        let text = format!("{lost}; {}", counters.join(", "));
        (Outcome::CountedDrop, text)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_evidence_decides() {
        let mut evidence = Evidence {
            end: Some(ExitStatus::default()),
            sent: 10,
            ..Evidence::default()
        };
        type Step = fn(&mut Evidence);
        let steps: [(Step, Outcome); 12] = [
            (|_| (), Outcome::NoEffect),
            (|seen| seen.lost = 2, Outcome::Loss),
            (|seen| seen.drops.push(("ROC", 2)), Outcome::CountedDrop),
            (|seen| seen.returned.altered = 1, Outcome::WrongPacket),
            (|seen| seen.dma_faults = 1, Outcome::Iommu),
            (|seen| seen.stalled = true, Outcome::Stall),
            (|seen| seen.report.missing = 1, Outcome::Leak),
            (
                |seen| seen.end = Some(ExitStatus::from_raw(1 << 8)),
                Outcome::Error,
            ),
            (|seen| seen.returned.longer = 1, Outcome::Disclosure),
            (|seen| seen.damaged = 1, Outcome::Corruption),
            (
                |seen| seen.stderr = "==7==ERROR: AddressSanitizer: SEGV".to_owned(),
                Outcome::Trap,
            ),
            (|seen| seen.end = None, Outcome::Hang),
        ];
        for (step, outcome) in steps {
            step(&mut evidence);
            assert_eq!(evidence.outcome().0, outcome);
        }
    }

    #[test]
    fn a_signal_is_a_trap_with_its_name() {
        let evidence = Evidence {
            end: Some(ExitStatus::from_raw(11)),
            ..Evidence::default()
        };
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
