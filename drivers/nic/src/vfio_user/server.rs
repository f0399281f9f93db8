//! The server of one PCI function. It listens on a socket and serves one driver after the other. No
//! driver can keep it from serving the next: a client has no place before its first message is
//! complete, and others may overtake it.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::device::shared_device::SharedDevice;
use crate::pci_function::SessionEnd;
use crate::socket::{wait, ListeningSocket, ACCEPT_PAUSE};
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
/// Time between two looks at a first message that arrives in parts.
const PART_PAUSE: Duration = Duration::from_millis(20);

/// Starts the control thread of port number `index`. The thread ends when `stop` becomes readable.
pub(crate) fn spawn(
    index: usize,
    socket: ListeningSocket,
    function: Arc<SharedDevice>,
    stop: OwnedFd,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(format!("nic port {index}"))
        .spawn(move || {
            let server = Server {
                index,
                socket: &socket,
                function: function.as_ref(),
                stop: stop.as_fd(),
                others: RefCell::default(),
                accept_after: Cell::default(),
            };
            server.run();
        })
}

struct Server<'a> {
    index: usize,
    socket: &'a ListeningSocket,
    function: &'a SharedDevice,
    stop: BorrowedFd<'a>,
    /// Clients that are not served, and when they connected. When one sends a message while the
    /// server serves another, the server answers that the port is busy.
    others: RefCell<Others>,
    /// After a client has found no room in this process: the time of the next try.
    accept_after: Cell<Option<Instant>>,
}

impl Server<'_> {
    fn run(&self) {
        while let Some(stream) = self.next_driver() {
            self.serve(stream);
        }
    }

    /// Waits for a client whose first message is complete. `None` if the server must stop.
    fn next_driver(&self) -> Option<UnixStream> {
        loop {
            let mut others = self.others.borrow_mut();
            let look = look_at_first_messages(&mut others);
            if let Some(next) = look.whole {
                return Some(others.remove(next).0);
            }
            let mut fds = vec![(self.stop, PollFlags::IN), self.listener()];
            fds.extend(look.silent(&others));
            let timeout = self.pause(!others.is_empty(), look.pause);
            // An error here means that one of the server's own descriptors is bad. The server
            // cannot go on then.
            let ready = wait(&fds, timeout).ok()?;
            if ready[0] {
                return None;
            }
            if ready[1] {
                self.accept(&mut others);
            }
        }
    }

    /// The listening socket, to wait for. While this process has no room, it never becomes ready.
    fn listener(&self) -> (BorrowedFd<'_>, PollFlags) {
        let paused = self
            .accept_after
            .get()
            .is_some_and(|at| Instant::now() < at);
        let flags = if paused {
            PollFlags::empty()
        } else {
            PollFlags::IN
        };
        (self.socket.fd(), flags)
    }

    /// The time to wait: `pause` if clients wait, or until the next try to accept one.
    fn pause(&self, clients: bool, pause: Duration) -> Option<Duration> {
        let retry = self.accept_after.get().map(|_| ACCEPT_PAUSE);
        let pause = clients.then_some(pause);
        [pause, retry].into_iter().flatten().min()
    }

    /// Accepts a client. If there are too many, one without a complete message leaves.
    fn accept(&self, others: &mut Others) {
        match self.socket.accept() {
            Ok(client) => {
                others.extend(client.map(|client| (client, Instant::now())));
                self.accept_after.set(None);
            }
            Err(reason) => {
                if self.accept_after.get().is_none() {
                    let port = self.index;
                    tracing::warn!(port, "a client must wait: {reason}; raise `ulimit -n`");
                }
                self.accept_after.set(Some(Instant::now() + ACCEPT_PAUSE));
            }
        }
        if others.len() > MAX_OTHERS {
            let silent = |(other, _): &(UnixStream, _)| first_message(other) != FirstMessage::Whole;
            let leaves = others.iter().position(silent).unwrap_or(0);
            others.remove(leaves);
        }
    }

    /// Serves one driver until its session ends.
    fn serve(&self, stream: UnixStream) {
        let connection = Connection::new(stream, self.stop, PEER_TIMEOUT);
        let error = match self.converse(&connection) {
            Err(error) => error,
            Ok(never) => match never {},
        };
        let end = match error {
            ConnectionError::Closed => SessionEnd::Disconnected,
            ConnectionError::Stopping => SessionEnd::Stopped,
            other => SessionEnd::ProtocolError(other.to_string()),
        };
        self.function.end_session(end);
    }

    fn converse(
        &self,
        connection: &Connection<'_>,
    ) -> Result<std::convert::Infallible, ConnectionError> {
        let session = Session::new(self.function);
        session.agree_on_version(connection)?;
        loop {
            self.wait_for_message(connection)?;
            session.answer_one(connection)?;
        }
    }

    /// Waits until the driver sends something or leaves. Turns other clients away meanwhile.
    fn wait_for_message(&self, connection: &Connection<'_>) -> Result<(), ConnectionError> {
        let driver = (connection.fd(), PollFlags::IN);
        loop {
            let mut others = self.others.borrow_mut();
            let mut look = look_at_first_messages(&mut others);
            let mut fds = vec![driver, (self.stop, PollFlags::IN), self.listener()];
            fds.extend(look.silent(&others));
            let pause = match look.whole {
                Some(_) => Duration::ZERO,
                None => look.pause,
            };
            let timeout = self.pause(!others.is_empty(), pause);
            let ready = wait(&fds, timeout)?;
            if ready[1] {
                return Err(ConnectionError::Stopping);
            }
            // If the driver leaves at this moment, one of the others is the next driver.
            if ready[0] {
                return Ok(());
            }
            while let Some(next) = look.whole {
                turn_away(&others.remove(next).0, Errno::BUSY);
                look = look_at_first_messages(&mut others);
            }
            if ready[2] && wait(&[driver], Some(Duration::ZERO))? == [false] {
                self.accept(&mut others);
            }
        }
    }
}

