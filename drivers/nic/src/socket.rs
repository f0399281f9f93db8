//! UNIX sockets to listen on, waiting for several of them at once, and the threads that serve them.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::error::NicError;

/// Time to the next try after a client found no room in this process.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listening socket. Dropping it removes its file.
#[derive(Debug)]
pub(crate) struct ListeningSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file: a file that has replaced ours is not removed.
    identity: (u64, u64),
    /// After a client has found no room in this process: the time of the next try.
    accept_after: Cell<Option<Instant>>,
}

impl ListeningSocket {
    /// Listens at `path`. Replaces a socket file that no process listens on any more.
    pub(crate) fn bind(path: &Path) -> Result<Self, NicError> {
        let unusable =
            |reason: &str, remedy: &str| NicError::unusable("socket", path, reason, remedy);
        let failed = |reason: io::Error| unusable(&reason.to_string(), "choose another directory");
        match std::fs::symlink_metadata(path) {
            Ok(file) if !file.file_type().is_socket() => {
                let reason = "the file of that name is not a socket";
                return Err(unusable(reason, "remove it, or choose another directory"));
            }
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(path).map_err(failed)?;
                }
                Err(error) => return Err(failed(error)),
                Ok(_) => {
                    let reason = "another server is listening there";
                    return Err(unusable(reason, "stop it, or choose another directory"));
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let file = std::fs::symlink_metadata(path).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            identity: (file.dev(), file.ino()),
            accept_after: Cell::default(),
        })
    }

    /// The descriptor that becomes readable when a client wants to connect. While this process has no
    /// room, or the caller wants no client, it never becomes ready.
    pub(crate) fn clients(&self, wanted: bool) -> (BorrowedFd<'_>, PollFlags) {
        let paused = self
            .accept_after
            .get()
            .is_some_and(|at| Instant::now() < at);
        let flags = if wanted && !paused {
            PollFlags::IN
        } else {
            PollFlags::empty()
        };
        (self.listener.as_fd(), flags)
    }

    /// The longest time to wait for clients: until the next try, if one has found no room.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.accept_after.get().map(|_| ACCEPT_PAUSE)
    }

    /// Accepts a client, if one wants to connect and this process has a descriptor and memory left for it.
    /// Otherwise the client waits on.
    pub(crate) fn accept(&self) -> Option<UnixStream> {
        const NO_ROOM: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
        let before = self.accept_after.take();
        let reason = match self.listener.accept() {
            Ok((stream, _)) => return Some(stream),
            Err(reason) => reason,
        };
        // After another error, the client has given up already.
        if Errno::from_io_error(&reason).is_some_and(|error| NO_ROOM.contains(&error)) {
            if before.is_none() {
                let socket = self.path.display();
                tracing::warn!("{socket}: a client must wait: {reason}; raise `ulimit -n`");
            }
            self.accept_after.set(Some(Instant::now() + ACCEPT_PAUSE));
        }
        None
    }
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        let ours = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|file| (file.dev(), file.ino()) == self.identity);
        if ours {
            // A file that stays behind is replaced by the next server.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Waits until at least one descriptor is ready, and returns which are. Without a time-out it waits
/// for ever; after the time-out, none is ready.
pub(crate) fn wait(
    fds: &[(BorrowedFd<'_>, PollFlags)],
    timeout: Option<Duration>,
) -> io::Result<Vec<bool>> {
    let polled = fds
        .iter()
        .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags));
    let mut polled: Vec<_> = polled.collect();
    let timeout = timeout.map(|timeout| Timespec {
        tv_sec: timeout.as_secs() as i64,
        tv_nsec: i64::from(timeout.subsec_nanos()),
    });
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    Ok(polled.iter().map(|fd| !fd.revents().is_empty()).collect())
}

/// Threads that serve clients until they must end. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Servers {
    /// Becomes readable, and stays so, when the threads must end.
    stop: Arc<OwnedFd>,
    threads: Vec<JoinHandle<()>>,
}

impl Servers {
    pub(crate) fn new() -> Result<Self, NicError> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(NicError::os("eventfd"))?;
        let (stop, threads) = (Arc::new(stop), Vec::new());
        Ok(Self { stop, threads })
    }

    /// Starts a thread, which ends when the descriptor that it gets becomes readable.
    pub(crate) fn start(
        &mut self,
        name: String,
        serve: impl FnOnce(BorrowedFd<'_>) + Send + 'static,
    ) -> Result<(), NicError> {
        let stop = self.stop.clone();
        let thread = std::thread::Builder::new().name(name);
        let thread = thread.spawn(move || serve(stop.as_fd()));
        self.threads
            .push(thread.map_err(NicError::os("control thread"))?);
        Ok(())
    }

    /// Ends the threads.
    pub(crate) fn stop(&mut self) {
        // The write fails only if the counter is full. Then the descriptor is readable anyway.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported the panic itself.
            let _ = thread.join();
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}
