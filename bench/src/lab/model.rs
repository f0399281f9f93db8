//! Rings, buffers and pool at a moment, and what a step changes of them.
//!
//! Descriptors and registers are read. Who owns a buffer follows from them, from the pool's stack in the driver's memory,
//! and from what the driver has written to descriptors that the card has overwritten since.

use std::collections::{BTreeMap, BTreeSet};

use nic::registers as r;
use nic::{Port, RingView};
use safety_lab::canaries::{BUFFER, DATA, POOL_CAPACITY};

use super::format::{Descriptor, Pool, Step};

/// Descriptors of a ring in the programs of the safety lab.
pub const RING_SIZE: usize = 64;
/// Buffers of a pool of the lab's programs.
pub const BUFFERS: usize = POOL_CAPACITY as usize;
/// Bytes of data that fit in a buffer.
pub const MAX_SIZE: u64 = BUFFER - DATA;
/// Bytes of a descriptor.
pub const DESCRIPTOR: u64 = 16;
/// Buffers of the stack that a recording shows.
const SHOWN: usize = 8;

/// Which ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    Receive,
    Transmit,
}

/// What a receive descriptor says: whether the card has set DD, whether the frame ends, and the length.
pub fn rx_status(upper: u64) -> (bool, bool, u64) {
    (
        upper & r::RXD_DD != 0,
        upper & r::RXD_EOP != 0,
        upper >> 32 & 0xffff,
    )
}

/// The words of 8 bytes.
pub fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    bytes.chunks_exact(8).map(word)
}

/// What one can see at a moment.
#[derive(Clone, Debug, Default)]
pub struct View {
    registers: BTreeMap<&'static str, u32>,
    rings: [Vec<Descriptor>; 2],
    owners: BTreeMap<usize, &'static str>,
    pool: Option<Pool>,
}

/// What the driver has done with buffers, as far as the rings do not say it.
#[derive(Debug, Default)]
pub struct Model {
    /// IOVA of the pool.
    pub pool: u64,
    /// The buffer that each descriptor of a ring last pointed to.
    pub slots: [BTreeMap<usize, usize>; 2],
    /// The pool's free buffers, the top last, once they are known.
    pub free: Option<Vec<usize>>,
    /// Buffers that the driver has taken from the pool, and those that the application has.
    pub taken: BTreeSet<usize>,
    pub held: BTreeSet<usize>,
    /// IOVA of a receive ring that the driver fills before the card knows it.
    pub filled: Option<u64>,
    shown: View,
}

impl Model {
    /// The buffer of the pool at an IOVA, and the offset in it.
    pub fn buffer(&self, iova: u64) -> Option<(usize, u64)> {
        let inside = iova.checked_sub(self.pool)?;
        let number = usize::try_from(inside / BUFFER).ok()?;
        (number < BUFFERS).then_some((number, inside % BUFFER))
    }

    /// The buffer whose data begin at an IOVA.
    pub fn buffer_of(&self, iova: u64) -> Option<usize> {
        let found = self.buffer(iova).filter(|(_, offset)| *offset == DATA);
        found.map(|(number, _)| number)
    }

    /// The ring that the driver fills.
    fn filled(&self, ports: &[Port]) -> Option<Vec<[u64; 2]>> {
        let mut bytes = [0; RING_SIZE * DESCRIPTOR as usize];
        let read = ports[0].driver_memory().read(self.filled?, &mut bytes);
        let words: Vec<_> = words(&bytes).collect();
        read.then(|| {
            words
                .chunks_exact(2)
                .map(|both| [both[0], both[1]])
                .collect()
        })
    }

    fn descriptors(&mut self, ring: Ring, view: &RingView) -> Vec<Descriptor> {
        let mut read = Vec::new();
        for (index, [lower, upper]) in view.descriptors.iter().enumerate() {
            let (done, ends, rx_length) = rx_status(*upper);
            let (state, length) = match ring {
                _ if (*lower, *upper) == (0, 0) => ("zero", None),
                Ring::Receive if done && ends => ("done", Some(rx_length)),
                Ring::Receive if done => ("partial", Some(rx_length)),
                Ring::Receive => ("empty", None),
                Ring::Transmit if upper & r::TXD_DD != 0 => ("done", None),
                Ring::Transmit => ("full", Some(upper & 0xffff)),
            };
            if matches!(state, "empty" | "full") {
                let buffer = self.buffer_of(*lower);
                let slots = &mut self.slots[ring as usize];
                match buffer {
                    Some(number) => slots.insert(index, number),
                    None => slots.remove(&index),
                };
            }
            let words = [*lower, *upper].map(|word| format!("{word:#018x}"));
            let [lower, upper] = words;
            let buffer = self.slot(ring, index);
            read.push(Descriptor(state, buffer, length, lower, upper));
        }
        read
    }

