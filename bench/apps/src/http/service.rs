//! A server of HTTP/1.1 for any site: keep-alive, pipelining, and streams of any length.

use std::time::Instant;

use serde::Serialize;

use super::request::{parse, Head, MAX_BODY, MAX_HEAD};
use super::response::{write_head, Connection, Date, Status};
use crate::service::{Served, Service, OUTPUT_LIMIT};

const JSON: &str = "application/json";

/// The answer to a client that waits before it sends a body (RFC 9110, 10.1.1).
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The site answers it as soon as it is whole.
    Answer,
    /// The answer is so many bytes.
    Bytes(u64),
    /// The body is thrown away, whatever its length, and counted.
    Discard,
}

/// What a server serves.
pub trait Site {
    /// Looks at the head of a request.
    fn route(&self, _head: &Head<'_>) -> Route {
        Route::Answer
    }

    /// Answers a request: appends JSON to `answer`, unless the status is an error.
    fn answer(&mut self, head: &Head<'_>, body: &[u8], answer: &mut Vec<u8>) -> Status;
}

/// What was asked, and what was answered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HttpCounts {
    /// Requests with an answer, errors included.
    pub requests: u64,
    /// Answers 200 and 201.
    pub successes: u64,
    /// Answers 4xx.
    pub client_errors: u64,
    /// Answers 5xx.
    pub server_errors: u64,
    /// Requests that no parser understands. Each ends its connection.
    pub malformed: u64,
}

/// What a connection is about to do before its next request.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    stream: Stream,
    /// The client has our word to send the body of its request.
    continued: bool,
    /// The connection ends with this request.
    closes: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stream {
    #[default]
    None,
    /// So many bytes are left of the answer.
    Sends(u64),
    /// So many bytes are left of the body, which has `length`.
    Discards {
        left: u64,
        length: u64,
        connection: Connection,
    },
}

/// A site as a service.
pub struct Http<S: Site> {
    /// The site.
    pub site: S,
    /// What was asked so far.
    pub counts: HttpCounts,
    date: Date,
    /// The body of the response.
    body: Vec<u8>,
}

impl<S: Site> Http<S> {
    /// A server of this site.
    pub fn new(site: S) -> Self {
        Self {
            site,
            counts: HttpCounts::default(),
            date: Date::now(),
            body: Vec::new(),
        }
    }

