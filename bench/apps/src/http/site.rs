//! The records over HTTP.
//!
//! `GET /records/ID` returns a record, `POST /records` stores one, and `GET /health` says that the service runs.
//! `GET /bytes/N` sends so many bytes, and `POST /discard` takes a body of any length: they measure streams.

use serde::Serialize;

use super::records::{Records, Refusal};
use super::request::Head;
use super::response::Status;
use super::service::{Http, HttpCounts, Route, Site};

/// The records of a database.
pub struct RecordSite {
    records: Records,
}

/// What was asked, and how many records there are.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    #[serde(flatten)]
    http: HttpCounts,
    records: u64,
}

impl RecordSite {
    /// A site of these records.
    pub fn new(records: Records) -> Self {
        Self { records }
    }

    /// What a server of this site has done.
    pub fn counts(http: &Http<Self>) -> Counts {
        Counts {
            http: http.counts.clone(),
            records: http.site.records.count(),
        }
    }

    fn read(&self, id: &str, answer: &mut Vec<u8>) -> Status {
        match number(id).map(|id| self.records.read(id, answer)) {
            Some(Ok(true)) => Status::Ok,
            Some(Err(_)) => Status::ServerError,
            Some(Ok(false)) | None => Status::NotFound,
        }
    }

    fn store(&mut self, posted: &[u8], answer: &mut Vec<u8>) -> Status {
        match self.records.add(posted, answer) {
            Ok(()) => Status::Created,
            Err(Refusal::Malformed) => Status::BadRequest,
            Err(Refusal::Full) => Status::InsufficientStorage,
            Err(Refusal::Failed) => Status::ServerError,
        }
    }
}

/// A decimal number without a sign.
fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Whether a request reads.
fn reads(head: &Head<'_>) -> bool {
    matches!(head.method, "GET" | "HEAD")
}

impl Site for RecordSite {
    fn route(&self, head: &Head<'_>) -> Route {
        match head.path.strip_prefix("/bytes/").and_then(number) {
            Some(bytes) if reads(head) => Route::Bytes(bytes),
            None if head.path == "/discard" && head.method == "POST" => Route::Discard,
            _ => Route::Answer,
        }
    }

    fn answer(&mut self, head: &Head<'_>, body: &[u8], answer: &mut Vec<u8>) -> Status {
        match (head.method, head.path) {
            ("GET" | "HEAD", "/health") => {
                answer.extend_from_slice(br#"{"status":"ok"}"#);
                Status::Ok
            }
            ("POST", "/records") => self.store(body, answer),
            (_, "/health" | "/records" | "/discard") => Status::MethodNotAllowed,
            (_, path) => match path.strip_prefix("/records/") {
                Some(id) if reads(head) => self.read(id, answer),
                Some(_) => Status::MethodNotAllowed,
                None => Status::NotFound,
            },
        }
    }
}
