//! Breakpoints: INT3 in the place of an instruction's first byte.

use std::collections::BTreeMap;

use nix::unistd::Pid;

use crate::error::TraceError;
use crate::memory::{write_word, Memory};

const INT3: u64 = 0xcc;

/// Breakpoints of one process, by address.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    /// The word at each address, without the breakpoint.
    set: BTreeMap<u64, u64>,
}

impl Breakpoints {
    /// Whether there is a breakpoint at `address`.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.set.contains_key(&address)
    }

    /// Sets a breakpoint. `pid` must be stopped.
    pub(crate) fn set(
        &mut self,
        pid: Pid,
        memory: &Memory,
        address: u64,
    ) -> Result<(), TraceError> {
        if self.has(address) {
            return Ok(());
        }
        let word = memory.word(address)?;
        write_word(pid, address, word & !0xff | INT3)?;
        self.set.insert(address, word);
        Ok(())
    }

    /// Removes a breakpoint, if there is one. `pid` must be stopped.
    pub(crate) fn remove(
        &mut self,
        pid: Pid,
        memory: &Memory,
        address: u64,
    ) -> Result<(), TraceError> {
        let Some(word) = self.set.remove(&address) else {
            return Ok(());
        };
        // Another breakpoint may be inside the word.
        let now = memory.word(address)?;
        write_word(pid, address, now & !0xff | word & 0xff)
    }

    /// Removes all breakpoints.
    pub(crate) fn clear(&mut self, pid: Pid, memory: &Memory) -> Result<(), TraceError> {
        let addresses: Vec<u64> = self.set.keys().copied().collect();
        let mut each = addresses.into_iter();
        each.try_for_each(|address| self.remove(pid, memory, address))
    }
}
