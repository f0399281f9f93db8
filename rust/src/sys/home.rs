//! Values that stay with their thread, inside of values that do not.

use std::mem::ManuallyDrop;
use std::thread::{self, ThreadId};

/// A value that only the thread that made it reaches. Another thread may have the `Home`, but dropping it there
/// leaks the value.
pub struct Home<T> {
    /// Used in `thread` only.
    value: ManuallyDrop<T>,
    /// No other thread of the process ever has the same.
    thread: ThreadId,
}

// SAFETY: other threads do not reach the value.
unsafe impl<T> Send for Home<T> {}

impl<T> Home<T> {
    /// Of this thread.
    pub fn new(value: T) -> Self {
        Self {
            value: ManuallyDrop::new(value),
            thread: thread::current().id(),
        }
    }

    /// The value, or `None` in another thread.
    pub fn get(&self) -> Option<&T> {
        (self.thread == thread::current().id()).then(|| &*self.value)
    }
}

impl<T> Drop for Home<T> {
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: this thread made the value, and this is its last use.
            unsafe { ManuallyDrop::drop(&mut self.value) }
        }
    }
}

/// The room of an empty vector. Nothing is in it, so it may move to another thread, whatever `T` is.
pub struct Spare<T> {
    /// Empty.
    room: Vec<T>,
}

// SAFETY: there is no `T`.
unsafe impl<T> Send for Spare<T> {}

impl<T> Spare<T> {
    /// Room for `capacity` values.
    pub fn new(capacity: usize) -> Self {
        Self {
            room: Vec::with_capacity(capacity),
        }
    }

    /// Lends the room. Drops what is left in it, also after a panic.
    #[inline]
    pub fn with<R>(&mut self, work: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let lent = Lent(&mut self.room);
        work(lent.0)
    }
}

/// Clears a vector at its end.
struct Lent<'v, T>(&'v mut Vec<T>);

impl<T> Drop for Lent<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::rc::Rc;

    use super::*;

    #[test]
    fn another_thread_does_not_reach_the_value() {
        let value = Rc::new(1);
        let home = Home::new(Rc::clone(&value));
        assert_eq!(home.get(), Some(&value));
        let home = thread::spawn(move || {
            assert!(home.get().is_none());
            home
        });
        drop(home.join().unwrap());
        assert_eq!(Rc::strong_count(&value), 1);
    }

    #[test]
    fn another_thread_leaks_the_value() {
        let value = Rc::new(1);
        let home = Home::new(Rc::clone(&value));
        thread::spawn(move || drop(home)).join().unwrap();
        assert_eq!(Rc::strong_count(&value), 2);
        // For memcheck.
        // SAFETY: nothing else drops the leaked one.
        unsafe { Rc::decrement_strong_count(Rc::as_ptr(&value)) };
    }

    #[test]
    fn values_do_not_stay_in_spare_room() {
        let value = Rc::new(1);
        let mut spare = Spare::new(4);
        let panics = |room: &mut Vec<_>| {
            room.push(Rc::clone(&value));
            panic!("on purpose");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| spare.with(panics))).is_err());
        assert_eq!(Rc::strong_count(&value), 1);
        let capacity = thread::spawn(move || spare.with(|room| room.capacity()));
        assert!(capacity.join().unwrap() >= 4);
    }
}
