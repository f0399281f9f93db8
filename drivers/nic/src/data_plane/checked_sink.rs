//! Takes the frames that a port sends: checks, times, captures and forwards them.

use crate::data_plane::pace::Clock;
use crate::device::statistics::CRC_LEN;
use crate::device::tx::{FrameSink, Sorted};
use crate::memory::shared::SmallFrame;
use crate::traffic::frame::Head;
use crate::traffic::verify::{Meter, Verifier};

/// The sink of one port's frames.
pub(super) struct CheckedSink<'a> {
    pub(super) verifier: Option<&'a mut Verifier>,
    pub(super) meter: Option<Meter<'a>>,
    pub(super) clock: Clock,
    pub(super) captured: Option<&'a mut Vec<Vec<u8>>>,
    pub(super) outbox: Option<&'a mut Vec<Vec<u8>>>,
    /// Whether `captured` or `outbox` takes the frames.
    pub(super) keep: bool,
    pub(super) frames: u64,
}

impl FrameSink for CheckedSink<'_> {
    #[inline(always)]
    fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
        self.frames += frames.len() as u64;
        self.read_clock();
        if self.keep {
            return self.send_small_one_by_one(frames);
        }
        let any_group = match &mut self.verifier {
            Some(verifier) => verifier.check_small(frames, &mut self.meter) > 0,
            None => frames.iter().flatten().any(SmallFrame::is_to_group),
        };
        if any_group {
            let heads = frames.iter().flatten().map(SmallFrame::read);
            return heads.fold(Sorted::default(), count);
        }
        Sorted {
            unicast: frames.len() as u64,
            ..Sorted::default()
        }
    }

    fn send(&mut self, frame: &[u8], own_crc: bool) {
        // Device or driver has added a CRC. The checks want the frame without it.
        let crc_len = if own_crc { CRC_LEN as usize } else { 0 };
        let (contents, crc) = frame.split_at(frame.len().saturating_sub(crc_len));
        self.frames += 1;
        if own_crc && crc != crc32fast::hash(contents).to_le_bytes() {
            // The other end of the wire drops the frame.
            return;
        }
        self.read_clock();
        self.check_and_keep(contents);
    }
}

impl CheckedSink<'_> {
    /// Takes the time at which the device fetches frames.
    #[inline(always)]
    fn read_clock(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.now = self.clock.now();
        }
    }

    /// Sends small frames one by one, because they are captured or go over a cable.
    fn send_small_one_by_one(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
        let mut sorted = Sorted::default();
        for frame in frames.iter().flatten() {
            let head = frame.read();
            sorted = count(sorted, head);
            self.check_and_keep(&head.to_bytes());
        }
        sorted
    }

    fn check_and_keep(&mut self, frame: &[u8]) {
        if let Some(verifier) = &mut self.verifier {
            verifier.check_frame(frame, &mut self.meter);
        }
        for kept in [&mut self.captured, &mut self.outbox].into_iter().flatten() {
            kept.push(frame.to_vec());
        }
    }
}

/// Counts one more frame by the kind of its destination.
fn count(mut sorted: Sorted, head: Head) -> Sorted {
    let kind = match (head.is_to_group(), head.is_to_all()) {
        (false, _) => &mut sorted.unicast,
        (true, false) => &mut sorted.multicast,
        (true, true) => &mut sorted.broadcast,
    };
    *kind += 1;
    sorted
}
