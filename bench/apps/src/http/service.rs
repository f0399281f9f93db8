//! A site as a service: hyper keeps the connections, and the site answers requests.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{HeaderValue, ALLOW, CONNECTION, CONTENT_TYPE, HOST};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use serde::Serialize;

use super::pipe::Pipe;
use crate::service::{Served, Service};

/// The longest head of a request in bytes.
const MAX_HEAD: usize = 8 * 1024;

/// The longest body of a request that a site sees, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// A piece of a long answer.
static PIECE: [u8; 16 * 1024] = [b'x'; 16 * 1024];

/// What is done with a request.
pub enum Answer {
    /// This is the answer: a status, and JSON.
    Json(StatusCode, Vec<u8>),
    /// The answer needs the body of the request.
    NeedsBody,
    /// The answer is so many bytes.
    Bytes(u64),
    /// The body is thrown away, whatever its length, and counted.
    Discard,
}

/// What a server serves.
pub trait Site: 'static {
    /// Answers a request by its method and path.
    fn answer(&mut self, method: &Method, path: &str) -> Answer;

    /// Answers a request whose body was needed.
    fn take(&mut self, _body: &[u8]) -> (StatusCode, Vec<u8>) {
        json(StatusCode::NOT_FOUND)
    }
}

/// An error as an answer.
pub fn json(status: StatusCode) -> (StatusCode, Vec<u8>) {
    (status, format!(r#"{{"error":"{status}"}}"#).into_bytes())
}

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct HttpCounts {
    /// Requests with an answer, errors included.
    pub requests: u64,
    /// Answers 2xx.
    pub successes: u64,
    /// Answers 4xx.
    pub client_errors: u64,
    /// Answers 5xx.
    pub server_errors: u64,
    /// Requests that no parser understands. Each ends its connection.
    pub malformed: u64,
}

/// The body of an answer: what is left of it.
enum Content {
    Json(Bytes),
    Stream(u64),
}

impl Body for Content {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = match self.get_mut() {
            Self::Json(json) => std::mem::take(json),
            Self::Stream(left) => {
                let size = usize::try_from(*left).map_or(PIECE.len(), |left| left.min(PIECE.len()));
                *left -= size as u64;
                Bytes::from_static(&PIECE[..size])
            }
        };
        Poll::Ready((!piece.is_empty()).then_some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Json(json) => json.len() as u64,
            Self::Stream(left) => *left,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }
}

/// A site, and what was asked of it.
struct Shared<S> {
    site: S,
    counts: HttpCounts,
}

impl<S: Site> Shared<S> {
    fn respond(&mut self, status: StatusCode, content: Content) -> Response<Content> {
        self.counts.requests += 1;
        match status.as_u16() {
            200..=299 => self.counts.successes += 1,
            400..=499 => self.counts.client_errors += 1,
            _ => self.counts.server_errors += 1,
        }
        let kind = match content {
            Content::Json(_) => "application/json",
            Content::Stream(_) => "application/octet-stream",
        };
        let mut response = Response::new(content);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        match status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
            }
            // The rest of the body is not worth its way.
            StatusCode::PAYLOAD_TOO_LARGE => {
                self.counts.malformed += 1;
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }

    fn respond_json(&mut self, (status, json): (StatusCode, Vec<u8>)) -> Response<Content> {
        self.respond(status, Content::Json(json.into()))
    }
}

/// Answers a request. The site is borrowed only between two waits for the body.
async fn respond<S: Site>(
    shared: Rc<RefCell<Shared<S>>>,
    pipe: Pipe,
    request: Request<Incoming>,
) -> Result<Response<Content>, hyper::Error> {
    pipe.0.borrow_mut().in_head = false;
    // RFC 9112, 3.2: a request of HTTP/1.1 names its host.
    if request.version() == Version::HTTP_11 && !request.headers().contains_key(HOST) {
        return Ok(shared
            .borrow_mut()
            .respond_json(json(StatusCode::BAD_REQUEST)));
    }
    let answer = shared
        .borrow_mut()
        .site
        .answer(request.method(), request.uri().path());
    let response = match answer {
        Answer::Json(status, json) => (status, json),
        Answer::Bytes(count) => {
            let content = Content::Stream(count);
            return Ok(shared.borrow_mut().respond(StatusCode::OK, content));
        }
        Answer::NeedsBody if request.body().size_hint().lower() > MAX_BODY as u64 => {
            json(StatusCode::PAYLOAD_TOO_LARGE)
        }
        Answer::NeedsBody => match Limited::new(request.into_body(), MAX_BODY).collect().await {
            Ok(body) => shared.borrow_mut().site.take(&body.to_bytes()),
            Err(_) => json(StatusCode::PAYLOAD_TOO_LARGE),
        },
        Answer::Discard => {
            let (mut body, mut bytes) = (request.into_body(), 0);
            while let Some(frame) = body.frame().await {
                bytes += frame?.data_ref().map_or(0, Bytes::len) as u64;
            }
            (
                StatusCode::OK,
                format!(r#"{{"bytes":{bytes}}}"#).into_bytes(),
            )
        }
    };
    pipe.0.borrow_mut().in_head = false;
    Ok(shared.borrow_mut().respond_json(response))
}

/// Notes that hyper wants to be polled again without new bytes.
#[derive(Default)]
struct Again(AtomicBool);

impl Wake for Again {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that hyper keeps.
pub struct Connection {
    pipe: Pipe,
    again: Arc<Again>,
    waker: Waker,
    future: Pin<Box<dyn Future<Output = Result<(), hyper::Error>>>>,
}

/// A site as a service.
pub struct Http<S: Site> {
    shared: Rc<RefCell<Shared<S>>>,
}

impl<S: Site> Http<S> {
    /// A server of this site.
    pub fn new(site: S) -> Self {
        let counts = HttpCounts::default();
        Self {
            shared: Rc::new(RefCell::new(Shared { site, counts })),
        }
    }

    /// What was asked so far.
    pub fn counts(&self) -> HttpCounts {
        self.shared.borrow().counts
    }

    /// Looks at the site.
    pub fn with_site<R>(&self, look: impl FnOnce(&S) -> R) -> R {
        look(&self.shared.borrow().site)
    }

    fn connect(&self) -> Connection {
        let pipe = Pipe::default();
        let (shared, own) = (Rc::clone(&self.shared), pipe.clone());
        let answers = service_fn(move |request| respond(Rc::clone(&shared), own.clone(), request));
        let mut builder = Builder::new();
        builder.max_buf_size(MAX_HEAD).half_close(true);
        let future = builder.serve_connection(pipe.clone(), answers);
        let again = Arc::new(Again::default());
        Connection {
            pipe,
            waker: Arc::clone(&again).into(),
            again,
            future: Box::pin(future),
        }
    }
}

impl<S: Site> Service for Http<S> {
    type Connection = Option<Connection>;

    const REQUEST_LIMIT: usize = MAX_HEAD + MAX_BODY;

    // hyper writes no more than there is room for.
    const ANSWER_LIMIT: usize = 0;

    fn serve(
        &mut self,
        connection: &mut Option<Connection>,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Served {
        let connection = connection.get_or_insert_with(|| self.connect());
        let pipe = &connection.pipe;
        let mut bytes = pipe.0.borrow_mut();
        bytes.input.clear();
        bytes.input.extend_from_slice(input);
        bytes.read = 0;
        std::mem::swap(&mut bytes.output, output);
        drop(bytes);
        let mut context = Context::from_waker(&connection.waker);
        let polled = connection.future.as_mut().poll(&mut context);
        let mut bytes = pipe.0.borrow_mut();
        std::mem::swap(&mut bytes.output, output);
        if let Poll::Ready(Err(error)) = &polled {
            if error.is_parse() {
                self.shared.borrow_mut().counts.malformed += 1;
            }
        }
        Served {
            consumed: bytes.read,
            close: polled.is_ready(),
            more: bytes.is_full || connection.again.0.swap(false, Ordering::Relaxed),
            unfinished: bytes.in_head,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{RecordSite, Records};
    use crate::service::OUTPUT_LIMIT;

    fn http() -> Http<RecordSite> {
        Http::new(RecordSite::new(Records::open(None, 10).unwrap()))
    }

    /// Serves a connection whose client sends these parts and takes all answers at once.
    fn serve(http: &mut Http<RecordSite>, parts: &[&[u8]]) -> (String, Served) {
        let (mut connection, mut sent, mut served) = (None, Vec::new(), Served::default());
        for part in parts {
            let mut input = *part;
            loop {
                let mut output = Vec::new();
                served = http.serve(&mut connection, input, &mut output);
                input = &input[served.consumed..];
                assert!(output.len() <= OUTPUT_LIMIT);
                sent.extend(output);
                if !served.more || served.close {
                    break;
                }
            }
        }
        (String::from_utf8(sent).unwrap(), served)
    }

    fn request(line: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    #[test]
    fn each_request_has_its_status() {
        let mut http = http();
        for (line, status) in [
            ("GET /records/1", "200"),
            ("HEAD /records/1", "200"),
            ("GET /health", "200"),
            ("GET /records/11", "404"),
            ("GET /records/-1", "404"),
            ("GET /records/99999999999999999999", "404"),
            ("GET /bytes/x", "404"),
            ("GET /", "404"),
            ("GET /records", "405"),
            ("POST /records/1", "405"),
            ("POST /health", "405"),
            ("POST /records", "400"),
        ] {
            let (answer, served) = serve(&mut http, &[request(line).as_bytes()]);
            let status = format!("HTTP/1.1 {status} ");
            assert!(answer.starts_with(&status), "{line}: {answer}");
            assert!(!served.close && !served.unfinished, "{line}");
        }
        let counts = http.counts();
        assert_eq!(
            (counts.requests, counts.successes, counts.client_errors),
            (12, 3, 9)
        );
    }

    #[test]
    fn a_response_to_head_has_the_length_and_no_body() {
        let (head, _) = serve(&mut http(), &[request("HEAD /records/1").as_bytes()]);
        let head = head.to_lowercase();
        assert!(head.contains("content-length: 40\r\n"), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn many_requests_in_a_row_are_answered_in_their_order() {
        let requests: String = (1..=100)
            .map(|id| request(&format!("GET /records/{}", id % 10 + 1)))
            .collect();
        let (answers, served) = serve(&mut http(), &[requests.as_bytes()]);
        let ids: Vec<_> = answers.split("\"id\":").skip(1).collect();
        assert_eq!((ids.len(), served.close), (100, false));
        assert!((1..=100)
            .zip(ids)
            .all(|(id, rest)| { rest.starts_with(&format!("{},", id % 10 + 1)) }));
    }

    #[test]
    fn what_is_no_request_ends_the_connection_after_its_answer() {
        let long = request(&format!("GET /{}", "x".repeat(2 * MAX_HEAD)));
        let twice =
            "POST /discard HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
        let mut http = http();
        for (wrong, status) in [("nonsense\r\n\r\n", "400"), (&*long, "431"), (twice, "400")] {
            let (answers, served) = serve(
                &mut http,
                &[request("GET /health").as_bytes(), wrong.as_bytes()],
            );
            assert!(
                served.close && answers.contains(&format!("HTTP/1.1 {status} ")),
                "{answers}"
            );
        }
        assert_eq!(http.counts().malformed, 3);
        let (answer, _) = serve(&mut http, &[b"GET /health HTTP/1.1\r\n\r\n"]);
        assert!(
            answer.starts_with("HTTP/1.1 400"),
            "without a host: {answer}"
        );
    }

    #[test]
    fn a_posted_record_can_be_read() {
        let mut http = http();
        let body = r#"{"name":"x","value":1}"#;
        let post = format!(
            "POST /records HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let (answer, served) = serve(&mut http, &[post.as_bytes(), &body.as_bytes()[..5]]);
        assert!(
            answer.is_empty() && served.unfinished,
            "half of a body: {answer}"
        );
        let (answer, _) = serve(&mut http, &[post.as_bytes(), body.as_bytes()]);
        assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
        let (answer, _) = serve(&mut http, &[request("GET /records/11").as_bytes()]);
        assert!(
            answer.ends_with("{\"id\":11,\"name\":\"x\",\"value\":1.0}"),
            "{answer}"
        );
        let long = "POST /records HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n";
        let (answer, served) = serve(&mut http, &[long.as_bytes()]);
        assert!(
            answer.starts_with("HTTP/1.1 413") && served.close,
            "{answer}"
        );
        assert_eq!(http.counts().malformed, 1);
    }

    #[test]
    fn a_stream_has_all_of_its_bytes_and_the_next_request_follows() {
        let two = request("GET /bytes/1000000")
            + "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let (sent, served) = serve(&mut http(), &[two.as_bytes()]);
        assert!(served.close);
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        assert!(
            head.to_lowercase().contains("content-length: 1000000"),
            "{head}"
        );
        assert_eq!(body.matches('x').count(), 1_000_000);
        assert!(body.ends_with(r#"{"status":"ok"}"#));
    }

    #[test]
    fn a_body_of_any_length_is_discarded_and_counted() {
        let head = "POST /discard HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n";
        let (sent, served) = serve(&mut http(), &[head.as_bytes()]);
        assert!(sent.starts_with("HTTP/1.1 100 Continue\r\n"), "{sent}");
        let _ = served;
        let body = [b'y'; 50_000];
        let (sent, served) = serve(&mut http(), &[head.as_bytes(), &body, &body]);
        assert!(!served.unfinished && !served.close);
        assert!(sent.ends_with("{\"bytes\":100000}"), "{sent}");
    }
}
