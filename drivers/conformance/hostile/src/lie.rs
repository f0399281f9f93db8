//! Lies about a message, which servers tell in replies and clients in requests.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::codec::{
    put32, put64, receive, send, send_message, Header, Message, FLAG_ERROR, FLAG_REPLY, HEADER_LEN,
};

use crate::descriptors::{files, Kind};
use crate::tamper::Tamper;

/// A change of a message. It sees the request to which the message replies, or the message itself.
type Change = Arc<dyn Fn(&Message, &mut Message) + Send + Sync>;

/// What the liar does.
#[derive(Clone)]
pub enum Lie {
    /// Tells the truth.
    Truth,
    /// Changes header or payload.
    Edit(Change),
    /// Sends these descriptors instead of the message's.
    Files(Vec<Kind>),
    /// Sends nothing.
    Omit,
    /// Sends the message in pieces of one byte, so many milliseconds apart.
    Drip(u64),
    /// Sends the message so many milliseconds late.
    Late(u64),
    /// Sends so many bytes of the message and closes the connection.
    Close(usize),
    /// Sends so many bytes of the message and nothing more, ever.
    Stop(usize),
    /// Sends the message so often.
    Repeat(usize),
    /// Sends the message before once more, instead of this one.
    Stale,
    /// Sends this message first.
    Unasked(Header),
    /// Sends messages as long as the other side takes them.
    Flood,
    /// Sends the message, and then changes memory that the driver has lent or uses.
    Tamper(Tamper),
    /// Offers an own file as registers, and then changes that file.
    OwnRegisters(Tamper),
}

impl fmt::Debug for Lie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a lie")
    }
}

/// What remains to do after a lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The message, as the lie has left it, must still be sent.
    Send,
    /// All is said.
    Said,
    /// The liar never says anything more.
    Silent,
    /// The liar closes the connection.
    Closed,
}

impl Lie {
    /// Tells the lie on this stream. `request` is what the message replies to, if that is a request, and
    /// `previous` the message before.
    ///
    /// # Errors
    /// Those of the socket, and of the system if it refuses a descriptor.
    pub fn tell(
        &self,
        to: &UnixStream,
        request: Option<&Message>,
        message: &mut Message,
        previous: &[u8],
    ) -> io::Result<After> {
        let cut = |message: &Message, count: usize| {
            let bytes = message.bytes();
            let files: Vec<_> = message.files.iter().map(AsFd::as_fd).collect();
            send(to, &bytes[..count.min(bytes.len())], &files)
        };
        match self {
            Self::Truth | Self::Tamper(_) | Self::OwnRegisters(_) => {}
            Self::Edit(change) => match request {
                Some(request) => change(request, message),
                None => {
                    let own = Message::request(
                        message.header.id,
                        message.header.command,
                        &message.payload,
                    );
                    change(&own, message);
                }
            },
            Self::Files(kinds) => message.files = files(kinds, std::mem::take(&mut message.files))?,
            Self::Omit => return Ok(After::Said),
            Self::Drip(pause) => {
                for byte in message.bytes() {
                    send(to, &[byte], &[])?;
                    std::thread::sleep(Duration::from_millis(*pause));
                }
                return Ok(After::Said);
            }
            Self::Late(pause) => std::thread::sleep(Duration::from_millis(*pause)),
            Self::Close(count) => return cut(message, *count).map(|()| After::Closed),
            Self::Stop(count) => return cut(message, *count).map(|()| After::Silent),
            Self::Repeat(count) => (1..*count).try_for_each(|_| send_message(to, message))?,
            Self::Stale => return send(to, previous, &[]).map(|()| After::Said),
            Self::Unasked(header) => send(to, &header.bytes(), &[])?,
            Self::Flood => {
                let (mut header, limit) =
                    (message.header, Instant::now() + Duration::from_secs(60));
                (header.size, header.flags) = (HEADER_LEN as u32, FLAG_REPLY);
                while Instant::now() < limit {
                    header.id = header.id.wrapping_add(1);
                    send(to, &header.bytes(), &[])?;
                }
            }
        }
        Ok(After::Send)
    }
}

/// Tells lies about a message one after the other, and sends what remains of it.
///
/// # Errors
/// As [`Lie::tell`]. A connection that the liar closes is [`io::ErrorKind::ConnectionAborted`].
pub fn tell_all(
    lies: &[Lie],
    to: &UnixStream,
    request: Option<&Message>,
    mut message: Message,
    previous: &[u8],
) -> io::Result<()> {
    for lie in lies {
        match lie.tell(to, request, &mut message, previous)? {
            After::Send => {}
            After::Said => return Ok(()),
            // Until the other side leaves, or waits no more.
            After::Silent => loop {
                receive(to)?;
            },
            After::Closed => return Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
    send_message(to, &message)
}

/// Changes a message, which may depend on the request.
pub fn edit(change: impl Fn(&Message, &mut Message) + Send + Sync + 'static) -> Lie {
    Lie::Edit(Arc::new(change))
}

/// Changes the header.
pub fn header(change: impl Fn(&mut Header) + Send + Sync + 'static) -> Lie {
    edit(move |_, message| change(&mut message.header))
}

/// Changes the payload, and the size with it.
pub fn payload(change: impl Fn(&mut Vec<u8>) + Send + Sync + 'static) -> Lie {
    edit(move |_, message| {
        change(&mut message.payload);
        message.fit_size();
    })
}

/// Changes the payload, and leaves the size as it was.
pub fn body(change: impl Fn(&mut Vec<u8>) + Send + Sync + 'static) -> Lie {
    edit(move |_, message| change(&mut message.payload))
}

/// Sets words of the payload, each at its offset.
pub fn put<const N: usize>(words: [(usize, u32); N]) -> Lie {
    payload(move |bytes| words.iter().for_each(|(at, word)| put32(bytes, *at, *word)))
}

/// Sets a 64-bit number of the payload.
pub fn put_long(at: usize, value: u64) -> Lie {
    payload(move |bytes| put64(bytes, at, value))
}

/// Refuses with an error number.
pub fn refuse(error: u32) -> Lie {
    header(move |header| {
        header.flags |= FLAG_ERROR;
        header.error = error;
    })
}

/// Sends these descriptors.
pub fn with(kinds: &[Kind]) -> Lie {
    Lie::Files(kinds.to_vec())
}

/// Random bytes from the system, for a payload.
pub fn random(bytes: &mut [u8]) {
    if let Ok(mut file) = File::open("/dev/urandom") {
        // Bytes that could not be read stay as they are.
        let _ = file.read_exact(bytes);
    }
}