    fn owners(&self, rings: [&RingView; 2]) -> BTreeMap<usize, &'static str> {
        let mut owners = BTreeMap::new();
        for number in &self.held {
            owners.insert(*number, "application");
        }
        for number in &self.taken {
            owners.insert(*number, "driver");
        }
        for (slots, ring) in self.slots.iter().zip(rings) {
            let size = ring.descriptors.len().max(1);
            let behind_head = |index: usize| (index + size - ring.head as usize % size) % size;
            for (index, number) in slots {
                let of_card = behind_head(*index) < behind_head(ring.tail as usize % size);
                owners.insert(*number, if of_card { "device" } else { "driver" });
            }
        }
        for number in self.free.iter().flatten() {
            owners.insert(*number, "pool");
        }
        for number in 0..BUFFERS {
            // Before the first look at the stack, everything else is in the pool.
            let rest = if self.free.is_some() { "none" } else { "pool" };
            owners.entry(number).or_insert(rest);
        }
        owners
    }

    fn look(&mut self, ports: &[Port]) -> View {
        let (mut receive, transmit) = (ports[0].rings().receive, ports[1].rings().transmit);
        if let Some(filled) = self.filled(ports) {
            receive.descriptors = filled;
        }
        let rings = [
            self.descriptors(Ring::Receive, &receive),
            self.descriptors(Ring::Transmit, &transmit),
        ];
        let registers = [
            ("RDH", receive.head),
            ("RDT", receive.tail),
            ("TDH", transmit.head),
            ("TDT", transmit.tail),
        ];
        View {
            registers: registers.into(),
            rings,
            owners: self.owners([&receive, &transmit]),
            pool: self.free.as_ref().map(|free| Pool {
                free: free.len(),
                top: free.iter().rev().take(SHOWN).copied().collect(),
            }),
        }
    }

    /// Adds to a step what has changed since the last one.
    pub fn show(&mut self, ports: &[Port], step: &mut Step) {
        let now = self.look(ports);
        for (descriptors, shown, into) in [
            (&now.rings[0], 0, &mut step.rx),
            (&now.rings[1], 1, &mut step.tx),
        ] {
            let shown = &mut self.shown.rings[shown];
            for (index, descriptor) in descriptors.iter().enumerate() {
                match shown.get_mut(index) {
                    Some(old) if old == descriptor => continue,
                    Some(old) => old.clone_from(descriptor),
                    None => shown.push(descriptor.clone()),
                }
                into.insert(index, descriptor.clone());
            }
        }
        for (name, value) in &now.registers {
            if self.shown.registers.insert(name, *value) != Some(*value) {
                step.registers.insert(name, *value);
            }
        }
        for (number, owner) in &now.owners {
            if self.shown.owners.insert(*number, owner) != Some(*owner) {
                step.owners.insert(*number, owner);
            }
        }
        if now.pool != self.shown.pool {
            self.shown.pool.clone_from(&now.pool);
            step.pool = now.pool;
        }
    }

    /// The buffer of a descriptor.
    pub fn slot(&self, ring: Ring, index: usize) -> Option<usize> {
        self.slots[ring as usize].get(&index).copied()
    }

    /// The place of a buffer, if it has an owner besides the driver's hand.
    pub fn place(&self, number: usize) -> Option<String> {
        if self.free.iter().flatten().any(|free| *free == number) {
            return Some("in the pool".into());
        }
        if self.held.contains(&number) {
            return Some("with the application".into());
        }
        let names = ["receive", "transmit"];
        self.slots.iter().zip(names).find_map(|(slots, name)| {
            let (index, _) = slots.iter().find(|(_, slot)| **slot == number)?;
            Some(format!("in descriptor {index} of the {name} ring"))
        })
    }
}
