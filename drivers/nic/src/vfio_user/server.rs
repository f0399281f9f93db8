//! The vfio-user server of one port: listens on its socket, serves one driver at a time, and is
//! ready for the next whatever became of the last.

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

/// Most clients that wait to be told that the port is busy.
const MAX_OTHERS: usize = 8;

/// Starts the control thread of a port. It ends when `stop` becomes readable.
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
    /// Clients that came while another was served, and since when they are here. When they say
    /// something, they are told that the port is busy.
    others: RefCell<Vec<(UnixStream, Instant)>>,
}

impl Server<'_> {
    fn run(&self) {
        loop {
            let listener = self.socket.fd();
            // An error here would be one of our own descriptors; there is nothing left to serve
            // then.
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

    /// Serves one driver to its end.
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

    /// Who came just before the last driver left, and has not been turned away yet.
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

    /// Waits until the driver says something, or leaves. Others who want to connect meanwhile are
    /// turned away.
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
            let mut spoke = ready[3..].iter();
            others.retain(|(other, _)| {
                let spoke = spoke.next() == Some(&true);
                if spoke {
                    turn_away(other, Errno::BUSY);
                }
                !spoke
            });
            // Whoever comes now may be the next driver, and the last one just gone: look once more.
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
