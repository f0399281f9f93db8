//! Clients and backends, and the bytes between them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::config::Config;
use super::health::Check;
use super::stats::{Counts, State, StatsSite};
use crate::connection::TURN;
use crate::http::Http;
use crate::run::Limits;
use crate::statistics::Statistics;
use crate::tcp::{Application, ConnectionId, Input, Server, Tcp};

/// Bytes of one direction that wait for room at the other side. Beyond, the sender has to wait.
const PIPE: usize = 32 * 1024;

/// A backend answers a SYN in this time, or another one is tried.
const CONNECT: Duration = Duration::from_secs(1);

/// After one side has closed, the other one has this time to send something, or to close too.
const CLOSING: Duration = Duration::from_secs(10);

/// The bytes from one side to the other.
#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    /// Bytes at the start that are sent.
    sent: usize,
    /// The sender sends no more.
    ended: bool,
    /// The receiver knows.
    finished: bool,
}

/// What became of a direction in a turn.
#[derive(Default)]
struct Moved {
    received: u64,
    sent: u64,
    /// The sender may have more, and there is room.
    more: bool,
    reset: bool,
}

impl Pipe {
    /// Moves bytes, as many as a turn may.
    fn turn(&mut self, tcp: &mut dyn Tcp, from: ConnectionId, to: ConnectionId) -> Moved {
        let mut moved = Moved::default();
        let room = (PIPE - (self.bytes.len() - self.sent)).min(TURN);
        if self.sent > 0 && self.bytes.len() + room > PIPE {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        let bytes = &mut self.bytes;
        let input = tcp.receive(from, room, &mut |part| {
            moved.received += part.len() as u64;
            bytes.extend_from_slice(part);
        });
        self.ended |= input == Input::Ended;
        moved.reset = input == Input::Reset;
        if self.sent < self.bytes.len() && tcp.is_open(to) {
            let sent = tcp.send(to, &self.bytes[self.sent..]);
            self.sent += sent;
            moved.sent = sent as u64;
        }
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
            if self.ended && !self.finished && tcp.is_open(to) {
                self.finished = true;
                tcp.finish(to);
            }
        }
        // Bytes that had no room bring no further event.
        let has_room = self.bytes.len() - self.sent < PIPE;
        moved.more = has_room && moved.received == room as u64;
        moved
    }
}

/// A client and its backend.
struct Pair {
    client: ConnectionId,
    server: ConnectionId,
    frontend: usize,
    backend: usize,
    /// Backends that were tried.
    tried: usize,
    /// The backend has answered.
    is_open: bool,
    to_server: Pipe,
    to_client: Pipe,
    /// When bytes last moved, or a backend was tried.
    since: Instant,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Free,
    /// A client, with a pair.
    Client,
    /// A backend of this client.
    Server(ConnectionId),
    /// The check of a backend.
    Check(usize),
    /// A client of the statistics.
    Stats,
}

/// A frontend: its port, its backends by number, and the one that is next.
struct Frontend {
    port: u16,
    backends: Vec<usize>,
    next: usize,
}

/// A load balancer.
pub struct Balancer {
    config: Config,
    limits: Limits,
    frontends: Vec<Frontend>,
    checks: Vec<Check>,
    owners: Vec<Owner>,
    /// The pairs by the numbers of their clients.
    pairs: Vec<Option<Pair>>,
    counts: Rc<RefCell<Counts>>,
    stats: Server<Http<StatsSite>>,
}

impl Balancer {
    /// The most memory of a client and its backend besides their sockets: what waits in both directions, which a vector
    /// holds in at most twice its length.
    pub const CONNECTION_BYTES: usize = 4 * PIPE;

    /// A balancer of this configuration.
    pub fn new(config: Config, limits: Limits) -> Self {
        let number = |name: &String| {
            let names = config.backends.iter().map(|backend| &backend.name);
            names.enumerate().find(|(_, known)| *known == name)
        };
        let frontends = config.frontends.iter().map(|frontend| {
            let backends = frontend.backends.iter().filter_map(number);
            Frontend {
                port: frontend.port,
                backends: backends.map(|(number, _)| number).collect(),
                next: 0,
            }
        });
        let now = Instant::now();
        let backends = config.backends.iter();
        let checks = backends.map(|backend| Check::new(backend, &config.health, now));
        let counts = Rc::new(RefCell::new(Counts::new(&config)));
        let site = StatsSite(Rc::clone(&counts));
        Self {
            frontends: frontends.collect(),
            checks: checks.collect(),
            owners: Vec::new(),
            pairs: Vec::new(),
            stats: Server::new(Http::new(site), limits),
            counts,
            limits,
            config,
        }
    }

