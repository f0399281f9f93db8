//! Measures the clock of a core without its counters: a chain of dependent multiplications takes three
//! cycles for each.

use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::CpuSet;

/// Cycles of an integer multiplication whose operand is the previous result. Intel's processors since
/// Nehalem and AMD's since Zen take three.
const CYCLES: u32 = 3;
/// Multiplications of one trial: about 0.1 ms.
const LENGTH: u32 = 100_000;
/// The time for which trials are made. The fastest one counts, because interrupts and other programs
/// only make a trial longer.
const TIME: Duration = Duration::from_millis(100);

/// Two clocks are the same if they differ by at most this share.
pub const TOLERANCE: f64 = 0.03;

/// Whether a measured clock is the wanted clock.
pub fn same(measured_ghz: f64, wanted_ghz: f64) -> bool {
    (measured_ghz / wanted_ghz - 1.0).abs() <= TOLERANCE
}

/// The clock of a CPU under load, GHz; `None` if this process may not run there, or if the processor is
/// not an x86-64.
pub fn measure(cpu: usize) -> Option<f64> {
    thread::spawn(move || {
        if cpu >= CpuSet::MAX_CPU {
            return None;
        }
        let mut only = CpuSet::new();
        only.set(cpu);
        rustix::thread::sched_setaffinity(None, &only).ok()?;
        if cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        let start = Instant::now();
        let mut best = Duration::MAX;
        while start.elapsed() < TIME {
            let begin = Instant::now();
            chain(LENGTH);
            best = best.min(begin.elapsed());
        }
        Some(f64::from(CYCLES * LENGTH) / best.as_secs_f64() / 1e9)
    })
    .join()
    .ok()
    .flatten()
}

#[cfg(not(target_arch = "x86_64"))]
fn chain(_: u32) {}

/// Multiplies a number `length` times by another.
#[cfg(target_arch = "x86_64")]
fn chain(length: u32) {
    // SAFETY: the instructions change only the named registers and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            "imul {value}, {factor}",
            "imul {value}, {factor}",
            "imul {value}, {factor}",
            "imul {value}, {factor}",
            "imul {value}, {factor}",
            "sub {left:e}, 5",
            "ja 2b",
            value = inout(reg) 3_u64 => _,
            factor = in(reg) 5_u64,
            left = inout(reg) length => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_clock_of_this_processor_is_plausible() {
        let cpu = perfcounters::process::allowed_cpus()[0];
        let ghz = measure(cpu).unwrap();
        assert!((0.4..7.0).contains(&ghz), "{ghz} GHz");
        assert_eq!(measure(100_000), None);
    }
}
