//! Counts of an executed stream.

use caches::stream::{AccessKind, Event, Stream};
use iced_x86::FlowControl;

/// What the driver executed in the measured part of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that it sent.
    pub packets: u64,
    /// Instructions. A repeated string instruction is one, however often it repeats.
    pub instructions: u64,
    /// Branches of all kinds: jumps, calls and returns, with and without conditions.
    pub branches: u64,
    /// Conditional branches.
    pub conditional: u64,
    /// Loads. A read-modify-write is one load and one store.
    pub loads: u64,
    /// Prefetch instructions, which are not among the loads.
    pub prefetches: u64,
    /// Stores.
    pub stores: u64,
}

impl Counts {
    /// Counts the measured part of a stream.
    pub fn of(stream: &Stream) -> Self {
        let mut counts = Self {
            packets: stream.packets,
            ..Self::default()
        };
        for event in stream.measured() {
            let Event::Step(step) = event else { continue };
            for access in &step.accesses {
                match access.kind {
                    AccessKind::Load => counts.loads += 1,
                    AccessKind::Store => counts.stores += 1,
                    AccessKind::Prefetch => counts.prefetches += 1,
                }
            }
            let again = step.target == step.address && step.branch.is_none();
            counts.instructions += u64::from(!again);
            counts.branches += u64::from(step.branch.is_some());
            counts.conditional += u64::from(step.branch == Some(FlowControl::ConditionalBranch));
        }
        counts
    }
}
