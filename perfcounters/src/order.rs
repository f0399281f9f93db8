//! The order in which cells take their turns.

/// Order of a round: every cell once. Each round begins with another cell, and each cell follows
/// another one from round to round. What a predecessor leaves behind, such as cold caches and freed pages,
/// then favours no cell.
pub fn order(cells: usize, round: usize) -> impl Iterator<Item = usize> {
    let divides = |a: usize, b: usize| (2..=a).any(|n| a % n == 0 && b % n == 0);
    let strides: Vec<usize> = (1..=cells.max(1))
        .filter(|stride| *stride == 1 || !divides(*stride, cells))
        .collect();
    let stride = strides[round % strides.len()];
    (0..cells).map(move |turn| (round + turn * stride) % cells)
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
