//! Every order in which threads can meet in what is not simply a lock, tried one after the other by loom, with all
//! that the memory model allows. The code under test is that of the files named here, compiled once more with loom's
//! atomics, locks and threads in place of the standard library's.
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

    /// Loom's time does not pass: who is not woken sleeps for ever, and loom says so.
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

/// The data plane sleeps when it found nothing; port threads leave work and ring; others only look.
fn no_ringing_is_slept_through(ringers: usize, lookers: usize) {
    let mut model = loom::model::Builder::new();
    // With three threads, this many switches at any place; those where a thread waits are not counted.
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
                        // Not a reason to sleep: see `DataPlane::run`.
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
fn one_ringing_is_not_slept_through() {
    no_ringing_is_slept_through(1, 0);
}

#[test]
fn nor_one_of_two() {
    no_ringing_is_slept_through(2, 0);
}

#[test]
fn nor_one_while_somebody_looks() {
    no_ringing_is_slept_through(1, 1);
}

/// A data plane that comes back and back, and a control thread that waits for the same lock.
#[test]
fn turns_are_taken_and_nobody_is_in_it_with_another() {
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
        // Nobody is left waiting: the data plane gets it.
        assert!(shared.lock_unless_wanted().is_some());
    });
}

/// A slot is given back and taken for another mapping, while a signal handler looks for an address that was in
/// neither: were the first base taken with the second length, the handler would replace strangers' memory.
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

/// Two threads map files at the same time: one slot is one thread's.
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
