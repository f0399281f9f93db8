//! A service over TCP on the kernel's sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::connection::Connection;
use crate::run::{Limits, Run};
use crate::service::Service;
use crate::statistics::Statistics;

/// Events of one call of the kernel.
const EVENTS: usize = 256;

/// Bytes that one call reads.
const READ: usize = 16 * 1024;

/// The longest wait, so that signals and limits are noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The token of the socket that listens. Connections have their numbers.
const LISTENER: Token = Token(usize::MAX);

/// A socket and its connection.
struct Client<S: Service> {
    socket: TcpStream,
    connection: Connection<S>,
    since: Instant,
}

/// Whether a client goes on.
enum State {
    Open,
    Closed,
    Reset,
}

/// Serves clients of the kernel's sockets until the run is over. The statistics are valid even after an
/// error.
///
/// # Errors
/// If the address cannot be used.
pub fn serve<S: Service>(
    service: &mut S,
    (ip, listen): (Ipv4Addr, u16),
    limits: &Limits,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let address = SocketAddr::from((ip, listen));
    let mut listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let poll = Poll::new()?;
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)?;
    eprintln!("ready: {address} on the kernel's sockets");
    let mut server = Server {
        service,
        poll,
        listener,
        clients: (0..limits.connections).map(|_| None).collect(),
        idle_timeout: limits.idle_timeout,
        statistics,
    };
    let mut events = Events::with_capacity(EVENTS);
    let mut ticked = Instant::now();
    while !run.is_over() {
        match server
            .poll
            .poll(&mut events, Some(LONGEST_WAIT.min(run.left())))
        {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(error).context("cannot wait for clients");
            }
            _ => {}
        }
        for event in &events {
            match event.token() {
                LISTENER => server.accept(),
                Token(id) => server.turn(id),
            }
        }
        server.serve_woken();
        if ticked.elapsed() >= LONGEST_WAIT {
            server.service.tick();
            server.close_idle();
            ticked = Instant::now();
        }
    }
    server.end();
    Ok(())
}

/// A service and its clients.
struct Server<'s, S: Service> {
    service: &'s mut S,
    poll: Poll,
    listener: TcpListener,
    clients: Vec<Option<Client<S>>>,
    idle_timeout: Duration,
    statistics: &'s mut Statistics,
}

impl<S: Service> Server<'_, S> {
    /// Accepts all clients that wait. One for which there is no room is closed at once.
    fn accept(&mut self) {
        while let Ok((mut socket, _)) = self.listener.accept() {
            let Some(id) = self.clients.iter().position(Option::is_none) else {
                self.statistics.syn_dropped += 1;
                continue;
            };
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self
                .poll
                .registry()
                .register(&mut socket, Token(id), interest);
            if registered.is_err() || socket.set_nodelay(true).is_err() {
                continue;
            }
            self.statistics.connections_accepted += 1;
            self.clients[id] = Some(Client {
                socket,
                connection: Connection::accept(self.service, id),
                since: Instant::now(),
            });
            self.turn(id);
        }
    }

    /// Serves a client as far as its socket goes.
    fn turn(&mut self, id: usize) {
        let Some(Some(client)) = self.clients.get_mut(id) else {
            return;
        };
        let state = match pump(self.service, client, self.statistics) {
            Ok(state) => state,
            Err(_) => State::Reset,
        };
        match state {
            State::Open => return,
            State::Closed => self.statistics.connections_closed += 1,
            State::Reset => self.statistics.connections_reset += 1,
        }
        self.close(id);
    }

    fn close(&mut self, id: usize) {
        if let Some(client) = self.clients[id].take() {
            client.connection.close(self.service);
        }
    }

    /// Serves connections that have something to do although nothing arrived for them.
    fn serve_woken(&mut self) {
        while let Some(id) = self.service.woken() {
            if let Some(Some(client)) = self.clients.get_mut(id) {
                client.connection.serve_waiting(self.service);
            }
            self.turn(id);
        }
    }

    fn close_idle(&mut self) {
        for id in 0..self.clients.len() {
            let idle = |client: &Client<S>| client.since.elapsed() > self.idle_timeout;
            if self.clients[id].as_ref().is_some_and(idle) {
                self.statistics.idle_closed += 1;
                self.close(id);
            }
        }
    }

    fn end(&mut self) {
        (0..self.clients.len()).for_each(|id| self.close(id));
    }
}

/// Moves bytes between a client's socket and its connection until the socket would block.
fn pump<S: Service>(
    service: &mut S,
    client: &mut Client<S>,
    statistics: &mut Statistics,
) -> io::Result<State> {
    let Client {
        socket,
        connection,
        since,
    } = client;
    let mut bytes = [0; READ];
    loop {
        let mut moved = false;
        let room = connection.room().min(READ);
        if room > 0 {
            match socket.read(&mut bytes[..room]) {
                Ok(0) => connection.end(),
                Ok(size) => {
                    statistics.bytes_received += size as u64;
                    connection.receive(service, &bytes[..size]);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => moved = true,
                Err(error) => return Err(error),
            }
        }
        match connection.send(|bytes| socket.write(bytes)) {
            Ok(sent) => {
                statistics.bytes_sent += sent as u64;
                moved |= sent > 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => moved = true,
            Err(error) => return Err(error),
        }
        if moved {
            *since = Instant::now();
            if connection.can_go_on() {
                connection.serve_waiting(service);
            }
        } else if connection.is_done() {
            return Ok(State::Closed);
        } else {
            return Ok(State::Open);
        }
    }
}
