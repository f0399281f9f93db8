//! The software card's counters, read from the card while a peer forwards.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::backend::MeasureError;
use crate::files;

/// Time within which the card must answer. A busy machine may give it no processor for seconds.
const ANSWER: Duration = Duration::from_secs(120);

/// The counts since the card started: a part of its answer to `stats`, and of its report.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CardCounts {
    ports: Vec<PortCounts>,
}

#[derive(Debug, Deserialize)]
struct PortCounts {
    /// Frames that the card stored in the program's memory.
    delivered: u64,
    /// Frames that the program sent.
    transmitted: u64,
    /// Accesses to memory that the program had not mapped for the card.
    dma_faults: u64,
    verify: Verified,
}

/// Frames that came back wrong. A full transmit ring loses frames, which is not wrong.
#[derive(Debug, Deserialize)]
struct Verified {
    duplicated: u64,
    reordered: u64,
    altered: u64,
    /// The card never delivered them.
    foreign: u64,
}

impl CardCounts {
    fn sum(&self, count: impl Fn(&PortCounts) -> u64) -> u64 {
        self.ports.iter().map(count).sum()
    }

    /// Frames that the card stored in the program's memory.
    pub fn delivered(&self) -> u64 {
        self.sum(|port| port.delivered)
    }

    /// Frames that the program sent.
    pub fn transmitted(&self) -> u64 {
        self.sum(|port| port.transmitted)
    }

    /// Fails with what is wrong with the frames that came back.
    pub fn check(&self) -> Result<(), MeasureError> {
        let wrong: Vec<_> = [
            ("duplicated", self.sum(|port| port.verify.duplicated)),
            ("reordered", self.sum(|port| port.verify.reordered)),
            ("altered", self.sum(|port| port.verify.altered)),
            ("foreign", self.sum(|port| port.verify.foreign)),
            ("DMA faults", self.sum(|port| port.dma_faults)),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let (sent, wrong) = (self.transmitted(), wrong.join(", "));
        Err(format!("the card found errors in {sent} sent frames: {wrong}").into())
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
        let malformed = |error| format!("the card's answer to `stats` is malformed: {error}");
        Ok(serde_json::from_str(&line).map_err(malformed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: &str = r#"{"port":0,"delivered":10,"transmitted":9,"dma_faults":0,"notes":[],
        "verify":{"ok":8,"missing":1,"duplicated":0,"reordered":0,"altered":1,"foreign":0,"abandoned":3}}"#;

    #[test]
    fn the_ports_are_added_and_wrong_frames_are_named() {
        let text = format!("{{\"ports\":[{PORT},{PORT}]}}");
        let counts: CardCounts = serde_json::from_str(&text).unwrap();
        assert_eq!((counts.delivered(), counts.transmitted()), (20, 18));
        let why = counts.check().unwrap_err().to_string();
        assert!(why.ends_with("18 sent frames: 2 altered"), "{why}");
        assert!(CardCounts::default().check().is_ok());
    }
}
