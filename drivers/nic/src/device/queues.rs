//! The queues of a port: which are enabled, and what state they are in.

use crate::config::{ReceiveFault, QUEUES};
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::rx::{Dma, RxQueue};
use crate::device::tx::{TxQueue, WrittenBack};

/// The state of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) enum Queue<T> {
    /// The enable bit is clear.
    #[default]
    Off,
    /// The queue works.
    On(T),
    /// The enable bit is set, but the queue's registers make no sense. The queue does nothing.
    Refused,
}

impl<T> Queue<T> {
    /// Whether the enable bit was clear when the card last looked.
    #[inline(always)]
    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Queue::Off)
    }

    /// A queue that has just been enabled.
    fn enabled(result: Result<T, String>) -> (Self, Option<String>) {
        match result {
            Ok(queue) => (Queue::On(queue), None),
            Err(error) => (Queue::Refused, Some(error)),
        }
    }
}

/// The numbers of the queues that work, as a bit set. Queues that are off cost the data plane
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueSet(u16);

impl QueueSet {
    fn of<T>(queues: &[Queue<T>; QUEUES]) -> Self {
        let on = |(nth, queue): (usize, &Queue<T>)| u16::from(matches!(queue, Queue::On(_))) << nth;
        Self(queues.iter().enumerate().map(on).sum())
    }

    /// The queues' numbers, ascending.
    #[inline(always)]
    pub(crate) fn queues(self) -> impl Iterator<Item = usize> {
        self.queues_from(0)
    }

    /// The queues' numbers, ascending from `first` on, then those below it.
    #[inline(always)]
    pub(crate) fn queues_from(self, first: usize) -> impl Iterator<Item = usize> {
        let mut rest = self.0.rotate_right(first as u32);
        std::iter::from_fn(move || {
            let queue = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (queue < u16::BITS).then_some((queue as usize + first) % QUEUES)
        })
    }
}

/// All queues of a port.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    pub(crate) rx: [Queue<RxQueue>; QUEUES],
    pub(crate) tx: [Queue<TxQueue>; QUEUES],
    pub(crate) rx_on: QueueSet,
    pub(crate) tx_on: QueueSet,
}

impl Queues {
    /// Enables a receive queue, which takes its ring, length and head over from the registers, or
    /// disables it. Returns what is wrong with the registers of a queue that is refused.
    #[cold]
    pub(crate) fn switch_rx(
        &mut self,
        queue: usize,
        on: bool,
        registers: &RegisterFile,
        fault: Option<ReceiveFault>,
    ) -> Option<String> {
        let (state, error) = if on {
            let enabled = RxQueue::new(queue as u32, |address| registers.get(address));
            Queue::enabled(enabled.map(|mut rx| {
                rx.set_fault(fault);
                rx
            }))
        } else {
            (Queue::Off, None)
        };
        self.rx[queue] = state;
        self.rx_on = QueueSet::of(&self.rx);
        error
    }

    /// Enables or disables a transmit queue, as [`Queues::switch_rx`] does.
    #[cold]
    pub(crate) fn switch_tx(
        &mut self,
        queue: usize,
        on: bool,
        late: bool,
        registers: &RegisterFile,
    ) -> Option<String> {
        let (state, error) = if on {
            let enabled = TxQueue::new(queue as u32, |address| registers.get(address));
            Queue::enabled(enabled.map(|mut tx| {
                tx.set_late(late);
                tx
            }))
        } else {
            (Queue::Off, None)
        };
        self.tx[queue] = state;
        self.tx_on = QueueSet::of(&self.tx);
        error
    }

    /// Writes back the descriptors of a transmit queue that wait for more to come.
    pub(crate) fn flush_tx(&mut self, queue: usize, dma: &mut Dma<'_>) -> WrittenBack {
        match self.tx.get_mut(queue) {
            Some(Queue::On(tx)) => tx.flush(dma),
            _ => WrittenBack::default(),
        }
    }

    /// Changes what is false in the descriptors that the receive queues write back.
    pub(crate) fn set_fault(&mut self, fault: Option<ReceiveFault>) {
        for rx in &mut self.rx {
            if let Queue::On(rx) = rx {
                rx.set_fault(fault);
            }
        }
    }

    /// Shows the heads in the registers, with `beyond` added. `written` shows the transmit descriptors that are
    /// written back instead of those whose frames are sent.
    #[inline(always)]
    pub(crate) fn publish_heads(&self, registers: &RegisterFile, beyond: u32, written: bool) {
        for queue in self.rx_on.queues() {
            if let Queue::On(rx) = &self.rx[queue] {
                registers.set(r::RDH(queue as u32), rx.head() + beyond);
            }
        }
        for queue in self.tx_on.queues() {
            if let Queue::On(tx) = &self.tx[queue] {
                let head = match written {
                    true => tx.written_head(),
                    false => tx.head(),
                };
                registers.set(r::TDH(queue as u32), head + beyond);
            }
        }
    }

    /// The descriptors that the driver has handed over and the card has not sent.
    pub(crate) fn tx_pending(&self, registers: &RegisterFile) -> u32 {
        let pending = |(queue, state): (usize, &Queue<TxQueue>)| match state {
            Queue::On(tx) => tx.available(registers.get(r::TDT(queue as u32))),
            _ => 0,
        };
        self.tx.iter().enumerate().map(pending).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lists_the_queues_that_are_on() {
        let mut queues: [Queue<()>; QUEUES] = Default::default();
        assert_eq!(QueueSet::of(&queues).queues().count(), 0);
        queues[0] = Queue::On(());
        queues[3] = Queue::Refused;
        queues[15] = Queue::On(());
        let on: Vec<_> = QueueSet::of(&queues).queues().collect();
        assert_eq!(on, [0, 15]);
        let on: Vec<_> = QueueSet::of(&queues).queues_from(3).collect();
        assert_eq!(on, [15, 0]);
        assert!(queues[1].is_off() && !queues[3].is_off());
    }
}
