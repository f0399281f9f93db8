//! The receive path of a port: a frame passes the filters, gets a queue, and goes to the driver's
//! memory or into the packet buffer.

use crate::device::card::Device;
use crate::device::dma_port::{FRAME, SMALL_FRAME};
use crate::device::filter::Kind;
use crate::device::packet::{Packet, Verdict, TAG_LEN};
use crate::device::packet_buffer::WaitingFrame;
use crate::device::registers as r;
use crate::device::rss::Hash;
use crate::device::rx::SmallFrameSource;
use crate::device::statistics::CRC_LEN;
use crate::memory::shared::Descriptor;
use crate::traffic::frame::MIN_FRAME;

impl Device {
    /// Number of descriptors of a queue that the card may receive into; 0 if the queue is not enabled.
    #[inline(always)]
    pub(crate) fn rx_available(&self, queue: usize) -> u32 {
        let tail = self.registers.get(r::RDT(queue as u32));
        let rx = self.queues.rx.get(queue);
        rx.map_or(0, |rx| rx.ring.available(tail))
    }

    /// Whether the receive queues in use have three quarters of their descriptors free: the driver has
    /// taken the frames out.
    pub(crate) fn has_room(&self) -> bool {
        let mut queues = self.queues.rx.iter();
        queues.all(|(queue, rx)| 4 * self.rx_available(queue) >= 3 * rx.ring.len())
    }

    /// Accepts generated frames of 60 bytes, for `count` descriptors of a queue, which must be
    /// available. Returns how many frames there was room for.
    pub(crate) fn accept_small(
        &mut self,
        queue: usize,
        frames: &mut impl SmallFrameSource,
        count: u32,
    ) -> u64 {
        let Some(rx) = self.queues.rx.get_mut(queue) else {
            return 0;
        };
        let done = u64::from(rx.write_frames(&self.dma, frames, count));
        self.dma.spend(done as usize * SMALL_FRAME);
        if done > 0 {
            self.count_generated(done, MIN_FRAME);
            self.counters.delivered_generated += done;
            self.count_delivered(queue, done, MIN_FRAME);
        }
        done
    }

    /// Whether generated frames of 60 bytes for a queue may be written together. Only the general path
    /// logs every transfer.
    #[inline(always)]
    pub(crate) fn takes_small(&self, queue: usize) -> bool {
        let rx = self.queues.rx.get(queue);
        rx.is_some_and(|rx| rx.takes_small())
            && self.settings.strip_crc
            && !self.dma.table.log.is_on()
    }

    /// Accepts up to `count` generated frames of 60 bytes into queue 0: as many as there are
    /// descriptors for. If the driver has set SRRCTL.DROP_EN, drops the others. Returns the numbers
    /// of received and of dropped frames, which are 0 if the frames need the general path.
    pub(crate) fn accept_small_or_drop(
        &mut self,
        frames: &mut impl SmallFrameSource,
        count: u64,
    ) -> (u64, u64) {
        let alike = self.takes_small(0)
            && self.settings.accepts_generated
            && self.settings.rss.is_none()
            && self.packet_buffer.is_empty();
        if !alike {
            return (0, 0);
        }
        let received = match count.min(u64::from(self.rx_available(0))) as u32 {
            0 => 0,
            count => self.accept_small(0, frames, count),
        };
        let drop_enabled = self.registers.get(r::SRRCTL(0)) & r::SRRCTL_DROP_EN != 0;
        if received == count || !drop_enabled {
            return (received, 0);
        }
        let dropped = count - received;
        self.count_generated(dropped, MIN_FRAME);
        self.batch.dropped(0, dropped);
        self.counters.dropped_no_descriptor += dropped;
        (received, dropped)
    }

    /// Accepts a generated frame into a given queue. Returns false if the queue has too few
    /// descriptors.
    pub(crate) fn accept_generated(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        let accepted = self.write_frame(queue, frame, hash, &Verdict::GENERATED);
        if accepted {
            self.count_generated(1, frame.len());
            self.counters.delivered_generated += 1;
        }
        accepted
    }

    /// Counts generated frames of one length that pass the filters.
    fn count_generated(&mut self, frames: u64, len: usize) {
        let wire_len = len as u64 + CRC_LEN;
        self.batch.seen(frames, frames * wire_len);
        self.batch.received(frames, wire_len, Kind::Unicast);
        self.counters.generated += frames;
    }

    /// Counts frames of one length that are in the driver's memory, and causes the queue's interrupt.
    fn count_delivered(&mut self, queue: usize, frames: u64, len: usize) {
        let bytes = frames * (len as u64 + CRC_LEN);
        self.batch.delivered(queue, frames, bytes);
        self.counters.delivered += frames;
        self.counters.queues[queue].delivered += frames;
        self.counters.delivered_bytes += bytes;
        self.interrupts.queue_cause(&self.registers, queue, false);
    }

