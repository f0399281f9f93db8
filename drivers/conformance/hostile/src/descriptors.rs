//! Descriptors of all kinds, to send where the other side expects another kind.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};

use harness::codec::BAR0_LEN;
use harness::memory::memfd;
use rustix::event::{epoll, eventfd, EventfdFlags};
use rustix::fs::{fcntl_add_seals, mkfifoat, open, unlink, Mode, OFlags, SealFlags, CWD};

/// A kind of descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The descriptor that the honest message has; nothing if it has none.
    Own,
    /// A pipe that reads and writes through one descriptor, and whose writes block when it is full.
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
    /// A memfd of so many bytes, without seals.
    Memory(u64),
    /// A memfd of so many bytes that keeps its size.
    Sealed(u64),
    /// A memfd of the size of BAR0, open for reading only.
    ReadOnly,
    /// A memfd of the size of BAR0 that takes no write any more.
    WriteSealed,
}

/// Makes descriptors. `own` are those of the honest message.
pub fn files(kinds: &[Kind], own: Vec<OwnedFd>) -> io::Result<Vec<OwnedFd>> {
    let mut own = own.into_iter();
    let made = kinds.iter().filter_map(|kind| match kind {
        Kind::Own => own.next().map(Ok),
        kind => Some(make(*kind)),
    });
    made.collect()
}

/// Makes a descriptor. There is no honest message.
pub fn make(kind: Kind) -> io::Result<OwnedFd> {
    let path = |path: &str, flags| open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let sealed = |len, seals| {
        let file = memfd(len)?;
        fcntl_add_seals(&file, seals)?;
        Ok(file)
    };
    Ok(match kind {
        Kind::Own => return Err(io::ErrorKind::InvalidInput.into()),
        Kind::Pipe => return pipe(),
        Kind::Folder => path("/", OFlags::DIRECTORY)?,
        Kind::Null => path("/dev/null", OFlags::RDWR)?,
        Kind::Zero => path("/dev/zero", OFlags::RDWR)?,
        Kind::Eventfd => eventfd(0, EventfdFlags::CLOEXEC)?,
        Kind::Socket => UnixStream::pair()?.0.into(),
        Kind::Epoll => epoll::create(epoll::CreateFlags::CLOEXEC)?,
        Kind::Memory(len) => return memfd(len),
        Kind::Sealed(len) => return sealed(len, SealFlags::SHRINK | SealFlags::GROW),
        Kind::ReadOnly => {
            let file = memfd(BAR0_LEN)?;
            path(
                &format!("/proc/self/fd/{}", file.as_raw_fd()),
                OFlags::RDONLY,
            )?
        }
        Kind::WriteSealed => return sealed(BAR0_LEN, SealFlags::WRITE | SealFlags::SHRINK),
    })
}

fn pipe() -> io::Result<OwnedFd> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(format!("hostile-{process}-{number}"));
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
    let opened = open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    unlink(&path)?;
    Ok(opened?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_take_writes_and_files_against_writes_take_none() {
        let kinds = [Kind::Own, Kind::Pipe, Kind::ReadOnly, Kind::WriteSealed];
        let made = files(&kinds, vec![memfd(1).unwrap()]).unwrap();
        let written: Vec<_> = made
            .iter()
            .map(|file| rustix::io::write(file, b"x").is_ok())
            .collect();
        assert_eq!(written, [true, true, false, false]);
    }
}
