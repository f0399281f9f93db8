//! The bytes of a connection, as hyper reads and writes them.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use crate::service::OUTPUT_LIMIT;

/// What has arrived, and what is to be sent.
#[derive(Default)]
pub struct Bytes {
    /// What has arrived.
    pub input: Vec<u8>,
    /// Bytes at its start that hyper has read.
    pub read: usize,
    /// What is to be sent.
    pub output: Vec<u8>,
    /// hyper has more to write than there is room.
    pub is_full: bool,
    /// hyper has read bytes of a head that is not whole.
    pub in_head: bool,
}

/// The bytes of a connection, which hyper and the service share.
#[derive(Clone, Default)]
pub struct Pipe(pub Rc<RefCell<Bytes>>);

impl Read for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = self.0.borrow_mut();
        let waiting = &bytes.input[bytes.read..];
        if waiting.is_empty() {
            return Poll::Pending;
        }
        let size = waiting.len().min(room.remaining());
        room.put_slice(&waiting[..size]);
        bytes.read += size;
        bytes.in_head = true;
        Poll::Ready(Ok(()))
    }
}

impl Write for Pipe {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        written: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut bytes = self.0.borrow_mut();
        let room = OUTPUT_LIMIT.saturating_sub(bytes.output.len());
        bytes.is_full = room == 0;
        if bytes.is_full {
            return Poll::Pending;
        }
        let size = written.len().min(room);
        bytes.output.extend_from_slice(&written[..size]);
        Poll::Ready(Ok(size))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
