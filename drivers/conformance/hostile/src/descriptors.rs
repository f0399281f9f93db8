//! Descriptors of all kinds, to send where the other side expects another kind.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{epoll, eventfd, EventfdFlags};
use rustix::fs::{fcntl_add_seals, mkfifoat, open, unlink, Mode, OFlags, SealFlags, CWD};

use crate::memory::memfd;

/// Bytes of BAR0.
pub const BAR0_LEN: u64 = 512 << 10;

/// A kind of descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The descriptor that the card sent; nothing if it sent none.
    Own,
    /// The reading end of a pipe.
    Pipe,
    /// The folder `/`.
    Folder,
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// An eventfd.
    Eventfd,
    /// A UNIX socket.
    Socket,
    /// An epoll descriptor.
    Epoll,
    /// A memfd without a byte.
    Empty,
    /// A memfd of one page.
    Page,
    /// A memfd of 512 KiB without seals.
    Unsealed,
    /// A memfd of 512 KiB, open for reading only.
    ReadOnly,
    /// A memfd of 512 KiB that takes no write any more.
    WriteSealed,
}

/// Makes descriptors. `own` are those of the honest message.
///
/// # Errors
/// If the system refuses one.
pub fn files(kinds: &[Kind], own: Vec<OwnedFd>) -> io::Result<Vec<OwnedFd>> {
    let mut own = own.into_iter();
    let mut made = Vec::new();
    for kind in kinds {
        match kind {
            Kind::Own => made.extend(own.next()),
            kind => made.push(make(*kind)?),
        }
    }
    Ok(made)
}

fn make(kind: Kind) -> io::Result<OwnedFd> {
    let path = |path: &str, flags| open(path, flags | OFlags::CLOEXEC, Mode::empty());
    Ok(match kind {
        Kind::Own => return Err(io::ErrorKind::InvalidInput.into()),
        Kind::Pipe => pipe()?,
        Kind::Folder => path("/", OFlags::DIRECTORY)?,
        Kind::Null => path("/dev/null", OFlags::RDWR)?,
        Kind::Zero => path("/dev/zero", OFlags::RDWR)?,
        Kind::Eventfd => eventfd(0, EventfdFlags::CLOEXEC)?,
        Kind::Socket => UnixStream::pair()?.0.into(),
        Kind::Epoll => epoll::create(epoll::CreateFlags::CLOEXEC)?,
        Kind::Empty => memfd(0)?,
        Kind::Page => memfd(4096)?,
        Kind::Unsealed => memfd(BAR0_LEN)?,
        Kind::ReadOnly => read_only(&memfd(BAR0_LEN)?)?,
        Kind::WriteSealed => {
            let file = memfd(BAR0_LEN)?;
            fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK)?;
            file
        }
    })
}

/// Makes a pipe that reads and writes through one descriptor, and whose writes block when it is
/// full.
///
/// # Errors
/// Those of `mkfifo` and `open`.
pub fn pipe() -> io::Result<OwnedFd> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(format!("hostile-{process}-{number}"));
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
    let opened = open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    unlink(&path)?;
    Ok(opened?)
}

/// Opens a file again, for reading only.
///
/// # Errors
/// Those of `open`.
pub fn read_only(file: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_can_be_made_and_leaves_no_file() {
        let kinds = [
            Kind::Own,
            Kind::Pipe,
            Kind::Folder,
            Kind::Null,
            Kind::Zero,
            Kind::Eventfd,
            Kind::Socket,
            Kind::Epoll,
            Kind::Empty,
            Kind::Page,
            Kind::Unsealed,
            Kind::ReadOnly,
            Kind::WriteSealed,
        ];
        let made = files(&kinds, vec![memfd(1).unwrap()]).unwrap();
        assert_eq!(made.len(), kinds.len());
        assert_eq!(rustix::io::write(&made[1], b"x"), Ok(1));
        assert!(rustix::io::write(&made[11], b"x").is_err());
        assert!(rustix::io::write(&made[12], b"x").is_err());
    }
}
