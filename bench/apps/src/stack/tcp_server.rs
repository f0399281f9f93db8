//! A service over TCP on a port.
//!
//! Every connection that there can be has a socket with its buffers from the start, so memory stays bounded.
//! A socket without a connection listens. If no socket does, ended connections make room for new ones, and in a
//! flood of SYNs those that are only half open.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{anyhow, Result};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{self, Socket, SocketBuffer, State};

use super::interface::{Address, Stack};
use crate::connection::Connection;
use crate::driver::PortConfig;
use crate::run::{Limits, Run};
use crate::service::Service;
use crate::statistics::Statistics;

/// A connection is half open for at most this time.
const HALF_OPEN: Duration = Duration::from_secs(3);

/// Sockets that are to listen again when a client found none.
const LISTENERS: usize = 16;

/// A client on a local network completes its handshake in this time, even if its machine is busy.
const HANDSHAKE: Duration = Duration::from_millis(50);

/// If so large a part of all sockets waits longer for its handshake, there is a flood.
const FLOOD_PART: usize = 4;

/// A flood is over if this time passes without a sign of it.
const FLOOD: Duration = Duration::from_secs(1);

/// After the last answer, the client has this time to close too.
const CLOSING: Duration = Duration::from_secs(10);

/// A client is asked at these times whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// A client that answers nothing is gone after this time.
const GONE: Duration = Duration::from_secs(60);

/// An acknowledgement waits so long for an answer that carries it.
const ACK_DELAY: Duration = Duration::from_millis(5);

/// Time between two ticks of the service.
const TICK: Duration = Duration::from_millis(100);

/// A socket and what uses it.
struct Slot<S: Service> {
    handle: SocketHandle,
    connection: Option<Connection<S>>,
    /// When the socket's state last changed, or bytes moved.
    since: Instant,
    state: State,
}

impl<S: Service> Slot<S> {
    /// Whether both sides have sent and received everything. The socket still waits for the end of TIME-WAIT,
    /// for a FIN after the last byte, or for an acknowledgement of its own FIN. No client needs the socket any more.
    fn has_ended(&self, stack: &Stack, now: Instant) -> bool {
        let ending = matches!(
            self.state,
            State::FinWait2 | State::TimeWait | State::LastAck
        );
        let socket = stack.sockets.get::<Socket<'_>>(self.handle);
        // In its first turn, it has yet to send its FIN or its last acknowledgement.
        ending && self.connection.is_none() && self.since < now && socket.send_queue() == 0
    }
}

/// What a TCP service is served with.
pub struct TcpOptions<'o> {
    /// The driver's library.
    pub library: &'o Path,
    /// The port.
    pub port: &'o PortConfig,
    /// The service's address.
    pub address: Address,
    /// The router to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// The service's TCP port.
    pub listen: u16,
    /// Bounds of connections and memory.
    pub limits: Limits,
}

/// What runs on the port of a TCP service beside it.
pub trait Beside {
    /// Adds its sockets, before the first frame.
    ///
    /// # Errors
    /// If it cannot be set up.
    fn start(&mut self, stack: &mut Stack) -> Result<()>;

    /// Does what is due, in each turn. Returns whether there was anything.
    fn turn(&mut self, stack: &mut Stack, now: Instant) -> bool;
}

/// Nothing.
impl Beside for () {
    fn start(&mut self, _: &mut Stack) -> Result<()> {
        Ok(())
    }

    fn turn(&mut self, _: &mut Stack, _: Instant) -> bool {
        false
    }
}

/// Serves the clients of a port until the run is over. The statistics are valid even after an error.
///
/// # Errors
/// If the port cannot be opened, or fails.
pub fn serve<S: Service, B: Beside>(
    service: &mut S,
    beside: &mut B,
    options: &TcpOptions<'_>,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let mut stack = Stack::open(
        options.library,
        options.port,
        options.address,
        options.gateway,
    )?;
    let mut slots: Vec<Slot<S>> = Vec::with_capacity(options.limits.connections);
    for _ in 0..options.limits.connections {
        slots.push(Slot {
            handle: stack.add(new_socket(&options.limits, options.listen)?),
            connection: None,
            since: Instant::now(),
            state: State::Listen,
        });
    }
    beside.start(&mut stack)?;
    eprintln!(
        "ready: {}:{} on {}",
        options.address.ip, options.listen, options.port.device
    );
    let mut server = Server {
        service,
        slots,
        listen: options.listen,
        idle_timeout: options.limits.idle_timeout,
        flood_ends: Instant::now(),
        now: Instant::now(),
        statistics,
    };
    let ran = server.serve_until_end(&mut stack, beside, run);
    server.end(&mut stack);
    let closed = stack.close(statistics);
    ran.and(closed)
}

