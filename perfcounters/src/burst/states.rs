//! A program may have two states, which cost differently: for example by where its buffers happen to lie. A
//! process stays in one of them, or changes it in the middle. Their values must not be averaged.

/// The states are at least so far apart, as a ratio: more than what differs between processes otherwise.
const APART: f64 = 1.2;
/// The values of a state differ by at most this ratio.
const TOGETHER: f64 = 1.1;
/// A process stays in a state for so many rounds in succession. A single round may have been disturbed.
const ROUNDS: usize = 2;

/// For each round of each process, whether the program was in the costlier of two states; `None` if it has
/// only one state.
pub(super) fn two_states(processes: &[Vec<f64>]) -> Option<Vec<Vec<bool>>> {
    let mut all = processes.concat();
    all.sort_by(f64::total_cmp);
    let (low, high) = all
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .max_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)))?;
    let (least, most) = (all.first()?, all.last()?);
    if high / low < APART || low / least > TOGETHER || most / high > TOGETHER {
        return None;
    }
    let costlier = |values: &Vec<f64>| values.iter().map(|value| *value >= high).collect();
    let states: Vec<Vec<bool>> = processes.iter().map(costlier).collect();
    let lasts = |state: bool| {
        let mut runs = states.iter().flat_map(|rounds| rounds.chunk_by(bool::eq));
        runs.any(|run| run[0] == state && run.len() >= ROUNDS)
    };
    (lasts(false) && lasts(true)).then_some(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_are_found_and_noise_is_none() {
        let apart = two_states(&[vec![45.0, 45.8, 44.9], vec![62.1, 61.5, 62.9]]);
        assert_eq!(apart, Some(vec![vec![false; 3], vec![true; 3]]));
        let changed = two_states(&[vec![62.0, 62.4, 45.1, 44.7]]).unwrap();
        assert_eq!(changed, [[true, true, false, false]]);
        for noise in [
            &[][..],
            &[vec![50.0]],
            // Processes differ by some percent.
            &[vec![50.0, 50.4], vec![56.0, 56.2]],
            // One round was disturbed.
            &[vec![50.0, 50.4, 70.0], vec![50.1, 50.2]],
            // Everything was disturbed: values between the states are no states.
            &[vec![45.0, 50.0, 56.0, 70.0, 80.0, 95.0]],
        ] {
            assert_eq!(two_states(noise), None);
        }
    }
}
