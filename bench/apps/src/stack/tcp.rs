//! The connections of a port: a socket of smoltcp for each.
//!
//! Every connection that there can be has a socket with its buffers from the start, so memory stays bounded. Each
//! socket is in a set of its own. This file finds the socket of a frame by a map. So a frame meets one socket only, and a
//! panic of the stack costs one connection only. A socket listens afresh for each SYN that finds room, and never
//! otherwise: nothing of an earlier connection is left in it.

use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use anyhow::Result;
use smoltcp::socket::tcp::State;

use super::frame::{kind, Flow, Kind};
use super::interface::{delay, PortOptions, Stack, TURN_FRAMES};
use super::slot::{Slot, Use};
use crate::contain::contained;
use crate::run::{Limits, Run};
use crate::statistics::Statistics;
use crate::tcp::{ConnectionId, Event, Input, Shares, Tcp};

/// A connection is half open for at most this time.
const HALF_OPEN: Duration = Duration::from_secs(3);

/// A client on a local network completes its handshake in this time, even if its machine is busy. After it, a half-open
/// connection may make room for another one.
const HANDSHAKE: Duration = Duration::from_millis(50);

/// For each so many connections, there is a socket more.
const SPARE_PART: usize = 4;

/// After the last answer, the client has this time to close too.
const CLOSING: Duration = Duration::from_secs(10);

/// Time between two looks at the timers of all sockets.
const TIMERS: Duration = Duration::from_millis(1);

/// Frames that a connection sends in a turn.
const EGRESS_FRAMES: usize = 64;

/// The Ethernet address of a server is asked for at these times. smoltcp itself asks for one address a second, of all.
const ASK: Duration = Duration::from_secs(1);

/// The first of the ports for connections to servers.
const FIRST_PORT: u16 = 49_152;

/// Whole packets whose first fragment is remembered: as many as the stack puts together at once.
const FRAGMENTED: usize = 4;

/// The connections of a port.
pub struct StackTcp {
    stack: Stack,
    slots: Vec<Slot>,
    flows: HashMap<Flow, ConnectionId>,
    /// The connections of fragmented packets, the newest first.
    fragmented: VecDeque<((Ipv4Addr, u16), Flow)>,
    listen: Vec<u16>,
    shares: Shares,
    /// Sockets without a connection.
    free: Vec<ConnectionId>,
    /// How many of them are kept for connections to servers.
    for_servers: usize,
    /// Sockets that are half open, the oldest first.
    handshakes: VecDeque<ConnectionId>,
    events: VecDeque<Event>,
    /// Sockets that may have something to send.
    touched: Vec<ConnectionId>,
    next_port: u16,
    /// When the Ethernet address of each server was last asked for.
    asked: HashMap<Ipv4Addr, Option<Instant>>,
    /// The number of this turn, and of the last one in which a SYN found no room.
    turn: u64,
    lacked_room: u64,
    now: Instant,
    next_sweep: Instant,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    syn_dropped: u64,
    checksum_errors: u64,
    half_open_expired: u64,
    half_open_evicted: u64,
    share_evicted: u64,
    panics: u64,
}

impl StackTcp {
    /// Opens a port, and accepts connections to some TCP ports. The program may have as many connections to servers as
    /// `to_servers` says.
    ///
    /// # Errors
    /// If the port cannot be opened.
    pub fn open(
        options: &PortOptions,
        listen: Vec<u16>,
        limits: &Limits,
        to_servers: usize,
    ) -> Result<Self> {
        let stack = Stack::open(options)?;
        let count = sockets(limits, to_servers);
        let now = Instant::now();
        let slots = (0..count).map(|_| Slot::new(limits, now));
        for port in &listen {
            eprintln!(
                "ready: {}:{port} on {}",
                options.address.ip, options.port.device
            );
        }
        Ok(Self {
            stack,
            slots: slots.collect(),
            flows: HashMap::new(),
            fragmented: VecDeque::new(),
            listen,
            shares: Shares::new(limits.connections),
            free: (0..count).rev().collect(),
            for_servers: to_servers,
            handshakes: VecDeque::new(),
            events: VecDeque::new(),
            touched: Vec::new(),
            next_port: FIRST_PORT,
            asked: HashMap::new(),
            turn: 2,
            lacked_room: 0,
            now,
            next_sweep: now,
            counts: Counts::default(),
        })
    }

