//! The keys and their values, with expiry and a bound of memory.

use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

/// Tables of the store. A table that grows has twice its size for a moment, so there are many small ones.
const TABLES: usize = 64;

type Key = Box<[u8]>;
type Table = HashMap<Key, Entry>;

struct Entry {
    value: Box<[u8]>,
    expires: Option<Instant>,
}

/// The keys of a store.
pub struct Store {
    tables: Vec<Table>,
    hasher: RandomState,
    /// Bytes of keys and values, and those of the tables.
    used: usize,
    /// The table that is swept next.
    next: usize,
    limit: usize,
    /// Keys that expired.
    pub expired: u64,
}

/// There is no memory for a value.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

/// How a key expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Not at all.
    Never,
    /// As before.
    Keep,
    /// After this time.
    After(Duration),
}

impl Store {
    /// An empty store of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            tables: (0..TABLES).map(|_| Table::new()).collect(),
            hasher: RandomState::new(),
            used: 0,
            next: 0,
            limit,
            expired: 0,
        }
    }

    /// The bytes of all keys, values and tables, free places of the tables included.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.tables.iter().map(HashMap::len).sum()
    }

    fn place(&self, key: &[u8]) -> usize {
        self.hasher.hash_one(key) as usize % TABLES
    }

    /// The value of a key.
    pub fn get(&mut self, key: &[u8], now: Instant) -> Option<&[u8]> {
        let place = self.expire(key, now);
        self.tables[place].get(key).map(|entry| &entry.value[..])
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// If there is no memory for it. Then nothing changes.
    pub fn set(
        &mut self,
        key: &[u8],
        value: &[u8],
        expiry: Expiry,
        now: Instant,
    ) -> Result<(), Full> {
        let place = self.expire(key, now);
        let table = &mut self.tables[place];
        let old = table.get(key);
        let kept = old.and_then(|entry| entry.expires);
        let expires = match expiry {
            Expiry::Never => None,
            Expiry::Keep => kept,
            Expiry::After(time) => now.checked_add(time),
        };
        let before = old.map_or(0, |entry| cost(key, &entry.value));
        let grows = old.is_none() && table.len() == table.capacity();
        let growth = if grows {
            size(table).max(size_of_capacity(3))
        } else {
            0
        };
        if self.used - before + cost(key, value) + growth > self.limit {
            return Err(Full);
        }
        self.used -= size(table) + before;
        match table.get_mut(key) {
            Some(entry) => {
                if entry.value.len() == value.len() {
                    entry.value.copy_from_slice(value);
                } else {
                    entry.value = value.into();
                }
                entry.expires = expires;
            }
            None => {
                let value = value.into();
                table.insert(key.into(), Entry { value, expires });
            }
        }
        self.used += size(table) + cost(key, value);
        Ok(())
    }

    /// Removes a key. Returns whether it was there.
    pub fn remove(&mut self, key: &[u8], now: Instant) -> bool {
        let place = self.expire(key, now);
        self.take(place, key)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        *self = Self {
            expired: self.expired,
            ..Self::new(self.limit)
        };
    }

    /// Lets a key expire. Returns whether it was there.
    pub fn set_expiry(&mut self, key: &[u8], expires: Option<Duration>, now: Instant) -> bool {
        let place = self.expire(key, now);
        let expires = expires.and_then(|time| now.checked_add(time));
        let Some(entry) = self.tables[place].get_mut(key) else {
            return false;
        };
        entry.expires = expires;
        true
    }

    /// The time that a key has left: `None` if there is no such key, `Some(None)` if it does not expire.
    pub fn time_left(&mut self, key: &[u8], now: Instant) -> Option<Option<Duration>> {
        let place = self.expire(key, now);
        let entry = self.tables[place].get(key)?;
        Some(
            entry
                .expires
                .map(|expires| expires.saturating_duration_since(now)),
        )
    }

    /// Removes the expired keys of one table, so that their memory is free although no client asks for them. As many calls
    /// as there are tables look at all keys.
    pub fn sweep(&mut self, now: Instant) {
        let place = self.next;
        self.next = (place + 1) % TABLES;
        let table = &mut self.tables[place];
        let before = size(table);
        let mut freed = 0;
        table.retain(|key, entry| {
            let is_over = entry.is_over(now);
            if is_over {
                self.expired += 1;
                freed += cost(key, &entry.value);
            }
            !is_over
        });
        shrink(table);
        self.used = self.used + size(table) - before - freed;
    }

    /// Removes a key if its time is over. Returns the place of its table.
    fn expire(&mut self, key: &[u8], now: Instant) -> usize {
        let place = self.place(key);
        let entry = self.tables[place].get(key);
        if entry.is_some_and(|entry| entry.is_over(now)) {
            self.expired += u64::from(self.take(place, key));
        }
        place
    }

    fn take(&mut self, place: usize, key: &[u8]) -> bool {
        let table = &mut self.tables[place];
        let before = size(table);
        let Some(entry) = table.remove(key) else {
            return false;
        };
        shrink(table);
        self.used = self.used + size(table) - before - cost(key, &entry.value);
        true
    }
}

