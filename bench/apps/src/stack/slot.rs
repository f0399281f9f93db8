//! A socket of smoltcp in a set of its own, and who uses it.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use smoltcp::iface::{Context, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};

use super::frame::Flow;
use crate::run::Limits;

/// A client is asked at these times whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// A client that answers nothing is gone after this time.
const GONE: Duration = Duration::from_secs(60);

/// An acknowledgement waits so long for an answer that carries it.
const ACK_DELAY: Duration = Duration::from_millis(5);

/// Who uses a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// No connection.
    Free,
    /// A client that has not completed its handshake.
    HalfOpen,
    /// The application, with a client.
    Client,
    /// The application, with a server.
    Server,
    /// The stack alone, until the other side has closed too.
    Closing,
}

/// A socket and what uses it.
pub struct Slot {
    pub sockets: SocketSet<'static>,
    handle: SocketHandle,
    pub flow: Flow,
    pub used_by: Use,
    /// What it counts as until it is free, also while it closes: a connection of its host, or one to a server.
    pub counts_as: Use,
    /// When the use began, or the last frame came.
    pub since: Instant,
    /// An event waits.
    pub is_woken: bool,
    /// It may have something to send.
    pub is_touched: bool,
}

impl Slot {
    /// A socket without a connection.
    pub fn new(limits: &Limits, now: Instant) -> Self {
        let buffer = || SocketBuffer::new(vec![0; limits.socket_buffer]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.set_keep_alive(Some(KEEP_ALIVE.into()));
        socket.set_timeout(Some(GONE.into()));
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let handle = sockets.add(socket);
        let nowhere = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        Self {
            sockets,
            handle,
            flow: Flow {
                remote: nowhere,
                port: 0,
            },
            used_by: Use::Free,
            counts_as: Use::Free,
            since: now,
            is_woken: false,
            is_touched: false,
        }
    }

    /// Lets the socket listen for the SYN that it gets next.
    pub fn listen(&mut self) {
        let port = self.flow.port;
        let socket = self.socket();
        socket.set_ack_delay(Some(ACK_DELAY.into()));
        socket.set_tsval_generator(None);
        // The port is not 0, and the socket is closed.
        let _ = socket.listen(port);
    }

    /// Begins a connection to the server of its flow. Returns whether that is possible.
    pub fn connect(&mut self, context: &mut Context) -> bool {
        let Flow { remote, port } = self.flow;
        let socket = self.socket();
        socket.set_ack_delay(Some(ACK_DELAY.into()));
        // A server whose last connection with this port is in TIME-WAIT accepts a newer timestamp (RFC 6191).
        socket.set_tsval_generator(Some(timestamp));
        socket.connect(context, remote, port).is_ok()
    }

    /// The socket.
    pub fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.sockets.get::<Socket<'_>>(self.handle).state()
    }

    /// Whether the application uses it.
    pub fn is_owned(&self) -> bool {
        matches!(self.used_by, Use::Client | Use::Server)
    }

    /// Whether both sides have sent and received everything. The socket still waits for the end of TIME-WAIT,
    /// for a FIN after the last byte, or for an acknowledgement of its own FIN. No client needs the socket any more.
    pub fn has_ended(&self) -> bool {
        let socket = self.sockets.get::<Socket<'_>>(self.handle);
        let ending = matches!(
            socket.state(),
            State::FinWait2 | State::TimeWait | State::LastAck
        );
        // A socket with something to send has yet to send its FIN or its last acknowledgement.
        self.used_by == Use::Closing && ending && !self.is_touched && socket.send_queue() == 0
    }
}

/// The timestamp of a segment, in milliseconds.
fn timestamp() -> u32 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    time.map_or(0, |time| time.as_millis() as u32)
}
