//! TCP connections, kept by smoltcp over a driver, or by the kernel.

#[cfg(test)]
pub(crate) mod memory;
mod program;
mod server;
mod shares;

use std::net::SocketAddrV4;

use anyhow::Result;

use crate::run::Run;
use crate::statistics::Statistics;

pub use program::{serve, Application};
pub use server::Server;
pub use shares::Shares;

/// The number of a connection. It is used again only after the application has given it up.
pub type ConnectionId = usize;

/// What has happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client has connected to one of the ports.
    Accepted {
        /// The new connection.
        id: ConnectionId,
        /// The port.
        port: u16,
    },
    /// Bytes have arrived, there is room to send, or the connection has ended.
    Ready(ConnectionId),
}

/// What else can arrive on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// More bytes. A connection that is not yet open is in this state, too.
    Open,
    /// Nothing: the other side has closed, and all of its bytes are received.
    Ended,
    /// Nothing: the connection is gone.
    Reset,
}

/// The connections of a program. One side serves clients; the other one may be a server to which the program connects.
pub trait Tcp {
    /// Receives what has arrived, without a wait. Returns whether there was anything.
    fn turn(&mut self) -> bool;

    /// How many events the last turn has brought. Events of a later turn do not count.
    fn events(&self) -> usize;

    /// The next event.
    fn next_event(&mut self) -> Option<Event>;

    /// Makes an event for a connection in the next turn.
    fn wake(&mut self, id: ConnectionId);

    /// Begins a connection to a server. `None` if there is no room for it.
    fn connect(&mut self, to: SocketAddrV4) -> Option<ConnectionId>;

    /// Whether a connection to a server is open.
    fn is_open(&self, id: ConnectionId) -> bool;

    /// Gives at most `room` bytes that have arrived to `take`, which takes all of them.
    fn receive(&mut self, id: ConnectionId, room: usize, take: &mut dyn FnMut(&[u8])) -> Input;

    /// Sends some of the bytes. Returns how many.
    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> usize;

    /// Closes the own direction, after all that was sent.
    fn finish(&mut self, id: ConnectionId);

    /// Gives up a connection: closes it in order, without the application.
    fn release(&mut self, id: ConnectionId);

    /// Gives up a connection, and resets it. Nothing happens if the application has given it up already.
    fn abort(&mut self, id: ConnectionId);

    /// Sends what is due, then sleeps if nothing is to do. `busy` says whether the program did something.
    ///
    /// # Errors
    /// If the device or the kernel fails.
    fn rest(&mut self, busy: bool, run: &Run) -> Result<()>;

    /// Does what is due about ten times a second.
    fn tick(&mut self);

    /// Resets what is open, and ends.
    ///
    /// # Errors
    /// If the device cannot be stopped.
    fn end(self, statistics: &mut Statistics) -> Result<()>
    where
        Self: Sized;
}
