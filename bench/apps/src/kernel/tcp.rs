//! Connections that are the kernel's sockets.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::run::{Limits, Run};
use crate::statistics::Statistics;
use crate::tcp::{ConnectionId, Event, Input, Shares, Tcp};

/// Events of one call of the kernel.
const EVENTS: usize = 256;

/// Connections that a turn accepts from each port.
const ACCEPTED: usize = 64;

/// Bytes that one call reads.
const READ: usize = 16 * 1024;

/// The longest wait, so that signals and limits are noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The first token of the sockets that listen. Connections have their numbers.
const LISTENERS: usize = usize::MAX / 2;

/// A socket.
struct Slot {
    socket: TcpStream,
    /// The client's host. `None` for a connection to a server.
    client: Option<Ipv4Addr>,
    /// A connection to a server that is not complete.
    opening: bool,
    /// An error of the kernel has ended it.
    failed: bool,
    since: Instant,
    is_woken: bool,
}

/// A socket that listens.
struct Listener {
    socket: TcpListener,
    port: u16,
    /// Clients may wait.
    is_ready: bool,
}

/// The kernel's connections.
pub struct KernelTcp {
    poll: Poll,
    ready: Events,
    listeners: Vec<Listener>,
    slots: Vec<Option<Slot>>,
    shares: Shares,
    events: VecDeque<Event>,
    refused: u64,
    share_evicted: u64,
    bytes: Box<[u8; READ]>,
    now: Instant,
}

impl KernelTcp {
    /// Accepts connections to some ports of an address.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn open(ip: Ipv4Addr, ports: Vec<u16>, limits: &Limits) -> Result<Self> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        for port in ports {
            let address = SocketAddr::from((ip, port));
            let mut socket = TcpListener::bind(address)
                .with_context(|| format!("cannot listen on {address}"))?;
            let token = Token(LISTENERS + listeners.len());
            poll.registry()
                .register(&mut socket, token, Interest::READABLE)?;
            listeners.push(Listener {
                socket,
                port,
                is_ready: false,
            });
            eprintln!("ready: {address} on the kernel's sockets");
        }
        Ok(Self {
            poll,
            ready: Events::with_capacity(EVENTS),
            listeners,
            slots: Vec::new(),
            shares: Shares::new(limits.connections),
            events: VecDeque::new(),
            refused: 0,
            share_evicted: 0,
            bytes: Box::new([0; READ]),
            now: Instant::now(),
        })
    }

    /// Waits for events at most so long.
    fn wait(&mut self, longest: Duration) -> Result<()> {
        match self.poll.poll(&mut self.ready, Some(longest)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(error).context("cannot wait for clients");
            }
            _ => {}
        }
        let events = std::mem::replace(&mut self.ready, Events::with_capacity(0));
        for event in &events {
            let Token(token) = event.token();
            if let Some(listener) = token
                .checked_sub(LISTENERS)
                .and_then(|number| self.listeners.get_mut(number))
            {
                listener.is_ready = true;
            } else if let Some(Some(slot)) = self.slots.get_mut(token) {
                slot.since = Instant::now();
                slot.opening &= !event.is_writable();
                slot.failed |= event.is_error();
                self.wake(token);
            }
        }
        self.ready = events;
        Ok(())
    }

    /// Accepts clients of a port. One for which there is no room is closed at once.
    fn accept(&mut self, number: usize) {
        for _ in 0..ACCEPTED {
            let listener = &mut self.listeners[number];
            let (socket, from) = match listener.socket.accept() {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, say: the clients wait for the next turn.
                    listener.is_ready = error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            };
            let port = listener.port;
            let IpAddr::V4(client) = from.ip() else {
                continue;
            };
            if !self.shares.admits(client) {
                self.refused += 1;
                continue;
            }
            let Some(id) = self.add(socket, Some(client)) else {
                continue;
            };
            if let Some(host) = self.shares.add(client) {
                self.evict_one_of(host);
            }
            self.events.push_back(Event::Accepted { id, port });
        }
    }

    fn add(&mut self, mut socket: TcpStream, client: Option<Ipv4Addr>) -> Option<ConnectionId> {
        let free = self.slots.iter().position(Option::is_none);
        let id = free.unwrap_or(self.slots.len());
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        registry.register(&mut socket, Token(id), interest).ok()?;
        // Answers are written whole, so nothing is won by waiting for more.
        let _ = socket.set_nodelay(true);
        if free.is_none() {
            self.slots.push(None);
        }
        self.slots[id] = Some(Slot {
            socket,
            client,
            opening: client.is_none(),
            failed: false,
            since: Instant::now(),
            is_woken: false,
        });
        Some(id)
    }

    /// Resets the connection of a host on which nothing has happened for the longest time.
    fn evict_one_of(&mut self, host: Ipv4Addr) {
        let of_host = |slot: &Slot| slot.client == Some(host) && !slot.failed;
        let slots = self.slots.iter_mut().enumerate();
        let of_host = slots.filter_map(|(id, slot)| {
            let slot = slot.as_mut().filter(|slot| of_host(slot))?;
            Some((id, slot))
        });
        if let Some((id, slot)) = of_host.min_by_key(|(_, slot)| slot.since) {
            slot.failed = true;
            self.share_evicted += 1;
            self.wake(id);
        }
    }

    fn remove(&mut self, id: ConnectionId) -> Option<TcpStream> {
        let slot = self.slots.get_mut(id)?.take()?;
        if let Some(client) = slot.client {
            self.shares.remove(client);
        }
        Some(slot.socket)
    }
}