    /// Keeps the next `count` write-backs of receive queue 0 out of the driver's sight.
    pub(crate) fn withhold(&mut self, count: usize) {
        if let Some(rx) = self.queues.rx.get_mut(0) {
            rx.withhold(count);
        }
    }

    /// The descriptors of queue 0 that are out of the driver's sight, and what is to be written to them.
    pub(crate) fn withheld(&self) -> impl Iterator<Item = (&Descriptor, [u64; 2])> {
        let rx = self.queues.rx.get(0).into_iter();
        rx.flat_map(|rx| rx.withheld(&self.dma.table))
    }

    /// Whether a frame that arrives now goes to the driver's memory, or needs no room because the card
    /// refuses it for its length.
    pub(crate) fn has_descriptors_for(&self, frame: &[u8]) -> bool {
        let wire_len = frame.len() + CRC_LEN as usize;
        if wire_len > self.settings.max_frame + TAG_LEN {
            return true;
        }
        let packet = Packet::of(frame, self.settings.filter.vlan_type());
        let rss = self.settings.rss.as_ref();
        let queue = rss.map_or(0, |rss| rss.queue_of(frame, &packet).0);
        let rx = self.queues.rx.get(queue);
        let available = self.rx_available(queue) as usize;
        self.packet_buffer.is_empty()
            && rx.is_some_and(|rx| available >= rx.descriptors_for(wire_len))
    }

    /// Accepts a frame from the wire. Returns whether the driver has it or will get it.
    pub(crate) fn accept(&mut self, frame: &[u8]) -> bool {
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.dma.spend(FRAME / 2);
        self.batch.seen(1, wire_len);
        let Some(destination) = frame
            .first_chunk::<6>()
            .filter(|_| frame.len() >= MIN_FRAME)
        else {
            self.batch.undersize();
            self.counters.dropped_filtered += 1;
            return false;
        };
        let packet = Packet::of(frame, self.settings.filter.vlan_type());
        // A VLAN tag does not count against the limit.
        let tag_len = packet.vlan.map_or(0, |_| TAG_LEN);
        if wire_len > (self.settings.max_frame + tag_len) as u64 {
            self.batch.oversize();
            self.counters.dropped_filtered += 1;
            return false;
        }
        let kind = self.settings.filter.accepts(*destination);
        let kind = kind.filter(|_| self.settings.filter.accepts_tag(packet.vlan));
        let Some(kind) = kind else {
            self.counters.dropped_filtered += 1;
            return false;
        };
        self.batch.received(1, wire_len, kind);
        let (queue, hash) = match &self.settings.rss {
            Some(rss) => rss.queue_of(frame, &packet),
            None => (0, Hash::default()),
        };
        let verdict = Verdict::of(frame, &packet);
        if self.packet_buffer.is_empty() && self.write_frame(queue, frame, hash, &verdict) {
            return true;
        }
        self.keep_or_drop(queue, frame, hash, verdict)
    }

    /// Keeps a frame without descriptors in the packet buffer, or drops it.
    fn keep_or_drop(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: Verdict) -> bool {
        let enabled = self.queues.rx.get(queue).is_some();
        let drop_enabled = self.registers.get(r::SRRCTL(queue as u32)) & r::SRRCTL_DROP_EN != 0;
        if !enabled || drop_enabled && self.packet_buffer.is_empty() {
            self.batch.dropped(queue, 1);
            self.counters.dropped_no_descriptor += 1;
            return false;
        }
        let limit = self.settings.buffer_bytes;
        if !self.packet_buffer.has_room(frame.len(), limit) {
            self.batch.missed(1);
            self.counters.dropped_no_buffer += 1;
            return false;
        }
        self.packet_buffer.push(WaitingFrame {
            frame: frame.to_vec(),
            queue,
            hash,
            verdict,
        });
        true
    }

    /// Accepts the frames in the packet buffer, in order, while there are descriptors and work is left.
    pub(crate) fn accept_waiting(&mut self) {
        while !self.dma.is_spent() {
            let Some(waiting) = self.packet_buffer.pop() else {
                return;
            };
            let (queue, hash) = (waiting.queue, waiting.hash);
            if !self.write_frame(queue, &waiting.frame, hash, &waiting.verdict) {
                return self.packet_buffer.put_back(waiting);
            }
        }
    }

    /// Writes a frame to a queue's buffers. Returns false if the queue has too few descriptors.
    fn write_frame(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: &Verdict) -> bool {
        let mut available = self.rx_available(queue);
        let Some(rx) = self.queues.rx.get_mut(queue) else {
            return false;
        };
        if self.config.faults.ignore_tail {
            available = rx.ring.len();
        }
        let written = if self.settings.strip_crc {
            rx.write_frame(&self.dma, frame, hash, verdict, available)
        } else {
            let with_crc = [frame, &crc32fast::hash(frame).to_le_bytes()].concat();
            rx.write_frame(&self.dma, &with_crc, hash, verdict, available)
        };
        self.dma.spend(FRAME + frame.len());
        if written {
            self.count_delivered(queue, 1, frame.len());
        }
        written
    }
}
