//! The connection table: bounded, with a list of the connections in each state by age.

use std::collections::HashMap;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use smoltcp::wire::{EthernetAddress, TcpSeqNumber};

/// The end of a list.
const NONE: u32 = u32::MAX;

/// What a connection is in. Each state has a list, the oldest connection first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The handshake is not complete.
    Opening,
    /// The handshake is complete.
    Open,
    /// Both sides have closed, or one has reset.
    Closing,
}

/// The states, in the order of the timeouts.
pub const STATES: [State; 3] = [State::Opening, State::Open, State::Closing];

/// The list of slots without a connection. The others follow the states.
const FREE: usize = STATES.len();

/// What identifies a connection of a client: its address, and the port to which it connects.
pub type Flow = (SocketAddrV4, u16);

/// A connection from a client to a backend.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub client: SocketAddrV4,
    pub client_mac: EthernetAddress,
    /// The port that the client connected to.
    pub port: u16,
    pub frontend: usize,
    pub backend: usize,
    /// The backend has answered the SYN.
    pub answered: bool,
    /// The client has closed: the number after its FIN.
    pub client_end: Option<TcpSeqNumber>,
    pub backend_closed: bool,
    /// One side has reset the connection.
    pub is_reset: bool,
}

impl Connection {
    /// Whether both sides have closed.
    pub fn has_closed(&self) -> bool {
        self.client_end.is_some() && self.backend_closed
    }

    /// What identifies it.
    pub fn flow(&self) -> Flow {
        (self.client, self.port)
    }
}

#[derive(Clone, Copy)]
struct Slot {
    connection: Option<Connection>,
    since: Instant,
    list: usize,
    previous: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
    length: usize,
}

/// The connections. The number of a slot stays that of its connection, and gives it its port.
pub struct Connections {
    slots: Vec<Slot>,
    lists: [List; FREE + 1],
    /// Keyed by a secret, so that clients cannot choose flows that meet in one bucket.
    by_flow: HashMap<Flow, u32>,
    timeouts: [Duration; FREE],
}

impl Connections {
    /// A table without connections. All memory is taken here.
    pub fn new(size: u32, timeouts: [Duration; FREE], now: Instant) -> Self {
        let empty = Slot {
            connection: None,
            since: now,
            list: FREE,
            previous: NONE,
            next: NONE,
        };
        let list = List {
            first: NONE,
            last: NONE,
            length: 0,
        };
        let mut table = Self {
            slots: vec![empty; size as usize],
            lists: [list; FREE + 1],
            by_flow: HashMap::with_capacity(size as usize),
            timeouts,
        };
        for slot in 0..size {
            table.append(slot, FREE);
        }
        table
    }

    /// The slot of a flow.
    pub fn find(&self, flow: &Flow) -> Option<u32> {
        self.by_flow.get(flow).copied()
    }

    /// The connection of a slot.
    pub fn get(&mut self, slot: u32) -> Option<&mut Connection> {
        self.slots.get_mut(slot as usize)?.connection.as_mut()
    }

    /// The state of a slot that has a connection.
    pub fn state(&self, slot: u32) -> Option<State> {
        STATES.get(self.slots.get(slot as usize)?.list).copied()
    }

    /// Adds a connection whose flow is not in the table. Uses the slot that has been free for the longest time, so
    /// that its port comes back late. In a full table, the oldest connection that is closing or opening has to go.
    /// Returns the slot, and the connection that had it and had to go. `None` if all connections are open.
    pub fn insert(
        &mut self,
        connection: Connection,
        now: Instant,
    ) -> Option<(u32, Option<Connection>)> {
        let mut evicted = None;
        if self.lists[FREE].length == 0 {
            let oldest = [State::Closing, State::Opening]
                .map(|state| self.lists[state as usize].first)
                .into_iter()
                .find(|slot| *slot != NONE)?;
            evicted = self.remove(oldest);
        }
        let slot = self.lists[FREE].first;
        self.by_flow.insert(connection.flow(), slot);
        self.slots[slot as usize].connection = Some(connection);
        self.set_state(slot, State::Opening, now);
        Some((slot, evicted))
    }

    /// Gives a connection a state, and makes it the youngest of that state.
    pub fn set_state(&mut self, slot: u32, state: State, now: Instant) {
        self.unlink(slot);
        self.append(slot, state as usize);
        self.slots[slot as usize].since = now;
    }

    /// Forgets the connection of a slot, and returns it.
    pub fn remove(&mut self, slot: u32) -> Option<Connection> {
        let connection = self.slots.get_mut(slot as usize)?.connection.take()?;
        self.by_flow.remove(&connection.flow());
        self.unlink(slot);
        self.append(slot, FREE);
        Some(connection)
    }

    /// Forgets a connection whose time is over, and returns it with its slot and its last state.
    pub fn expire(&mut self, now: Instant) -> Option<(u32, Connection, State)> {
        for (state, timeout) in STATES.into_iter().zip(self.timeouts) {
            let oldest = self.lists[state as usize].first;
            let over = self
                .slots
                .get(oldest as usize)
                .is_some_and(|slot| now.saturating_duration_since(slot.since) >= timeout);
            if over {
                return self
                    .remove(oldest)
                    .map(|connection| (oldest, connection, state));
            }
        }
        None
    }

    /// Connections in a state.
    pub fn count(&self, state: State) -> usize {
        self.lists[state as usize].length
    }