fn new_socket(limits: &Limits, listen: u16) -> Result<Socket<'static>> {
    let buffer = || SocketBuffer::new(vec![0; limits.socket_buffer]);
    let mut socket = Socket::new(buffer(), buffer());
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(Some(ACK_DELAY.into()));
    socket.set_keep_alive(Some(KEEP_ALIVE.into()));
    socket.set_timeout(Some(GONE.into()));
    socket
        .listen(listen)
        .map_err(|error| anyhow!("cannot listen on port {listen}: {error}"))?;
    Ok(socket)
}

/// A service and its sockets.
struct Server<'s, S: Service> {
    service: &'s mut S,
    slots: Vec<Slot<S>>,
    listen: u16,
    idle_timeout: Duration,
    /// Until then, half-open connections make room for others.
    flood_ends: Instant,
    /// The time of this turn.
    now: Instant,
    statistics: &'s mut Statistics,
}

impl<S: Service> Server<'_, S> {
    fn serve_until_end(
        &mut self,
        stack: &mut Stack,
        beside: &mut impl Beside,
        run: &Run,
    ) -> Result<()> {
        let mut ticked = Instant::now();
        loop {
            stack.device.accept_connections(self.listening());
            let mut busy = stack.receive();
            self.now = Instant::now();
            busy |= beside.turn(stack, self.now);
            busy |= self.serve_slots(stack);
            busy |= self.serve_woken(stack);
            self.make_room(stack);
            busy |= stack.send();
            if self.now - ticked >= TICK {
                self.service.tick();
                ticked = self.now;
            }
            if stack.rest(busy, run)? {
                return Ok(());
            }
        }
    }

    fn listening(&self) -> usize {
        let listens = |slot: &&Slot<S>| slot.state == State::Listen;
        self.slots.iter().filter(listens).count()
    }

    /// Serves all sockets. Returns whether anything happened.
    fn serve_slots(&mut self, stack: &mut Stack) -> bool {
        let mut slots = std::mem::take(&mut self.slots);
        let mut busy = false;
        for (id, slot) in slots.iter_mut().enumerate() {
            let socket = stack.sockets.get_mut::<Socket<'_>>(slot.handle);
            let state = socket.state();
            if state != State::Listen || slot.state != State::Listen {
                busy |= self.serve_slot(id, slot, socket);
            }
        }
        self.slots = slots;
        busy
    }

    fn serve_slot(&mut self, id: usize, slot: &mut Slot<S>, socket: &mut Socket<'_>) -> bool {
        let state = socket.state();
        let changed = state != slot.state;
        if changed {
            slot.state = state;
            slot.since = self.now;
        }
        match state {
            State::Listen | State::SynSent => changed,
            State::SynReceived => {
                if self.now - slot.since > HALF_OPEN {
                    self.statistics.half_open_expired += 1;
                    socket.abort();
                }
                changed
            }
            State::Closed | State::TimeWait => {
                if let Some(connection) = slot.connection.take() {
                    self.statistics.connections_reset += 1;
                    connection.close(self.service);
                }
                // This turn still sends a reset or the last acknowledgement. Then the socket listens again: a TIME-WAIT
                // of the usual length would keep it from new clients.
                if !changed {
                    listen_again(slot, socket, self.listen);
                }
                true
            }
            _ => self.serve_open(id, slot, socket) || changed,
        }
    }

    /// Serves a socket that is open. Returns whether bytes moved.
    fn serve_open(&mut self, id: usize, slot: &mut Slot<S>, socket: &mut Socket<'_>) -> bool {
        // A client may open a connection, ask and close within a turn. The service leaves both states when it closes.
        let opened = matches!(slot.state, State::Established | State::CloseWait);
        if slot.connection.is_none() && opened {
            self.statistics.connections_accepted += 1;
            slot.connection = Some(Connection::accept(self.service, id));
        }
        let Some(connection) = &mut slot.connection else {
            // The service has closed, and the client has not.
            if self.now - slot.since > CLOSING {
                socket.abort();
            }
            return false;
        };
        let moved = pump(self.service, connection, socket, self.statistics);
        if moved {
            slot.since = self.now;
        } else if self.now - slot.since > self.idle_timeout {
            self.statistics.idle_closed += 1;
            socket.abort();
        }
        if connection.is_done() {
            socket.close();
            // No answer comes that could carry an acknowledgement.
            socket.set_ack_delay(None);
            self.statistics.connections_closed += 1;
            if let Some(connection) = slot.connection.take() {
                connection.close(self.service);
            }
        }
        moved
    }

    /// Serves connections that have something to do although nothing arrived for them.
    fn serve_woken(&mut self, stack: &mut Stack) -> bool {
        let mut busy = false;
        while let Some(id) = self.service.woken() {
            let Some(slot) = self.slots.get_mut(id) else {
                continue;
            };
            let socket = stack.sockets.get_mut::<Socket<'_>>(slot.handle);
            if let Some(connection) = &mut slot.connection {
                connection.serve_waiting(self.service);
                busy |= pump(self.service, connection, socket, self.statistics);
            }
        }
        busy
    }

    /// Lets sockets listen again if a client found none. First go all whose connection has ended. If too few listen
    /// then, half-open ones go whose client is late, and in a flood any half-open ones, the oldest first.
    fn make_room(&mut self, stack: &mut Stack) {
        if !stack.device.lacks_room() {
            return;
        }
        let now = self.now;
        for slot in &mut self.slots {
            if slot.has_ended(stack, now) {
                listen_again(slot, stack.sockets.get_mut(slot.handle), self.listen);
            }
        }
        let part = self.slots.len() / FLOOD_PART;
        let is_late =
            |slot: &Slot<S>| slot.state == State::SynReceived && now - slot.since > HANDSHAKE;
        if self.slots.iter().filter(|slot| is_late(slot)).count() >= part {
            self.flood_ends = now + FLOOD;
        }
        let flood = now < self.flood_ends;
        let must_go =
            |slot: &&mut Slot<S>| is_late(slot) || flood && slot.state == State::SynReceived;
        let wanted = LISTENERS.min(part).saturating_sub(self.listening());
        let mut half_open: Vec<_> = self.slots.iter_mut().filter(must_go).collect();
        half_open.sort_unstable_by_key(|slot| slot.since);
        for slot in half_open.into_iter().take(wanted) {
            self.statistics.half_open_evicted += 1;
            listen_again(slot, stack.sockets.get_mut(slot.handle), self.listen);
        }
    }

    /// Resets what is open.
    fn end(&mut self, stack: &mut Stack) {
        for slot in &mut self.slots {
            if let Some(connection) = slot.connection.take() {
                connection.close(self.service);
            }
            stack.sockets.get_mut::<Socket<'_>>(slot.handle).abort();
        }
    }
}

