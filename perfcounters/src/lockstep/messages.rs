//! The files between the lockstep backend and its worker process, in JSON.

use std::fs;
use std::path::{Path, PathBuf};

use record::{Failure, LinePlacement, Sample};
use serde::{Deserialize, Serialize};

use crate::backend::{Cell, MeasureError};

/// The worker's task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Specification {
    /// The cells to measure.
    pub cells: Vec<Cell>,
    /// Number of values to take of each cell.
    pub rounds: u32,
    /// Index of this process.
    pub process: u32,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// File that the worker appends [`Event`]s to, one JSON object per line.
    pub output: PathBuf,
}

/// A line of the worker's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A measured value.
    Sample(Sample),
    /// A cell that could not be measured.
    Failure(Failure),
    /// Something that may have disturbed the values.
    Warning(String),
    /// Time of a load from a packet that DMA has just left at a placement, in TSC cycles.
    PlacedLoad(LinePlacement, f64),
}

/// Reads the worker's output.
///
/// # Errors
/// [`MeasureError::File`], or [`MeasureError::Other`] with a line that is not an event.
pub fn read_events(path: &Path) -> Result<Vec<Event>, MeasureError> {
    let text = fs::read_to_string(path).map_err(|cause| MeasureError::File {
        path: path.to_owned(),
        cause,
    })?;
    text.lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| {
                MeasureError::Other(format!("the lockstep worker wrote {line:?}: {error}"))
            })
        })
        .collect()
}
