//! The records over HTTP.
//!
//! `GET /records/ID` returns a record, `POST /records` stores one, and `GET /health` says that the service runs.
//! `GET /bytes/N` sends so many bytes, and `POST /discard` takes a body of any length: they measure streams.

use std::str::FromStr;

use hyper::{Method, StatusCode};
use serde::Serialize;

use super::records::{Records, Refusal};
use super::service::{json, Answer, Http, HttpCounts, Site};

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
            http: http.counts(),
            records: http.with_site(|site| site.records.count()),
        }
    }

    fn read(&self, id: &str) -> (StatusCode, Vec<u8>) {
        let mut record = Vec::new();
        match number(id).map(|id| self.records.read(id, &mut record)) {
            Some(Ok(true)) => (StatusCode::OK, record),
            Some(Err(_)) => json(StatusCode::INTERNAL_SERVER_ERROR),
            Some(Ok(false)) | None => json(StatusCode::NOT_FOUND),
        }
    }
}

/// A decimal number without a sign.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

impl Site for RecordSite {
    fn answer(&mut self, method: &Method, path: &str) -> Answer {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let posts = *method == Method::POST;
        let not_allowed = || json(StatusCode::METHOD_NOT_ALLOWED);
        let (status, text) = match path {
            "/health" if reads => (StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            "/records" if posts => return Answer::NeedsBody,
            "/discard" if posts => return Answer::Discard,
            "/health" | "/records" | "/discard" => not_allowed(),
            _ => match path.rsplit_once('/') {
                Some(("/records", id)) if reads => self.read(id),
                Some(("/bytes", count)) if reads => match number(count) {
                    Some(count) => return Answer::Bytes(count),
                    None => json(StatusCode::NOT_FOUND),
                },
                Some(("/records" | "/bytes", _)) => not_allowed(),
                _ => json(StatusCode::NOT_FOUND),
            },
        };
        Answer::Json(status, text)
    }

    fn take(&mut self, posted: &[u8]) -> (StatusCode, Vec<u8>) {
        let mut record = Vec::new();
        match self.records.add(posted, &mut record) {
            Ok(()) => (StatusCode::CREATED, record),
            Err(Refusal::Malformed) => json(StatusCode::BAD_REQUEST),
            Err(Refusal::Full) => json(StatusCode::INSUFFICIENT_STORAGE),
            Err(Refusal::Failed) => json(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}