    /// What it has done.
    pub fn counts(&self) -> Counts {
        self.counts.borrow().clone()
    }

    fn owner(&self, id: ConnectionId) -> Owner {
        self.owners.get(id).copied().unwrap_or(Owner::Free)
    }

    fn set_owner(&mut self, id: ConnectionId, owner: Owner) {
        if self.owners.len() <= id {
            self.owners.resize(id + 1, Owner::Free);
        }
        self.owners[id] = owner;
    }

    /// Connects to the next backend of a frontend that is up. Returns it and its connection.
    fn connect(&mut self, tcp: &mut dyn Tcp, frontend: usize) -> Option<(usize, ConnectionId)> {
        let Frontend { backends, next, .. } = &mut self.frontends[frontend];
        let counts = self.counts.borrow();
        let mut candidates = (0..backends.len()).map(|step| (*next + step) % backends.len());
        let place = candidates.find(|place| counts.backends[backends[*place]].is_up)?;
        *next = place + 1;
        let backend = backends[place];
        let id = tcp.connect(self.config.backends[backend].address)?;
        Some((backend, id))
    }

    /// Gives a client a backend.
    fn open(&mut self, tcp: &mut dyn Tcp, client: ConnectionId, frontend: usize) {
        let connected = self.connect(tcp, frontend);
        let mut counts = self.counts.borrow_mut();
        let Some((backend, server)) = connected else {
            counts.frontends[frontend].refused += 1;
            tcp.abort(client);
            return;
        };
        for traffic in counts.traffic(frontend, backend) {
            traffic.connections_total += 1;
            traffic.connections_current += 1;
        }
        drop(counts);
        self.set_owner(client, Owner::Client);
        self.set_owner(server, Owner::Server(client));
        if self.pairs.len() <= client {
            self.pairs.resize_with(client + 1, || None);
        }
        self.pairs[client] = Some(Pair {
            client,
            server,
            frontend,
            backend,
            tried: 1,
            is_open: false,
            to_server: Pipe::default(),
            to_client: Pipe::default(),
            since: Instant::now(),
        });
    }

    /// Tries another backend after one has not answered. Nothing was sent to it. Resets the client if there is none.
    fn try_next(&mut self, tcp: &mut dyn Tcp, client: ConnectionId, statistics: &mut Statistics) {
        let Some(Some(pair)) = self.pairs.get(client) else {
            return;
        };
        let (frontend, old, server) = (pair.frontend, pair.backend, pair.server);
        let is_last = pair.tried >= self.frontends[frontend].backends.len();
        tcp.abort(server);
        self.set_owner(server, Owner::Free);
        let next = if is_last {
            None
        } else {
            self.connect(tcp, frontend)
        };
        let (Some((backend, server)), Some(Some(pair))) = (next, self.pairs.get_mut(client)) else {
            self.reset(tcp, client, statistics);
            return;
        };
        pair.backend = backend;
        pair.server = server;
        pair.tried += 1;
        pair.since = Instant::now();
        self.set_owner(server, Owner::Server(client));
        let mut counts = self.counts.borrow_mut();
        counts.backends[old].traffic.connections_current -= 1;
        counts.backends[backend].traffic.connections_total += 1;
        counts.backends[backend].traffic.connections_current += 1;
    }

    /// Moves bytes of a pair in both directions.
    fn turn(&mut self, tcp: &mut dyn Tcp, client: ConnectionId, statistics: &mut Statistics) {
        let Some(Some(pair)) = self.pairs.get_mut(client) else {
            return;
        };
        let (server, was_open) = (pair.server, pair.is_open);
        pair.is_open |= tcp.is_open(server);
        let up = pair.to_server.turn(tcp, client, server);
        let down = pair.to_client.turn(tcp, server, client);
        if up.received + up.sent + down.received + down.sent > 0 || pair.is_open != was_open {
            pair.since = Instant::now();
        }
        let mut counts = self.counts.borrow_mut();
        for traffic in counts.traffic(pair.frontend, pair.backend) {
            traffic.bytes_in += up.received;
            traffic.bytes_out += down.sent;
        }
        drop(counts);
        statistics.bytes_received += up.received;
        statistics.bytes_sent += down.sent;
        if up.reset || down.reset && pair.is_open {
            self.reset(tcp, client, statistics);
        } else if down.reset {
            self.try_next(tcp, client, statistics);
        } else if pair.to_server.finished && pair.to_client.finished {
            statistics.connections_closed += 1;
            tcp.release(client);
            tcp.release(server);
            self.forget(client);
        } else if up.more || down.more {
            tcp.wake(client);
        }
    }

