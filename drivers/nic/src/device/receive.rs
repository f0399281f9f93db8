//! The receive path of a port: a frame passes the filters, gets a queue, and goes to the driver's
//! memory or into the packet buffer.

use crate::device::budget::{FRAME, SMALL_FRAME};
use crate::device::card::Device;
use crate::device::filter::Kind;
use crate::device::packet::{Packet, Verdict, TAG_LEN};
use crate::device::packet_buffer::WaitingFrame;
use crate::device::queues::Queue;
use crate::device::registers as r;
use crate::device::rss::Hash;
use crate::device::rx::{Delivery, Dma, SmallFrameSource};
use crate::device::statistics::CRC_LEN;
use crate::memory::shared::Descriptor;
use crate::traffic::frame::{crc32, MIN_FRAME};

impl Device {
    /// Whether the receive queues in use have three quarters of their descriptors free: the driver has
    /// taken the frames out.
    pub(crate) fn has_room(&self) -> bool {
        self.queues.rx_on.queues_from(0).all(|queue| {
            let Queue::On(rx) = &self.queues.rx[queue] else {
                return true;
            };
            let tail = self.registers.get(r::RDT(queue as u32));
            4 * rx.available(tail) >= 3 * rx.len()
        })
    }

    /// Receives generated frames of 60 bytes into `count` descriptors of a queue, which must be
    /// available. Returns how many frames there was room for.
    pub(crate) fn fill_small(
        &mut self,
        queue: usize,
        frames: &mut impl SmallFrameSource,
        count: u32,
    ) -> u64 {
        let Queue::On(rx) = &mut self.queues.rx[queue] else {
            return 0;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.dma_faults,
            late: &mut self.late,
            budget: &mut self.budget,
        };
        let faults = dma.faults.count();
        let done = u64::from(rx.fill_small(&mut dma, frames, count));
        dma.budget.spend(done as usize * SMALL_FRAME);
        dma.spend_searches();
        self.counters.dma_faults += dma.faults.count() - faults;
        if done == 0 {
            return 0;
        }
        let wire_len = MIN_FRAME as u64 + CRC_LEN;
        self.batch.seen(done, done * wire_len);
        self.batch.received(done, wire_len, Kind::Unicast);
        self.batch.delivered(queue, done, done * wire_len);
        self.counters.generated += done;
        self.counters.delivered += done;
        self.counters.queues[queue].delivered += done;
        self.counters.delivered_bytes += done * wire_len;
        self.counters.delivered_generated += done;
        self.interrupts.queue_cause(&self.registers, queue, false);
        done
    }

    /// Receives up to `count` generated frames of 60 bytes into queue 0: as many as there are
    /// descriptors for. If the driver has set SRRCTL.DROP_EN, drops the others. Returns the numbers
    /// of received and of dropped frames, which are 0 if the frames need the general path.
    pub(crate) fn receive_small(
        &mut self,
        frames: &mut impl SmallFrameSource,
        count: u64,
    ) -> (u64, u64) {
        let Queue::On(rx) = &self.queues.rx[0] else {
            return (0, 0);
        };
        let settings = &self.settings;
        let alike = rx.takes_small()
            && !self.dma.log.is_on()
            && settings.strip_crc
            && settings.accepts_generated
            && settings.rss.is_none()
            && self.packet_buffer.is_empty();
        if !alike {
            return (0, 0);
        }
        let available = rx.available(self.registers.get(r::RDT(0)));
        let received = match count.min(u64::from(available)) as u32 {
            0 => 0,
            count => self.fill_small(0, frames, count),
        };
        let drop_enabled = self.registers.get(r::SRRCTL(0)) & r::SRRCTL_DROP_EN != 0;
        if received == count || !drop_enabled {
            return (received, 0);
        }
        let dropped = count - received;
        let wire_len = MIN_FRAME as u64 + CRC_LEN;
        self.batch.seen(dropped, dropped * wire_len);
        self.batch.received(dropped, wire_len, Kind::Unicast);
        self.batch.dropped(0, dropped);
        self.counters.generated += dropped;
        self.counters.dropped_no_descriptor += dropped;
        (received, dropped)
    }

