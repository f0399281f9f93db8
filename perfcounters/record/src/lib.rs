//! The record of a run, for everything that writes or reads results.
//!
//! A run is a folder `results/<machine>/<id>/`: `samples.csv` holds one measured value in each row, `run.json`
//! says what was measured where, and `cells/` has a file for each measured cell. Any tool can read them
//! without this crate. [`Metric`] is generated from `metrics.toml`, which defines every metric once, for Rust
//! and for Python.
//!
//! ```text
//! metrics.toml -> Metric ─┐
//! Implementation ─────────┼─> Sample ───────────────┐
//! Conditions ─────────────┘                         ├─> RunFolder
//! HostFacts, GitFacts, Build, Failure -> RunRecord ─┘
//! ```

mod conditions;
mod counter;
mod error;
mod host;
mod metric;
mod names;
mod private;
mod run;
mod run_folder;
mod sample;
mod tools;

pub use conditions::{
    Conditions, LinePlacement, Series, Waiting, BATCHES, DEFAULT_BATCH, DEFAULT_FRAME_SIZE,
    DEFAULT_QUEUES, DEFAULT_RING_SIZE, FRAME_SIZES, QUEUES, RING_SIZES,
};
pub use counter::tsc_ordered;
pub use error::RecordError;
pub use host::{
    entries, processor_event_sources, CpuClock, CpuFacts, HostFacts, HugePages, IommuFacts,
    NicFacts, PmuFacts, EVENT_SOURCES,
};
pub use metric::{Group, Metric};
pub use names::{BackendName, Implementation};
pub use private::{alias, hide, machine_id, reveal, to_json, to_line};
pub use run::{
    read_run, Build, Capacity, CoreClock, Failure, Peer, Placement, RunPeriod, RunRecord,
    SkippedPeer, RUN_FILE,
};
pub use run_folder::{
    begin_run, create_folder, find_runs, link, runs, unfinished_runs, write_whole, RunFolder,
    CELLS_FOLDER, JOURNAL_FILE, LATEST_LINK, SAMPLES_FILE,
};
pub use sample::{read_samples, Sample, MULTIPLEXED};
pub use tools::{short_toolchain, GitFacts};
