//! The software card's counters, read from the card while a peer forwards.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::backend::MeasureError;
use crate::files;

/// Time within which the card must answer. A busy machine may give it no processor for seconds.
const ANSWER: Duration = Duration::from_secs(120);

/// Counts of both ports together, since the card started.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CardCounts {
    /// Frames that the card stored in the program's memory.
    pub delivered: u64,
    /// Frames that the program sent.
    pub transmitted: u64,
    /// What may not happen, in the order of [`WRONG`].
    wrong: [u64; 5],
}

/// What may not happen: its place in the card's answer, and its name. A full transmit ring loses frames,
/// which is not wrong.
const WRONG: [(&str, &str); 5] = [
    ("/verify/duplicated", "duplicated"),
    ("/verify/reordered", "reordered"),
    ("/verify/altered", "altered"),
    // The card never delivered them.
    ("/verify/foreign", "foreign"),
    // The card accessed memory that the program had not mapped for it.
    ("/dma_faults", "DMA faults"),
];

impl CardCounts {
    /// The counts in a card's answer to `stats`, or in its report.
    pub(crate) fn parse(answer: &str) -> Result<Self, MeasureError> {
        let malformed = |why: &str| format!("the card's answer to `stats` is malformed: {why}");
        let answer: Value =
            serde_json::from_str(answer).map_err(|error| malformed(&error.to_string()))?;
        let ports = answer["ports"].as_array();
        let ports = ports.ok_or_else(|| malformed("it has no ports"))?;
        let sum = |count: &str| {
            let counts = ports
                .iter()
                .map(|port| port.pointer(count).and_then(Value::as_u64));
            let sum = counts.sum::<Option<u64>>();
            sum.ok_or_else(|| malformed(&format!("a port has no count {count}")))
        };
        let mut counts = Self {
            delivered: sum("/delivered")?,
            transmitted: sum("/transmitted")?,
            wrong: [0; 5],
        };
        for (wrong, (place, _)) in counts.wrong.iter_mut().zip(WRONG) {
            *wrong = sum(place)?;
        }
        Ok(counts)
    }

    /// Fails with what is wrong with the frames that came back.
    pub fn check(&self) -> Result<(), MeasureError> {
        let wrong: Vec<_> = self
            .wrong
            .iter()
            .zip(WRONG)
            .filter(|(count, _)| **count > 0)
            .map(|(count, (_, what))| format!("{count} {what}"))
            .collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the card found errors in {} sent frames: {}",
                self.transmitted,
                wrong.join(", ")
            )
            .into()),
        }
    }
}

/// A connection to a card's control socket.
#[derive(Debug)]
pub(crate) struct Control {
    stream: BufReader<UnixStream>,
}

impl Control {
    /// Connects to a card.
    pub fn connect(path: &Path) -> Result<Self, MeasureError> {
        let connect = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(ANSWER))?;
            stream.set_write_timeout(Some(ANSWER))?;
            Ok(Self {
                stream: BufReader::new(stream),
            })
        };
        connect().map_err(files::unusable(path))
    }

    /// The counters at this moment.
    pub fn counts(&mut self) -> Result<CardCounts, MeasureError> {
        let mut line = String::new();
        self.stream
            .get_mut()
            .write_all(b"stats\n")
            .and_then(|()| self.stream.read_line(&mut line))
            .map_err(|cause| format!("the card does not answer: {cause}"))?;
        CardCounts::parse(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: &str = r#"{"port":0,"delivered":10,"transmitted":9,"dma_faults":0,"notes":[],
        "verify":{"ok":8,"missing":1,"duplicated":0,"reordered":0,"altered":1,"foreign":0,"abandoned":3}}"#;

    #[test]
    fn the_ports_are_added_and_wrong_frames_are_named() {
        let counts = CardCounts::parse(&format!("{{\"ports\":[{PORT},{PORT}]}}")).unwrap();
        assert_eq!((counts.delivered, counts.transmitted), (20, 18));
        let why = counts.check().unwrap_err().to_string();
        assert!(why.ends_with("18 sent frames: 2 altered"), "{why}");
        assert!(CardCounts::default().check().is_ok());
        for answer in [
            "error: no such command",
            "{}",
            r#"{"ports":[{"delivered":1}]}"#,
        ] {
            let error = CardCounts::parse(answer).unwrap_err().to_string();
            assert!(error.contains("`stats` is malformed"), "{error}");
        }
    }
}
