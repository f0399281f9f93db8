//! What a forwarder counts.

use anyhow::{ensure, Context, Result};
use serde::Deserialize;

/// The totals that a forwarder writes with `--json`: exactly these keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Packets received, both directions added.
    pub rx: u64,
    /// Packets handed to the other device.
    pub tx: u64,
    /// Packets received and dropped because the other device's ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
    /// Duration of the forwarding in seconds, without opening and closing the devices.
    pub seconds: f64,
    /// The same duration in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
    /// The seconds of processor time that it used, all threads together.
    #[serde(default)]
    pub cpu_seconds: f64,
    /// Interrupts taken, with `--interrupts`.
    pub interrupts: Option<u64>,
    /// Sleeps, with `--interrupts`.
    pub sleeps: Option<u64>,
    /// The same counts for each queue, if there are several.
    #[serde(default)]
    pub queues: Vec<QueueTotals>,
}

/// The totals of a queue pair, as in [`Totals`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // Totals explains them
pub struct QueueTotals {
    pub queue: usize,
    pub rx: u64,
    pub tx: u64,
    pub dropped: u64,
    pub rx_calls: u64,
    pub full_batches: u64,
}

impl Totals {
    /// Parses a `--json` file: one object and a newline.
    pub fn parse(text: &str) -> Result<Self> {
        ensure!(
            text.ends_with('\n') && text.trim_end().lines().count() == 1,
            "totals are not one line: {text:?}"
        );
        serde_json::from_str(text).with_context(|| format!("totals {text:?}"))
    }

    /// Checks the rules that hold for every run.
    pub fn check(&self, batch: u64) -> Result<()> {
        let sum: u64 = self.queues.iter().map(|queue| queue.rx).sum();
        let balanced = |(nth, queue): (usize, &QueueTotals)| {
            queue.queue == nth && queue.rx == queue.tx + queue.dropped
        };
        for (holds, what) in [
            (self.rx == self.tx + self.dropped, "rx is not tx + dropped"),
            (
                self.full_batches <= self.rx_calls,
                "more full batches than calls",
            ),
            (
                self.rx <= self.rx_calls * batch,
                "more packets than the calls can return",
            ),
            (
                self.queues.iter().enumerate().all(balanced),
                "a queue's rx is not tx + dropped",
            ),
            (
                self.queues.is_empty() || sum == self.rx,
                "the queues received another sum",
            ),
            (
                self.seconds > 0.0 && self.tsc_cycles > 0,
                "no time has passed",
            ),
        ] {
            ensure!(holds, "{what}: {self:?}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_one_line_with_exactly_these_keys() {
        let text = r#"{"rx":3,"tx":2,"dropped":1,"rx_calls":9,"full_batches":0,"seconds":0.5,"tsc_cycles":7}"#;
        let totals = Totals::parse(&format!("{text}\n")).unwrap();
        assert_eq!((totals.rx, totals.tx, totals.seconds), (3, 2, 0.5));
        totals.check(32).unwrap();
        let renamed = format!("{}\n", text.replace("rx_calls", "calls"));
        for wrong in [text, "{\"rx\":3}\n", &renamed, ""] {
            assert!(Totals::parse(wrong).is_err(), "{wrong}");
        }
    }
}
