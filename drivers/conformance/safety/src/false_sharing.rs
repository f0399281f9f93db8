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

use anyhow::{anyhow, bail, Context, Result};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// Bytes between the two counters. The drivers keep what threads write 128 bytes apart.
const DISTANCES: [usize; 4] = [8, 64, 128, 256];

/// Increments of a counter in a round.
const INCREMENTS: u64 = 200_000;

/// Room for the largest distance, at the beginning of a pair of cache lines.
#[repr(align(128))]
struct Counters([AtomicU64; 64]);

/// Nanoseconds per increment at one distance, of all rounds, sorted.
type Times = Vec<f64>;

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
    let run = |nth: usize| {
        let pinned = pin(cpus[nth]);
        together.wait();
        pinned.map(|()| increment(&counters.0[nth * distance / 8]))
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| run(1));
        let first = run(0)?;
        let other = other.join().map_err(|_| anyhow!("a thread panicked"))??;
        Ok(first.max(other))
    })
}

/// The value at a share of sorted values.
fn percentile(sorted: &Times, share: f64) -> f64 {
    let index = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}

/// Measures all [`DISTANCES`], `rounds` times each.
///
/// # Errors
/// If this process may use one CPU only, or a thread cannot be pinned.
pub fn measure(rounds: usize) -> Result<[Times; 4]> {
    let allowed = sched_getaffinity(None).context("cannot read the CPUs of this process")?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let (Some(first), Some(second)) = (cpus.next(), cpus.next()) else {
        bail!(
            "false sharing needs two CPUs, and this process may use one; run it on a machine with more, or \
             change the CPUs of the process (taskset)"
        );
    };
    let counters = Counters([const { AtomicU64::new(0) }; 64]);
    let mut measured = DISTANCES.map(|_| Times::new());
    for _ in 0..rounds {
        for (times, distance) in measured.iter_mut().zip(DISTANCES) {
            times.push(round(&counters, distance, [first, second])?);
        }
    }
    for times in &mut measured {
        times.sort_by(f64::total_cmp);
    }
    Ok(measured)
}

/// The times as a table. The last column compares with the largest distance.
pub fn table(measured: &[Times; 4]) -> String {
    let far = percentile(&measured[3], 0.5);
    let mut text = String::from("bytes apart  ns per increment  10th to 90th percentile  ratio\n");
    for (distance, times) in DISTANCES.iter().zip(measured) {
        let [p10, median, p90] = [0.1, 0.5, 0.9].map(|share| percentile(times, share));
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
        match measure(3) {
            Err(error) => assert!(cpus < 2 && error.to_string().contains("two CPUs")),
            Ok(measured) => assert!(measured.iter().all(|times| times[0] > 0.0)),
        }
    }

    #[test]
    fn the_table_compares_with_the_largest_distance() {
        let table = table(&[10.0, 8.0, 4.0, 2.0].map(|time| vec![time; 3]));
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[1].trim_start().starts_with("8 "), "{table}");
        assert!(
            lines[1].ends_with("5.0") && lines[4].ends_with("1.0"),
            "{table}"
        );
    }
}
