//! Counts more events than the processor has counters, in several passes of few events each.
//!
//! Every pass is a window with its own packets. Another program or the NMI watchdog may hold a
//! counter, so that the kernel counts a group only for a part of the time. Then the pass is repeated
//! in halves. Only if a single event was not counted all the time, its count is scaled up.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::events::Event;

/// Counters: the kernel's, or a stand-in.
pub trait Counters {
    /// Counts the first of these events while `work` runs: as many as fit together, at least one.
    fn count<R>(
        &self,
        events: &[&Event],
        work: impl FnOnce() -> R,
    ) -> Result<(R, Reading), CountError>;
}

/// The reason why a group was not counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// Its first event cannot be counted. The work did not run.
    #[error("{0}")]
    Absent(String),
    /// The kernel did not start, stop or read the counters.
    #[error("cannot read the counters: {0}")]
    Unreadable(#[from] std::io::Error),
}

/// The counts of some events that were counted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Time for which they were switched on.
    pub enabled: Duration,
    /// Time for which they were counted: less if there were too few counters.
    pub running: Duration,
    /// The count of each event: the first ones.
    pub counts: Vec<u64>,
}

#[cfg(test)]
impl Reading {
    /// The counts of a group that counted all the time.
    pub(crate) fn whole(counts: Vec<u64>) -> Self {
        let time = Duration::from_millis(100);
        Self {
            enabled: time,
            running: time,
            counts,
        }
    }
}

/// A window and its counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pass<W> {
    /// Packets and time of the window.
    pub window: W,
    /// The counts.
    pub values: Vec<Value>,
}

/// A count of one event in one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Index of the event.
    pub event: usize,
    /// Number of times that the event happened.
    pub count: f64,
    /// Whether the count was scaled up, because the kernel did not count the event all the time.
    pub scaled: bool,
}

/// The result of all passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted<W> {
    /// The passes.
    pub passes: Vec<Pass<W>>,
    /// Events that could not be counted, by index, with the reason.
    pub absent: Vec<(usize, String)>,
}

impl<W> Counted<W> {
    /// The count of an event; `None` if it could not be counted.
    pub fn value(&self, event: usize) -> Option<Value> {
        let mut values = self.passes.iter().flat_map(|pass| &pass.values);
        values.find(|value| value.event == event).copied()
    }
}

