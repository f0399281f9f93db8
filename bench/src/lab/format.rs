//! The recording, as `paper/lab/FORMAT.md` describes it. A change there needs a new version.

use std::collections::BTreeMap;

use serde::Serialize;

pub const FORMAT: &str = "triptych-lab";
pub const VERSION: u32 = 1;

/// A source line: the file, relative to the root, and the number.
pub type Line = (String, usize);

#[derive(Debug, Default, Serialize)]
pub struct Recording {
    pub format: &'static str,
    pub version: u32,
    pub id: String,
    pub title: String,
    pub kind: &'static str,
    pub driver: String,
    pub build: String,
    pub patch: Option<String>,
    pub hazard: Option<String>,
    pub ring_size: usize,
    pub batch: u32,
    pub buffer_bytes: u64,
    /// The text of lines, by file and number.
    pub code: BTreeMap<String, BTreeMap<usize, String>>,
    /// The line of each kind of step.
    pub points: BTreeMap<&'static str, Line>,
    pub steps: Vec<Step>,
    pub evidence: Option<Evidence>,
}

/// What happened, and what it changed.
#[derive(Debug, Default, Serialize)]
pub struct Step {
    pub actor: &'static str,
    pub point: &'static str,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tour: Option<u8>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub registers: BTreeMap<&'static str, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rx: BTreeMap<usize, Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tx: BTreeMap<usize, Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<usize, &'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dma: Vec<Dma>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Step {
    /// A step without its changes.
    pub fn by(actor: &'static str, point: &'static str, text: String) -> Self {
        Self {
            actor,
            point,
            text,
            ..Self::default()
        }
    }
}

/// State, number of the buffer, length, and both words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Descriptor(
    pub &'static str,
    pub Option<usize>,
    pub Option<u64>,
    pub String,
    pub String,
);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pool {
    pub free: usize,
    pub top: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub struct Dma {
    pub direction: &'static str,
    pub what: &'static str,
    pub iova: String,
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Frame {
    pub length: usize,
    pub bytes: String,
}

/// What became of a hazard.
#[derive(Debug, Serialize)]
pub struct Evidence {
    pub outcome: String,
    pub recorded: String,
    /// Whether the record has this outcome.
    #[serde(skip)]
    pub agrees: bool,
    pub text: String,
    pub title: String,
    pub cwe: u32,
    pub provocation: String,
    pub why: Option<String>,
    pub noticed: Vec<&'static str>,
    pub wrong: Vec<&'static str>,
}
