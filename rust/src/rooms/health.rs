//! Checks that driver and device agree on the next RX descriptor, what a queue lost, and single registers.
#![forbid(unsafe_code)]

use crate::driver::device::{Device, OpenDevice};
use crate::driver::register_access::Registers;
use crate::driver::registers::{self as regs, RXD_DD};
use crate::driver::rx::RxQueue;
use crate::error::{Error, Result};

/// A check looks this often before it reports an error.
const CHECK_LOOKS: u32 = 100;

/// The bytes of BAR0 that hold registers.
pub const REGISTERS_SIZE: u32 = 0x2_0000;

/// The losses of a receive queue since its device was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxLosses {
    /// Calls that stopped early because the pool was empty.
    pub pool_empty: u64,
    /// Frames that did not fit into one buffer, or that had an impossible length.
    pub discarded: u64,
}

impl RxQueue<'_> {
    /// Whether a packet waits in the ring.
    pub(crate) fn rx_pending(&mut self) -> bool {
        self.ring.entry(self.index).descriptor.load_upper() & RXD_DD != 0
    }

    /// 7.1.9: whether the device has used the next descriptor, by RDH, but not written it back. A
    /// write-back may be late by some microseconds.
    fn rx_write_back_missing(&mut self, head: u32) -> bool {
        head as usize != self.index
            && self.ring.entry(self.index).descriptor.load_upper() & RXD_DD == 0
    }

    /// As [`RxQueue::rx_check`], with a function that reads RDH: for a thread that has only the queue.
    pub(crate) fn rx_check_stall(
        &mut self,
        address: &str,
        id: u32,
        read_head: impl Fn() -> Result<u32>,
    ) -> Result<()> {
        let mut head = read_head()?;
        if !self.rx_write_back_missing(head) {
            self.suspect = None;
            return Ok(());
        }
        // The first time, this is a write-back on its way. Sleeping here would cost packets. An index repeats
        // while packets flow, but RDH does not stand still then.
        let suspect = Some((head, self.index));
        if self.suspect != suspect {
            self.suspect = suspect;
            return Ok(());
        }
        for _ in 0..CHECK_LOOKS {
            head = read_head()?;
            if !self.rx_write_back_missing(head) {
                self.suspect = None;
                return Ok(());
            }
        }
        let (index, size) = (self.index, self.mask + 1);
        Err(Error::device(
            address,
            format!(
                "RX queue {id} is stalled: the driver expects the next packet in descriptor {index} \
                 of {size}, but the device is at descriptor {head} (RDH) and has not written \
                 descriptor {index} back; usually the driver's index or RDT has left the order of \
                 the ring, for example at its end; restart the driver to reset the device"
            ),
        ))
    }

    /// Checks that device and driver agree on the next descriptor. If they do not, each waits for
    /// the other for ever. That is an error if two checks in a row find both at the same descriptors.
    /// The checks never sleep.
    pub(crate) fn rx_check(&mut self, registers: &Registers, id: u32) -> Result<()> {
        let read_head = || registers.read(regs::RDH(id));
        self.rx_check_stall(registers.vfio.address(), id, read_head)
    }
}

impl Device<'_> {
    /// The losses of receive queue `queue`, or `None` if there is no such queue.
    pub fn rx_losses(&self, queue: usize) -> Option<RxLosses> {
        let rx = self.rx.get(queue)?;
        Some(RxLosses {
            pool_empty: rx.pool_empty,
            discarded: rx.discard.discarded,
        })
    }
}

impl OpenDevice {
    /// Reads the 4-byte register at `offset` of BAR0: a multiple of 4, below [`REGISTERS_SIZE`].
    /// Reading clears some registers.
    ///
    /// # Errors
    /// If no register can be at this offset, or the device can no longer be reached.
    pub fn register_read(&self, offset: u32) -> Result<u32> {
        // A refused access would count as a failure of the device, which then cannot be stopped.
        if offset % 4 != 0 || offset >= REGISTERS_SIZE {
            return Err(Box::new(Error::Argument(format!(
                "the offset of a register is a multiple of 4 below {REGISTERS_SIZE:#x}, not {offset:#x}"
            ))));
        }
        self.registers.read(offset)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crate::driver::register_access::Registers;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY};
    use crate::vfio::fake::Answers;
    use crate::vfio::{Container, VfioDevice};

    /// A late write-back is no stall. Two checks in a row that miss the same write-back are one.
    #[test]
    fn a_stall_is_reported_at_the_second_check() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let answers = Rc::new(Answers::default());
        let vfio = VfioDevice::fake(&Container::new(), &answers);
        let registers = Registers { vfio };
        // RDH at each look. It stands still from the fourth on.
        answers.set([5, 5, 4].into_iter().chain(std::iter::repeat_n(5, 200)));
        queues.rx.rx_check(&registers, 0).unwrap();
        // The write-back has come.
        queues.device_receives(0, 60, true);
        queues.rx.rx_check(&registers, 0).unwrap();
        // The next one that is missing counts from the start.
        queues.rx.rx_batch(&mut Vec::new(), 1).unwrap();
        queues.rx.rx_check(&registers, 0).unwrap();
        // The device has received more.
        queues.rx.rx_check(&registers, 0).unwrap();
        let error = queues.rx.rx_check(&registers, 0).unwrap_err().to_string();
        assert!(error.contains("descriptor 5 (RDH)"), "{error}");
    }
}
