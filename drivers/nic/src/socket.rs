//! UNIX sockets to listen on, and waiting for several of them at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use thiserror::Error;

/// Why a socket cannot be listened on.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields
pub enum SocketError {
    /// Another process listens on the socket.
    #[error(
        "socket {path}: another server is listening there; stop it, or choose another directory"
    )]
    InUse { path: PathBuf },
    /// The path names a file that is not a socket.
    #[error("socket {path}: the file of that name is not a socket; remove it, or choose another directory")]
    NotASocket { path: PathBuf },
    /// The operating system refused.
    #[error("socket {path}: {reason}; choose another directory")]
    Os { path: PathBuf, reason: io::Error },
}

/// Time to the next try after a client found no room in this process.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listening socket. Dropping it removes its file.
#[derive(Debug)]
pub(crate) struct ListeningSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file: a file that has replaced ours is not removed.
    identity: (u64, u64),
}

impl ListeningSocket {
    /// Listens at `path`. Replaces a socket file that no process listens on any more.
    pub(crate) fn bind(path: &Path) -> Result<Self, SocketError> {
        let path = path.to_owned();
        let failed = |reason| SocketError::Os {
            path: path.clone(),
            reason,
        };
        match std::fs::symlink_metadata(&path) {
            Ok(file) if !file.file_type().is_socket() => {
                return Err(SocketError::NotASocket { path })
            }
            Ok(_) => match UnixStream::connect(&path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(&path).map_err(failed)?;
                }
                Err(error) => return Err(failed(error)),
                Ok(_) => return Err(SocketError::InUse { path }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let file = std::fs::symlink_metadata(&path).map_err(failed)?;
        Ok(Self {
            listener,
            identity: (file.dev(), file.ino()),
            path,
        })
    }

    /// The descriptor that becomes readable when a client wants to connect.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Accepts a client, if one wants to connect.
    ///
    /// # Errors
    /// This process has no descriptor or memory left for the client, which waits on. The caller must
    /// pause before it tries again: the socket stays readable.
    pub(crate) fn accept(&self) -> io::Result<Option<UnixStream>> {
        const NO_ROOM: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if Errno::from_io_error(&error).is_some_and(|e| NO_ROOM.contains(&e)) => {
                Err(error)
            }
            // The client has given up already.
            Err(_) => Ok(None),
        }
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
    let mut polled: Vec<_> = fds
        .iter()
        .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
        .collect();
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
