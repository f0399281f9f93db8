//! Checks of the backends: a connection to each in turn, or a request of HTTP.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use super::config::{BackendConfig, HealthConfig};
use super::stats::{BackendCounts, State};
use crate::tcp::{ConnectionId, Input, Tcp};

/// The start of an answer with its status: `HTTP/1.1 200`.
const STATUS: usize = 12;

/// The checks of a backend.
pub struct Check {
    address: SocketAddrV4,
    request: Option<Vec<u8>>,
    config: HealthConfig,
    /// The connection of the check that is under way.
    id: Option<ConnectionId>,
    started: Instant,
    next: Instant,
    asked: bool,
    answer: Vec<u8>,
    /// Results in a row that contradict the state.
    streak: u32,
    is_known: bool,
}

impl Check {
    /// The checks of a backend. The first one starts at once.
    pub fn new(backend: &BackendConfig, config: &HealthConfig, now: Instant) -> Self {
        let request = config.path.as_ref().map(|path| {
            let address = backend.address;
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        });
        Self {
            address: backend.address,
            request: request.map(String::into_bytes),
            config: config.clone(),
            id: None,
            started: now,
            next: now,
            asked: false,
            answer: Vec::new(),
            streak: 0,
            is_known: false,
        }
    }

    /// Starts a check if its time has come. Returns its connection. Without room for one, the next tick tries again.
    pub fn start(&mut self, tcp: &mut dyn Tcp, now: Instant) -> Option<ConnectionId> {
        if self.id.is_some() || now < self.next {
            return None;
        }
        self.id = Some(tcp.connect(self.address)?);
        self.next = now + Duration::from_millis(self.config.interval_ms);
        self.started = now;
        self.asked = false;
        self.answer.clear();
        self.id
    }

    /// Whether the check takes too long.
    pub fn is_late(&self, now: Instant) -> bool {
        let limit = Duration::from_millis(self.config.timeout_ms);
        self.id.is_some() && now - self.started >= limit
    }

    /// Goes on with the check. Returns what the backend has shown, if it has.
    pub fn look(&mut self, tcp: &mut dyn Tcp) -> Option<State> {
        let id = self.id?;
        let answer = &mut self.answer;
        let room = STATUS - answer.len();
        let input = tcp.receive(id, room, &mut |bytes| answer.extend_from_slice(bytes));
        if answer.len() == STATUS {
            return Some(state_of(answer));
        }
        match (input, &self.request) {
            (Input::Open, _) if !tcp.is_open(id) => None,
            (Input::Open, None) => Some(State::Up),
            (Input::Open, Some(request)) => {
                if !self.asked {
                    self.asked = true;
                    if tcp.send(id, request) != request.len() {
                        return Some(State::Down);
                    }
                }
                None
            }
            (Input::Ended | Input::Reset, _) => Some(State::Down),
        }
    }

    /// Ends the check with what the backend has shown. Returns the backend's new state, if it changes.
    pub fn end(
        &mut self,
        tcp: &mut dyn Tcp,
        shown: State,
        counts: &mut BackendCounts,
    ) -> Option<State> {
        // A reset: the backend shall not wait for us.
        tcp.abort(self.id.take()?);
        counts.checks += 1;
        counts.checks_failed += u64::from(shown == State::Down);
        let was_down = counts.state == State::Down;
        let is_down = shown == State::Down;
        let needed = match (self.is_known, was_down, is_down) {
            (true, true, false) => self.config.rise,
            (true, false, true) => self.config.fall,
            // The first result counts at once. So does the word of a backend that it drains, or drains no more.
            _ => 1,
        };
        if self.is_known && shown == counts.state {
            self.streak = 0;
            return None;
        }
        self.streak += 1;
        if self.streak < needed {
            return None;
        }
        self.streak = 0;
        self.is_known = true;
        counts.state = shown;
        counts.is_up = shown == State::Up;
        eprintln!("backend {} is {}", counts.name, shown.word());
        Some(shown)
    }
}

/// What an answer says of a backend.
fn state_of(answer: &[u8]) -> State {
    match answer {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', _, b' ', b'2', ..] => State::Up,
        [.., b' ', b'5', b'0', b'3'] if answer.starts_with(b"HTTP/1.") => State::Draining,
        _ => State::Down,
    }
}