    /// Takes the request at the start of `input`. Returns how many bytes of it are done with; `None` if it is not whole.
    fn take_request(
        &mut self,
        state: &mut State,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<Option<usize>, Status> {
        let Some(head) = parse(input)? else {
            return Ok(None);
        };
        let route = self.site.route(&head);
        let rest = &input[head.length..];
        let body = match route {
            Route::Discard => Some(&[][..]),
            _ => head.body(rest)?,
        };
        let waits = head.expects_continue && rest.is_empty() && head.body_length > 0;
        if waits && !std::mem::replace(&mut state.continued, true) {
            output.extend_from_slice(CONTINUE);
        }
        let Some(body) = body else {
            return Ok(None);
        };
        state.continued = false;
        state.closes = !head.keep_alive;
        let is_head = head.method == "HEAD";
        match route {
            Route::Answer => {
                self.body.clear();
                let status = self.site.answer(&head, body, &mut self.body);
                self.respond(output, status, head.connection(), is_head);
            }
            Route::Bytes(length) => {
                self.count(Status::Ok);
                let content = "application/octet-stream";
                let connection = head.connection();
                write_head(output, Status::Ok, &self.date, connection, content, length);
                state.stream = Stream::Sends(if is_head { 0 } else { length });
            }
            Route::Discard => {
                state.stream = Stream::Discards {
                    left: head.body_length,
                    length: head.body_length,
                    connection: head.connection(),
                };
            }
        }
        Ok(Some(head.length + body.len()))
    }

    fn count(&mut self, status: Status) {
        self.counts.requests += 1;
        match status.line().as_bytes()[0] {
            b'2' => self.counts.successes += 1,
            b'4' => self.counts.client_errors += 1,
            _ => self.counts.server_errors += 1,
        }
    }

    /// Appends a response whose body is in `self.body`, or that of an error.
    fn respond(
        &mut self,
        output: &mut Vec<u8>,
        status: Status,
        connection: Connection,
        is_head: bool,
    ) {
        self.count(status);
        if status.is_error() {
            self.body.clear();
            self.body.extend_from_slice(br#"{"error":""#);
            self.body.extend_from_slice(status.line().as_bytes());
            self.body.extend_from_slice(br#""}"#);
        }
        let length = self.body.len() as u64;
        write_head(output, status, &self.date, connection, JSON, length);
        if !is_head {
            output.extend_from_slice(&self.body);
        }
    }

    /// Goes on with a stream. Returns how many bytes of the input it took, and whether it is over.
    fn go_on(&mut self, state: &mut State, input: &[u8], output: &mut Vec<u8>) -> (usize, bool) {
        match &mut state.stream {
            Stream::None => (0, true),
            Stream::Sends(left) => {
                let room = OUTPUT_LIMIT.saturating_sub(output.len());
                let size = usize::try_from(*left).map_or(room, |left| left.min(room));
                output.resize(output.len() + size, b'x');
                *left -= size as u64;
                (0, *left == 0)
            }
            Stream::Discards {
                left,
                length,
                connection,
            } => {
                let size = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
                *left -= size as u64;
                let is_over = *left == 0;
                if is_over {
                    self.body = format!(r#"{{"bytes":{length}}}"#).into_bytes();
                    let connection = *connection;
                    self.respond(output, Status::Ok, connection, false);
                }
                (size, is_over)
            }
        }
    }
}

impl<S: Site> Service for Http<S> {
    type Connection = State;

    const REQUEST_LIMIT: usize = MAX_HEAD + MAX_BODY;

    // The statistics of 256 backends and 64 frontends, with the longest names.
    const ANSWER_LIMIT: usize = 128 * 1024;

    fn serve(&mut self, state: &mut State, input: &[u8], output: &mut Vec<u8>) -> Served {
        let mut served = Served::default();
        self.date.update(Instant::now());
        while output.len() < OUTPUT_LIMIT {
            let (taken, is_over) = self.go_on(state, &input[served.consumed..], output);
            served.consumed += taken;
            if !is_over {
                break;
            }
            state.stream = Stream::None;
            if state.closes {
                served.close = true;
                break;
            }
            match self.take_request(state, &input[served.consumed..], output) {
                Ok(Some(length)) => served.consumed += length,
                Ok(None) => break,
                Err(status) => {
                    self.counts.malformed += 1;
                    self.respond(output, status, Connection::Close, false);
                    served.close = true;
                    break;
                }
            }
        }
        served.more = matches!(state.stream, Stream::Sends(_)) || state.closes && !served.close;
        served.unfinished = matches!(state.stream, Stream::Discards { .. });
        served
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{RecordSite, Records};

    fn serve(http: &mut Http<RecordSite>, requests: &str) -> (String, Served) {
        let mut output = Vec::new();
        let served = http.serve(&mut State::default(), requests.as_bytes(), &mut output);
        (String::from_utf8(output).unwrap(), served)
    }

    fn http() -> Http<RecordSite> {
        Http::new(RecordSite::new(Records::open(None, 10).unwrap()))
    }

    #[test]
    fn each_request_has_its_status() {
        let mut http = http();
        for (request, status) in [
            ("GET /records/1", "200"),
            ("HEAD /records/1", "200"),
            ("GET /health", "200"),
            ("GET /records/11", "404"),
            ("GET /records/-1", "404"),
            ("GET /records/99999999999999999999", "404"),
            ("GET /", "404"),
            ("GET /records", "405"),
            ("POST /records/1", "405"),
            ("POST /health", "405"),
            ("POST /records", "400"),
        ] {
            let (answer, served) =
                serve(&mut http, &format!("{request} HTTP/1.1\r\nHost: a\r\n\r\n"));
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{request}: {answer}"
            );
            assert!(!served.close, "{request}");
        }
        let counts = &http.counts;
        assert_eq!(
            (counts.requests, counts.successes, counts.client_errors),
            (11, 3, 8)
        );
    }

    #[test]
    fn a_response_to_head_has_the_length_and_no_body() {
        let (get, _) = serve(&mut http(), "GET /records/1 HTTP/1.1\r\nHost: a\r\n\r\n");
        let (head, _) = serve(&mut http(), "HEAD /records/1 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(
            get.ends_with("\r\n\r\n{\"id\":1,\"name\":\"record 1\",\"value\":0.125}"),
            "{get}"
        );
        assert!(
            head.contains("Content-Length: 40\r\n") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
        assert!(get.contains("Content-Length: 40\r\n"), "{get}");
    }

    #[test]
    fn requests_in_a_row_are_answered_in_their_order() {
        let mut http = http();
        let request = |id| format!("GET /records/{id} HTTP/1.1\r\nHost: a\r\n\r\n");
        let (answers, served) = serve(&mut http, &(1..=5).map(request).collect::<String>());
        let ids: Vec<_> = answers.matches("\"id\":").collect();
        assert_eq!((ids.len(), served.close), (5, false));
        assert!(answers.find("\"id\":1,") < answers.find("\"id\":2,"));
    }

    #[test]
    fn a_bad_request_ends_the_connection_after_its_answer() {
        let mut http = http();
        let good = "GET /records/1 HTTP/1.1\r\nHost: a\r\n\r\n";
        let (answers, served) = serve(&mut http, &format!("{good}nonsense\r\n\r\n{good}"));
        assert!(
            served.close && answers.contains("HTTP/1.1 400 "),
            "{answers}"
        );
        assert!(answers.contains("Connection: close\r\n"), "{answers}");
        assert_eq!(http.counts.requests, 2);
    }

    #[test]
    fn a_posted_record_can_be_read() {
        let mut http = http();
        let body = r#"{"name":"x","value":1}"#;
        let post = format!(
            "POST /records HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let (answer, _) = serve(&mut http, &post);
        assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
        let (answer, _) = serve(&mut http, "GET /records/11 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(
            answer.ends_with("{\"id\":11,\"name\":\"x\",\"value\":1.0}"),
            "{answer}"
        );
    }

    /// Serves one connection, whose client takes all answers at once.
    fn drain(http: &mut Http<RecordSite>, parts: &[&[u8]]) -> (Vec<u8>, Served) {
        let (mut state, mut sent, mut served) = (State::default(), Vec::new(), Served::default());
        for part in parts {
            let mut input = *part;
            loop {
                let mut output = Vec::new();
                served = http.serve(&mut state, input, &mut output);
                input = &input[served.consumed..];
                sent.extend(output);
                if !served.more {
                    break;
                }
            }
        }
        (sent, served)
    }

    #[test]
    fn a_stream_has_all_of_its_bytes_and_the_next_request_follows() {
        let two = "GET /bytes/1000000 HTTP/1.1\r\nHost: a\r\n\r\n\
                   GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let (sent, served) = drain(&mut http(), &[two.as_bytes()]);
        assert!(served.close);
        let text = String::from_utf8(sent).unwrap();
        assert!(
            text.contains("Content-Length: 1000000\r\n"),
            "{}",
            &text[..200]
        );
        assert_eq!(text.matches('x').count(), 1_000_000);
        assert!(text.ends_with(r#"{"status":"ok"}"#));
        for wrong in [
            "/bytes/",
            "/bytes/-1",
            "/bytes/x",
            "/bytes/99999999999999999999",
        ] {
            let (answer, _) = serve(
                &mut http(),
                &format!("GET {wrong} HTTP/1.1\r\nHost: a\r\n\r\n"),
            );
            assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        }
    }

    #[test]
    fn a_body_of_any_length_is_discarded_and_counted() {
        let head = "POST /discard HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\
                    Expect: 100-continue\r\n\r\n";
        let mut http = http();
        let (sent, served) = drain(&mut http, &[head.as_bytes()]);
        assert_eq!(sent, CONTINUE);
        assert!(served.unfinished);
        let body = [b'y'; 50_000];
        let (sent, served) = drain(&mut http, &[head.as_bytes(), &body, &body]);
        assert!(!served.unfinished && !served.close);
        assert!(sent.ends_with(b"\r\n\r\n{\"bytes\":100000}"));
        assert_eq!(http.counts.successes, 1);
    }
}
