//! Prepared answers in place of a device's registers, for tests.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::error::{Error, Result};

/// The values of the next reads, whatever register they are from. After the last one, the device
/// can no longer be reached, so the answers also bound every wait.
#[derive(Default)]
pub(crate) struct Answers {
    left: RefCell<VecDeque<u32>>,
}

impl Answers {
    /// Replaces the answers that are left.
    pub(crate) fn set(&self, answers: impl IntoIterator<Item = u32>) {
        self.left.replace(answers.into_iter().collect());
    }

    pub(super) fn read(&self, address: &str, data: &mut [u8]) -> Result<()> {
        let answer = self.left.borrow_mut().pop_front();
        let answer = answer.ok_or_else(|| Error::device(address, "gone"))?;
        for (byte, answered) in data.iter_mut().zip(answer.to_le_bytes()) {
            *byte = answered;
        }
        Ok(())
    }

    pub(super) fn write(&self, address: &str) -> Result<()> {
        match self.left.borrow().is_empty() {
            true => Err(Error::device(address, "gone")),
            false => Ok(()),
        }
    }
}