    /// Connections that there can be.
    pub fn size(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that the table takes, at least.
    pub fn memory(&self) -> usize {
        self.slots.len() * size_of::<Slot>() + self.by_flow.capacity() * size_of::<(Flow, u32)>()
    }

    fn unlink(&mut self, slot: u32) {
        let Slot {
            list,
            previous,
            next,
            ..
        } = self.slots[slot as usize];
        match previous {
            NONE => self.lists[list].first = next,
            previous => self.slots[previous as usize].next = next,
        }
        match next {
            NONE => self.lists[list].last = previous,
            next => self.slots[next as usize].previous = previous,
        }
        self.lists[list].length -= 1;
    }

    fn append(&mut self, slot: u32, list: usize) {
        let last = self.lists[list].last;
        match last {
            NONE => self.lists[list].first = slot,
            last => self.slots[last as usize].next = slot,
        }
        self.lists[list].last = slot;
        self.lists[list].length += 1;
        let entry = &mut self.slots[slot as usize];
        entry.list = list;
        entry.previous = last;
        entry.next = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECONDS: [Duration; 3] = [
        Duration::from_secs(5),
        Duration::from_secs(300),
        Duration::from_secs(2),
    ];

    fn connection(client_port: u16) -> Connection {
        Connection {
            client: SocketAddrV4::new([10, 0, 0, 1].into(), client_port),
            client_mac: EthernetAddress([2, 0, 0, 0, 0, 1]),
            port: 80,
            frontend: 0,
            backend: 0,
            answered: false,
            client_end: None,
            backend_closed: false,
            is_reset: false,
        }
    }

    #[test]
    fn a_full_table_forgets_what_is_closing_then_what_is_opening_and_never_what_is_open() {
        let now = Instant::now();
        let mut table = Connections::new(3, SECONDS, now);
        for port in 1..=3 {
            let (slot, evicted) = table.insert(connection(port), now).unwrap();
            assert!(evicted.is_none());
            assert_eq!(slot, u32::from(port) - 1);
        }
        table.set_state(0, State::Open, now);
        table.set_state(2, State::Closing, now);
        let mut evict = |port| {
            let (slot, evicted) = table.insert(connection(port), now)?;
            table.set_state(slot, State::Open, now);
            Some(evicted.unwrap().client.port())
        };
        assert_eq!(evict(4), Some(3));
        assert_eq!(evict(5), Some(2));
        assert_eq!(evict(6), None);
        assert_eq!(table.count(State::Open), 3);
    }

    #[test]
    fn a_connection_expires_by_its_state() {
        let now = Instant::now();
        let mut table = Connections::new(3, SECONDS, now);
        for port in 1..=3 {
            table.insert(connection(port), now).unwrap();
        }
        table.set_state(1, State::Open, now);
        table.set_state(2, State::Closing, now);
        let mut expired_after = |seconds| {
            let expired = table.expire(now + Duration::from_secs(seconds));
            expired.map(|(_, connection, state)| (connection.client.port(), state))
        };
        assert_eq!(expired_after(1), None);
        assert_eq!(expired_after(2), Some((3, State::Closing)));
        assert_eq!(expired_after(4), None);
        assert_eq!(expired_after(5), Some((1, State::Opening)));
        assert_eq!(expired_after(299), None);
        assert_eq!(expired_after(300), Some((2, State::Open)));
        assert_eq!(expired_after(1000), None);
    }

    #[test]
    fn a_free_slot_comes_back_late() {
        let now = Instant::now();
        let mut table = Connections::new(4, SECONDS, now);
        let slots: Vec<_> = (1..=6)
            .map(|port| {
                let (slot, _) = table.insert(connection(port), now).unwrap();
                table.remove(slot);
                slot
            })
            .collect();
        assert_eq!(slots, [0, 1, 2, 3, 0, 1]);
    }

    proptest! {
        #[test]
        fn every_slot_is_in_one_list_and_every_flow_leads_to_its_slot(
            steps in prop::collection::vec((0..4_u8, 0..12_u16, 0..8_u32), 0..200),
        ) {
            let now = Instant::now();
            let mut table = Connections::new(8, SECONDS, now);
            for (step, port, slot) in steps {
                match step {
                    0 | 1 if table.find(&connection(port).flow()).is_none() => {
                        table.insert(connection(port), now);
                    }
                    2 if table.get(slot).is_some() => {
                        table.set_state(slot, STATES[usize::from(port) % 3], now);
                    }
                    3 => {
                        table.remove(slot);
                    }
                    _ => {}
                }
                let mut seen = 0;
                for list in 0..=FREE {
                    let (mut at, mut length, mut previous) = (table.lists[list].first, 0, NONE);
                    while at != NONE {
                        let slot = table.slots[at as usize];
                        prop_assert_eq!((slot.list, slot.previous), (list, previous));
                        prop_assert_eq!(slot.connection.is_none(), list == FREE);
                        if let Some(connection) = slot.connection {
                            prop_assert_eq!(table.find(&connection.flow()), Some(at));
                        }
                        (previous, at, length) = (at, slot.next, length + 1);
                    }
                    prop_assert_eq!(table.lists[list].last, previous);
                    prop_assert_eq!(table.lists[list].length, length);
                    seen += length;
                }
                prop_assert_eq!(seen, 8);
                prop_assert_eq!(table.by_flow.len(), 8 - table.lists[FREE].length);
            }
        }
    }
}
