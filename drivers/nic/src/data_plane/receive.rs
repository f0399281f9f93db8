//! Receiving: from the wire through filter, packet buffer and queue to the driver's memory.

use crate::device::card::{Device, Held};
use crate::device::filter::Kind;
use crate::device::packet::{Packet, Verdict, TAG_LEN};
use crate::device::queues::Queue;
use crate::device::registers as r;
use crate::device::rss::Hash;
use crate::device::rx::{Delivery, Dma};
use crate::device::statistics::CRC_LEN;
use crate::traffic::frame::{crc32, MIN_FRAME};
use crate::traffic::generator::Generator;

impl Device {
    /// Stores generated frames of 60 bytes in `count` available descriptors. Returns the number of
    /// frames stored.
    pub(super) fn fill_small(
        &mut self,
        queue: usize,
        generator: &mut Generator,
        count: u32,
    ) -> u64 {
        let Queue::On(rx) = &mut self.rx[queue] else {
            return 0;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let done = u64::from(rx.fill_small(&mut dma, generator, count));
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
        self.counters.delivered_bytes += done * wire_len;
        self.counters.delivered_generated += done;
        self.interrupts.queue_cause(&self.registers, queue, false);
        done
    }

    /// Receives `count` arriving frames into queue 0 in one go, if all are small and alike. Stores as
    /// many as there are descriptors. Drops the rest if the driver has set SRRCTL.DROP_EN. Returns
    /// the numbers of stored and of dropped frames.
    pub(super) fn receive_small(&mut self, generator: &mut Generator, count: u64) -> (u64, u64) {
        let Queue::On(rx) = &self.rx[0] else {
            return (0, 0);
        };
        let running = &self.running;
        let alike = generator.small_only().is_some()
            && rx.takes_small()
            && running.strip_crc
            && running.accepts_generated
            && running.rss.is_none()
            && self.held.is_empty();
        if !alike {
            return (0, 0);
        }
        let available = rx.available(self.registers.get(r::RDT(0)));
        let received = match count.min(u64::from(available)) as u32 {
            0 => 0,
            count => self.fill_small(0, generator, count),
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

    /// Stores a generated frame in a queue. Returns false if there are too few descriptors.
    pub(super) fn offer(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        if !self.place(queue, frame, hash, &Verdict::GENERATED) {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        self.batch.received(1, wire_len, Kind::Unicast);
        true
    }

    /// Handles a frame that arrives from the wire. Returns whether the driver gets the frame, now or
    /// later.
    pub(super) fn arrive(&mut self, frame: &[u8]) -> bool {
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        let Some(destination) = frame
            .first_chunk::<6>()
            .filter(|_| frame.len() >= MIN_FRAME)
        else {
            self.batch.undersize();
            self.counters.dropped_filtered += 1;
            return false;
        };
        let packet = Packet::of(frame, self.running.filter.vlan_type());
        // A VLAN tag does not count.
        let tag_len = packet.vlan.map_or(0, |_| TAG_LEN);
        if wire_len > (self.running.max_frame + tag_len) as u64 {
            self.batch.oversize();
            self.counters.dropped_filtered += 1;
            return false;
        }
        let kind = self.running.filter.accepts(*destination);
        let kind = kind.filter(|_| self.running.filter.accepts_tag(packet.vlan));
        let Some(kind) = kind else {
            self.counters.dropped_filtered += 1;
            return false;
        };
        self.batch.received(1, wire_len, kind);
        let (queue, hash) = match &self.running.rss {
            Some(rss) => rss.queue_of(frame, &packet),
            None => (0, Hash::default()),
        };
        let verdict = Verdict::of(frame, &packet);
        if self.held.is_empty() && self.place(queue, frame, hash, &verdict) {
            return true;
        }
        self.keep_or_drop(queue, frame, hash, verdict)
    }

    /// Keeps a frame without descriptors in the packet buffer, or drops it. Returns whether it kept
    /// the frame.
    fn keep_or_drop(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: Verdict) -> bool {
        let enabled = matches!(self.rx[queue], Queue::On(_));
        let drop_enabled = self.registers.get(r::SRRCTL(queue as u32)) & r::SRRCTL_DROP_EN != 0;
        if !enabled || drop_enabled && self.held.is_empty() {
            self.batch.dropped(queue, 1);
            self.counters.dropped_no_descriptor += 1;
            return false;
        }
        if self.held_bytes + frame.len() > self.running.buffer_bytes {
            self.batch.missed(1);
            self.counters.dropped_no_buffer += 1;
            return false;
        }
        self.held_bytes += frame.len();
        self.held.push_back(Held {
            frame: frame.to_vec(),
            queue,
            hash,
            verdict,
        });
        true
    }

    /// Delivers frames from the packet buffer, in order, as far as there are descriptors now.
    pub(super) fn deliver_held(&mut self) {
        while let Some(held) = self.held.pop_front() {
            if self.place(held.queue, &held.frame, held.hash, &held.verdict) {
                self.held_bytes -= held.frame.len();
            } else {
                self.held.push_front(held);
                return;
            }
        }
    }

    /// Stores a frame in a queue's buffers. Returns false if there are too few descriptors.
    fn place(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: &Verdict) -> bool {
        let ignore_tail = self.device_faults().ignore_tail;
        let Queue::On(rx) = &mut self.rx[queue] else {
            return false;
        };
        let available = if ignore_tail {
            rx.len()
        } else {
            rx.available(self.registers.get(r::RDT(queue as u32)))
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let delivery = if self.running.strip_crc {
            rx.deliver(&mut dma, frame, hash, verdict, available)
        } else {
            let with_crc = [frame, &crc32(frame).to_le_bytes()].concat();
            rx.deliver(&mut dma, &with_crc, hash, verdict, available)
        };
        self.counters.dma_faults += dma.faults.count() - faults;
        if delivery != Delivery::Done {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.delivered(queue, 1, wire_len);
        self.counters.delivered += 1;
        self.counters.delivered_bytes += wire_len;
        self.interrupts.queue_cause(&self.registers, queue, false);
        true
    }
}
