//! The cost of a packet, from the times of bursts.

use std::collections::BTreeMap;

use nic::TimedBurst;

use crate::rounds::median;

/// Packets of a burst arrive at each of so many ports.
pub(super) const PORTS: f64 = 2.0;

/// Signals that cost so many times as much as usual, or as some packets, went over a greater distance.
const FAR: f64 = 2.5;
const SOME_PACKETS: f64 = 16.0;

/// What bursts cost, in ticks of the time-stamp counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// The signals between the two processors.
    pub signals: f64,
    /// A packet.
    pub packet: f64,
}

impl Fit {
    /// Whether the signals cost as usual. If not, the processors moved apart for a while.
    pub fn has_signals(self, usual: f64) -> bool {
        self.signals < FAR * usual.max(SOME_PACKETS * self.packet)
    }
}

/// The usual cost of signals.
pub(super) fn usual_signals(fits: impl Iterator<Item = Fit>) -> f64 {
    median(fits.map(|fit| fit.signals))
}

/// What the bursts cost; `None` if they are too much alike.
///
/// A burst of `n` packets a port after one of `before` takes `a + b·n + c·before`. The last term is there
/// because a driver takes the buffers of sent packets back while it sends the next ones. So a packet costs
/// `b + c`, divided by the number of ports, and `a` is what the signals between the two processors cost.
///
/// The fit uses the median time of each pair of numbers, so that interrupted bursts do not matter.
pub(super) fn fit(bursts: &[TimedBurst]) -> Option<Fit> {
    let mut times: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for (packets, before, ticks) in bursts {
        times
            .entry((*packets, *before))
            .or_default()
            .push(*ticks as f64);
    }
    let mut sums = [[0.0; 4]; 3];
    for ((packets, before), times) in times {
        let weight = times.len() as f64;
        let row = [1.0, f64::from(packets), f64::from(before), median(times)];
        for (sums, left) in sums.iter_mut().zip(row) {
            for (sum, right) in sums.iter_mut().zip(row) {
                *sum += weight * left * right;
            }
        }
    }
    let [signals, packets, before] = solve(sums)?;
    Some(Fit {
        signals,
        packet: (packets + before) / PORTS,
    })
}

/// Solves three linear equations by elimination; the fourth column has the right-hand sides.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for pivot in 0..3 {
        // The matrix of a fit is symmetric and has no negative pivot. A tiny one means that it is singular.
        let scale = rows[pivot][pivot];
        if scale < 1e-6 {
            return None;
        }
        rows[pivot].iter_mut().for_each(|value| *value /= scale);
        let own = rows[pivot];
        for (_, row) in rows
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| *index != pivot)
        {
            let factor = row[pivot];
            for (value, own) in row.iter_mut().zip(own) {
                *value -= factor * own;
            }
        }
    }
    Some(rows.map(|row| row[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NUMBERS: [u32; 4] = [32, 64, 128, 192];

    /// Bursts of known cost. `noise` gives a factor for each, and every tenth is interrupted.
    fn bursts(packet: f64, cleaning: f64, fixed: f64, noise: &[f64]) -> Vec<TimedBurst> {
        let mut before = 32;
        let numbers = (0..).map(|nth: usize| NUMBERS[(nth * nth + nth / 3 + nth / 11) % 4]);
        let burst = |(nth, (factor, n)): (usize, (&f64, u32))| {
            let time = fixed + PORTS * (packet * f64::from(n) + cleaning * f64::from(before));
            let interrupted = if nth % 10 == 9 { 3.0 } else { 1.0 };
            let burst = (n, before, (time * factor * interrupted) as u64);
            before = n;
            burst
        };
        noise.iter().zip(numbers).enumerate().map(burst).collect()
    }

    proptest! {
        #[test]
        fn the_cost_is_recovered_from_noisy_and_interrupted_bursts(
            packet in 10.0..200.0_f64,
            cleaning in 0.0..10.0_f64,
            fixed in 500.0..8000.0_f64,
            noise in prop::collection::vec(0.97..1.03_f64, 600),
        ) {
            let found = fit(&bursts(packet, cleaning, fixed, &noise)).unwrap().packet;
            let known = packet + cleaning;
            // Noise of 3 % in a time that is mostly fixed is more than 3 % of the cost of a packet.
            let whole = known + fixed / 192.0;
            prop_assert!((found - known).abs() < 0.03 * whole, "{found} instead of {known}");
        }
    }

    #[test]
    fn exact_times_give_the_exact_cost() {
        let found = fit(&bursts(50.0, 6.0, 3000.0, &[1.0; 9])).unwrap();
        assert!((found.packet - 56.0).abs() < 0.01, "{found:?}");
        assert!((found.signals - 3000.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn bursts_that_are_alike_have_no_slope() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(32, 32, 900), (32, 32, 901)]), None);
        assert_eq!(fit(&[(32, 32, 900), (64, 32, 1800)]), None);
    }

    #[test]
    fn signals_over_a_greater_distance_are_found() {
        let fits = [1000.0, 1300.0, 5000.0, 900.0].map(|signals| Fit {
            signals,
            packet: 50.0,
        });
        let usual = usual_signals(fits.into_iter());
        assert_eq!(
            fits.map(|fit| fit.has_signals(usual)),
            [true, true, false, true]
        );
    }
}
