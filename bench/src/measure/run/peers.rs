//! The peers of a run: which backends measure them, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use perfcounters::{Backend, Cell, Observer};
use record::{Failure, RunRecord};

use super::recorder::Recorder;

/// The setting of a backend that says why it measures no peers.
const NOT_MEASURABLE: &str = "peers_not_measurable";

/// The cells that a backend can measure: without peers, if it cannot measure them. The record has the
/// reason.
pub fn measurable(
    backend: &dyn Backend,
    mut cells: Vec<Cell>,
    recorder: &mut Recorder,
) -> Vec<Cell> {
    let peers = cells.iter().filter(|cell| cell.peer.is_some()).count();
    let Some(why) = backend.unavailable_for_peers().filter(|_| peers > 0) else {
        return cells;
    };
    let name = backend.name();
    if peers == cells.len() {
        recorder.not_measurable(name, &why);
    } else {
        recorder.progress.say(&format!("{name}: no peers: {why}"));
    }
    recorder.setting(name, NOT_MEASURABLE, why.into());
    cells.retain(|cell| cell.peer.is_none());
    cells
}

/// The peers that a run has not measured at all or not everywhere, one line for each reason.
pub fn missing(record: &RunRecord) -> Vec<String> {
    let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for peer in &record.skipped_peers {
        let names = reasons.entry(&peer.reason).or_default();
        names.insert(format!("{}/{}", peer.implementation, peer.variant));
    }
    for Failure { series, cause, .. } in &record.failures {
        if series.implementation.is_peer() {
            let names = reasons.entry(cause).or_default();
            names.insert(format!("{}/{}", series.implementation, series.variant));
        }
    }
    let line = |(reason, names): (&str, BTreeSet<String>)| {
        let names: Vec<_> = names.into_iter().collect();
        format!("{}: {reason}", names.join(", "))
    };
    reasons.into_iter().map(line).collect()
}
