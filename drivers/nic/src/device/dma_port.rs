//! A port's way to the driver's memory. It counts what goes wrong there, and the work of the round.
//!
//! A driver decides how much work a descriptor is: 60 bytes to copy, or 256 KiB to cut into tens of
//! thousands of segments. So the card counts work, and stops in the middle of a frame if it must.
//! A unit of work is about a nanosecond of a release build.

use std::cell::{Cell, RefCell};

use crate::device::late_writes::LateWrites;
use crate::memory::dma::DmaTable;
use crate::memory::dma_fault::{Direction, DmaFault, FaultLog, Purpose, Refusal};
use crate::memory::shared::Descriptor;

/// A frame of 60 bytes on the fast paths.
pub(crate) const SMALL_FRAME: usize = 16;
/// A descriptor on the general path, besides its bytes.
pub(crate) const DESCRIPTOR: usize = 64;
/// A frame on the general path, besides its bytes.
pub(crate) const FRAME: usize = 768;
/// A frame that is kept for a cable or for the program that runs the card.
pub(crate) const KEPT_FRAME: usize = 512;
/// A signal, a note or a look at the clock.
pub(crate) const EVENT: usize = 1024;
/// The work of a data plane that is stepped by hand, which does all work at once.
pub(crate) const UNLIMITED: usize = usize::MAX;

/// What a transfer is for: its purpose, and the queue.
pub(crate) type Use = (Purpose, u32);

/// The driver's DMA maps, the refused transfers, the writes that arrive late, and the work that is
/// left in this round.
#[derive(Debug)]
pub(crate) struct DmaPort {
    pub(crate) table: DmaTable,
    pub(crate) faults: RefCell<FaultLog>,
    pub(crate) late: RefCell<LateWrites>,
    work_left: Cell<usize>,
}

impl DmaPort {
    pub(crate) fn new() -> Self {
        Self {
            table: DmaTable::new(),
            faults: RefCell::default(),
            late: RefCell::default(),
            work_left: Cell::new(UNLIMITED),
        }
    }

    /// So much work may be done from now on.
    pub(crate) fn allow(&self, work: usize) {
        self.table.take_searches();
        self.work_left.set(work);
    }

    /// Work was done.
    #[inline(always)]
    pub(crate) fn spend(&self, work: usize) {
        let left = self.work_left.get();
        if left != UNLIMITED {
            self.work_left.set(left.saturating_sub(work));
        }
    }

    /// Whether the rest must wait for the next round. Searches for maps are work too, and take longer
    /// among many maps.
    #[inline(always)]
    pub(crate) fn is_spent(&self) -> bool {
        let searches = self.table.take_searches();
        if searches > 0 {
            self.spend(searches * (SMALL_FRAME + self.table.len() / 64));
        }
        self.work_left.get() == 0
    }

    /// The descriptors from `iova` on: at least one, at most `max`, as many as the map holds.
    #[inline(always)]
    pub(crate) fn descriptors(
        &self,
        of: Use,
        direction: Direction,
        iova: u64,
        max: usize,
    ) -> Option<&[Descriptor]> {
        let found = self.table.descriptors(iova, max);
        found
            .map_err(|refusal| {
                self.refused(of, direction, iova, size_of::<Descriptor>(), refusal);
            })
            .ok()
    }

    /// Reads a packet. Returns whether the maps allow it.
    pub(crate) fn read(&self, of: Use, iova: u64, into: &mut [u8]) -> bool {
        let result = self.table.read(iova, into);
        result
            .map_err(|refusal| self.refused(of, Direction::Read, iova, into.len(), refusal))
            .is_ok()
    }

    /// Writes bytes. A refused write is lost: writes on a bus are posted, so hardware does not notice.
    #[inline(never)]
    pub(crate) fn write(&self, of: Use, iova: u64, from: &[u8]) -> bool {
        let result = self.table.write(iova, from);
        result
            .map_err(|refusal| self.refused(of, Direction::Write, iova, from.len(), refusal))
            .is_ok()
    }

    /// Writes a 32-bit word, after everything written before.
    pub(crate) fn write_u32(&self, of: Use, iova: u64, value: u32) {
        if let Err(refusal) = self.table.write_u32(iova, value) {
            self.refused(of, Direction::Write, iova, 4, refusal);
        }
    }

    #[cold]
    fn refused(
        &self,
        (purpose, queue): Use,
        direction: Direction,
        iova: u64,
        len: usize,
        refusal: Refusal,
    ) {
        self.faults.borrow_mut().record(DmaFault {
            iova,
            len: len as u64,
            direction,
            purpose,
            queue,
            refusal,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_until_nothing_is_left() {
        let port = DmaPort::new();
        port.allow(100);
        port.spend(99);
        assert!(!port.is_spent());
        port.spend(usize::MAX);
        assert!(port.is_spent());
        port.allow(UNLIMITED);
        port.spend(usize::MAX);
        assert!(!port.is_spent());
    }
}
