//! A connection of a service: the bytes that wait for it, and those that wait for the client.

use std::io;

use crate::service::{ConnectionId, Service, OUTPUT_LIMIT};

/// Buffers that a connection no longer needs are kept up to this size.
const KEPT: usize = 16 * 1024;

/// A connection that the client has opened.
pub struct Connection<S: Service> {
    id: ConnectionId,
    state: Option<S::Connection>,
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
}

impl<S: Service> Connection<S> {
    /// A new connection.
    pub fn accept(service: &mut S, id: ConnectionId) -> Self {
        Self {
            id,
            state: Some(service.accepted(id)),
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            closing: false,
            ended: false,
            more: false,
        }
    }

    /// How many more bytes of the client the connection takes now. None while answers wait.
    pub fn room(&self) -> usize {
        if self.closing || self.output.len() - self.sent >= OUTPUT_LIMIT {
            return 0;
        }
        S::REQUEST_LIMIT.saturating_sub(self.input.len())
    }

    /// Takes bytes of the client, at most as many as [`Connection::room`], and serves what is whole.
    pub fn receive(&mut self, service: &mut S, bytes: &[u8]) {
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

    /// Serves what has waited for room in the output.
    pub fn serve_waiting(&mut self, service: &mut S) {
        let input = std::mem::take(&mut self.input);
        let consumed = self.serve(service, &input);
        self.input = input;
        self.input.drain(..consumed.min(self.input.len()));
        if self.input.is_empty() && self.input.capacity() > KEPT {
            self.input = Vec::new();
        }
    }

    fn serve(&mut self, service: &mut S, input: &[u8]) -> usize {
        let Some(state) = self.state.as_mut().filter(|_| !self.closing) else {
            return input.len();
        };
        let served = service.serve(state, input, &mut self.output);
        self.more = served.more;
        if served.close {
            self.closing = true;
            return input.len();
        }
        served.consumed
    }

    /// The client sends no more. What is whole is still answered.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Sends answers by `send`, which returns how many bytes it took.
    ///
    /// # Errors
    /// That of `send`.
    pub fn send(&mut self, send: impl FnOnce(&[u8]) -> io::Result<usize>) -> io::Result<usize> {
        let waiting = &self.output[self.sent..];
        if waiting.is_empty() {
            return Ok(0);
        }
        let sent = send(waiting)?;
        self.sent += sent;
        if self.sent == self.output.len() {
            self.sent = 0;
            self.output.clear();
            if self.output.capacity() > KEPT {
                self.output = Vec::new();
            }
        } else if self.sent >= OUTPUT_LIMIT {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
        Ok(sent)
    }

    /// Whether answers wait to be sent.
    pub fn has_output(&self) -> bool {
        self.sent < self.output.len()
    }

    /// Whether the service can go on without more bytes of the client.
    pub fn can_go_on(&self) -> bool {
        self.room() > 0 && (self.more || !self.input.is_empty())
    }

    /// Whether the connection is to be closed: everything is sent, and nothing more will come of it.
    pub fn is_done(&self) -> bool {
        (self.closing || self.ended) && !self.has_output()
    }

    /// Tells the service that the connection has ended.
    pub fn close(mut self, service: &mut S) {
        if let Some(state) = self.state.take() {
            service.closed(self.id, state);
        }
    }
}
