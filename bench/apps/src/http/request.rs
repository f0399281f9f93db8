//! Requests of HTTP/1.1 (RFC 9112), parsed by httparse, with bounds and without doubt about their length.

use httparse::{Header, EMPTY_HEADER};

use super::response::{Connection, Status};

/// The longest head of a request in bytes.
pub const MAX_HEAD: usize = 8 * 1024;

/// The longest body of a request in bytes.
pub const MAX_BODY: usize = 64 * 1024;

const MAX_HEADERS: usize = 64;

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
pub struct Head<'i> {
    /// The method, as it was sent.
    pub method: &'i str,
    /// The path, without a query.
    pub path: &'i str,
    /// Bytes of the body, which follows.
    pub body_length: u64,
    /// Whether the client waits for a word before it sends the body.
    pub expects_continue: bool,
    /// Whether the client wants to go on with this connection.
    pub keep_alive: bool,
    /// Whether the client needs to know that the connection goes on, because its version closes otherwise.
    pub says_keep_alive: bool,
    /// Bytes of the head.
    pub length: usize,
}

impl Head<'_> {
    /// The body at the start of `rest`, which follows the head. `None` if it is not whole yet.
    ///
    /// # Errors
    /// If it is too long to be kept.
    pub fn body<'r>(&self, rest: &'r [u8]) -> Result<Option<&'r [u8]>, Status> {
        match usize::try_from(self.body_length) {
            Ok(length) if length <= MAX_BODY => Ok(rest.get(..length)),
            _ => Err(Status::ContentTooLarge),
        }
    }

    /// What the response says of the connection.
    pub fn connection(&self) -> Connection {
        match self.keep_alive {
            false => Connection::Close,
            true if self.says_keep_alive => Connection::KeepAlive,
            true => Connection::GoesOn,
        }
    }
}

/// The value of a header that may appear once. An error if it appears more often.
fn single<'h>(headers: &[Header<'h>], name: &str) -> Result<Option<&'h [u8]>, Status> {
    let mut values = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    let value = values.next().map(|header| header.value);
    match values.next() {
        Some(_) => Err(Status::BadRequest),
        None => Ok(value),
    }
}

