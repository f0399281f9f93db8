//! The server of one PCI function. It listens on a socket and serves one driver after the other. No
//! driver can keep it from serving the next: a client has no place before its first message is
//! complete, and others may overtake it.

use std::convert::Infallible;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::device::shared_device::SharedDevice;
use crate::pci_function::SessionEnd;
use crate::socket::{wait, ListeningSocket};
use crate::vfio_user::protocol::{
    first_message, turn_away, Connection, ConnectionError, FirstMessage, MAX_FDS, PEER_TIMEOUT,
};
use crate::vfio_user::session::Session;

/// Most clients that are connected and not served.
const MAX_OTHERS: usize = 16;
/// Most descriptors of one server and its clients: an eventfd for each of 66 vectors, twice the
/// descriptors of a message, connections, and the server's own.
pub(crate) const MAX_DESCRIPTORS: usize = 66 + 2 * MAX_FDS + MAX_OTHERS + 8;
/// Longest time from connecting to the end of the first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(5);
/// Time between two looks at first messages that are not complete.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct Server<'a> {
    socket: &'a ListeningSocket,
    function: &'a SharedDevice,
    stop: BorrowedFd<'a>,
    /// Clients that are not served, and when they connected. When one sends a message while the
    /// server serves another, the server answers that the port is busy.
    others: Vec<(UnixStream, Instant)>,
}

impl<'a> Server<'a> {
    /// Serves drivers until `stop` becomes readable.
    pub(crate) fn run(
        socket: &'a ListeningSocket,
        function: &'a SharedDevice,
        stop: BorrowedFd<'a>,
    ) {
        let others = Vec::new();
        let mut server = Self {
            socket,
            function,
            stop,
            others,
        };
        // An error here means that one of the server's own descriptors is bad, or that it must stop.
        while let Ok(stream) = server.wait(None) {
            if let Some(stream) = stream {
                server.serve(stream);
            }
        }
    }

    /// Waits until the driver sends something or leaves, and turns other clients away meanwhile. Without a
    /// driver, waits for a client whose first message is complete, and returns it.
    fn wait(
        &mut self,
        driver: Option<BorrowedFd<'_>>,
    ) -> Result<Option<UnixStream>, ConnectionError> {
        loop {
            let next = self.look_at_first_messages();
            if let (Some(next), None) = (next, driver) {
                return Ok(Some(self.others.remove(next).0));
            }
            let mut fds = vec![(self.stop, PollFlags::IN), self.socket.clients(true)];
            fds.extend(driver.map(|driver| (driver, PollFlags::IN)));
            // A client that has sent a part of its message would be ready all the time.
            let silent = self.others.iter().map(|(other, _)| other);
            let silent = silent.filter(|other| first_message(other) == FirstMessage::None);
            fds.extend(silent.map(|other| (other.as_fd(), PollFlags::IN)));
            let pause = match next {
                Some(_) => Some(Duration::ZERO),
                None => (!self.others.is_empty()).then_some(LOOK_PAUSE),
            };
            let ready = wait(&fds, pause.or(self.socket.pause()))?;
            if ready[0] {
                return Err(ConnectionError::Stopping);
            }
            // If the driver leaves at this moment, one of the others is the next driver.
            if driver.is_some() && ready[2] {
                return Ok(None);
            }
            if let Some(next) = next {
                turn_away(&self.others.remove(next).0, Errno::BUSY);
            }
            if ready[1] {
                self.accept();
            }
        }
    }

    /// Drops the clients whose time for the first message is over. Returns the place of one that has sent
    /// all of it.
    fn look_at_first_messages(&mut self) -> Option<usize> {
        self.others
            .retain(|(other, since)| match first_message(other) {
                FirstMessage::Whole => true,
                FirstMessage::None | FirstMessage::Part => since.elapsed() < FIRST_MESSAGE,
                FirstMessage::TooLong => {
                    turn_away(other, Errno::INVAL);
                    false
                }
                FirstMessage::Closed => false,
            });
        self.nth_with(|message| message == FirstMessage::Whole)
    }

    fn nth_with(&self, is: impl Fn(FirstMessage) -> bool) -> Option<usize> {
        let mut others = self.others.iter();
        others.position(|(other, _)| is(first_message(other)))
    }

    /// Accepts a client. If there are too many, one without a complete message leaves.
    fn accept(&mut self) {
        let client = self.socket.accept();
        self.others
            .extend(client.map(|client| (client, Instant::now())));
        if self.others.len() > MAX_OTHERS {
            let leaves = self.nth_with(|message| message != FirstMessage::Whole);
            self.others.remove(leaves.unwrap_or(0));
        }
    }

    /// Serves one driver until its session ends.
    fn serve(&mut self, stream: UnixStream) {
        let connection = Connection::new(&stream, self.stop, PEER_TIMEOUT);
        let Err(error) = self.converse(&connection);
        self.function.lock().end_session(match error {
            ConnectionError::Closed => SessionEnd::Disconnected,
            ConnectionError::Stopping => SessionEnd::Stopped,
            ConnectionError::Broken(how) => SessionEnd::ProtocolError(how),
        });
    }

    fn converse(&mut self, connection: &Connection<'_>) -> Result<Infallible, ConnectionError> {
        let session = Session::new(self.function);
        session.agree_on_version(connection)?;
        loop {
            self.wait(Some(connection.fd()))?;
            session.answer_one(connection)?;
        }
    }
}
