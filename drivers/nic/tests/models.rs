//! Models of the lock-free code, in which loom tries every order of execution that the memory model allows.
//!
//! The files named here are compiled a second time, with loom's atomics, locks and threads in place of the standard
//! library's.
#![allow(clippy::unwrap_used, dead_code)]

#[path = "../src/threads/alarm.rs"]
mod alarm;
#[path = "../src/threads/mappings.rs"]
mod mappings;
#[path = "../src/threads/turns.rs"]
mod turns;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use loom::thread::{current, yield_now, Thread};

    /// Loom has no time: a thread that is not woken sleeps for ever, which loom reports.
    pub(crate) fn park_timeout(_: std::time::Duration) {
        loom::thread::park();
    }
}

use std::sync::Arc;
use std::time::Duration;

use alarm::Alarm;
use mappings::Slot;
use sync::{AtomicBool, AtomicUsize};
use turns::Turns;

fn slot() -> Slot {
    Slot {
        base: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}

/// The data plane sleeps when it finds no work. Ringers add work and ring, lookers only take the lock.
fn no_ring_is_missed(ringers: usize, lookers: usize) {
    let mut model = loom::model::Builder::new();
    // A bound on preemptions with three threads. Switches where a thread waits do not count.
    model.preemption_bound = (ringers + lookers > 1).then_some(2);
    model.check(move || {
        let shared = Arc::new((Turns::new(0), Alarm::default()));
        let data_plane = loom::thread::spawn({
            let shared = shared.clone();
            move || {
                let mut done = 0;
                while done < ringers {
                    match shared.0.lock_unless_wanted() {
                        Some(mut work) if *work > 0 => done += std::mem::take(&mut *work),
                        Some(work) => {
                            drop(work);
                            shared.1.sleep(Duration::from_secs(1));
                        }
                        // A round without the lock is no reason to sleep; see `DataPlane::run`.
                        None => sync::yield_now(),
                    }
                }
            }
        });
        let mut others = Vec::new();
        for rings in (0..ringers + lookers).map(|nth| nth < ringers) {
            let shared = shared.clone();
            others.push(loom::thread::spawn(move || {
                *shared.0.lock() += usize::from(rings);
                if rings {
                    shared.1.ring();
                }
            }));
        }
        others.into_iter().for_each(|other| other.join().unwrap());
        data_plane.join().unwrap();
    });
}

#[test]
fn a_single_ring_is_not_missed() {
    no_ring_is_missed(1, 0);
}

#[test]
fn neither_of_two_rings_is_missed() {
    no_ring_is_missed(2, 0);
}

#[test]
fn a_ring_is_not_missed_while_another_thread_has_the_lock() {
    no_ring_is_missed(1, 1);
}

/// A data plane that takes the lock over and over, and a control thread that waits for it.
#[test]
fn threads_take_turns_and_exclude_each_other() {
    loom::model(|| {
        let shared = Arc::new(Turns::new((0, 0)));
        let control = loom::thread::spawn({
            let shared = shared.clone();
            move || shared.lock().0 += 1
        });
        let mut rounds = 0;
        for _ in 0..2 {
            if let Some(mut inner) = shared.lock_unless_wanted() {
                inner.1 += 1;
                rounds += 1;
            }
        }
        shared.lock_after_others().1 += 1;
        control.join().unwrap();
        assert_eq!(*shared.lock(), (1, rounds + 1));
        // No thread waits any more, so the data plane gets the lock.
        assert!(shared.lock_unless_wanted().is_some());
    });
}

/// A slot is freed and taken for another mapping while a signal handler looks for an address in neither. If the handler
/// combined the first base with the second length, it would replace foreign memory.
#[test]
fn a_slot_never_shows_the_base_of_one_mapping_with_the_length_of_another() {
    const FIRST: (usize, usize) = (0x1_0000, 0x1000);
    const SECOND: (usize, usize) = (0x8_0000, 0x10_0000);
    for (first, second, address) in [(FIRST, SECOND, 0x1_1000), (SECOND, FIRST, 0x8_0000)] {
        loom::model(move || {
            let slot = Arc::new(slot());
            assert!(slot.take(first.0, first.1));
            let remapping = loom::thread::spawn({
                let slot = slot.clone();
                move || {
                    slot.free();
                    assert!(slot.take(second.0, second.1));
                }
            });
            let range = slot.range_with(address);
            let holds = |(base, len): (usize, usize)| (base..base + len).contains(&address);
            let allowed = [first, second].into_iter().find(|range| holds(*range));
            assert!(range.is_none() || range == allowed, "{range:x?}");
            remapping.join().unwrap();
            assert_eq!(slot.range_with(second.0), Some(second));
        });
    }
}

/// Two threads map files at the same time, and only one gets the slot.
#[test]
fn a_slot_is_taken_once() {
    loom::model(|| {
        let slot = Arc::new(slot());
        let other = loom::thread::spawn({
            let slot = slot.clone();
            move || slot.take(0x1000, 0x1000)
        });
        let mine = slot.take(0x2000, 0x2000);
        assert!(mine != other.join().unwrap());
        let range = if mine {
            (0x2000, 0x2000)
        } else {
            (0x1000, 0x1000)
        };
        assert_eq!(slot.range_with(range.0), Some(range));
    });
}
