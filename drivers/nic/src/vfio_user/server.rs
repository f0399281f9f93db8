//! The server of one PCI function. It listens on a socket and serves one driver after the other. No
//! driver can keep it from serving the next.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::pci_function::{PciFunction, SessionEnd};
use crate::socket::{wait, ListeningSocket};
use crate::vfio_user::protocol::{turn_away, Connection, ConnectionError, PEER_TIMEOUT};
use crate::vfio_user::session::Session;

/// Most clients that are connected while the server serves another one.
const MAX_OTHERS: usize = 8;

/// Starts the control thread of port number `index`. The thread ends when `stop` becomes readable.
pub(crate) fn spawn(
    index: usize,
    socket: ListeningSocket,
    function: Arc<dyn PciFunction>,
    stop: OwnedFd,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(format!("nic port {index}"))
        .spawn(move || {
            let server = Server {
                socket: &socket,
                function: function.as_ref(),
                stop: stop.as_fd(),
                others: RefCell::default(),
            };
            server.run();
        })
}

struct Server<'a> {
    socket: &'a ListeningSocket,
    function: &'a dyn PciFunction,
    stop: BorrowedFd<'a>,
    /// Clients that connected while the server served another one, and when they connected. When
    /// they send a message, the server answers that the port is busy.
    others: RefCell<Vec<(UnixStream, Instant)>>,
}

impl Server<'_> {
    fn run(&self) {
        loop {
            let listener = self.socket.fd();
            // An error here means that one of the server's own descriptors is bad. The server
            // cannot go on then.
            let Ok(ready) = wait(
                &[(listener, PollFlags::IN), (self.stop, PollFlags::IN)],
                None,
            ) else {
                return;
            };
            match ready[..] {
                [_, true] => return,
                [true, _] => {
                    let mut next = self.socket.accept();
                    while let Some(stream) = next {
                        self.serve(stream);
                        next = self.next_in_line();
                    }
                }
                _ => {}
            }
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

    /// A client that connected before the last driver left, and that has no answer yet.
    fn next_in_line(&self) -> Option<UnixStream> {
        let mut others = self.others.borrow_mut();
        (!others.is_empty()).then(|| others.remove(0).0)
    }

    fn converse(
        &self,
        connection: &Connection<'_>,
    ) -> Result<std::convert::Infallible, ConnectionError> {
        let session = Session::new(self.function);
        self.wait_for_message(connection)?;
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
            others.retain(|(_, since)| since.elapsed() < PEER_TIMEOUT);
            let mut fds = vec![
                driver,
                (self.stop, PollFlags::IN),
                (self.socket.fd(), PollFlags::IN),
            ];
            fds.extend(
                others
                    .iter()
                    .map(|(other, _)| (other.as_fd(), PollFlags::IN)),
            );
            let timeout = (!others.is_empty()).then_some(PEER_TIMEOUT);
            let ready = wait(&fds, timeout)?;
            if ready[1] {
                return Err(ConnectionError::Stopping);
            }
            if ready[0] {
                return Ok(());
            }
            let mut ready_others = ready[3..].iter();
            others.retain(|(other, _)| {
                let has_sent = ready_others.next() == Some(&true);
                if has_sent {
                    turn_away(other, Errno::BUSY);
                }
                !has_sent
            });
            // If the driver has left at this moment, the newcomer is the next driver: look again.
            if ready[2] && wait(&[driver], Some(Duration::ZERO))? == [false] {
                let newcomer = self.socket.accept();
                others.extend(newcomer.map(|other| (other, Instant::now())));
                if others.len() > MAX_OTHERS {
                    others.remove(0);
                }
            }
        }
    }
}
