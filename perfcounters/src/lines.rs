//! Placements of lines on this machine, for the backends whose card leaves its lines at one.

use nic::Placement;
use record::LinePlacement;

use crate::backend::Cell;

/// The card's name of a placement.
pub(crate) fn card_placement(placement: LinePlacement) -> Placement {
    match placement {
        LinePlacement::Warm => Placement::Warm,
        LinePlacement::L3 => Placement::L3,
        LinePlacement::Memory => Placement::Memory,
    }
}

/// Why the card cannot leave lines there on this machine; `None` if it can.
fn not_placeable(placement: LinePlacement) -> Option<String> {
    let why = card_placement(placement).check().err()?;
    Some(why.to_string())
}

/// The placements that this machine does not have, each with the reason, for `run.json`.
pub(crate) fn missing(placements: &[LinePlacement]) -> serde_json::Value {
    let reason = |placement: &LinePlacement| {
        let why = not_placeable(*placement)?;
        Some((placement.to_string(), serde_json::Value::from(why)))
    };
    placements.iter().filter_map(reason).collect()
}

/// A cell at each of the placements that this machine has.
pub(crate) fn cells_at(placements: &[LinePlacement], cell: &Cell) -> Vec<Cell> {
    let there = placements
        .iter()
        .filter(|placement| not_placeable(**placement).is_none());
    let at = |placement: &LinePlacement| {
        let mut cell = cell.clone();
        cell.conditions.placement = Some(*placement);
        cell
    };
    there.map(at).collect()
}
