//! The log of DMA accesses, for a program that replays what a driver and its card do to caches.

use std::cell::RefCell;

/// One access of the card to the driver's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaAccess {
    /// The first IOVA.
    pub iova: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// Whether the card writes.
    pub write: bool,
}

/// The accesses since the last call of [`DmaLog::take`], in order. It records nothing until it is
/// switched on.
#[derive(Debug, Default)]
pub(crate) struct DmaLog(Option<RefCell<Vec<DmaAccess>>>);

impl DmaLog {
    /// Records all accesses from now on, or none. Forgets those that were not taken.
    pub(crate) fn switch(&mut self, on: bool) {
        self.0 = on.then(RefCell::default);
    }

    /// Whether accesses are recorded.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Records a read.
    #[inline(always)]
    pub(crate) fn read(&self, iova: u64, bytes: usize) {
        self.add(iova, bytes, false);
    }

    /// Records a write.
    #[inline(always)]
    pub(crate) fn write(&self, iova: u64, bytes: usize) {
        self.add(iova, bytes, true);
    }

    #[inline(always)]
    fn add(&self, iova: u64, bytes: usize, write: bool) {
        if let Some(accesses) = &self.0 {
            accesses.borrow_mut().push(DmaAccess {
                iova,
                bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                write,
            });
        }
    }

    /// The accesses since the last call.
    pub(crate) fn take(&self) -> Vec<DmaAccess> {
        self.0.as_ref().map(RefCell::take).unwrap_or_default()
    }
}
