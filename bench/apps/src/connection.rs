//! A connection of a service: the bytes that wait for it, and those that wait for the client.

use std::time::{Duration, Instant};

use crate::service::{Service, OUTPUT_LIMIT};
use crate::tcp::{ConnectionId, Input, Tcp};

/// Buffers that a connection no longer needs are kept up to this size.
const KEPT: usize = 16 * 1024;

/// Bytes that a connection receives in one turn. Then it is the turn of the others.
pub const TURN: usize = 16 * 1024;

/// A request or an answer that moves more slowly, in bytes a second, has no more time than `--request-timeout`.
const SLOWEST: u64 = 4096;

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing is left to do until bytes arrive or are taken.
    Waits,
    /// There is more to do in the next turn.
    GoesOn,
    /// All is answered and sent, and nothing more will come of it.
    Done,
    /// The client has reset the connection.
    Reset,
}

/// A connection that a client has opened.
pub struct Connection<S: Service> {
    state: S::Connection,
    /// Bytes of requests that are not whole yet.
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes at the start of `output` that are sent.
    sent: usize,
    /// The service wants to close.
    closing: bool,
    /// The client sends no more.
    ended: bool,
    /// The service has more output.
    more: bool,
    /// The service has stopped because answers wait.
    blocked: bool,
    /// A request has begun whose bytes are consumed.
    unfinished: bool,
    /// A request was finished in this turn.
    finished: bool,
    /// When bytes last moved.
    since: Instant,
    /// When the request or the answer that is not whole has begun, and how many bytes have moved since.
    begun: Option<(Instant, u64)>,
}

impl<S: Service> Connection<S> {
    /// A new connection.
    pub fn new(now: Instant) -> Self {
        Self {
            state: S::Connection::default(),
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            closing: false,
            ended: false,
            more: false,
            blocked: false,
            unfinished: false,
            finished: false,
            since: now,
            begun: None,
        }
    }

    /// Moves bytes between the client and the service, at most as many as a turn may. Returns also how many bytes arrived,
    /// and how many were sent.
    pub fn turn(
        &mut self,
        service: &mut S,
        tcp: &mut dyn Tcp,
        id: ConnectionId,
        now: Instant,
    ) -> (Turn, usize, usize) {
        if self.can_serve() {
            self.serve_waiting(service);
        }
        let room = self.room();
        let mut received = 0;
        let input = tcp.receive(id, room, &mut |bytes| {
            received += bytes.len();
            self.receive(service, bytes);
        });
        match input {
            Input::Open => {}
            Input::Ended => self.ended = true,
            Input::Reset => return (Turn::Reset, received, 0),
        }
        let sent = if self.has_output() {
            tcp.send(id, &self.output[self.sent..])
        } else {
            0
        };
        self.note_sent(sent);
        self.note_progress(received + sent, now);
        let no_more = self.closing || self.ended && !self.more && !self.blocked;
        // Bytes that had no room bring no further event.
        let may_have_more = received == room && self.room() > 0;
        let turn = if no_more && !self.has_output() {
            Turn::Done
        } else if self.can_serve() || may_have_more {
            Turn::GoesOn
        } else {
            Turn::Waits
        };
        (turn, received, sent)
    }

    /// How many more bytes of the client the connection takes in this turn. None while answers wait.
    fn room(&self) -> usize {
        if self.closing || self.output.len() - self.sent >= OUTPUT_LIMIT {
            return 0;
        }
        S::REQUEST_LIMIT.saturating_sub(self.input.len()).min(TURN)
    }

    /// Whether the service can go on without more bytes of the client.
    fn can_serve(&self) -> bool {
        self.room() > 0 && (self.more || self.blocked)
    }

    fn receive(&mut self, service: &mut S, bytes: &[u8]) {
        if self.input.is_empty() {
            // The usual case: whole requests, which need no copy.
            let consumed = self.serve(service, bytes);
            self.input
                .extend_from_slice(bytes.get(consumed..).unwrap_or_default());
        } else {
            self.input.extend_from_slice(bytes);
            self.serve_waiting(service);
        }
    }

    fn serve_waiting(&mut self, service: &mut S) {
        let input = std::mem::take(&mut self.input);
        let consumed = self.serve(service, &input);
        self.input = input;
        self.input.drain(..consumed.min(self.input.len()));
        if self.input.is_empty() && self.input.capacity() > KEPT {
            self.input = Vec::new();
        }
    }

    /// Serves the requests of `input`. Returns how many bytes of it are done with.
    fn serve(&mut self, service: &mut S, input: &[u8]) -> usize {
        if self.closing {
            return input.len();
        }
        self.output.drain(..self.sent);
        self.sent = 0;
        let served = service.serve(&mut self.state, input, &mut self.output);
        self.more = served.more;
        self.unfinished = served.unfinished;
        self.closing = served.close;
        self.blocked = served.consumed < input.len() && self.output.len() >= OUTPUT_LIMIT;
        self.finished |= served.consumed > 0 && !served.unfinished;
        if served.close {
            input.len()
        } else {
            served.consumed
        }
    }

    fn note_sent(&mut self, sent: usize) {
        self.sent += sent;
        if self.sent == self.output.len() {
            self.sent = 0;
            self.output.clear();
            if self.output.capacity() > KEPT {
                self.output = Vec::new();
            }
        }
    }

    fn note_progress(&mut self, moved: usize, now: Instant) {
        if moved > 0 {
            self.since = now;
        }
        let half_way = !self.input.is_empty() || self.has_output() || self.more || self.unfinished;
        if !half_way || std::mem::take(&mut self.finished) {
            self.begun = None;
        }
        if half_way {
            self.begun.get_or_insert((now, 0)).1 += moved as u64;
        }
    }

    fn has_output(&self) -> bool {
        self.sent < self.output.len()
    }

    /// Whether nothing has moved for so long.
    pub fn is_idle(&self, limit: Duration, now: Instant) -> bool {
        now - self.since > limit
    }

    /// Whether a request or an answer takes longer than `limit` and the time that its bytes may take.
    pub fn is_slow(&self, limit: Duration, now: Instant) -> bool {
        self.begun.is_some_and(|(begun, moved)| {
            now - begun > limit + Duration::from_secs(moved / SLOWEST)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::memory::{Echo, Memory};

    #[test]
    fn a_client_that_reads_late_gets_all_answers() {
        let much = vec![b'x'; 4 * OUTPUT_LIMIT];
        let mut tcp = Memory::with_clients(std::slice::from_ref(&much));
        tcp.full.push(0);
        let mut connection = Connection::<Echo>::new(Instant::now());
        let mut goes_on =
            || connection.turn(&mut Echo, &mut tcp, 0, Instant::now()).0 == Turn::GoesOn;
        while goes_on() {}
        // The client reads all. That is one event, and no more bytes arrive.
        tcp.full.clear();
        let mut goes_on =
            || connection.turn(&mut Echo, &mut tcp, 0, Instant::now()).0 == Turn::GoesOn;
        while goes_on() {}
        assert_eq!(tcp.clients[0].1.len(), much.len());
    }
}