impl Entry {
    fn is_over(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Gives back the places of a table of which few are in use.
fn shrink(table: &mut Table) {
    if table.len() < table.capacity() / 8 {
        table.shrink_to(2 * table.len());
    }
}

/// The bytes that malloc takes for so many: a head, in steps of 16, at least 32.
fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => (bytes + 8).next_multiple_of(16).max(32),
    }
}

fn cost(key: &[u8], value: &[u8]) -> usize {
    allocated(key.len()) + allocated(value.len())
}

/// The bytes of a table: a power of two of places, of which at most 7 of 8 are in use.
fn size(table: &Table) -> usize {
    match table.capacity() {
        0 => 0,
        capacity => size_of_capacity(capacity),
    }
}

fn size_of_capacity(capacity: usize) -> usize {
    let places = (capacity + 1).next_power_of_two();
    allocated(places * (size_of::<(Key, Entry)>() + 1) + 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_key_expires_and_frees_its_memory() {
        let now = Instant::now();
        let mut store = Store::new(10_000);
        store.set(b"a", b"1", Expiry::After(SECOND), now).unwrap();
        store.set(b"b", b"2", Expiry::Never, now).unwrap();
        assert_eq!(store.time_left(b"a", now), Some(Some(SECOND)));
        assert_eq!(store.time_left(b"b", now), Some(None));
        assert_eq!(store.get(b"a", now), Some(&b"1"[..]));
        (0..TABLES).for_each(|_| store.sweep(now + SECOND));
        assert_eq!((store.len(), store.expired), (1, 1));
        assert_eq!(store.get(b"a", now + SECOND), None);
        let one = cost(b"b", b"2");
        let tables: usize = store.tables.iter().map(size).sum();
        assert_eq!(store.used(), one + tables);
    }

    #[test]
    fn a_new_value_keeps_the_expiry_only_if_asked() {
        let now = Instant::now();
        let mut store = Store::new(10_000);
        store.set(b"a", b"1", Expiry::After(SECOND), now).unwrap();
        store.set(b"a", b"2", Expiry::Keep, now).unwrap();
        assert_eq!(store.time_left(b"a", now), Some(Some(SECOND)));
        store.set(b"a", b"3", Expiry::Never, now).unwrap();
        assert_eq!(store.time_left(b"a", now), Some(None));
        assert!(store.set_expiry(b"a", Some(SECOND), now));
        assert!(!store.set_expiry(b"b", Some(SECOND), now));
        assert_eq!(store.get(b"a", now + SECOND), None);
    }

    #[test]
    fn a_full_store_changes_nothing() {
        let now = Instant::now();
        let mut store = Store::new(1000);
        store.set(b"a", b"1", Expiry::Never, now).unwrap();
        let used = store.used();
        for key in [b"a", b"b"] {
            assert_eq!(store.set(key, &[0; 1000], Expiry::Never, now), Err(Full));
        }
        assert_eq!(store.used(), used);
        assert_eq!(store.get(b"a", now), Some(&b"1"[..]));
        assert_eq!(store.len(), 1);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Set(u8, Vec<u8>, Option<u64>),
        Remove(u8),
        Wait(u64),
        Sweep,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (
                0..6_u8,
                vec(any::<u8>(), 0..60),
                proptest::option::of(1..5_u64)
            )
                .prop_map(|(key, value, time)| Step::Set(key, value, time)),
            (0..6_u8).prop_map(Step::Remove),
            (1..4_u64).prop_map(Step::Wait),
            Just(Step::Sweep),
        ]
    }

    proptest! {
        /// The store does what a list of keys with their ends does, and its memory is the sum of the rest.
        #[test]
        fn the_store_is_a_map_with_ends(steps in vec(step(), 0..80)) {
            let mut now = Instant::now();
            let mut store = Store::new(3000);
            let mut known: HashMap<u8, (Vec<u8>, Option<Instant>)> = HashMap::new();
            for step in steps {
                known.retain(|_, (_, end)| end.is_none_or(|end| end > now));
                match step {
                    Step::Set(key, value, time) => {
                        let time = time.map(Duration::from_secs);
                        let expiry = time.map_or(Expiry::Never, Expiry::After);
                        if store.set(&[key], &value, expiry, now).is_ok() {
                            known.insert(key, (value, time.map(|time| now + time)));
                        }
                    }
                    Step::Remove(key) => {
                        prop_assert_eq!(store.remove(&[key], now), known.remove(&key).is_some());
                    }
                    Step::Wait(seconds) => now += Duration::from_secs(seconds),
                    Step::Sweep => {
                        (0..TABLES).for_each(|_| store.sweep(now));
                        prop_assert_eq!(store.len(), known.len());
                        let used: usize = known.iter().map(|(key, (value, _))| cost(&[*key], value)).sum();
                        let tables: usize = store.tables.iter().map(size).sum();
                        prop_assert_eq!(store.used(), used + tables);
                    }
                }
                prop_assert!(store.used() <= 3000);
                known.retain(|_, (_, end)| end.is_none_or(|end| end > now));
                for key in 0..6 {
                    let expected = known.get(&key).map(|(value, _)| &value[..]);
                    prop_assert_eq!(store.get(&[key], now), expected);
                }
            }
        }
    }
}
