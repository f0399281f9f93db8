//! The records over HTTP.
//!
//! `GET /records/ID` returns a record, `POST /records` stores one, and `GET /health` says that the service runs.

use std::time::Instant;

use serde::Serialize;

use super::records::{Records, Refusal};
use super::request::{parse, Request, MAX_BODY, MAX_HEAD};
use super::response::{write, Connection, Date, Status};
use crate::service::{ConnectionId, Served, Service, OUTPUT_LIMIT};

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
    /// Records at the end.
    pub records: u64,
}

/// The records as a service.
pub struct Http {
    records: Records,
    counts: HttpCounts,
    date: Date,
    /// The body of the response.
    body: Vec<u8>,
}

impl Http {
    /// A service for these records.
    pub fn new(records: Records) -> Self {
        Self {
            records,
            counts: HttpCounts::default(),
            date: Date::now(),
            body: Vec::new(),
        }
    }

    /// What was asked so far.
    pub fn counts(&self) -> HttpCounts {
        HttpCounts {
            records: self.records.count(),
            ..self.counts.clone()
        }
    }

    /// Answers a request: the status, and the body in `self.body`.
    fn answer(&mut self, request: &Request<'_>) -> Status {
        let reads = matches!(request.method, "GET" | "HEAD");
        if request.path == "/health" {
            return match reads {
                true => {
                    self.body.extend_from_slice(br#"{"status":"ok"}"#);
                    Status::Ok
                }
                false => Status::MethodNotAllowed,
            };
        }
        if request.path == "/records" {
            return match request.method {
                "POST" => self.store(request.body),
                _ => Status::MethodNotAllowed,
            };
        }
        let Some(id) = request.path.strip_prefix("/records/") else {
            return Status::NotFound;
        };
        if !reads {
            return Status::MethodNotAllowed;
        }
        let digits = id.bytes().all(|byte| byte.is_ascii_digit());
        let Some(id) = id.parse().ok().filter(|_| digits) else {
            return Status::NotFound;
        };
        match self.records.read(id, &mut self.body) {
            Ok(true) => Status::Ok,
            Ok(false) => Status::NotFound,
            Err(_) => Status::ServerError,
        }
    }

    fn store(&mut self, posted: &[u8]) -> Status {
        match self.records.add(posted, &mut self.body) {
            Ok(()) => Status::Created,
            Err(Refusal::Malformed) => Status::BadRequest,
            Err(Refusal::Full) => Status::InsufficientStorage,
            Err(Refusal::Failed) => Status::ServerError,
        }
    }

    fn respond(
        &mut self,
        output: &mut Vec<u8>,
        status: Status,
        connection: Connection,
        is_head: bool,
    ) {
        self.counts.requests += 1;
        match status.line().as_bytes()[0] {
            b'2' => self.counts.successes += 1,
            b'4' => self.counts.client_errors += 1,
            _ => self.counts.server_errors += 1,
        }
        if status.is_error() {
            self.body.clear();
            self.body.extend_from_slice(br#"{"error":""#);
            self.body.extend_from_slice(status.line().as_bytes());
            self.body.extend_from_slice(br#""}"#);
        }
        write(output, status, &self.date, connection, &self.body, is_head);
    }
}

impl Service for Http {
    type Connection = ();

    const REQUEST_LIMIT: usize = MAX_HEAD + MAX_BODY;

    const ANSWER_LIMIT: usize = 8 * 1024;

    fn accepted(&mut self, _: ConnectionId) {}

    fn serve(&mut self, (): &mut (), input: &[u8], output: &mut Vec<u8>) -> Served {
        let mut served = Served::default();
        self.date.update(Instant::now());
        while output.len() < OUTPUT_LIMIT {
            self.body.clear();
            match parse(&input[served.consumed..]) {
                Ok(Some(request)) => {
                    served.consumed += request.length;
                    served.close = !request.keep_alive;
                    let connection = request.connection();
                    let status = self.answer(&request);
                    self.respond(output, status, connection, request.method == "HEAD");
                    if served.close {
                        break;
                    }
                }
                Ok(None) => break,
                Err(status) => {
                    self.counts.malformed += 1;
                    self.respond(output, status, Connection::Close, false);
                    served.close = true;
                    break;
                }
            }
        }
        served
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(http: &mut Http, requests: &str) -> (String, Served) {
        let mut output = Vec::new();
        let served = http.serve(&mut (), requests.as_bytes(), &mut output);
        (String::from_utf8(output).unwrap(), served)
    }

    fn http() -> Http {
        Http::new(Records::open(None, 10).unwrap())
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
        let counts = http.counts();
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
        assert_eq!(http.counts().requests, 2);
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
}