    /// Resets both connections of a pair.
    fn reset(&mut self, tcp: &mut dyn Tcp, client: ConnectionId, statistics: &mut Statistics) {
        statistics.connections_reset += 1;
        tcp.abort(client);
        if let Some(pair) = self.forget(client) {
            tcp.abort(pair.server);
        }
    }

    /// Ends the accounts of a pair.
    fn forget(&mut self, client: ConnectionId) -> Option<Pair> {
        let pair = self.pairs.get_mut(client)?.take()?;
        self.set_owner(client, Owner::Free);
        self.set_owner(pair.server, Owner::Free);
        let mut counts = self.counts.borrow_mut();
        for traffic in counts.traffic(pair.frontend, pair.backend) {
            traffic.connections_current -= 1;
        }
        Some(pair)
    }

    /// The clients of some pairs.
    fn clients_if(&self, is_meant: impl Fn(&Pair) -> bool) -> Vec<ConnectionId> {
        let pairs = self.pairs.iter().flatten();
        let meant = pairs.filter(|pair| is_meant(pair));
        meant.map(|pair| pair.client).collect()
    }

    /// Goes on with a check, and takes its result if it has one. The connections of a backend that is down are reset.
    fn check(&mut self, tcp: &mut dyn Tcp, backend: usize, statistics: &mut Statistics) {
        let check = &mut self.checks[backend];
        let shown = if check.is_late(Instant::now()) {
            Some(State::Down)
        } else {
            check.look(tcp)
        };
        let Some(shown) = shown else {
            return;
        };
        let changed = check.end(tcp, shown, &mut self.counts.borrow_mut().backends[backend]);
        if changed == Some(State::Down) {
            for client in self.clients_if(|pair| pair.backend == backend) {
                self.reset(tcp, client, statistics);
            }
        }
    }
}

impl Application for Balancer {
    fn accepted(
        &mut self,
        tcp: &mut dyn Tcp,
        id: ConnectionId,
        port: u16,
        statistics: &mut Statistics,
    ) {
        let mut frontends = self.frontends.iter();
        match frontends.position(|frontend| frontend.port == port) {
            Some(frontend) => {
                statistics.connections_accepted += 1;
                self.open(tcp, id, frontend);
            }
            None => {
                self.set_owner(id, Owner::Stats);
                self.stats.accepted(tcp, id, port, statistics);
            }
        }
    }

    fn ready(&mut self, tcp: &mut dyn Tcp, id: ConnectionId, statistics: &mut Statistics) {
        match self.owner(id) {
            Owner::Free => {}
            Owner::Client => self.turn(tcp, id, statistics),
            Owner::Server(client) => self.turn(tcp, client, statistics),
            Owner::Check(backend) => self.check(tcp, backend, statistics),
            Owner::Stats => self.stats.ready(tcp, id, statistics),
        }
    }

    fn lost(&mut self, tcp: &mut dyn Tcp, id: ConnectionId) {
        let client = match self.owner(id) {
            Owner::Server(client) => client,
            _ => id,
        };
        self.stats.lost(tcp, client);
        if let Some(pair) = self.forget(client) {
            tcp.abort(pair.server);
        }
    }

    fn tick(&mut self, tcp: &mut dyn Tcp, now: Instant, statistics: &mut Statistics) {
        self.stats.tick(tcp, now, statistics);
        for backend in 0..self.checks.len() {
            self.check(tcp, backend, statistics);
            if let Some(id) = self.checks[backend].start(tcp, now) {
                self.set_owner(id, Owner::Check(backend));
            }
        }
        let rests = |pair: &Pair| now.saturating_duration_since(pair.since);
        for client in self.clients_if(|pair| !pair.is_open && rests(pair) > CONNECT) {
            self.try_next(tcp, client, statistics);
        }
        let idle = self.limits.idle_timeout;
        let is_idle = |pair: &Pair| {
            let is_closing = pair.to_server.ended || pair.to_client.ended;
            rests(pair) > if is_closing { CLOSING.min(idle) } else { idle }
        };
        for client in self.clients_if(is_idle) {
            statistics.idle_closed += 1;
            self.reset(tcp, client, statistics);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::memory::Memory;

    #[test]
    fn a_receiver_that_was_full_gets_all_bytes() {
        let much = vec![b'x'; 4 * PIPE];
        let mut tcp = Memory::with_clients(&[much.clone(), Vec::new()]);
        tcp.full.push(1);
        let mut pipe = Pipe::default();
        while pipe.turn(&mut tcp, 0, 1).more {}
        // The receiver takes all. That is one event, and no more bytes arrive.
        tcp.full.clear();
        while pipe.turn(&mut tcp, 0, 1).more {}
        assert_eq!(tcp.clients[1].1.len(), much.len());
    }
}
