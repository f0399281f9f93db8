//! The queues of a port: which are enabled, and what state they are in.

use crate::config::QUEUES;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::rx::RxQueue;
use crate::device::tx::TxQueue;

/// The state of a queue.
#[derive(Clone, Debug, Default)]
enum Queue<T> {
    /// The enable bit is clear.
    #[default]
    Off,
    On(T),
    /// The enable bit is set, but the queue's registers make no sense. The queue does nothing.
    Refused,
}

/// The queues of one direction.
#[derive(Debug)]
pub(crate) struct Queues<T> {
    queues: [Queue<T>; QUEUES],
    /// The numbers of the queues that work, as a bit set. Queues that are off cost the data plane
    /// nothing.
    on: u16,
}

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self {
            queues: std::array::from_fn(|_| Queue::Off),
            on: 0,
        }
    }
}

impl<T> Queues<T> {
    /// A queue that works.
    #[inline(always)]
    pub(crate) fn get(&self, queue: usize) -> Option<&T> {
        match &self.queues[queue] {
            Queue::On(it) => Some(it),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, queue: usize) -> Option<&mut T> {
        match &mut self.queues[queue] {
            Queue::On(it) => Some(it),
            _ => None,
        }
    }

    /// Whether the enable bit was clear when the card last looked.
    #[inline(always)]
    pub(crate) fn is_off(&self, queue: usize) -> bool {
        matches!(self.queues[queue], Queue::Off)
    }

    /// The numbers of the queues that work, ascending from `first` on, then those below it.
    #[inline(always)]
    pub(crate) fn on_from(&self, first: usize) -> impl Iterator<Item = usize> {
        let mut rest = self.on.rotate_right(first as u32);
        std::iter::from_fn(move || {
            let queue = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (queue < u16::BITS).then_some((queue as usize + first) % QUEUES)
        })
    }

    /// The queues that work, with their numbers.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.on_from(0).filter_map(|n| Some((n, self.get(n)?)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let all = self.queues.iter_mut().enumerate();
        all.filter_map(|(n, queue)| match queue {
            Queue::On(it) => Some((n, it)),
            _ => None,
        })
    }

    /// Enables a queue, or disables it (`None`). Returns what is wrong with the registers of a queue that
    /// is refused.
    pub(crate) fn switch(
        &mut self,
        queue: usize,
        enabled: Option<Result<T, String>>,
    ) -> Option<String> {
        self.on &= !(1 << queue);
        let (state, error) = match enabled {
            None => (Queue::Off, None),
            Some(Err(error)) => (Queue::Refused, Some(error)),
            Some(Ok(it)) => {
                self.on |= 1 << queue;
                (Queue::On(it), None)
            }
        };
        self.queues[queue] = state;
        error
    }
}

/// All queues of a port.
#[derive(Debug, Default)]
pub(crate) struct PortQueues {
    pub(crate) rx: Queues<RxQueue>,
    pub(crate) tx: Queues<TxQueue>,
}

impl PortQueues {
    /// Shows the heads in the registers, with `beyond` added. `written` shows the transmit descriptors that are
    /// written back instead of those whose frames are sent.
    #[inline(always)]
    pub(crate) fn publish_heads(&self, registers: &RegisterFile, beyond: u32, written: bool) {
        for (queue, rx) in self.rx.iter() {
            registers.set(r::RDH(queue as u32), rx.ring.head() + beyond);
        }
        for (queue, tx) in self.tx.iter() {
            let head = if written {
                tx.written_head()
            } else {
                tx.ring.head()
            };
            registers.set(r::TDH(queue as u32), head + beyond);
        }
    }

    /// The descriptors that the driver has handed over and the card has not sent.
    pub(crate) fn tx_pending(&self, registers: &RegisterFile) -> u32 {
        let tail = |queue| registers.get(r::TDT(queue as u32));
        let queues = self.tx.iter();
        queues.map(|(n, tx)| tx.ring.available(tail(n))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queues_that_are_on_are_listed() {
        let mut queues = Queues::default();
        assert_eq!(queues.on_from(0).count(), 0);
        queues.switch(0, Some(Ok(())));
        queues.switch(3, Some(Err(String::new())));
        queues.switch(15, Some(Ok(())));
        assert_eq!(queues.on_from(0).collect::<Vec<_>>(), [0, 15]);
        assert_eq!(queues.on_from(3).collect::<Vec<_>>(), [15, 0]);
        assert!(queues.is_off(1) && !queues.is_off(3) && queues.get(3).is_none());
        queues.switch(15, None);
        assert_eq!(queues.on_from(0).collect::<Vec<_>>(), [0]);
    }
}