/// Whether a list of words, as in `Connection: close, upgrade`, has a word.
fn has_word(headers: &[Header<'_>], name: &str, word: &str) -> bool {
    headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name))
        .flat_map(|header| header.value.split(|byte| *byte == b','))
        .any(|found| found.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

/// The length of the body (RFC 9112, 6.3). A request whose length is in doubt is refused, because the client
/// could hide another request in it.
fn body_length(headers: &[Header<'_>]) -> Result<u64, Status> {
    let length = single(headers, "Content-Length")?;
    if headers
        .iter()
        .any(|header| header.name.eq_ignore_ascii_case("Transfer-Encoding"))
    {
        return Err(match length {
            Some(_) => Status::BadRequest,
            None => Status::NotImplemented,
        });
    }
    let Some(length) = length else {
        return Ok(0);
    };
    let digits = length.iter().all(u8::is_ascii_digit) && !length.is_empty();
    let text = std::str::from_utf8(length).ok().filter(|_| digits);
    let text = text.ok_or(Status::BadRequest)?;
    text.parse().map_err(|_| Status::ContentTooLarge)
}

/// Parses the head at the start of `input`. `None` if it is not whole yet.
///
/// # Errors
/// The status to answer with, if no more bytes can make the request right.
pub fn parse(input: &[u8]) -> Result<Option<Head<'_>>, Status> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let head = match parsed.parse(input) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if input.len() < MAX_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Status::HeadTooLarge)
        }
        Err(httparse::Error::Version) => return Err(Status::VersionNotSupported),
        Err(_) => return Err(Status::BadRequest),
    };
    if head > MAX_HEAD {
        return Err(Status::HeadTooLarge);
    }
    let (method, target) = (parsed.method.unwrap_or(""), parsed.path.unwrap_or(""));
    let newest = parsed.version == Some(1);
    let headers = &*parsed.headers;
    // RFC 9112, 3.2: a request of HTTP/1.1 names its host once.
    if single(headers, "Host")?.is_none() && newest {
        return Err(Status::BadRequest);
    }
    let body_length = body_length(headers)?;
    let asks_to_go_on = has_word(headers, "Connection", "keep-alive");
    let asks_to_close = has_word(headers, "Connection", "close");
    Ok(Some(Head {
        method,
        path: target.split(['?', '#']).next().unwrap_or(target),
        body_length,
        expects_continue: newest && has_word(headers, "Expect", "100-continue"),
        keep_alive: !asks_to_close && (newest || asks_to_go_on),
        says_keep_alive: !asks_to_close && !newest && asks_to_go_on,
        length: head,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn status(text: &str) -> Status {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_request_has_a_method_a_path_and_a_body() {
        let text = "POST /records?x=1 HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabcGET";
        let request = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!((request.method, request.path), ("POST", "/records"));
        assert_eq!(request.length, text.len() - 6);
        let rest = &text.as_bytes()[request.length..];
        assert_eq!(request.body(rest), Ok(Some(&b"abc"[..])));
        assert_eq!(request.body(&rest[..2]), Ok(None));
        assert!(request.keep_alive && !request.says_keep_alive);
    }

    #[test]
    fn the_version_and_the_client_decide_whether_the_connection_goes_on() {
        for (version, connection, expected) in [
            ("1.1", "", (true, false)),
            ("1.1", "Connection: foo, Close\r\n", (false, false)),
            ("1.0", "", (false, false)),
            ("1.0", "Connection: Keep-Alive\r\n", (true, true)),
        ] {
            let text = format!("GET / HTTP/{version}\r\nHost: a\r\n{connection}\r\n");
            let request = parse(text.as_bytes()).unwrap().unwrap();
            assert_eq!(
                (request.keep_alive, request.says_keep_alive),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_request_whose_length_is_in_doubt_is_refused() {
        let with = |headers: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
        assert_eq!(
            status(&with("Content-Length: 1\r\nContent-Length: 1\r\n")),
            Status::BadRequest
        );
        assert_eq!(status(&with("Content-Length: +1\r\n")), Status::BadRequest);
        assert_eq!(status(&with("Content-Length: \r\n")), Status::BadRequest);
        assert_eq!(
            status(&with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")),
            Status::BadRequest
        );
        assert_eq!(
            status(&with("Transfer-Encoding: chunked\r\n")),
            Status::NotImplemented
        );
        let long = with("Content-Length: 65537\r\n");
        let head = parse(long.as_bytes()).unwrap().unwrap();
        assert_eq!(head.body(b""), Err(Status::ContentTooLarge));
        assert_eq!(
            status(&with("Content-Length: 99999999999999999999999\r\n")),
            Status::ContentTooLarge
        );
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(
            status("GET / HTTP/2.0\r\n\r\n"),
            Status::VersionNotSupported
        );
        assert_eq!(status("\x16\x03\x01\x02\x00\x01"), Status::BadRequest);
        let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(MAX_HEAD));
        assert_eq!(status(&long), Status::HeadTooLarge);
        let many = format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "a: b\r\n".repeat(MAX_HEADERS)
        );
        assert_eq!(status(&many), Status::HeadTooLarge);
    }

    proptest! {
        #[test]
        fn a_part_of_a_request_is_not_whole(body in "[a-z]{0,40}") {
            let text = format!(
                "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len()
            );
            let head = text.len() - body.len();
            for end in 0..head {
                prop_assert_eq!(parse(&text.as_bytes()[..end]), Ok(None));
            }
            let request = parse(text.as_bytes()).unwrap().unwrap();
            prop_assert_eq!(request.length, head);
            for end in 0..body.len() {
                prop_assert_eq!(request.body(&body.as_bytes()[..end]), Ok(None));
            }
            prop_assert_eq!(request.body(body.as_bytes()), Ok(Some(body.as_bytes())));
        }

        #[test]
        fn no_bytes_make_the_parser_fail(bytes: Vec<u8>, text in "[GETPOS/ 1.:\r\na-z]{0,60}") {
            let _ = parse(&bytes);
            let _ = parse(text.as_bytes());
        }
    }
}
