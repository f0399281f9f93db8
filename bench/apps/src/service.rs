//! What an application does with the bytes of its connections, whatever carries them.

use std::time::Instant;

/// Answers of a connection that wait to be sent. A service stops to serve at this length, until the client
/// has taken some. So a client that never reads holds up only itself.
pub const OUTPUT_LIMIT: usize = 64 * 1024;

/// What a service did with the bytes of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Bytes of the input that are done with.
    pub consumed: usize,
    /// Close the connection as soon as the output is sent. The rest of the input is lost.
    pub close: bool,
    /// There is more output without more input: serve again as soon as there is room.
    pub more: bool,
    /// A request has begun that is not whole yet, although all of the input is consumed.
    pub unfinished: bool,
}

/// An application over TCP.
pub trait Service {
    /// What the application knows of a connection.
    type Connection: Default;

    /// The longest request in bytes that the input has to hold. A service answers a longer one with an error, and closes.
    const REQUEST_LIMIT: usize;

    /// The most bytes that one request can add to the output.
    const ANSWER_LIMIT: usize;

    /// Serves the whole requests at the start of `input`, and appends the answers to `output`. It stops
    /// early at [`OUTPUT_LIMIT`]. It gets the same input again, with more bytes or with room for output.
    fn serve(
        &mut self,
        connection: &mut Self::Connection,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Served;

    /// Does what is due without a request. Called about ten times a second.
    fn tick(&mut self, _now: Instant) {}
}

/// The longest datagram of a service.
pub const MAX_DATAGRAM: usize = 1472;

/// Who gets an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The sender's host.
    Sender,
    /// The members of the service's group.
    Group,
}

/// An application over UDP.
pub trait DatagramService {
    /// The group whose datagrams the service receives too.
    const GROUP: std::net::Ipv4Addr;

    /// Answers a datagram: writes the answer to `answer`, which is empty, and says who gets it.
    fn answer(&mut self, datagram: &[u8], answer: &mut Vec<u8>) -> Option<To>;

    /// What the service tells its group when it starts.
    fn announce(&mut self) -> Vec<u8>;
}
