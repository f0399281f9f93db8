//! What becomes of each received frame.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Instant;

use smoltcp::wire::EthernetAddress;

use super::config::{Config, FrontendConfig};
use super::connections::{Connection, Connections, State};
use super::counts::{BackendCounts, Counts, FrameCounts, FrontendCounts, TableCounts, Traffic};
use super::maglev::Maglev;
use super::port_resets::PortResets;
use super::segment::{parse, reset, translate, Parsed, Route, Segment};
use crate::driver::Verdict;

/// A frontend and its choice of backends.
struct Frontend {
    config: FrontendConfig,
    /// The numbers of its backends.
    backends: Vec<usize>,
    maglev: Maglev,
    traffic: Traffic,
    refused: u64,
}

/// A backend.
struct Backend {
    name: String,
    address: SocketAddrV4,
    /// Its Ethernet address, once it has said so by ARP.
    mac: Option<EthernetAddress>,
    is_up: bool,
    traffic: Traffic,
    checks: u64,
    checks_failed: u64,
}

/// The data path of a balancer: it belongs to one address.
pub struct Forwarder {
    mac: EthernetAddress,
    ip: Ipv4Addr,
    first_port: u16,
    frontends: Vec<Frontend>,
    by_port: HashMap<u16, usize>,
    backends: Vec<Backend>,
    connections: Connections,
    frames: FrameCounts,
    table: TableCounts,
    port_resets: PortResets,
    now: Instant,
}

impl Forwarder {
    /// A balancer with this address, whose backends are all down.
    pub fn new(config: &Config, ip: Ipv4Addr) -> Self {
        let number = |name: &String| config.backends.iter().position(|known| known.name == *name);
        let frontends: Vec<_> = config
            .frontends
            .iter()
            .map(|frontend| Frontend {
                config: frontend.clone(),
                backends: frontend.backends.iter().filter_map(number).collect(),
                maglev: Maglev::new([]),
                traffic: Traffic::default(),
                refused: 0,
            })
            .collect();
        let backends = config.backends.iter().map(|backend| Backend {
            name: backend.name.clone(),
            address: backend.address,
            mac: None,
            is_up: false,
            traffic: Traffic::default(),
            checks: 0,
            checks_failed: 0,
        });
        let now = Instant::now();
        Self {
            mac: EthernetAddress([0; 6]),
            ip,
            first_port: config.first_connection_port(),
            by_port: (0..)
                .zip(&frontends)
                .map(|(number, frontend)| (frontend.config.port, number))
                .collect(),
            frontends,
            backends: backends.collect(),
            connections: Connections::new(config.table.connections, config.timeouts(), now),
            frames: FrameCounts::default(),
            table: TableCounts::default(),
            port_resets: PortResets::new(config.table.connections as usize),
            now,
        }
    }

    /// Sets the Ethernet address of the port.
    pub fn set_mac(&mut self, mac: EthernetAddress) {
        self.mac = mac;
    }

    /// Notes the Ethernet address of a backend. Other neighbours do not matter.
    pub fn set_neighbour(&mut self, ip: Ipv4Addr, mac: EthernetAddress) {
        for backend in &mut self.backends {
            if *backend.address.ip() == ip {
                backend.mac = Some(mac);
            }
        }
    }

    /// The Ethernet address of a backend, if it is known.
    pub fn mac_of(&self, backend: usize) -> Option<EthernetAddress> {
        self.backends[backend].mac
    }

    /// Sets the time, and forgets the connections whose time is over.
    pub fn set_time(&mut self, now: Instant) {
        self.now = now;
        while let Some((slot, connection, state)) = self.connections.expire(now) {
            match state {
                State::Opening => self.table.opening_expired += 1,
                State::Open => self.table.idle_expired += 1,
                State::Closing => {}
            }
            self.forget(slot, &connection);
        }
    }

