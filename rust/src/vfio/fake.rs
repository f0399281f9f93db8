//! A device that is not there: what its registers read as, the test says beforehand.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::{Backend, Container, VfioDevice};
use crate::error::{Error, Result};

/// What the next reads answer, whichever register they are of. When there is nothing left to say,
/// the device can no longer be reached; so no wait for a register is longer than the answers are.
#[derive(Default)]
pub(crate) struct Answers {
    left: RefCell<VecDeque<u32>>,
}

impl Answers {
    /// Takes the next answers, and forgets what was left of the last.
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

impl VfioDevice {
    /// A device in `container` with these answers, all of whose registers are trapped.
    pub(crate) fn fake(container: &Rc<Container>, answers: &Rc<Answers>) -> Rc<Self> {
        Rc::new(Self {
            container: Rc::downgrade(container),
            address: "fake".to_owned(),
            backend: Backend::Fake(Rc::clone(answers)),
            areas: Vec::new(),
            failed: Cell::new(false),
            claimed: Cell::new(true),
        })
    }

    /// It can be reached again.
    pub(crate) fn revive(&self) {
        self.failed.set(false);
    }
}
