//! Connections in memory, for tests.

use std::collections::VecDeque;
use std::net::SocketAddrV4;

use anyhow::Result;

use super::{ConnectionId, Event, Input, Tcp};
use crate::run::Run;
use crate::service::{Served, Service};
use crate::statistics::Statistics;

/// Connections in memory.
#[derive(Default)]
pub struct Memory {
    /// What a client has sent, and what was sent to it.
    pub clients: Vec<(Vec<u8>, Vec<u8>)>,
    /// Clients that take no bytes.
    pub full: Vec<ConnectionId>,
    /// Connections that were reset.
    pub aborted: Vec<ConnectionId>,
    /// The order in which connections received.
    pub order: Vec<ConnectionId>,
    events: VecDeque<Event>,
    turns: u32,
}

impl Memory {
    /// Clients that have sent these bytes.
    pub fn with_clients(clients: &[Vec<u8>]) -> Self {
        let accepted = |id| Event::Accepted { id, port: 1 };
        Self {
            clients: clients
                .iter()
                .map(|input| (input.clone(), vec![]))
                .collect(),
            events: (0..clients.len()).map(accepted).collect(),
            ..Self::default()
        }
    }
}

impl Tcp for Memory {
    fn turn(&mut self) -> bool {
        self.turns += 1;
        true
    }
    fn events(&self) -> usize {
        self.events.len()
    }
    fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    fn wake(&mut self, id: ConnectionId) {
        self.events.push_back(Event::Ready(id));
    }
    fn connect(&mut self, _: SocketAddrV4) -> Option<ConnectionId> {
        None
    }
    fn is_open(&self, _: ConnectionId) -> bool {
        true
    }
    fn receive(&mut self, id: ConnectionId, room: usize, take: &mut dyn FnMut(&[u8])) -> Input {
        self.order.push(id);
        let input = &mut self.clients[id].0;
        let size = input.len().min(room);
        let bytes: Vec<u8> = input.drain(..size).collect();
        take(&bytes);
        Input::Open
    }
    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> usize {
        if self.full.contains(&id) {
            return 0;
        }
        self.clients[id].1.extend_from_slice(bytes);
        bytes.len()
    }
    fn finish(&mut self, _: ConnectionId) {}
    fn release(&mut self, _: ConnectionId) {}
    fn abort(&mut self, id: ConnectionId) {
        self.aborted.push(id);
    }
    fn rest(&mut self, _: bool, _: &Run) -> Result<()> {
        anyhow::ensure!(self.turns < 10, "the end");
        Ok(())
    }
    fn tick(&mut self) {}
    fn end(self, _: &mut Statistics) -> Result<()> {
        Ok(())
    }
}

/// Sends back what it gets, and panics at a `!`.
pub struct Echo;

impl Service for Echo {
    type Connection = ();
    const REQUEST_LIMIT: usize = 1 << 20;
    const ANSWER_LIMIT: usize = 0;

    fn serve(&mut self, (): &mut (), input: &[u8], output: &mut Vec<u8>) -> Served {
        assert!(!input.contains(&b'!'), "a bug");
        output.extend_from_slice(input);
        Served {
            consumed: input.len(),
            ..Served::default()
        }
    }
}