    /// Takes the result of a check into the counts, and whether the backend is up from now on.
    pub fn set_health(&mut self, backend: usize, succeeded: bool, is_up: bool) {
        let entry = &mut self.backends[backend];
        entry.checks += 1;
        entry.checks_failed += u64::from(!succeeded);
        if entry.is_up == is_up {
            return;
        }
        entry.is_up = is_up;
        let Self {
            frontends,
            backends,
            ..
        } = self;
        for frontend in frontends {
            if frontend.backends.contains(&backend) {
                let up = frontend
                    .backends
                    .iter()
                    .filter(|number| backends[**number].is_up);
                // At most 256 backends.
                frontend.maglev =
                    Maglev::new(up.map(|number| (*number as u16, &*backends[*number].name)));
            }
        }
    }

    /// Decides what becomes of a frame, and changes it if it is to be sent.
    pub fn decide(&mut self, frame: &mut [u8]) -> Verdict {
        match parse(frame, self.mac, self.ip) {
            Parsed::Other => Verdict::Keep,
            Parsed::Neighbour(ip, mac) => {
                self.set_neighbour(ip, mac);
                Verdict::Keep
            }
            Parsed::Fragment => {
                self.frames.fragments += 1;
                Verdict::Drop
            }
            Parsed::Malformed => {
                self.frames.malformed += 1;
                Verdict::Drop
            }
            Parsed::Segment(segment) => {
                if let Some(frontend) = self.by_port.get(&segment.port) {
                    self.forward_to_backend(*frontend, &segment, frame)
                } else if segment.port >= self.first_port {
                    self.forward_to_client(&segment, frame)
                } else {
                    Verdict::Keep
                }
            }
        }
    }

    fn forward_to_backend(
        &mut self,
        frontend: usize,
        segment: &Segment,
        frame: &mut [u8],
    ) -> Verdict {
        let opens = segment.syn && !segment.ack;
        let mut slot = self.connections.find(&(segment.from, segment.port));
        // The client uses its port again before the last connection is forgotten.
        if let Some(old) = slot.filter(|_| opens) {
            if self.connections.state(old) == Some(State::Closing) {
                slot = None;
                self.remove(old);
            }
        }
        let slot = match slot {
            Some(slot) => slot,
            None if opens => match self.open(frontend, segment) {
                Opened::Slot(slot) => slot,
                Opened::NoBackend => return self.reset(frame),
                Opened::NoRoom => return Verdict::Drop,
            },
            None => return self.reset(frame),
        };
        let Some(connection) = self.connections.get(slot) else {
            return Verdict::Drop;
        };
        let backend = &mut self.backends[connection.backend];
        let (true, Some(mac)) = (backend.is_up, backend.mac) else {
            self.remove(slot);
            return self.reset(frame);
        };
        connection.client_mac = segment.mac;
        if segment.fin {
            connection.client_end = Some(segment.end);
        }
        connection.is_reset = segment.rst;
        let payload = segment.payload as u64;
        backend.traffic.bytes_in += payload;
        self.frontends[frontend].traffic.bytes_in += payload;
        let route = Route {
            macs: [self.mac, mac],
            from: SocketAddrV4::new(self.ip, self.first_port + slot as u16),
            to: backend.address,
        };
        self.update_state(slot, segment.ack && !segment.syn);
        self.send(frame, &route, segment.size)
    }

    fn forward_to_client(&mut self, segment: &Segment, frame: &mut [u8]) -> Verdict {
        let slot = u32::from(segment.port - self.first_port);
        let Some(connection) = self.connections.get(slot) else {
            return self.reset(frame);
        };
        let backend = &mut self.backends[connection.backend];
        if backend.address != segment.from {
            return self.reset(frame);
        }
        connection.answered |= segment.syn && segment.ack;
        connection.backend_closed |= segment.fin;
        connection.is_reset = segment.rst;
        let payload = segment.payload as u64;
        backend.traffic.bytes_out += payload;
        self.frontends[connection.frontend].traffic.bytes_out += payload;
        let route = Route {
            macs: [self.mac, connection.client_mac],
            from: SocketAddrV4::new(self.ip, connection.port),
            to: connection.client,
        };
        self.update_state(slot, false);
        self.send(frame, &route, segment.size)
    }

    /// Notes that a segment went through a connection. A reset that the receiver does not believe is followed by
    /// other segments, so the connection opens again.
    fn update_state(&mut self, slot: u32, client_acknowledges: bool) {
        let state = self.connections.state(slot);
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        let is_over = connection.is_reset || connection.has_closed();
        let state = match state {
            _ if is_over => State::Closing,
            Some(State::Opening) if !(client_acknowledges && connection.answered) => State::Opening,
            _ => State::Open,
        };
        // Otherwise a client could keep a connection half open with the same SYN again and again.
        if state != State::Opening {
            self.connections.set_state(slot, state, self.now);
        }
    }