/// Counts all events, in as many passes as that takes. Each pass calls `window` and counts its
/// events; there are at most two calls per event.
pub fn count<C: Counters, W>(
    counters: &C,
    events: &[Event],
    mut window: impl FnMut() -> Result<W, String>,
) -> Result<Counted<W>, String> {
    let mut counted = Counted {
        passes: Vec::new(),
        absent: Vec::new(),
    };
    let mut waiting = VecDeque::from([(0..events.len()).collect::<Vec<_>>()]);
    while let Some(mut wanted) = waiting.pop_front() {
        let Some(&first) = wanted.first() else {
            continue;
        };
        let group: Vec<_> = wanted.iter().map(|index| &events[*index]).collect();
        let (window, reading) = match counters.count(&group, &mut window) {
            Ok(counted) => counted,
            Err(CountError::Absent(why)) => {
                counted.absent.push((first, why));
                waiting.push_front(wanted.split_off(1));
                continue;
            }
            Err(error) => return Err(error.to_string()),
        };
        let rest = wanted.split_off(reading.counts.len().clamp(1, wanted.len()));
        waiting.push_front(rest);
        let window = window?;
        let shared = reading.running < reading.enabled;
        if shared && wanted.len() > 1 {
            let half = wanted.split_off(wanted.len().div_ceil(2));
            waiting.push_front(half);
            waiting.push_front(wanted);
            continue;
        }
        if reading.running.is_zero() {
            let why = "the kernel never had a counter free for it";
            counted.absent.push((first, why.to_owned()));
            continue;
        }
        let scale = match shared {
            true => reading.enabled.as_secs_f64() / reading.running.as_secs_f64(),
            false => 1.0,
        };
        let values = wanted.iter().zip(reading.counts);
        counted.passes.push(Pass {
            window,
            values: values
                .map(|(event, count)| Value {
                    event: *event,
                    count: count as f64 * scale,
                    scaled: shared,
                })
                .collect(),
        });
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counters of an invented processor: event `i` happens `100 + i` times in a window.
    #[derive(Debug)]
    struct Fake {
        /// Counters that the kernel assumes when it opens a group.
        believed: usize,
        /// Counters that are free; a larger group never runs.
        free: usize,
        /// Share of the time in which a group that fits is counted, percent.
        share: u64,
    }

    impl Counters for Fake {
        fn count<R>(
            &self,
            events: &[&Event],
            work: impl FnOnce() -> R,
        ) -> Result<(R, Reading), CountError> {
            let known = events.iter().take_while(|event| event.name != "unknown");
            let events: Vec<_> = known.take(self.believed).collect();
            if events.is_empty() {
                return Err(CountError::Absent("no such event".into()));
            }
            let running = match events.len() <= self.free {
                true => self.share,
                false => 0,
            };
            let count = |event: &&&Event| (100 + event.config) * running / 100;
            let reading = Reading {
                running: Duration::from_millis(running),
                ..Reading::whole(events.iter().map(count).collect())
            };
            Ok((work(), reading))
        }
    }

    fn events(count: usize) -> Vec<Event> {
        (0..count)
            .map(|index| Event {
                config: index as u64,
                ..Event::default()
            })
            .collect()
    }

    #[test]
    fn passes_are_as_few_as_the_free_counters_permit() {
        for (believed, free, share, number, sizes) in [
            (4, 4, 100, 10, &[4, 4, 2][..]),
            // A pass that shared its counters is repeated in halves.
            (8, 3, 100, 8, &[2, 2, 2, 2]),
            (8, 8, 50, 3, &[1, 1, 1]),
        ] {
            let fake = Fake {
                believed,
                free,
                share,
            };
            let mut events = events(number);
            let unknown = Event {
                name: "unknown".into(),
                ..Event::default()
            };
            // An event that the kernel does not know costs only itself.
            events.insert(0, unknown);
            let mut windows = 0;
            let counted = count(&fake, &events, || {
                windows += 1;
                Ok(windows)
            });
            let Counted { passes, absent } = counted.unwrap();
            let found: Vec<_> = passes.iter().map(|pass| pass.values.len()).collect();
            assert_eq!(found, sizes, "{fake:?}");
            assert_eq!(absent, [(0, "no such event".to_owned())]);
            assert_eq!(passes.last().map(|pass| pass.window), Some(windows));
            let error = count(&fake, &events, || Err::<(), _>("no packets".to_owned()));
            assert_eq!(error.unwrap_err(), "no packets");
        }
    }

    proptest! {
        /// With any counters, every event is counted once or absent, in few windows.
        #[test]
        fn every_event_is_counted_once(
            number in 0usize..20,
            believed in 1usize..10,
            free in 0usize..10,
            share in 1u64..=100,
        ) {
            let mut windows = 0;
            let counters = Fake { believed, free, share };
            let counted = count(&counters, &events(number), || { windows += 1; Ok(()) }).unwrap();
            let values = counted.passes.iter().flat_map(|pass| &pass.values);
            let mut seen: Vec<usize> = values
                .clone()
                .map(|value| value.event)
                .chain(counted.absent.iter().map(|(event, _)| *event))
                .collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..number).collect::<Vec<_>>());
            prop_assert!(windows <= 2 * number);
            prop_assert_eq!(counted.absent.is_empty(), free > 0 || number == 0);
            for value in values {
                let expected = 100.0 + value.event as f64;
                // The fake rounds down to whole events.
                prop_assert!((value.count - expected).abs() <= 100.0 / share as f64);
                prop_assert_eq!(value.scaled, share < 100);
            }
        }
    }
}
