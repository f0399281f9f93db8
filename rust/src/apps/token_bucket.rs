//! A token bucket: packets at a rate, with bursts of a limited size.
#![forbid(unsafe_code)]

use crate::program::parse_decimal;

/// The highest rate, in packets a second: more than two ports of 10 Gbit/s carry.
pub const MAX_RATE: u64 = 100_000_000;

/// A token in the unit of the bucket: a rate of 1 adds one unit in each nanosecond.
const TOKEN: u64 = 1_000_000_000;

/// A longer time fills any bucket, and its product with the rate would not fit.
const MAX_ELAPSED: u64 = 1_000_000_000;

pub struct TokenBucket {
    /// Packets a second, 1 to [`MAX_RATE`].
    rate: u64,
    /// The most packets at once, in billionths.
    burst: u64,
    /// Packets that may be sent, in billionths.
    tokens: u64,
    /// When tokens were added last, nanoseconds.
    filled: u64,
}

impl TokenBucket {
    /// A bucket that is empty at `now`.
    pub fn new(rate: u64, burst: usize, now: u64) -> Self {
        Self {
            rate,
            burst: burst as u64 * TOKEN,
            tokens: 0,
            filled: now,
        }
    }

    /// Adds the tokens of the time until `now`, and takes at most `wanted`. Returns how many.
    pub fn take(&mut self, now: u64, wanted: usize) -> usize {
        let elapsed = now - self.filled;

        self.tokens += elapsed.min(MAX_ELAPSED) * self.rate;
        self.tokens = self.tokens.min(self.burst);
        self.filled = now;

        let taken = (self.tokens / TOKEN).min(wanted as u64);
        self.tokens -= taken * TOKEN;
        taken as usize
    }

    /// Puts tokens back that were taken and not used.
    pub fn give_back(&mut self, count: usize) {
        self.tokens += count as u64 * TOKEN;
    }
}

/// A whole number of packets a second, which may have a fraction before k or M.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((end, 'k')) => (&text[..end], 1e3),
        Some((end, 'M')) => (&text[..end], 1e6),
        _ => (text, 1.0),
    };
    parse_decimal(digits)
        .map(|number| number * unit)
        .filter(|rate| (1.0..=MAX_RATE as f64).contains(rate) && rate.fract() == 0.0)
        .map(|rate| rate as u64)
        .ok_or_else(|| "--rate must be whole packets a second, from 1 to 100M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_time_lets_more_through_than_the_rate_and_a_burst(
            rate in 1..=MAX_RATE,
            burst in 1_usize..=512,
            steps in prop::collection::vec((0_u64..3_000_000_000, 0_usize..600), 1..50),
        ) {
            let mut bucket = TokenBucket::new(rate, burst, 7);
            let (mut now, mut taken) = (7, 0_u128);
            for (elapsed, wanted) in steps {
                now += elapsed;
                let count = bucket.take(now, wanted);
                prop_assert!(count <= wanted.min(burst));
                // What is given back can be taken again.
                bucket.give_back(count);
                prop_assert_eq!(bucket.take(now, count), count);
                taken += count as u128;
                let most = u128::from(now - 7) * u128::from(rate) / u128::from(TOKEN);
                prop_assert!(taken <= most + burst as u128);
            }
        }

        #[test]
        fn small_steps_reach_the_rate(rate in 1_u64..=10_000_000, step in 1_u64..=100_000) {
            let mut bucket = TokenBucket::new(rate, 512, 0);
            // No step brings more than a burst, so nothing is lost.
            prop_assume!(u128::from(step) * u128::from(rate) <= 511 * u128::from(TOKEN));
            let taken: usize = (1..=1000).map(|nth| bucket.take(nth * step, 512)).sum();
            prop_assert_eq!(taken as u64, 1000 * step * rate / TOKEN);
        }
    }
}
