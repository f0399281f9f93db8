//! The server's side of the connection.

use std::io::{IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::reply::Reply;
use fuzz_input::Input;

/// Longest wait for a client that sends half a message, or does not take a reply.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of a request.
const MOST_BYTES: usize = 65_536;

/// Serves the clients that connect, one after the other, until one sends nothing.
pub fn serve(listener: &UnixListener, input: &mut Input<'_>) {
    while let Ok((client, _)) = listener.accept() {
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_write_timeout(Some(PATIENCE)).unwrap();
        if !converse(client, input) {
            return;
        }
    }
}

/// Ends [`serve`].
pub fn wake(socket: &Path) {
    drop(UnixStream::connect(socket).unwrap());
}

/// Answers a client's requests. Returns whether it has sent one.
fn converse(mut client: UnixStream, input: &mut Input<'_>) -> bool {
    let mut asked = false;
    while let Some(request) = receive(&mut client) {
        asked = true;
        let mut reply = Reply::honest(&request);
        reply.lie(input);
        if !send(&client, &reply) || reply.close {
            break;
        }
    }
    asked
}

/// The next request, or `None` if there is none. Descriptors in it are closed.
fn receive(client: &mut UnixStream) -> Option<Vec<u8>> {
    let mut request = vec![0; 16];
    client.read_exact(&mut request).ok()?;
    let size = u32::from_le_bytes([request[4], request[5], request[6], request[7]]) as usize;
    assert!(
        (16..=MOST_BYTES).contains(&size),
        "a request of {size} bytes"
    );
    request.resize(size, 0);
    client.read_exact(&mut request[16..]).ok()?;
    Some(request)
}

/// Sends a reply, with its descriptors at the first byte.
fn send(client: &UnixStream, reply: &Reply) -> bool {
    let fds: Vec<_> = reply.fds.iter().map(AsFd::as_fd).collect();
    let mut rest = reply.bytes.as_slice();
    while !rest.is_empty() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(20))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if rest.len() == reply.bytes.len() && !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        let slices = [IoSlice::new(rest)];
        match sendmsg(client, &slices, &mut control, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = &rest[sent..],
            Err(_) => return false,
        }
    }
    true
}
