//! Consistent hashing as Maglev's (Eisenbud and others, NSDI 2016, section 3.4).
//!
//! Each backend fills its share of a table, in an order of its own. So backends get equal shares, and if one comes
//! or goes, most flows of the others keep their backend.

use std::hash::Hasher;
use std::net::SocketAddrV4;

use siphasher::sip::SipHasher13;

/// Entries of the table: a prime, far more than there are backends, as in the paper.
pub const ENTRIES: usize = 65_537;

/// Fixed keys. Another balancer with the same backends makes the same choice.
const OFFSET_KEY: u64 = 1;
const SKIP_KEY: u64 = 2;
const FLOW_KEY: u64 = 3;

/// A lookup table.
pub struct Maglev {
    /// The number of a backend for each entry. Empty if there are none.
    entries: Vec<u16>,
}

fn hash(key: u64, parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key, 0);
    for part in parts {
        hasher.write(part);
    }
    hasher.finish()
}

impl Maglev {
    /// The table of some backends: each has a number and a name. The order does not matter, but the names do.
    pub fn new<'n>(backends: impl IntoIterator<Item = (u16, &'n str)>) -> Self {
        let mut backends: Vec<_> = backends.into_iter().collect();
        backends.sort_unstable_by_key(|(_, name)| *name);
        if backends.is_empty() {
            return Self {
                entries: Vec::new(),
            };
        }
        // The next entry that each backend wants, and how far it goes on from there.
        let entries = ENTRIES as u64;
        let mut wishes: Vec<(u64, u64)> = backends
            .iter()
            .map(|(_, name)| {
                let name = name.as_bytes();
                let offset = hash(OFFSET_KEY, &[name]) % entries;
                let skip = hash(SKIP_KEY, &[name]) % (entries - 1) + 1;
                (offset, skip)
            })
            .collect();
        let mut table = vec![None; ENTRIES];
        let mut left = ENTRIES;
        // The backends take an entry each in turn, until no entry is left.
        'fill: loop {
            for ((number, _), (next, skip)) in backends.iter().zip(&mut wishes) {
                loop {
                    let entry = *next as usize;
                    *next = (*next + *skip) % entries;
                    if table[entry].is_none() {
                        table[entry] = Some(*number);
                        break;
                    }
                }
                left -= 1;
                if left == 0 {
                    break 'fill;
                }
            }
        }
        Self {
            entries: table.into_iter().flatten().collect(),
        }
    }

    /// The backend for a client's connection to a port. `None` if there are no backends.
    pub fn choose(&self, client: SocketAddrV4, port: u16) -> Option<u16> {
        let flow = hash(
            FLOW_KEY,
            &[
                &client.ip().octets(),
                &client.port().to_be_bytes(),
                &port.to_be_bytes(),
            ],
        );
        let entry = flow.checked_rem(self.entries.len() as u64)?;
        self.entries.get(entry as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    fn table(numbers: &[u16]) -> Maglev {
        Maglev::new(
            numbers
                .iter()
                .map(|number| (*number, NAMES[usize::from(*number)])),
        )
    }

    fn shares(maglev: &Maglev) -> [usize; 8] {
        let mut shares = [0; 8];
        for number in &maglev.entries {
            shares[usize::from(*number)] += 1;
        }
        shares
    }

    #[test]
    fn without_backends_there_is_no_choice() {
        let client = "10.0.0.1:1".parse().unwrap();
        assert_eq!(table(&[]).choose(client, 80), None);
    }

    #[test]
    fn the_shares_differ_by_one_entry_at_most() {
        for count in 1..=8 {
            let numbers: Vec<u16> = (0..count).collect();
            let shares = shares(&table(&numbers));
            let shares = &shares[..usize::from(count)];
            let (low, high) = (shares.iter().min(), shares.iter().max());
            assert!(high.unwrap() - low.unwrap() <= 1, "{shares:?}");
        }
    }

    #[test]
    fn a_backend_that_goes_moves_few_flows_of_the_others() {
        let before = table(&[0, 1, 2, 3, 4, 5, 6, 7]);
        for gone in 0..8 {
            let numbers: Vec<u16> = (0..8).filter(|number| *number != gone).collect();
            let after = table(&numbers);
            let moved = before
                .entries
                .iter()
                .zip(&after.entries)
                .filter(|(before, after)| **before != gone && before != after)
                .count();
            // The paper's figure 12 has a few percent for a table of this size.
            assert!(moved < ENTRIES * 4 / 100, "{moved} of {ENTRIES} moved");
        }
    }

    #[test]
    fn the_choice_is_the_same_in_each_version() {
        let client = |port: u16| SocketAddrV4::new([10, 0, 0, 1].into(), port);
        let maglev = table(&[0, 1, 2, 3]);
        let choices: Vec<_> = (1000..1008)
            .map(|port| maglev.choose(client(port), 80).unwrap())
            .collect();
        assert_eq!(choices, CHOICES);
    }

    /// Recorded. Balancers of two versions that run side by side have to agree.
    const CHOICES: [u16; 8] = [1, 0, 2, 2, 3, 2, 2, 0];

    proptest! {
        #[test]
        fn the_order_of_the_backends_does_not_matter(
            numbers in Just((0..8).collect::<Vec<u16>>()).prop_shuffle(),
            port: u16,
        ) {
            let client = SocketAddrV4::new([192, 0, 2, 7].into(), port);
            let sorted = table(&[0, 1, 2, 3, 4, 5, 6, 7]).choose(client, 80);
            prop_assert_eq!(table(&numbers).choose(client, 80), sorted);
        }
    }
}
