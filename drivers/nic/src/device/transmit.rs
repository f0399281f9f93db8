//! The transmit path of a port: the queues' descriptors, the write-backs and their interrupts.

use std::time::Instant;

use crate::device::budget::EVENT;
use crate::device::card::Device;
use crate::device::queues::Queue;
use crate::device::rx::Dma;
use crate::device::tx::Wire;

impl Device {
    /// Sends the frames of `count` descriptors of a queue, which must be available.
    pub(crate) fn drain(&mut self, queue: usize, wire: &mut impl Wire, count: u32) {
        if self.rate_limits.limits(queue) {
            return self.drain_limited(queue, wire, count);
        }
        self.drain_at_once(queue, wire, count);
    }

    /// Sends up to `count` descriptors of a queue with a rate limit, one by one.
    #[cold]
    pub(crate) fn drain_limited(&mut self, queue: usize, wire: &mut impl Wire, count: u32) {
        let mbit = self.config.link.speed as u32;
        for _ in 0..count {
            let now = Instant::now();
            if self.budget.is_spent() || !self.rate_limits.is_due(queue, now) {
                return;
            }
            self.budget.spend(EVENT);
            let before = self.counters.transmitted_bytes;
            self.drain_at_once(queue, wire, 1);
            let bytes = self.counters.transmitted_bytes - before;
            if bytes > 0 {
                self.rate_limits.sent(queue, bytes, mbit, now);
            }
        }
    }

    /// The same for a queue without a rate limit.
    #[inline(always)]
    pub(crate) fn drain_at_once(&mut self, queue: usize, wire: &mut impl Wire, count: u32) {
        let Queue::On(tx) = &mut self.queues.tx[queue] else {
            return;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.dma_faults,
            late: &mut self.late,
            budget: &mut self.budget,
        };
        let faults = dma.faults.count();
        let bytes = self.batch.sent_bytes();
        let sending = &self.settings.sending;
        let progress = tx.drain(&mut dma, sending, wire, &mut self.batch, count);
        self.counters.dma_faults += dma.faults.count() - faults;
        self.counters.transmitted_bytes += self.batch.sent_bytes() - bytes;
        self.counters.count_written_back(progress.written_back);
        if progress.written_back.any() {
            self.interrupts.queue_cause(&self.registers, queue, true);
        }
        if let Some(complaint) = progress.complaint {
            self.budget.spend(EVENT);
            self.note(format!(
                "transmit queue {queue}: a frame was not sent: {complaint}"
            ));
        }
    }

    /// Writes the groups of transmit descriptors back that are a round late.
    pub(crate) fn settle_write_backs(&mut self) {
        for queue in self.queues.tx_on.queues() {
            let Queue::On(tx) = &mut self.queues.tx[queue] else {
                continue;
            };
            let mut dma = Dma {
                table: &self.dma,
                faults: &mut self.dma_faults,
                late: &mut self.late,
                budget: &mut self.budget,
            };
            let written_back = tx.settle(&mut dma);
            self.counters.count_written_back(written_back);
            if written_back.any() {
                self.interrupts.queue_cause(&self.registers, queue, true);
            }
        }
    }

    /// Writes back the transmit descriptors that wait for more to come, if their vector may be
    /// signalled: the end of its throttle ends their wait. Returns the next such end.
    pub(crate) fn write_back_overdue(&mut self) -> Option<Instant> {
        let mut next = None;
        for queue in self.queues.tx_on.queues() {
            let Queue::On(tx) = &mut self.queues.tx[queue] else {
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
                        faults: &mut self.dma_faults,
                        late: &mut self.late,
                        budget: &mut self.budget,
                    };
                    let written_back = tx.flush(&mut dma);
                    self.counters.count_written_back(written_back);
                    self.interrupts.queue_cause(&self.registers, queue, true);
                }
            }
        }
        next
    }
}