    /// The socket of the next frame. `Err` if the frame has to wait, or to go.
    fn slot_of(&mut self, kind: Kind) -> Result<Option<ConnectionId>, Refused> {
        match kind {
            Kind::Corrupt => {
                self.counts.checksum_errors += 1;
                Err(Refused::Drop)
            }
            Kind::Other => Ok(None),
            Kind::Fragment { packet, flow } => {
                if let Some(flow) = flow {
                    self.fragmented.truncate(FRAGMENTED - 1);
                    self.fragmented.push_front((packet, flow));
                }
                let known = self.fragmented.iter().find(|known| known.0 == packet);
                Ok(known.and_then(|known| self.flows.get(&known.1).copied()))
            }
            Kind::Segment { flow, opens } => match self.flows.get(&flow) {
                None if opens && self.listen.contains(&flow.port) => self.open_slot(flow).map(Some),
                known => Ok(known.copied()),
            },
        }
    }

    /// Lets a socket listen for the SYN of a new connection.
    fn open_slot(&mut self, flow: Flow) -> Result<ConnectionId, Refused> {
        let host = *flow.remote.ip();
        let admits = self.shares.admits(host) || self.free_ended() && self.shares.admits(host);
        let slot = if admits {
            self.room_for_handshake()
        } else {
            None
        };
        let Some(id) = slot else {
            // The first SYN waits for the next turn, because a client that closes in this turn makes room. In a flood,
            // the turn goes on for the other frames.
            let is_first = self.turn - self.lacked_room > 1;
            self.lacked_room = self.turn;
            if is_first {
                return Err(Refused::Wait);
            }
            self.counts.syn_dropped += 1;
            return Err(Refused::Drop);
        };
        self.take(id, flow, Use::HalfOpen);
        self.handshakes.push_back(id);
        self.slots[id].listen();
        Ok(id)
    }

    /// A socket for a handshake. In a flood of SYNs, the oldest half-open connection makes room.
    fn room_for_handshake(&mut self) -> Option<ConnectionId> {
        while self.free.len() <= self.for_servers {
            if self.free_ended() {
                continue;
            }
            let oldest = *self.handshakes.front()?;
            if self.now - self.slots[oldest].since <= HANDSHAKE {
                return None;
            }
            self.counts.half_open_evicted += 1;
            self.free(oldest);
        }
        self.free.pop()
    }

    /// Frees a socket whose connection has ended, if there is one.
    fn free_ended(&mut self) -> bool {
        let ended = self.slots.iter().position(Slot::has_ended);
        if let Some(id) = ended {
            self.free(id);
        }
        ended.is_some()
    }

    fn take(&mut self, id: ConnectionId, flow: Flow, used_by: Use) {
        let slot = &mut self.slots[id];
        slot.flow = flow;
        slot.used_by = used_by;
        slot.since = self.now;
        self.flows.insert(flow, id);
    }

    /// Frees a socket at once.
    fn free(&mut self, id: ConnectionId) {
        self.leave(id, Use::Free);
        let slot = &mut self.slots[id];
        match std::mem::replace(&mut slot.counts_as, Use::Free) {
            Use::Client => self.shares.remove(*slot.flow.remote.ip()),
            Use::Server => self.for_servers += 1,
            _ => {}
        }
        slot.socket().abort();
        self.flows.remove(&slot.flow);
        self.free.push(id);
    }

    /// Ends one use of a socket, and begins another one.
    fn leave(&mut self, id: ConnectionId, next: Use) {
        let slot = &mut self.slots[id];
        if slot.used_by == Use::HalfOpen {
            self.handshakes.retain(|other| *other != id);
        }
        slot.used_by = next;
        slot.since = self.now;
    }

    fn touch(&mut self, id: ConnectionId) {
        if !std::mem::replace(&mut self.slots[id].is_touched, true) {
            self.touched.push(id);
        }
    }

    /// Gives the next frame to its socket, and looks what has become of it.
    fn receive_frame(&mut self, id: Option<ConnectionId>) {
        let slot = id.map(|id| &mut self.slots[id]);
        let sockets = slot.map(|slot| &mut slot.sockets);
        let stack = &mut self.stack;
        let is_well = contained(|| stack.receive(sockets)).is_some();
        self.counts.panics += u64::from(!is_well);
        let Some(id) = id else {
            return;
        };
        self.slots[id].since = self.now;
        if !is_well {
            self.slots[id].socket().abort();
        }
        self.touch(id);
        self.look_at(id);
    }

