//! The stack of a pool's free buffers in the driver's memory.
//!
//! In every driver it is an array of pointers, one a buffer, in the order of the buffers: the C driver's point to packets,
//! and safe Rust's to headers. So a long run of words at equal distances, in memory that is not shared, is a stack.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use anyhow::{ensure, Context, Result};
use tracer::Follower;

use super::model::{words, BUFFERS};

/// Fewest words of a run: the rest of the stack has been in use.
const LEAST: usize = 300;
/// Largest mapping that is searched.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct Stack {
    /// The array.
    pub addresses: Range<u64>,
    /// The pointer for buffer 0, and the distance to the next.
    first: u64,
    distance: u64,
}

impl Stack {
    /// The stacks of a process, by address. Its pools are made in this order.
    pub fn find(pid: u32) -> Result<Vec<Self>> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).context("the maps")?;
        let memory = fs::File::open(format!("/proc/{pid}/mem")).context("the memory")?;
        let mut found = Vec::new();
        for line in maps.lines().filter(|line| line.contains(" rw-p ")) {
            let range = line.split(' ').next().unwrap_or_default();
            let Some((start, end)) = range.split_once('-') else {
                continue;
            };
            let (start, end) = (hex(start)?, hex(end)?);
            if end - start > MOST_BYTES {
                continue;
            }
            let mut bytes = vec![0; (end - start) as usize];
            // Guard pages cannot be read.
            if memory.read_exact_at(&mut bytes, start).is_ok() {
                runs(&words(&bytes).collect::<Vec<_>>(), start, &mut found);
            }
        }
        ensure!(!found.is_empty(), "the driver has no pool");
        Ok(found)
    }

    /// The buffer of a pointer.
    pub fn buffer(&self, pointer: u64) -> Option<usize> {
        let inside = pointer.checked_sub(self.first)?;
        let number = usize::try_from(inside / self.distance).ok()?;
        (inside % self.distance == 0 && number < BUFFERS).then_some(number)
    }

    /// The place in the stack of an address.
    pub fn place(&self, address: u64) -> Option<usize> {
        let inside = self.addresses.contains(&address);
        inside.then(|| ((address - self.addresses.start) / 8) as usize)
    }

    /// The lowest `count` buffers of the stack.
    pub fn read(&self, driver: &Follower, count: usize) -> Vec<usize> {
        let places = (0..count as u64).map(|nth| driver.word(self.addresses.start + 8 * nth));
        places.filter_map(|word| self.buffer(word?)).collect()
    }
}

fn hex(digits: &str) -> Result<u64> {
    u64::from_str_radix(digits, 16).context("the maps")
}

/// Adds the runs of descending words. The lowest place has the last buffer.
fn runs(words: &[u64], start: u64, found: &mut Vec<Stack>) {
    let mut first = 0;
    for at in 1..=words.len() {
        let distance = |at: usize| words[at - 1].wrapping_sub(words[at]);
        let goes_on = at < words.len() && (at == first + 1 || distance(at) == distance(first + 1));
        if goes_on {
            continue;
        }
        let length = at - first;
        if length >= LEAST {
            let distance = distance(first + 1);
            let last = BUFFERS as u64 - 1;
            let plausible = (8..=4096).contains(&distance);
            if let (true, Some(zero)) = (plausible, words[first].checked_sub(last * distance)) {
                let address = start + 8 * first as u64;
                found.push(Stack {
                    addresses: address..address + 8 * BUFFERS as u64,
                    first: zero,
                    distance,
                });
            }
        }
        // The last word may begin the next run.
        first = at - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_a_long_run_of_descending_pointers() {
        let mut words = vec![7, 9, 9];
        words.extend((0..400).map(|nth| 0x10_0000 - 40 * nth));
        words.extend([3, 5]);
        let mut found = Vec::new();
        runs(&words, 0x1000, &mut found);
        assert_eq!(found.len(), 1);
        let stack = &found[0];
        assert_eq!(stack.addresses.start, 0x1000 + 24);
        assert_eq!(stack.buffer(0x10_0000), Some(511));
        assert_eq!(stack.buffer(0x10_0000 - 40), Some(510));
        assert_eq!(stack.buffer(0x10_0000 - 41), None);
        assert_eq!(stack.place(0x1000 + 24 + 16), Some(2));
        assert_eq!(stack.place(0x1000), None);
    }
}
