//! Sending: from the driver's descriptors to the wire, with checks on the way.

use std::time::Instant;

use crate::data_plane::pace::Clock;
use crate::device::card::Device;
use crate::device::queues::Queue;
use crate::device::rx::Dma;
use crate::device::statistics::CRC_LEN;
use crate::device::tx::{Sorted, Wire};
use crate::memory::shared::SmallFrame;
use crate::traffic::frame::{crc32, Head};
use crate::traffic::verify::{Meter, Verifier};

/// The wire that a port sends to: it checks, times, captures and forwards frames.
struct TransmitWire<'a> {
    verifier: Option<&'a mut Verifier>,
    meter: Option<Meter<'a>>,
    clock: Clock,
    captured: Option<&'a mut Vec<Vec<u8>>>,
    outbox: Option<&'a mut Vec<Vec<u8>>>,
    /// Whether `captured` or `outbox` takes the frames.
    keep: bool,
    frames: u64,
}

impl Wire for TransmitWire<'_> {
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
            heads.fold(Sorted::default(), count)
        } else {
            Sorted {
                unicast: frames.len() as u64,
                ..Sorted::default()
            }
        }
    }

    fn send(&mut self, frame: &[u8], own_crc: bool) {
        // Device or driver has added a CRC. The checks want the frame without it.
        let len = if own_crc {
            frame.len().saturating_sub(CRC_LEN as usize)
        } else {
            frame.len()
        };
        let (contents, crc) = frame.split_at(len);
        self.frames += 1;
        if own_crc && crc != crc32(contents).to_le_bytes() {
            // The other end of the wire drops the frame.
            return;
        }
        self.read_clock();
        if let Some(verifier) = &mut self.verifier {
            verifier.check_frame(contents, &mut self.meter);
        }
        if self.keep {
            self.keep(contents);
        }
    }
}

impl TransmitWire<'_> {
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
            let bytes = head.to_bytes();
            if let Some(verifier) = &mut self.verifier {
                verifier.check_frame(&bytes, &mut self.meter);
            }
            if self.keep {
                self.keep(&bytes);
            }
        }
        sorted
    }

    fn keep(&mut self, frame: &[u8]) {
        if let Some(captured) = &mut self.captured {
            captured.push(frame.to_vec());
        }
        if let Some(outbox) = &mut self.outbox {
            outbox.push(frame.to_vec());
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

impl Device {
    /// Sends the frames of `count` available descriptors.
    pub(super) fn drain(
        &mut self,
        queue: usize,
        verifier: Option<&mut Verifier>,
        meter: Option<Meter<'_>>,
        clock: Clock,
        outbox: Option<&mut Vec<Vec<u8>>>,
        count: u32,
    ) {
        let Queue::On(tx) = &mut self.tx[queue] else {
            return;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let captured = self.captured.as_mut();
        let keep = captured.is_some() || outbox.is_some();
        let mut wire = TransmitWire {
            verifier,
            meter,
            clock,
            captured,
            outbox,
            keep,
            frames: 0,
        };
        let bytes = self.batch.sent_bytes();
        let progress = tx.drain(
            &mut dma,
            &self.running.sending,
            &mut wire,
            &mut self.batch,
            count,
        );
        self.counters.dma_faults += dma.faults.count() - faults;
        self.counters.transmitted += wire.frames;
        self.counters.transmitted_bytes += self.batch.sent_bytes() - bytes;
        if progress.written_back {
            self.interrupts.queue_cause(&self.registers, queue, true);
        }
        if let Some(complaint) = progress.complaint {
            self.note(format!(
                "transmit queue {queue}: a frame was not sent: {complaint}"
            ));
        }
    }

    /// Writes back transmit descriptors that WTHRESH holds back, in queues whose interrupt vector may
    /// be signalled now. Returns when the throttle of the next such vector ends.
    pub(super) fn write_back_overdue(&mut self) -> Option<Instant> {
        let mut next = None;
        for queue in self.tx_on.queues() {
            let Queue::On(tx) = &mut self.tx[queue] else {
                continue;
            };
            if !tx.has_unwritten() {
                continue;
            }
            match self.interrupts.throttle_of(&self.registers, queue) {
                None => {}
                Some(Some(end)) if Instant::now() < end => {
                    next = Some(next.map_or(end, |next: Instant| next.min(end)));
                }
                Some(_) => {
                    let mut dma = Dma {
                        table: &self.dma,
                        faults: &mut self.faults,
                    };
                    tx.flush(&mut dma);
                    self.interrupts.queue_cause(&self.registers, queue, true);
                }
            }
        }
        next
    }
}