    /// Looks what state a socket is in after a frame or a timer.
    fn look_at(&mut self, id: ConnectionId) {
        let slot = &self.slots[id];
        match (slot.used_by, slot.state()) {
            (Use::HalfOpen, State::Listen | State::Closed) => self.free(id),
            (Use::HalfOpen, State::SynReceived) | (Use::Free | Use::Closing, _) => {}
            (Use::HalfOpen, _) => self.accept(id),
            _ => self.wake(id),
        }
    }

    /// Gives a connection to the application. Its host has shown by the handshake that it is there.
    fn accept(&mut self, id: ConnectionId) {
        let Flow { remote, port } = self.slots[id].flow;
        if let Some(host) = self.shares.add(*remote.ip()) {
            self.evict_one_of(host, id);
        }
        self.leave(id, Use::Client);
        self.slots[id].counts_as = Use::Client;
        self.events.push_back(Event::Accepted { id, port });
    }

    /// Resets the connection of a host on which nothing has moved for the longest time.
    fn evict_one_of(&mut self, host: Ipv4Addr, newest: ConnectionId) {
        let is_of_host = |slot: &Slot| {
            slot.counts_as == Use::Client
                && slot.state() != State::Closed
                && *slot.flow.remote.ip() == host
        };
        let ids = 0..self.slots.len();
        let idlest = ids
            .filter(|id| *id != newest && is_of_host(&self.slots[*id]))
            .min_by_key(|id| self.slots[*id].since);
        if let Some(id) = idlest {
            self.counts.share_evicted += 1;
            self.slots[id].socket().abort();
            self.touch(id);
            self.wake(id);
        }
    }

    /// Sends what a socket has to send.
    fn send_of(&mut self, id: ConnectionId) {
        let (stack, slot) = (&mut self.stack, &mut self.slots[id]);
        let sockets = &mut slot.sockets;
        if contained(|| stack.send(Some(sockets), EGRESS_FRAMES)).is_none() {
            self.counts.panics += 1;
            slot.socket().abort();
        }
        slot.is_touched = false;
        let state = slot.state();
        match slot.used_by {
            Use::Free => {}
            // A TIME-WAIT of the usual length would keep the socket from new clients.
            Use::Closing if matches!(state, State::Closed | State::TimeWait) => self.free(id),
            _ if state == State::Closed => self.look_at(id),
            _ => {}
        }
    }

    /// Lets all timers run.
    fn sweep(&mut self) {
        for id in 0..self.slots.len() {
            if self.slots[id].used_by != Use::Free {
                self.send_of(id);
            }
        }
        self.stack.send(None, EGRESS_FRAMES);
        // With thousands of connections, the timers must not take all of the time.
        self.next_sweep = self.now + TIMERS.max(10 * self.now.elapsed());
    }
}

/// Why a frame does not reach the stack.
enum Refused {
    Drop,
    Wait,
}

/// How many sockets there are. Those beyond the connections let another host come in when one host has them all.
fn sockets(limits: &Limits, to_servers: usize) -> usize {
    limits.connections + limits.connections.div_ceil(SPARE_PART) + to_servers
}

/// The bytes of the buffers of all sockets.
pub fn buffer_bytes(limits: &Limits, to_servers: usize) -> usize {
    sockets(limits, to_servers) * 2 * limits.socket_buffer
}

impl Tcp for StackTcp {
    fn turn(&mut self) -> bool {
        self.now = Instant::now();
        self.turn += 1;
        let mut frames = 0;
        while frames < TURN_FRAMES {
            let Some(frame) = self.stack.device.peek() else {
                break;
            };
            let kind = kind(frame);
            match self.slot_of(kind) {
                Ok(id) => self.receive_frame(id),
                Err(Refused::Drop) => self.stack.device.skip(),
                Err(Refused::Wait) => return true,
            }
            frames += 1;
        }
        frames > 0
    }

    fn events(&self) -> usize {
        self.events.len()
    }

    fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if let Some(Event::Ready(id)) = event {
            self.slots[id].is_woken = false;
        }
        event
    }

    fn wake(&mut self, id: ConnectionId) {
        if self.slots[id].is_owned() && !std::mem::replace(&mut self.slots[id].is_woken, true) {
            self.events.push_back(Event::Ready(id));
        }
    }

    fn connect(&mut self, to: SocketAddrV4) -> Option<ConnectionId> {
        while self.for_servers == 0 {
            if !self.free_ended() {
                return None;
            }
        }
        let ports = u16::MAX - FIRST_PORT;
        let port = (0..ports).find_map(|_| {
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_PORT);
            let port = self.next_port;
            let is_free = !self.flows.contains_key(&Flow { remote: to, port });
            is_free.then_some(port)
        })?;
        let id = self.free.pop()?;
        self.for_servers -= 1;
        self.slots[id].counts_as = Use::Server;
        self.take(id, Flow { remote: to, port }, Use::Server);
        let asked = self.asked.entry(*to.ip()).or_default();
        if asked.is_none_or(|asked| self.now - asked >= ASK) {
            *asked = Some(self.now);
            self.stack.ask_for(*to.ip());
        }
        let context = self.stack.interface.context();
        if !self.slots[id].connect(context) {
            self.free(id);
            return None;
        }
        self.touch(id);
        Some(id)
    }

    fn is_open(&self, id: ConnectionId) -> bool {
        !matches!(
            self.slots[id].state(),
            State::Closed | State::SynSent | State::SynReceived
        )
    }

    fn receive(&mut self, id: ConnectionId, room: usize, take: &mut dyn FnMut(&[u8])) -> Input {
        let socket = self.slots[id].socket();
        let mut left = room;
        // The buffer is a ring, so its bytes may be in two pieces.
        while left > 0 && socket.can_recv() {
            let taken = socket.recv(|bytes| {
                let size = bytes.len().min(left);
                take(&bytes[..size]);
                (size, size)
            });
            left -= taken.unwrap_or(left);
        }
        let input = match socket.state() {
            State::Closed => Input::Reset,
            State::SynSent | State::SynReceived => Input::Open,
            _ if socket.may_recv() => Input::Open,
            _ => Input::Ended,
        };
        if left < room {
            self.touch(id);
        }
        input
    }

    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> usize {
        let sent = self.slots[id].socket().send_slice(bytes).unwrap_or(0);
        self.touch(id);
        sent
    }

    fn finish(&mut self, id: ConnectionId) {
        let socket = self.slots[id].socket();
        socket.close();
        // No answer comes that could carry an acknowledgement.
        socket.set_ack_delay(None);
        self.touch(id);
    }

    fn release(&mut self, id: ConnectionId) {
        if self.slots[id].is_owned() {
            self.finish(id);
            self.leave(id, Use::Closing);
        }
    }

    fn abort(&mut self, id: ConnectionId) {
        if self.slots[id].is_owned() {
            self.slots[id].socket().abort();
            self.touch(id);
            // The socket still sends its reset.
            self.leave(id, Use::Closing);
        }
    }

    fn rest(&mut self, busy: bool, run: &Run) -> Result<()> {
        for id in std::mem::take(&mut self.touched) {
            self.send_of(id);
        }
        if self.now >= self.next_sweep {
            self.sweep();
        }
        let busy = busy || !self.events.is_empty();
        let used = self.slots.iter().filter(|slot| slot.used_by != Use::Free);
        self.stack.rest(busy, run, |interface| {
            used.map(|slot| delay(interface, &slot.sockets))
                .min()
                .unwrap_or(Duration::MAX)
        })
    }

    fn tick(&mut self) {
        for id in 0..self.slots.len() {
            let slot = &self.slots[id];
            let age = self.now - slot.since;
            if slot.used_by == Use::HalfOpen && age > HALF_OPEN {
                self.counts.half_open_expired += 1;
                self.leave(id, Use::Closing);
                self.slots[id].socket().abort();
                self.touch(id);
            } else if slot.used_by == Use::Closing && age > CLOSING {
                self.slots[id].socket().abort();
                self.touch(id);
            }
        }
    }

    fn end(mut self, statistics: &mut Statistics) -> Result<()> {
        for id in 0..self.slots.len() {
            if self.slots[id].used_by != Use::Free {
                self.slots[id].socket().abort();
                self.send_of(id);
            }
        }
        statistics.syn_dropped = self.counts.syn_dropped;
        statistics.checksum_errors = self.counts.checksum_errors;
        statistics.half_open_expired = self.counts.half_open_expired;
        statistics.half_open_evicted = self.counts.half_open_evicted;
        statistics.share_evicted = self.counts.share_evicted;
        statistics.panics += self.counts.panics;
        self.stack.close(statistics)
    }
}
