//! The software card's counters, read from the card while a peer forwards.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::backend::MeasureError;

/// Time within which the card must answer. A busy machine may give it no processor for seconds.
const ANSWER: Duration = Duration::from_secs(120);

/// Counts of both ports together, since the card started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardCounts {
    /// Frames that the card stored in the program's memory.
    pub delivered: u64,
    /// Frames that the program sent.
    pub transmitted: u64,
    /// Frames that came back twice.
    pub duplicated: u64,
    /// Frames that came back after a later one.
    pub reordered: u64,
    /// Frames with wrong content.
    pub altered: u64,
    /// Frames that the card never delivered.
    pub foreign: u64,
    /// Accesses of the card to memory that the program had not mapped for it.
    pub dma_faults: u64,
}

impl CardCounts {
    /// The counts in a card's answer to `stats`, or in its report.
    ///
    /// # Errors
    /// If the text is malformed.
    pub(crate) fn parse(answer: &str) -> Result<Self, MeasureError> {
        let malformed = |why: &str| {
            MeasureError::Other(format!("the card's answer to `stats` is malformed: {why}"))
        };
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
        Ok(Self {
            delivered: sum("/delivered")?,
            transmitted: sum("/transmitted")?,
            duplicated: sum("/verify/duplicated")?,
            reordered: sum("/verify/reordered")?,
            altered: sum("/verify/altered")?,
            foreign: sum("/verify/foreign")?,
            dma_faults: sum("/dma_faults")?,
        })
    }

    /// What is wrong with the frames that came back; `None` if nothing is. A full transmit ring loses frames, which
    /// is not wrong.
    pub fn wrong_frames(&self) -> Option<String> {
        let wrong: Vec<_> = [
            ("altered", self.altered),
            ("duplicated", self.duplicated),
            ("reordered", self.reordered),
            ("foreign", self.foreign),
        ]
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
        if !wrong.is_empty() {
            return Some(format!(
                "the card found wrong frames among the {} sent ones: {}",
                self.transmitted,
                wrong.join(", ")
            ));
        }
        (self.dma_faults > 0).then(|| format!("the card reports {} DMA faults", self.dma_faults))
    }
}

/// A connection to a card's control socket.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<UnixStream>,
}

impl Control {
    /// Connects to a card.
    ///
    /// # Errors
    /// If there is no card.
    pub fn connect(path: &Path) -> Result<Self, MeasureError> {
        let connect = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(ANSWER))?;
            stream.set_write_timeout(Some(ANSWER))?;
            Ok(Self {
                stream: BufReader::new(stream),
            })
        };
        connect().map_err(MeasureError::file(path))
    }

    /// The counters at this moment.
    ///
    /// # Errors
    /// If the card does not answer in time, or has ended.
    pub fn counts(&mut self) -> Result<CardCounts, MeasureError> {
        let mut line = String::new();
        self.stream
            .get_mut()
            .write_all(b"stats\n")
            .and_then(|()| self.stream.read_line(&mut line))
            .map_err(|cause| MeasureError::Other(format!("the card does not answer: {cause}")))?;
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
        let why = counts.wrong_frames().unwrap();
        assert!(why.ends_with("among the 18 sent ones: 2 altered"), "{why}");
        assert_eq!(CardCounts::default().wrong_frames(), None);
        let faulty = CardCounts {
            dma_faults: 3,
            ..CardCounts::default()
        };
        assert!(faulty.wrong_frames().unwrap().contains("3 DMA faults"));
    }

    #[test]
    fn a_malformed_answer_is_named() {
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
