//! The software card's control socket: turns, and the memory that card and driver share.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::Deserialize;

use crate::error::TraceError;

/// Time within which the card must answer. A busy machine may give it no processor for seconds.
const ANSWER: Duration = Duration::from_secs(120);

/// What the card did in a turn.
#[derive(Debug, Deserialize)]
pub(crate) struct Turn {
    /// Frames that it fetched.
    pub(crate) transmitted: u64,
    /// Its transfers: port, `r` or `w`, IOVA, bytes.
    pub(crate) dma: Vec<(usize, char, u64, u32)>,
}

/// The identity of a file, as `/proc/PID/maps` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct FileId {
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
}

/// A DMA map.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Map {
    pub(crate) iova: u64,
    pub(crate) bytes: u64,
    #[serde(flatten)]
    pub(crate) file: FileId,
    pub(crate) offset: u64,
}

/// The memory that a port and its driver share.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PortMemory {
    pub(crate) registers: FileId,
    pub(crate) maps: Vec<Map>,
}

#[derive(Deserialize)]
struct Memory {
    ports: Vec<PortMemory>,
}

/// A connection to the card.
#[derive(Debug)]
pub(crate) struct Card(BufReader<UnixStream>);

impl Card {
    /// Connects to the card.
    pub(crate) fn connect(path: &Path) -> Result<Self, TraceError> {
        let connect = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(ANSWER))?;
            stream.set_write_timeout(Some(ANSWER))?;
            Ok(Self(BufReader::new(stream)))
        };
        let what = format!("connect to the software card at {}", path.display());
        connect().map_err(TraceError::system::<io::Error>(what))
    }

    /// Lets the card do one round. Afterwards as many frames wait in each receive ring as there is room for.
    pub(crate) fn turn(&mut self) -> Result<Turn, TraceError> {
        self.ask("turn\n")
    }

    /// The same, without the list of transfers. At most `ready` frames wait afterwards, if it says so.
    pub(crate) fn turn_quietly(&mut self, ready: Option<u32>) -> Result<Turn, TraceError> {
        match ready {
            None => self.ask("turn quiet\n"),
            Some(frames) => self.ask(&format!("turn {frames} quiet\n")),
        }
    }

    /// The memory that each port and its driver share.
    pub(crate) fn memory(&mut self) -> Result<Vec<PortMemory>, TraceError> {
        self.ask("maps\n").map(|memory: Memory| memory.ports)
    }

    fn ask<T: DeserializeOwned>(&mut self, command: &str) -> Result<T, TraceError> {
        let mut line = String::new();
        let sent = self.0.get_mut().write_all(command.as_bytes());
        let answered = sent.and_then(|()| self.0.read_line(&mut line));
        answered.map_err(|cause| match cause.kind() {
            io::ErrorKind::WouldBlock => unexpected(format!(
                "no answer within {} s; end other programs that use the processors, and run this again",
                ANSWER.as_secs()
            )),
            _ => unexpected(cause.to_string()),
        })?;
        serde_json::from_str(&line)
            .map_err(|_| unexpected(format!("{:?} for {command:?}", line.trim_end())))
    }
}

fn unexpected(what: String) -> TraceError {
    let text = format!("the software card does not answer as expected: {what}");
    TraceError::Unexpected(text)
}
