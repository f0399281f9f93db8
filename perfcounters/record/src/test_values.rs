//! Values that several tests of this crate use.

use crate::conditions::{Conditions, LinePlacement, Waiting};
use crate::metric::Metric;
use crate::names::{BackendName, Implementation};
use crate::sample::{Sample, MULTIPLEXED};

/// A sample in which no field has its default, apart from that which only `trace` fills.
pub fn sample() -> Sample {
    Sample {
        implementation: Implementation::RustUnsafe,
        variant: "overflow-checks".into(),
        toolchain: "rustc 1.95.0".into(),
        conditions: Conditions {
            batch: 32,
            ring_size: 1024,
            frame_size: 1514,
            offered_mpps: Some(12.5),
            queues: 2,
            waiting: Waiting::Interrupts,
            placement: Some(LinePlacement::Memory),
        },
        backend: BackendName::Valgrind,
        metric: Metric::BranchMisses,
        value: 0.125,
        unit: Metric::BranchMisses.unit().into(),
        packets: 200_000,
        process: 3,
        repeat: 2,
        note: MULTIPLEXED.into(),
        cpu: String::new(),
    }
}
