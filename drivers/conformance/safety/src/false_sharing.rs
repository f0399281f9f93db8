//! False sharing, measured: two threads that share no value, but a cache line.
//!
//! Each thread increments a counter of its own, as the threads of two queues do for each packet. The
//! distance between the counters decides whether a cache line travels between the two processors. All
//! distances take turns, so that other work on the machine affects them alike.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{ensure, Context, Result};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// Bytes between the two counters. The drivers keep what threads write 128 bytes apart.
pub const DISTANCES: [usize; 4] = [8, 64, 128, 256];

/// Increments of a counter in a round.
const INCREMENTS: u64 = 200_000;

/// Room for the largest distance, at the beginning of a pair of cache lines.
#[repr(align(128))]
struct Counters([AtomicU64; 64]);

/// The time of an increment at one distance, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Bytes between the two counters.
    pub distance: usize,
    /// Median of the rounds.
    pub median: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// Increments a counter [`INCREMENTS`] times. Returns nanoseconds per increment.
fn increment(counter: &AtomicU64) -> f64 {
    let start = Instant::now();
    for _ in 0..INCREMENTS {
        // Not one atomic addition: the counter has one writer, as a counter of a queue has.
        let value = black_box(counter).load(Ordering::Relaxed);
        counter.store(value + 1, Ordering::Relaxed);
    }
    start.elapsed().as_nanos() as f64 / INCREMENTS as f64
}

fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("cannot pin a thread to CPU {cpu}"))
}

/// One round: both threads increment at the same time. Returns the time of the slower one.
fn round(counters: &Counters, distance: usize, cpus: [usize; 2]) -> Result<f64> {
    let together = Barrier::new(2);
    let other = counters.0.get(distance / 8);
    let pair = [counters.0.first(), other];
    thread::scope(|scope| {
        let threads = [0, 1].map(|nth: usize| {
            let (together, counter) = (&together, pair[nth]);
            scope.spawn(move || -> Result<f64> {
                let pinned = pin(cpus[nth]);
                together.wait();
                pinned?;
                Ok(increment(counter.context("no such distance")?))
            })
        });
        let mut slower: f64 = 0.0;
        for thread in threads {
            let time = thread
                .join()
                .map_err(|_| anyhow::anyhow!("a thread panicked"))??;
            slower = slower.max(time);
        }
        Ok(slower)
    })
}

/// The value at a share of sorted values.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let index = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}

/// Measures all [`DISTANCES`], `rounds` times each.
///
/// # Errors
/// If this process may use one CPU only, or a thread cannot be pinned.
pub fn measure(rounds: usize) -> Result<Vec<Row>> {
    let allowed = sched_getaffinity(None).context("cannot read the CPUs of this process")?;
    let cpus: Vec<_> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    ensure!(
        cpus.len() > 1,
        "false sharing needs two CPUs, and this process may use one; run it on a machine with more, or \
         change the CPUs of the process (taskset)"
    );
    let counters = Counters([const { AtomicU64::new(0) }; 64]);
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); DISTANCES.len()];
    for _ in 0..rounds {
        for (times, distance) in times.iter_mut().zip(DISTANCES) {
            times.push(round(&counters, distance, [cpus[0], cpus[1]])?);
        }
    }
    let rows = DISTANCES
        .into_iter()
        .zip(times)
        .map(|(distance, mut times)| {
            times.sort_by(f64::total_cmp);
            Row {
                distance,
                median: percentile(&times, 0.5),
                p10: percentile(&times, 0.1),
                p90: percentile(&times, 0.9),
            }
        });
    Ok(rows.collect())
}

/// The rows as a table. The last column compares with the largest distance.
pub fn table(rows: &[Row]) -> String {
    let far = rows.last().map_or(1.0, |row| row.median);
    let mut text = String::from("bytes apart  ns per increment  10th to 90th percentile  ratio\n");
    for row in rows {
        let Row {
            distance,
            median,
            p10,
            p90,
        } = row;
        let spread = format!("{p10:.2} to {p90:.2}");
        let ratio = median / far;
        text += &format!("{distance:>11}  {median:>16.2}  {spread:>23}  {ratio:>5.1}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_is_measured_where_there_are_two_cpus() {
        let cpus = sched_getaffinity(None).unwrap().count();
        let rows = measure(3);
        if cpus < 2 {
            assert!(rows.unwrap_err().to_string().contains("two CPUs"));
            return;
        }
        let rows = rows.unwrap();
        assert_eq!(
            rows.iter().map(|row| row.distance).collect::<Vec<_>>(),
            DISTANCES
        );
        for row in rows {
            assert!(
                0.0 < row.p10 && row.p10 <= row.median && row.median <= row.p90,
                "{row:?}"
            );
        }
    }

    #[test]
    fn the_table_compares_with_the_largest_distance() {
        let row = |distance, median| Row {
            distance,
            median,
            p10: median,
            p90: median,
        };
        let table = table(&[row(8, 10.0), row(256, 2.0)]);
        let lines: Vec<_> = table.lines().collect();
        assert!(
            lines[1].ends_with("5.0") && lines[2].ends_with("1.0"),
            "{table}"
        );
    }
}