/// Moves bytes between a socket and its connection, as long as some move. Returns whether any did.
fn pump<S: Service>(
    service: &mut S,
    connection: &mut Connection<S>,
    socket: &mut Socket<'_>,
    statistics: &mut Statistics,
) -> bool {
    let mut any = false;
    loop {
        let mut moved = 0;
        while socket.can_recv() && connection.room() > 0 {
            let received = socket.recv(|bytes| {
                let size = bytes.len().min(connection.room());
                connection.receive(service, &bytes[..size]);
                (size, size)
            });
            match received {
                Ok(size) => {
                    statistics.bytes_received += size as u64;
                    moved += size;
                }
                Err(_) => break,
            }
        }
        if connection.has_output() && socket.can_send() {
            let sent = connection.send(|bytes| Ok(socket.send_slice(bytes).unwrap_or(0)));
            let sent = sent.unwrap_or(0);
            statistics.bytes_sent += sent as u64;
            moved += sent;
        }
        if moved == 0 {
            break;
        }
        any = true;
        if connection.can_go_on() {
            connection.serve_waiting(service);
        }
    }
    // A client that has closed sends no more, once everything is read.
    if !socket.may_recv() {
        connection.end();
    }
    any
}

fn listen_again<S: Service>(slot: &mut Slot<S>, socket: &mut Socket<'_>, listen: u16) {
    socket.abort();
    socket.set_ack_delay(Some(ACK_DELAY.into()));
    // The port is not 0, and the socket is closed.
    let _: Result<(), tcp::ListenError> = socket.listen(listen);
    slot.state = State::Listen;
}
