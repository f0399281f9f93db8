//! The transmit path of a port: the queues' descriptors, the write-backs and their interrupts.

use std::time::Instant;

use crate::device::card::Device;
use crate::device::dma_port::EVENT;
use crate::device::late_writes::LateWriteBack;
use crate::device::registers as r;
use crate::device::tx::{FrameSink, Way, WrittenBack};
use crate::memory::dma_fault::Purpose;

impl Device {
    /// Sends the frames of `count` descriptors of a queue, which must be available: all together, or
    /// one by one if the queue has a rate limit.
    #[inline(always)]
    pub(crate) fn send(&mut self, queue: usize, sink: &mut impl FrameSink, count: u32) {
        if self.rate_limits.limits(queue) {
            self.send_limited(queue, sink, count);
        } else {
            self.send_now(queue, sink, count);
        }
    }

    #[cold]
    fn send_limited(&mut self, queue: usize, sink: &mut impl FrameSink, count: u32) {
        let mbit = self.config.link.speed as u32;
        for _ in 0..count {
            let now = Instant::now();
            if self.dma.is_spent() || !self.rate_limits.is_due(queue, now) {
                return;
            }
            self.dma.spend(EVENT);
            let before = self.counters.transmitted_bytes;
            self.send_now(queue, sink, 1);
            let bytes = self.counters.transmitted_bytes - before;
            if bytes > 0 {
                self.rate_limits.sent(queue, bytes, mbit, now);
            }
        }
    }

    #[inline(always)]
    fn send_now(&mut self, queue: usize, sink: &mut impl FrameSink, count: u32) {
        let Some(tx) = self.queues.tx.get_mut(queue) else {
            return;
        };
        let bytes = self.batch.sent_bytes();
        let mut way = Way {
            dma: &self.dma,
            settings: &self.settings.sending,
            sink,
            statistics: &mut self.batch,
        };
        let progress = tx.drain(&mut way, count);
        self.counters.transmitted_bytes += self.batch.sent_bytes() - bytes;
        self.note_written_back(queue, progress.written_back);
        if let Some(complaint) = progress.complaint {
            self.dma.spend(EVENT);
            self.note(format!(
                "transmit queue {queue}: a frame was not sent: {complaint}"
            ));
        }
    }

    /// Counts what a queue has written back, and causes its interrupt.
    #[inline(always)]
    fn note_written_back(&mut self, queue: usize, written_back: WrittenBack) {
        self.counters.count_written_back(written_back);
        if written_back.writes > 0 {
            self.interrupts.queue_cause(&self.registers, queue, true);
        }
    }

    /// Writes the groups of transmit descriptors back that are a round late.
    pub(crate) fn settle_write_backs(&mut self) {
        for queue in self.queues.tx.on_from(0) {
            if let Some(tx) = self.queues.tx.get_mut(queue) {
                let written_back = tx.settle(&self.dma);
                self.note_written_back(queue, written_back);
            }
        }
    }

    /// Writes back the transmit descriptors that wait for more to come, if their vector may be
    /// signalled: the end of its throttle ends their wait. Returns the next such end.
    pub(crate) fn write_back_overdue(&mut self) -> Option<Instant> {
        let mut next = None;
        for queue in self.queues.tx.on_from(0) {
            let tx = self.queues.tx.get_mut(queue);
            let Some(tx) = tx.filter(|tx| tx.has_unwritten()) else {
                continue;
            };
            match self.interrupts.throttle_of(&self.registers, queue) {
                None => {}
                Some(Some(end)) if Instant::now() < end => {
                    next = next.into_iter().chain([end]).min();
                }
                Some(_) => {
                    let written_back = tx.flush(&self.dma);
                    self.note_written_back(queue, written_back);
                }
            }
        }
        next
    }

    // ---- The fault `relaxed-ordering`: when late writes arrive ----

    /// Lets the late writes arrive. Then looks which queues write with relaxed ordering.
    #[cold]
    pub(crate) fn order_loosely(&mut self) {
        let (packets, write_backs) = self.dma.late.get_mut().take();
        for late in packets {
            let of = (Purpose::RxPacket, late.queue);
            self.dma.write(of, late.iova, &late.bytes);
        }
        for write_back in write_backs {
            self.write_back_late(write_back);
        }
        let fault = self.config.faults.relaxed_ordering;
        let set = |address, bit| fault && self.registers.get(address) & bit != 0;
        for (n, rx) in self.queues.rx.iter_mut() {
            rx.ring.relaxed = set(r::DCA_RXCTRL(n as u32), r::DCA_RXCTRL_DATA_WRO_EN);
        }
        for (n, tx) in self.queues.tx.iter_mut() {
            tx.ring.relaxed = set(r::DCA_TXCTRL(n as u32), r::DCA_TXCTRL_DESC_WRO_EN);
        }
    }

    /// Writes a descriptor back, and notes if the driver has handed it over again meanwhile.
    fn write_back_late(&mut self, LateWriteBack { queue, iova }: LateWriteBack) {
        let Ok([descriptor, ..]) = self.dma.table.descriptors(iova, 1) else {
            return;
        };
        descriptor.write_status(r::TXD_DD);
        let tail = self.registers.get(r::TDT(queue));
        let tx = self.queues.tx.get(queue as usize);
        if tx.is_some_and(|tx| tx.owns(iova, tail)) {
            self.note(format!(
                "transmit queue {queue}: the driver reused a descriptor before its write-back arrived; DCA_TXCTRL.DESC_WRO_EN lets a later write-back overtake it"
            ));
        }
    }
}
