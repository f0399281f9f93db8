//! What the backends share that measure in rounds, and whose card leaves its lines at a placement.

use nic::Placement;
use record::LinePlacement;

use crate::backend::Cell;

/// The middle of the values, or 0 if there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = |index: usize| values.get(index).copied().unwrap_or_default();
    (middle(values.len().saturating_sub(1) / 2) + middle(values.len() / 2)) / 2.0
}

/// Order of a round: every cell once. Each round begins with another cell, and each cell follows
/// another one from round to round. What a predecessor leaves behind, such as cold caches and freed pages,
/// then favours no cell.
pub(crate) fn order(cells: usize, round: usize) -> impl Iterator<Item = usize> {
    let divides = |a: usize, b: usize| (2..=a).any(|n| a % n == 0 && b % n == 0);
    let strides: Vec<usize> = (1..=cells.max(1))
        .filter(|stride| *stride == 1 || !divides(*stride, cells))
        .collect();
    let stride = strides[round % strides.len()];
    (0..cells).map(move |turn| (round + turn * stride) % cells)
}

/// The card's name of a placement.
pub(crate) fn card_placement(placement: LinePlacement) -> Placement {
    match placement {
        LinePlacement::Warm => Placement::Warm,
        LinePlacement::L3 => Placement::L3,
        LinePlacement::Memory => Placement::Memory,
    }
}

/// The placements that this machine does not have, each with the reason, for `run.json`.
pub(crate) fn missing(placements: &[LinePlacement]) -> serde_json::Value {
    let reason = |placement: &LinePlacement| {
        let why = card_placement(*placement).check().err()?;
        Some((
            placement.to_string(),
            serde_json::Value::from(why.to_string()),
        ))
    };
    placements.iter().filter_map(reason).collect()
}

/// A cell at each of the placements that this machine has.
pub(crate) fn cells_at(placements: &[LinePlacement], cell: &Cell) -> Vec<Cell> {
    let at = |placement: &LinePlacement| {
        card_placement(*placement).check().ok()?;
        let mut cell = cell.clone();
        cell.conditions.placement = Some(*placement);
        Some(cell)
    };
    placements.iter().filter_map(at).collect()
}

/// Cells by driver: those that differ only in their placement stay together.
pub(crate) fn by_driver(cells: &[Cell]) -> Vec<Vec<&Cell>> {
    let mut drivers: Vec<Vec<&Cell>> = Vec::new();
    for cell in cells {
        let same =
            |other: &&mut Vec<&Cell>| other[0].without_placement() == cell.without_placement();
        match drivers.iter_mut().find(same) {
            Some(driver) => driver.push(cell),
            None => drivers.push(vec![cell]),
        }
    }
    drivers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_visits_every_cell_in_another_order() {
        for cells in 1..=9 {
            for round in 0..20 {
                let mut visited: Vec<_> = order(cells, round).collect();
                visited.sort_unstable();
                assert_eq!(visited, (0..cells).collect::<Vec<_>>());
            }
        }
        let follower = |round| {
            let order: Vec<_> = order(8, round).collect();
            order[(order.iter().position(|cell| *cell == 3).unwrap() + 1) % 8]
        };
        assert_ne!(follower(0), follower(1));
    }
}
