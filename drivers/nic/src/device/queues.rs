//! The queues of a port and their states.

use crate::config::QUEUES;

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
}

/// The numbers of the queues that work, as a bit set. Queues that are off cost the data plane
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueSet(u16);

impl QueueSet {
    pub(crate) fn of<T>(queues: &[Queue<T>; QUEUES]) -> Self {
        let on = |(nth, queue): (usize, &Queue<T>)| u16::from(matches!(queue, Queue::On(_))) << nth;
        Self(queues.iter().enumerate().map(on).sum())
    }

    /// The queues' numbers, ascending.
    #[inline(always)]
    pub(crate) fn queues(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let queue = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (queue < u16::BITS).then_some(queue as usize)
        })
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
        assert!(queues[1].is_off() && !queues[3].is_off());
    }
}