    /// Keeps the next `count` write-backs of receive queue 0 out of the driver's sight.
    pub(crate) fn withhold(&mut self, count: usize) {
        if let Queue::On(rx) = &mut self.queues.rx[0] {
            rx.withhold(count);
        }
    }

    /// The descriptors of queue 0 that are out of the driver's sight, and what is to be written to them.
    pub(crate) fn withheld(&self) -> impl Iterator<Item = (&Descriptor, [u64; 2])> {
        let rx = match &self.queues.rx[0] {
            Queue::On(rx) => Some(rx),
            _ => None,
        };
        rx.into_iter().flat_map(|rx| rx.withheld(&self.dma))
    }

    /// Receives a generated frame into a given queue. Returns false if the queue has too few
    /// descriptors.
    pub(crate) fn offer(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        if !self.place(queue, frame, hash, &Verdict::GENERATED) {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        self.batch.received(1, wire_len, Kind::Unicast);
        true
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
        let Queue::On(rx) = &self.queues.rx[queue] else {
            return false;
        };
        let available = rx.available(self.registers.get(r::RDT(queue as u32)));
        self.packet_buffer.is_empty() && available as usize >= rx.descriptors_for(wire_len)
    }

    /// Receives a frame from the wire. Returns whether the driver has it or will get it.
    pub(crate) fn arrive(&mut self, frame: &[u8]) -> bool {
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.budget.spend(FRAME / 2);
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
        if self.packet_buffer.is_empty() && self.place(queue, frame, hash, &verdict) {
            return true;
        }
        self.keep_or_drop(queue, frame, hash, verdict)
    }

    /// Keeps a frame without descriptors in the packet buffer, or drops it.
    fn keep_or_drop(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: Verdict) -> bool {
        let enabled = matches!(self.queues.rx[queue], Queue::On(_));
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

    /// Delivers the frames in the packet buffer, in order, while there are descriptors and work is
    /// left.
    pub(crate) fn deliver_waiting(&mut self) {
        while !self.budget.is_spent() {
            let Some(waiting) = self.packet_buffer.pop() else {
                return;
            };
            let WaitingFrame {
                queue,
                hash,
                ref frame,
                ref verdict,
            } = waiting;
            if !self.place(queue, frame, hash, verdict) {
                self.packet_buffer.put_back(waiting);
                return;
            }
        }
    }

    /// Writes a frame to a queue's buffers. Returns false if the queue has too few descriptors.
    fn place(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: &Verdict) -> bool {
        let ignore_tail = self.config.faults.ignore_tail;
        let Queue::On(rx) = &mut self.queues.rx[queue] else {
            return false;
        };
        let available = if ignore_tail {
            rx.len()
        } else {
            rx.available(self.registers.get(r::RDT(queue as u32)))
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.dma_faults,
            late: &mut self.late,
            budget: &mut self.budget,
        };
        let faults = dma.faults.count();
        let delivery = if self.settings.strip_crc {
            rx.deliver(&mut dma, frame, hash, verdict, available)
        } else {
            let with_crc = [frame, &crc32(frame).to_le_bytes()].concat();
            rx.deliver(&mut dma, &with_crc, hash, verdict, available)
        };
        dma.budget.spend(FRAME + frame.len());
        dma.spend_searches();
        self.counters.dma_faults += dma.faults.count() - faults;
        if delivery != Delivery::Done {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.delivered(queue, 1, wire_len);
        self.counters.delivered += 1;
        self.counters.queues[queue].delivered += 1;
        self.counters.delivered_bytes += wire_len;
        self.interrupts.queue_cause(&self.registers, queue, false);
        true
    }
}
