//! The recordings of a driver that the model needs: full batches, few frames, and no frames.

use model::stream::Stream;
use tracer::{Extent, Session, TraceError};

/// Packets that a driver forwards natively before anything is recorded.
const NATIVE: u64 = 4_096;
/// Packets of the recorded part that warms the caches, and of the part that counts. With 512
/// descriptors in a ring, the driver has gone round its rings and its pool in each of them.
const PACKETS: u64 = 1_024;
/// Packets of a part with few frames, and those before it.
const FEW: u64 = 128;
/// Rounds of the part without frames.
const IDLE_ROUNDS: u64 = 64;
/// Ports of the card.
const PORTS: u64 = 2;

/// The recordings of one driver at one batch size. All belong to one process.
#[derive(Debug, Clone)]
pub struct Traces {
    /// The most frames of a receive call.
    pub batch: u32,
    /// Full batches.
    pub full: Stream,
    /// Turns that find less than a batch; `None` for a driver whose rings the card cannot keep nearly
    /// empty.
    pub less: Option<LessThanABatch>,
}

/// Recordings of turns that find less than a batch.
#[derive(Debug, Clone)]
pub struct LessThanABatch {
    /// Turns that find a few frames, by their number.
    pub few: Vec<(u32, Stream)>,
    /// Turns that find no frames.
    pub idle: Stream,
    /// How many turns these are, on all ports together.
    pub idle_turns: u64,
}

impl Traces {
    /// Records a driver. `groups` says that it returns descriptors to the card in groups. Fewer frames
    /// than a group then never arrive, so such a driver is recorded with full batches only.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn record(session: &mut Session<'_>, batch: u32, groups: bool) -> Result<Self, TraceError> {
        session.run(None, NATIVE)?;
        let full = session.record(None, Extent::Packets(PACKETS), Extent::Packets(PACKETS))?;
        let less = match groups {
            true => None,
            false => Some(LessThanABatch::record(session, batch)?),
        };
        Ok(Self {
            batch,
            full: full.stream,
            less,
        })
    }

    /// All recordings.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        let less = self.less.iter().flat_map(|less| {
            let few = less.few.iter().map(|(_, stream)| stream);
            few.chain(std::iter::once(&less.idle))
        });
        std::iter::once(&self.full).chain(less)
    }
}

impl LessThanABatch {
    fn record(session: &mut Session<'_>, batch: u32) -> Result<Self, TraceError> {
        let mut few = Vec::new();
        for frames in few_frames(batch) {
            session.run(Some(frames), FEW)?;
            let part = session.record(Some(frames), Extent::Packets(0), Extent::Packets(FEW))?;
            few.push((frames, part.stream));
        }
        session.run(Some(0), 0)?;
        let idle = session.record(Some(0), Extent::Polls(1), Extent::Polls(IDLE_ROUNDS))?;
        Ok(Self {
            few,
            idle: idle.stream,
            idle_turns: IDLE_ROUNDS * PORTS,
        })
    }
}

/// The numbers of frames to record besides full batches: 1, and 8 for larger batches.
fn few_frames(batch: u32) -> Vec<u32> {
    [8, 1].into_iter().filter(|few| *few < batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_with_few_frames_are_smaller_than_a_batch() {
        assert_eq!(few_frames(32), [8, 1]);
        assert_eq!(few_frames(8), [1]);
        assert_eq!(few_frames(1), [0_u32; 0]);
    }
}