impl Tcp for KernelTcp {
    fn turn(&mut self) -> bool {
        self.now = Instant::now();
        for number in 0..self.listeners.len() {
            if self.listeners[number].is_ready {
                self.accept(number);
            }
        }
        !self.events.is_empty()
    }

    fn events(&self) -> usize {
        self.events.len()
    }

    fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if let Some(Event::Ready(id)) = event {
            if let Some(Some(slot)) = self.slots.get_mut(id) {
                slot.is_woken = false;
            }
        }
        event
    }

    fn wake(&mut self, id: ConnectionId) {
        if let Some(Some(slot)) = self.slots.get_mut(id) {
            if !std::mem::replace(&mut slot.is_woken, true) {
                self.events.push_back(Event::Ready(id));
            }
        }
    }

    fn connect(&mut self, to: SocketAddrV4) -> Option<ConnectionId> {
        let socket = TcpStream::connect(SocketAddr::V4(to)).ok()?;
        self.add(socket, None)
    }

    fn is_open(&self, id: ConnectionId) -> bool {
        let slot = self.slots.get(id).and_then(Option::as_ref);
        slot.is_some_and(|slot| !slot.opening && !slot.failed)
    }

    fn receive(&mut self, id: ConnectionId, room: usize, take: &mut dyn FnMut(&[u8])) -> Input {
        let Some(Some(slot)) = self.slots.get_mut(id) else {
            return Input::Reset;
        };
        if slot.failed {
            return Input::Reset;
        }
        if slot.opening {
            return Input::Open;
        }
        let mut left = room;
        while left > 0 {
            let size = left.min(READ);
            match slot.socket.read(&mut self.bytes[..size]) {
                Ok(0) => return Input::Ended,
                Ok(size) => {
                    left -= size;
                    take(&self.bytes[..size]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    slot.failed = true;
                    return Input::Reset;
                }
            }
        }
        Input::Open
    }

    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> usize {
        let Some(Some(slot)) = self.slots.get_mut(id) else {
            return 0;
        };
        if slot.opening || slot.failed || bytes.is_empty() {
            return 0;
        }
        match slot.socket.write(bytes) {
            Ok(sent) => sent,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => {
                slot.failed = error.kind() != ErrorKind::Interrupted;
                self.wake(id);
                0
            }
        }
    }

    fn finish(&mut self, id: ConnectionId) {
        if let Some(Some(slot)) = self.slots.get_mut(id) {
            // If the client is gone already, the next read says so.
            let _ = slot.socket.shutdown(Shutdown::Write);
        }
    }

    fn release(&mut self, id: ConnectionId) {
        // The kernel sends what is left, and closes in order.
        drop(self.remove(id));
    }

    fn abort(&mut self, id: ConnectionId) {
        if let Some(socket) = self.remove(id) {
            // Without it, the kernel closes in order.
            let _ = reset_on_close(&socket);
        }
    }

    fn rest(&mut self, busy: bool, run: &Run) -> Result<()> {
        let waiting = self.listeners.iter().any(|listener| listener.is_ready);
        let longest = if busy || waiting || !self.events.is_empty() {
            Duration::ZERO
        } else {
            LONGEST_WAIT.min(run.left())
        };
        self.wait(longest)
    }

    fn tick(&mut self) {}

    fn end(self, statistics: &mut Statistics) -> Result<()> {
        statistics.syn_dropped = self.refused;
        statistics.share_evicted = self.share_evicted;
        Ok(())
    }
}

/// Lets the end of a socket be a reset.
fn reset_on_close(socket: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO))?;
    Ok(())
}
