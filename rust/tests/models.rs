//! A model of the return list, in which loom tries every order of execution that the memory model allows.
//!
//! The file is compiled a second time, with loom's atomics in place of the standard library's.
#![allow(clippy::unwrap_used, dead_code)]

#[path = "../src/sys/return_list.rs"]
mod return_list;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, Ordering};
}

use std::sync::Arc;

use loom::cell::UnsafeCell;
use return_list::{ReturnList, NONE};

/// The numbers that the threads return.
const NUMBERS: usize = 4;

struct Pool {
    list: ReturnList,
    /// The links, and what the last owner of each number wrote. Loom reports an access that races.
    next: [UnsafeCell<u32>; NUMBERS],
    written: [UnsafeCell<u32>; NUMBERS],
}

// SAFETY: loom checks each access.
unsafe impl Sync for Pool {}

impl Pool {
    fn new() -> Self {
        let cells = |value| std::array::from_fn(|_| UnsafeCell::new(value));
        Self {
            list: ReturnList::new(),
            next: cells(NONE),
            written: cells(0),
        }
    }

    /// Returns the numbers from `first` to `last` as one list.
    fn return_all(&self, first: u32, last: u32) {
        for number in first..=last {
            // SAFETY: loom checks it.
            self.written[number as usize].with_mut(|cell| unsafe { *cell = number + 1 });
        }
        for number in first..last {
            // SAFETY: loom checks it.
            self.next[number as usize].with_mut(|cell| unsafe { *cell = number + 1 });
        }
        self.list.add(first, |before| {
            // SAFETY: loom checks it.
            self.next[last as usize].with_mut(|cell| unsafe { *cell = before });
        });
    }

    /// Takes the list, and counts how often each number is in it.
    fn take(&self, seen: &mut [u32; NUMBERS]) {
        let mut number = self.list.take();
        while number != NONE {
            let index = number as usize;
            seen[index] += 1;
            // SAFETY: loom checks it.
            let written = self.written[index].with(|cell| unsafe { *cell });
            assert_eq!(written, number + 1);
            // SAFETY: loom checks it.
            number = self.next[index].with(|cell| unsafe { *cell });
        }
    }
}

#[test]
fn each_returned_number_is_taken_once_with_what_its_thread_wrote() {
    loom::model(|| {
        let pool = Arc::new(Pool::new());
        let returners = [(0, 1), (2, 3)].map(|(first, last)| {
            let pool = Arc::clone(&pool);
            loom::thread::spawn(move || pool.return_all(first, last))
        });
        let mut seen = [0; NUMBERS];
        pool.take(&mut seen);
        for returner in returners {
            returner.join().unwrap();
        }
        pool.take(&mut seen);
        assert_eq!(seen, [1; NUMBERS]);
        assert_eq!(pool.list.take(), NONE);
    });
}

/// A number that was taken may be returned again at once: no thread holds on to an old list (ABA).
#[test]
fn a_number_that_comes_back_at_once_is_not_lost() {
    loom::model(|| {
        let pool = Arc::new(Pool::new());
        pool.return_all(0, 1);
        let other = loom::thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.return_all(2, 2)
        });
        let mut seen = [0; NUMBERS];
        pool.take(&mut seen);
        pool.return_all(0, 0);
        other.join().unwrap();
        pool.take(&mut seen);
        assert_eq!(seen, [2, 1, 1, 0]);
    });
}