/// Clients that are not served, and when they connected.
type Others = Vec<(UnixStream, Instant)>;

/// What the clients that are not served have sent.
struct Look {
    /// A client that has sent all of its first message.
    whole: Option<usize>,
    /// The clients that had sent nothing.
    silent: Vec<usize>,
    /// The time to the next look.
    pause: Duration,
}

impl Look {
    /// The clients that had sent nothing, to wait for. One that has sent a part would be ready all the
    /// time. This does not look again: a message that came since the look makes its client ready.
    fn silent<'o>(
        &'o self,
        others: &'o Others,
    ) -> impl Iterator<Item = (BorrowedFd<'o>, PollFlags)> {
        let clients = self.silent.iter().filter_map(|nth| others.get(*nth));
        clients.map(|(other, _)| (other.as_fd(), PollFlags::IN))
    }
}

/// Drops the clients whose time for the first message is over, and looks at the others.
fn look_at_first_messages(others: &mut Others) -> Look {
    let mut look = Look {
        whole: None,
        silent: Vec::new(),
        pause: FIRST_MESSAGE,
    };
    let mut nth = 0;
    others.retain(|(other, since)| {
        let left = FIRST_MESSAGE.saturating_sub(since.elapsed());
        match first_message(other) {
            FirstMessage::Whole => {
                look.whole.get_or_insert(nth);
            }
            FirstMessage::Part if !left.is_zero() => look.pause = look.pause.min(PART_PAUSE),
            FirstMessage::None if !left.is_zero() => {
                look.silent.push(nth);
                look.pause = look.pause.min(left);
            }
            FirstMessage::TooLong => {
                turn_away(other, Errno::INVAL);
                return false;
            }
            _ => return false,
        }
        nth += 1;
        true
    });
    look
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A client whose message came between the look and the wait once waited for five seconds.
    #[test]
    fn a_message_after_the_look_ends_the_wait() {
        let (card, mut client) = UnixStream::pair().unwrap();
        let mut others = vec![(card, Instant::now())];
        let look = look_at_first_messages(&mut others);
        assert!(look.whole.is_none());
        client.write_all(&[0; 16]).unwrap();
        let fds: Vec<_> = look.silent(&others).collect();
        assert_eq!(wait(&fds, Some(Duration::ZERO)).unwrap(), [true]);
    }
}
