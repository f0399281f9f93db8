//! A service with the connections of its clients.

use std::time::Instant;

use super::{Application, ConnectionId, Tcp};
use crate::connection::{Connection, Turn};
use crate::run::Limits;
use crate::service::Service;
use crate::statistics::Statistics;

/// A service and its connections.
pub struct Server<S: Service> {
    /// The service.
    pub service: S,
    connections: Vec<Option<Connection<S>>>,
    limits: Limits,
}

impl<S: Service> Server<S> {
    /// A service without clients.
    pub fn new(service: S, limits: Limits) -> Self {
        Self {
            service,
            connections: Vec::new(),
            limits,
        }
    }

    fn close(&mut self, id: ConnectionId) {
        self.connections[id] = None;
    }
}

impl<S: Service> Application for Server<S> {
    fn accepted(
        &mut self,
        tcp: &mut dyn Tcp,
        id: ConnectionId,
        _port: u16,
        statistics: &mut Statistics,
    ) {
        statistics.connections_accepted += 1;
        if self.connections.len() <= id {
            self.connections.resize_with(id + 1, || None);
        }
        self.connections[id] = Some(Connection::new(Instant::now()));
        self.ready(tcp, id, statistics);
    }

    fn ready(&mut self, tcp: &mut dyn Tcp, id: ConnectionId, statistics: &mut Statistics) {
        let Some(Some(connection)) = self.connections.get_mut(id) else {
            return;
        };
        let (turn, received, sent) = connection.turn(&mut self.service, tcp, id, Instant::now());
        statistics.bytes_received += received as u64;
        statistics.bytes_sent += sent as u64;
        match turn {
            Turn::Waits => {}
            Turn::GoesOn => tcp.wake(id),
            Turn::Done => {
                statistics.connections_closed += 1;
                tcp.release(id);
                self.close(id);
            }
            Turn::Reset => {
                statistics.connections_reset += 1;
                tcp.abort(id);
                self.close(id);
            }
        }
    }

    fn lost(&mut self, tcp: &mut dyn Tcp, id: ConnectionId) {
        tcp.abort(id);
        if let Some(connection) = self.connections.get_mut(id) {
            *connection = None;
        }
    }

    fn tick(&mut self, tcp: &mut dyn Tcp, now: Instant, statistics: &mut Statistics) {
        self.service.tick(now);
        for id in 0..self.connections.len() {
            let Some(connection) = &self.connections[id] else {
                continue;
            };
            if connection.is_idle(self.limits.idle_timeout, now) {
                statistics.idle_closed += 1;
            } else if connection.is_slow(self.limits.request_timeout, now) {
                statistics.slow_closed += 1;
            } else {
                continue;
            }
            tcp.abort(id);
            self.close(id);
        }
    }
}
