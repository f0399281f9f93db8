//! Responses of HTTP/1.1.

use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime};

/// The statuses of this service (RFC 9110, 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Status {
    Ok,
    Created,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    ContentTooLarge,
    HeadTooLarge,
    ServerError,
    NotImplemented,
    VersionNotSupported,
    InsufficientStorage,
}

impl Status {
    /// The number and the reason.
    pub fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::Created => "201 Created",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::ContentTooLarge => "413 Content Too Large",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::ServerError => "500 Internal Server Error",
            Self::NotImplemented => "501 Not Implemented",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
            Self::InsufficientStorage => "507 Insufficient Storage",
        }
    }

    /// Whether the client has done something wrong, or the server.
    pub fn is_error(self) -> bool {
        !matches!(self, Self::Ok | Self::Created)
    }
}

/// What a response says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Nothing: it goes on, as HTTP/1.1 expects.
    GoesOn,
    /// It goes on, although the client's version would close it.
    KeepAlive,
    /// It ends with this response.
    Close,
}

/// The date of responses, which changes once a second.
pub struct Date {
    text: String,
    until: Instant,
}

impl Date {
    /// The date now.
    pub fn now() -> Self {
        Self {
            text: httpdate::fmt_http_date(SystemTime::now()),
            until: Instant::now() + Duration::from_secs(1),
        }
    }

    /// Updates the date if it is older than a second.
    pub fn update(&mut self, now: Instant) {
        if now >= self.until {
            *self = Self::now();
        }
    }
}

/// Appends the head of a response with a body of so many bytes.
pub fn write_head(
    output: &mut Vec<u8>,
    status: Status,
    date: &Date,
    connection: Connection,
    content: &str,
    length: u64,
) {
    let connection = match connection {
        Connection::GoesOn => "",
        Connection::KeepAlive => "Connection: keep-alive\r\n",
        Connection::Close => "Connection: close\r\n",
    };
    let allow = match status {
        Status::MethodNotAllowed => "Allow: GET, HEAD, POST\r\n",
        _ => "",
    };
    // A vector takes everything.
    let _ = write!(
        output,
        "HTTP/1.1 {}\r\nDate: {}\r\nContent-Type: {content}\r\nContent-Length: {length}\r\n{allow}{connection}\r\n",
        status.line(),
        date.text,
    );
}
