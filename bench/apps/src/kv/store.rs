//! The keys and their values, with expiry and a bound of memory.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// What a key costs besides its bytes and those of its value: the entry and the table's free places.
const ENTRY_COST: usize = 128;

/// Keys that a sweep removes at most, so that clients do not wait.
const SWEEP: usize = 1000;

struct Entry {
    value: Vec<u8>,
    expires: Option<Instant>,
}

/// The keys of a store.
pub struct Store {
    entries: HashMap<Box<[u8]>, Entry>,
    /// The keys that expire, the next one first.
    expiring: BTreeSet<(Instant, Box<[u8]>)>,
    used: usize,
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
            entries: HashMap::new(),
            expiring: BTreeSet::new(),
            used: 0,
            limit,
            expired: 0,
        }
    }

    /// The bytes of all keys and values, with what each costs.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value of a key.
    pub fn get(&mut self, key: &[u8], now: Instant) -> Option<&[u8]> {
        self.expire(key, now);
        self.entries.get(key).map(|entry| &entry.value[..])
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
        self.expire(key, now);
        let old = self.entries.get(key);
        let kept = old.and_then(|entry| entry.expires);
        let before = old.map_or(0, |entry| cost(key, &entry.value));
        let used = self.used - before + cost(key, value);
        if used > self.limit {
            return Err(Full);
        }
        let expires = match expiry {
            Expiry::Never => None,
            Expiry::Keep => kept,
            Expiry::After(time) => now.checked_add(time),
        };
        self.note_expiry(key, kept, expires);
        self.used = used;
        match self.entries.get_mut(key) {
            Some(entry) => {
                entry.value.clear();
                entry.value.extend_from_slice(value);
                entry.value.shrink_to(2 * value.len());
                entry.expires = expires;
            }
            None => {
                let value = value.to_vec();
                self.entries.insert(key.into(), Entry { value, expires });
            }
        }
        Ok(())
    }

    /// Removes a key. Returns whether it was there.
    pub fn remove(&mut self, key: &[u8], now: Instant) -> bool {
        self.expire(key, now);
        self.take(key)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.entries = HashMap::new();
        self.expiring.clear();
        self.used = 0;
    }

    /// Lets a key expire. Returns whether it was there.
    pub fn set_expiry(&mut self, key: &[u8], expires: Option<Duration>, now: Instant) -> bool {
        self.expire(key, now);
        let expires = expires.and_then(|time| now.checked_add(time));
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        let before = std::mem::replace(&mut entry.expires, expires);
        self.note_expiry(key, before, expires);
        true
    }

    /// The time that a key has left: `None` if there is no such key, `Some(None)` if it does not expire.
    pub fn time_left(&mut self, key: &[u8], now: Instant) -> Option<Option<Duration>> {
        self.expire(key, now);
        let entry = self.entries.get(key)?;
        Some(
            entry
                .expires
                .map(|expires| expires.saturating_duration_since(now)),
        )
    }

    /// Removes keys that have expired, so that their memory is free although no client asks for them.
    pub fn sweep(&mut self, now: Instant) {
        for _ in 0..SWEEP {
            match self.expiring.first() {
                Some((expires, key)) if *expires <= now => {
                    let key = key.clone();
                    self.expire(&key, now);
                }
                _ => return,
            }
        }
    }

    fn note_expiry(&mut self, key: &[u8], before: Option<Instant>, after: Option<Instant>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.expiring.remove(&(before, key.into()));
        }
        if let Some(after) = after {
            self.expiring.insert((after, key.into()));
        }
    }

    /// Removes a key if its time is over.
    fn expire(&mut self, key: &[u8], now: Instant) {
        let over = |entry: &Entry| entry.expires.is_some_and(|expires| expires <= now);
        if !self.expiring.is_empty() && self.entries.get(key).is_some_and(over) {
            self.expired += u64::from(self.take(key));
        }
    }

    fn take(&mut self, key: &[u8]) -> bool {
        let Some(entry) = self.entries.remove(key) else {
            return false;
        };
        self.used -= cost(key, &entry.value);
        self.note_expiry(key, entry.expires, None);
        true
    }
}

fn cost(key: &[u8], value: &[u8]) -> usize {
    key.len() + value.len() + ENTRY_COST
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
        store.sweep(now + SECOND);
        assert_eq!((store.len(), store.expired), (1, 1));
        assert_eq!(store.get(b"a", now + SECOND), None);
        assert_eq!(store.used(), cost(b"b", b"2"));
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
        let mut store = Store::new(2 * ENTRY_COST);
        store.set(b"a", b"1", Expiry::Never, now).unwrap();
        assert_eq!(
            store.set(b"b", &[0; ENTRY_COST], Expiry::Never, now),
            Err(Full)
        );
        assert_eq!(
            store.set(b"a", &[0; 2 * ENTRY_COST], Expiry::Never, now),
            Err(Full)
        );
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
            let mut store = Store::new(700);
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
                        store.sweep(now);
                        prop_assert_eq!(store.len(), known.len());
                        let used: usize = known.iter().map(|(key, (value, _))| cost(&[*key], value)).sum();
                        prop_assert_eq!(store.used(), used);
                    }
                }
                prop_assert!(store.used() <= 700);
                known.retain(|_, (_, end)| end.is_none_or(|end| end > now));
                for key in 0..6 {
                    let expected = known.get(&key).map(|(value, _)| &value[..]);
                    prop_assert_eq!(store.get(&[key], now), expected);
                }
            }
        }
    }
}