    /// Adds a connection to the table.
    fn open(&mut self, frontend: usize, segment: &Segment) -> Opened {
        let entry = &mut self.frontends[frontend];
        let Some(backend) = entry.maglev.choose(segment.from, segment.port) else {
            entry.refused += 1;
            return Opened::NoBackend;
        };
        let backend = usize::from(backend);
        let connection = Connection {
            client: segment.from,
            client_mac: segment.mac,
            port: segment.port,
            frontend,
            backend,
            answered: false,
            client_end: None,
            backend_closed: false,
            is_reset: false,
        };
        let Some((slot, evicted)) = self.connections.insert(connection, self.now) else {
            self.table.full += 1;
            return Opened::NoRoom;
        };
        if let Some(evicted) = evicted {
            self.table.evicted += 1;
            self.forget(slot, &evicted);
        }
        for traffic in self.traffic(&connection) {
            traffic.connections_total += 1;
            traffic.connections_current += 1;
        }
        Opened::Slot(slot)
    }

    fn remove(&mut self, slot: u32) {
        if let Some(connection) = self.connections.remove(slot) {
            self.forget(slot, &connection);
        }
    }

    /// Notes that a connection has left its slot, whose port may come back at once.
    fn forget(&mut self, slot: u32, connection: &Connection) {
        for traffic in self.traffic(connection) {
            traffic.connections_current -= 1;
        }
        let backend = &self.backends[connection.backend];
        let ended = connection.client_end.filter(|_| connection.has_closed());
        let (Some(end), Some(mac)) = (ended, backend.mac) else {
            return;
        };
        let route = Route {
            macs: [self.mac, mac],
            from: SocketAddrV4::new(self.ip, self.first_port + slot as u16),
            to: backend.address,
        };
        self.port_resets.add(&route, end);
    }

    /// Whether resets wait to be sent.
    pub fn has_own_frame(&self) -> bool {
        !self.port_resets.is_empty()
    }

    /// The next reset to a backend.
    pub fn own_frame(&mut self) -> Option<Vec<u8>> {
        let reset = self.port_resets.take()?;
        self.frames.port_resets += 1;
        Some(reset)
    }

    fn traffic(&mut self, connection: &Connection) -> [&mut Traffic; 2] {
        [
            &mut self.frontends[connection.frontend].traffic,
            &mut self.backends[connection.backend].traffic,
        ]
    }

    fn send(&mut self, frame: &mut [u8], route: &Route, size: usize) -> Verdict {
        translate(frame, route);
        self.frames.forwarded += 1;
        Verdict::Send(size)
    }

    fn reset(&mut self, frame: &mut [u8]) -> Verdict {
        match reset(frame) {
            Some(size) => {
                self.frames.resets += 1;
                Verdict::Send(size)
            }
            None => Verdict::Drop,
        }
    }

    /// The counts now.
    pub fn counts(&self) -> Counts {
        let frontends = self.frontends.iter().map(|frontend| FrontendCounts {
            name: frontend.config.name.clone(),
            port: frontend.config.port,
            traffic: frontend.traffic,
            refused: frontend.refused,
        });
        let backends = self.backends.iter().map(|backend| BackendCounts {
            name: backend.name.clone(),
            address: backend.address.to_string(),
            is_up: backend.is_up,
            traffic: backend.traffic,
            checks: backend.checks,
            checks_failed: backend.checks_failed,
        });
        Counts {
            frontends: frontends.collect(),
            backends: backends.collect(),
            table: TableCounts {
                size: self.connections.size(),
                memory_bytes: self.connections.memory(),
                opening: self.connections.count(State::Opening),
                open: self.connections.count(State::Open),
                closing: self.connections.count(State::Closing),
                ..self.table
            },
            frames: self.frames,
        }
    }
}

/// What became of a SYN.
enum Opened {
    Slot(u32),
    NoBackend,
    NoRoom,
}

#[cfg(test)]
mod tests;
