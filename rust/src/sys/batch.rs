//! Batches: vectors that are appended to in a tight loop.

/// Appends up to so many values to a vector, for which it made room beforehand. The vector is told
/// its new length once, in the end, where [`Vec::push`] would look and write with every value.
pub struct Batch<'v, T> {
    values: &'v mut Vec<T>,
    /// Of the vector, before.
    held: usize,
    /// So many values are there.
    length: usize,
    /// No more than the vector has room for.
    end: usize,
}

impl<'v, T> Batch<'v, T> {
    /// Makes room for `count` more values.
    #[inline]
    pub fn new(values: &'v mut Vec<T>, count: usize) -> Self {
        values.reserve(count);
        let held = values.len();
        Self {
            values,
            held,
            length: held,
            // Does not overflow: `reserve` panics first, also if values are of no size.
            end: held + count,
        }
    }

    /// Whether fewer than `count` values were appended.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.length < self.end
    }

    /// Leaves room for one fewer.
    #[inline]
    pub fn skip(&mut self) {
        if self.has_room() {
            self.end -= 1;
        }
    }

    /// Appends a value; drops it if there is no room.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.has_room() {
            // SAFETY: there is room for `end` values, and `length` is below it. The vector is
            // borrowed for the batch's life, so it does not move; what is overwritten is no value.
            unsafe { self.values.as_mut_ptr().add(self.length).write(value) };
            self.length += 1;
        }
    }

    /// How many values were appended.
    #[inline]
    pub fn count(&self) -> usize {
        self.length - self.held
    }
}

/// Also after a panic, so that what was appended is dropped.
impl<T> Drop for Batch<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `length` values were written, those held before included, and there is room for
        // them. If this never happens (the batch is forgotten), they are leaked, no more.
        unsafe { self.values.set_len(self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::rc::Rc;

    #[test]
    fn it_takes_as_many_as_was_said() {
        let one = Rc::new(());
        let mut values = vec![Rc::clone(&one)];
        for (count, pushes) in [(2, 1), (0, 3), (3, 3), (4, 9)] {
            let held = values.len();
            let mut batch = Batch::new(&mut values, count);
            for push in 0..pushes {
                assert_eq!(batch.has_room(), push < count);
                batch.push(Rc::clone(&one));
                assert_eq!(batch.count(), count.min(push + 1));
            }
            drop(batch);
            assert_eq!(values.len(), held + count.min(pushes));
        }
        assert_eq!(Rc::strong_count(&one), 1 + values.len());
    }

    #[test]
    fn what_is_skipped_takes_room() {
        let mut values = vec![1];
        let mut batch = Batch::new(&mut values, 3);
        batch.skip();
        batch.push(2);
        batch.push(3);
        batch.push(4);
        batch.skip();
        assert!(!batch.has_room() && batch.count() == 2);
        drop(batch);
        assert_eq!(values, [1, 2, 3]);
    }

    #[test]
    fn values_of_no_size_are_counted_too() {
        let mut values = vec![(); 3];
        let mut batch = Batch::new(&mut values, usize::MAX - 3);
        batch.push(());
        drop(batch);
        assert_eq!(values.len(), 4);
        let result = catch_unwind(AssertUnwindSafe(|| {
            Batch::new(&mut values, usize::MAX - 3);
        }));
        assert!(result.is_err());
    }

    #[test]
    fn a_forgotten_batch_leaves_the_vector_as_it_was() {
        let mut values = vec![1];
        let mut batch = Batch::new(&mut values, 3);
        batch.push(2);
        std::mem::forget(batch);
        assert_eq!(values, [1]);
    }

    #[test]
    fn what_was_appended_before_a_panic_is_dropped_once() {
        let one = Rc::new(());
        let mut values = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut batch = Batch::new(&mut values, 10);
            batch.push(Rc::clone(&one));
            batch.push(Rc::clone(&one));
            panic!("on purpose");
        }));
        assert!(result.is_err());
        assert_eq!((values.len(), Rc::strong_count(&one)), (2, 3));
        drop(values);
        assert_eq!(Rc::strong_count(&one), 1);
    }
}
