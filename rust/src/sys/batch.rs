//! Batches: appending to vectors in a tight loop.

/// Appends a limited number of values to a vector. It reserves room once at the start and sets the
/// length of the vector once at the end. [`Vec::push`] would check the capacity and write the
/// length for every value. The rung `14-vec-push` of the ladder (bench/ladder) measures its cost.
pub struct Batch<'v, T> {
    values: &'v mut Vec<T>,
    /// The length of the vector before the batch.
    held: usize,
    /// The number of values in the vector, with those before the batch.
    length: usize,
    /// The limit of `length`. The vector has room for that many.
    end: usize,
}

impl<'v, T> Batch<'v, T> {
    /// Makes room for `count` more values. If the vector has no room for them, the batch takes at most
    /// `most` values, so that a caller's count cannot exhaust the memory.
    #[inline]
    pub fn new(values: &'v mut Vec<T>, count: usize, most: usize) -> Self {
        let held = values.len();
        let end = match values.capacity() - held < count {
            true => make_room(values, count.min(most)),
            // This does not overflow: the vector has room for `count` more values.
            false => held + count,
        };
        Self {
            values,
            held,
            length: held,
            end,
        }
    }

    /// Whether fewer than `count` values were appended.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.length < self.end
    }

    /// Lowers the limit by one.
    #[inline]
    pub fn skip(&mut self) {
        if self.has_room() {
            self.end -= 1;
        }
    }

    /// Appends a value, or drops it if there is no room.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.has_room() {
            // SAFETY: there is room for `end` values, and `length` is below `end`. The batch borrows
            // the vector, so its buffer does not move. This place holds no value yet.
            unsafe { self.values.as_mut_ptr().add(self.length).write(value) };
            self.length += 1;
        }
    }

    /// The number of appended values.
    #[inline]
    pub fn count(&self) -> usize {
        self.length - self.held
    }
}

/// This runs after a panic too, so that the appended values are dropped.
impl<T> Drop for Batch<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the first `length` values are initialized, and the vector has room for them. If a
        // batch is forgotten, its values leak, which is safe.
        unsafe { self.values.set_len(self.length) }
    }
}

/// Makes room for `count` more values. Returns how many values the vector then holds.
#[cold]
#[inline(never)]
fn make_room<T>(values: &mut Vec<T>, count: usize) -> usize {
    values.reserve(count);
    values.len() + count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::rc::Rc;

    #[test]
    fn it_takes_values_up_to_its_limit() {
        let one = Rc::new(());
        let mut values = vec![Rc::clone(&one)];
        for (count, pushes) in [(2, 1), (0, 3), (3, 3), (4, 9)] {
            let held = values.len();
            let mut batch = Batch::new(&mut values, count, 4);
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
    fn skipping_lowers_the_limit() {
        let mut values = vec![1];
        let mut batch = Batch::new(&mut values, 3, 3);
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
    fn values_without_a_size_are_counted_too() {
        let mut values = vec![(); 3];
        let mut batch = Batch::new(&mut values, usize::MAX - 3, 1);
        batch.push(());
        drop(batch);
        assert_eq!(values.len(), 4);
        // So many more do not fit, even without a size.
        let mut batch = Batch::new(&mut values, usize::MAX, 1);
        for _ in 0..3 {
            batch.push(());
        }
        drop(batch);
        assert_eq!(values.len(), 5);
    }

    #[test]
    fn a_count_without_room_is_limited() {
        for count in [6, 1 << 40, isize::MAX as usize, usize::MAX] {
            let mut values = vec![1];
            let mut batch = Batch::new(&mut values, count, 5);
            for push in 0..7 {
                assert_eq!(batch.has_room(), push < 5);
                batch.push(push);
            }
            drop(batch);
            assert_eq!(values, [1, 0, 1, 2, 3, 4]);
            assert!(values.capacity() < 100);
        }
    }

    #[test]
    fn a_forgotten_batch_leaves_the_vector_as_it_was() {
        let mut values = vec![1];
        let mut batch = Batch::new(&mut values, 3, 3);
        batch.push(2);
        std::mem::forget(batch);
        assert_eq!(values, [1]);
    }

    #[test]
    fn values_appended_before_a_panic_are_dropped_once() {
        let one = Rc::new(());
        let mut values = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut batch = Batch::new(&mut values, 10, 10);
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
