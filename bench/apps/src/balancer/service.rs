//! The balancer's statistics over HTTP: `GET /stats`.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use super::counts::Counts;
use super::forwarder::Forwarder;
use crate::http::request::{parse, MAX_BODY, MAX_HEAD};
use crate::http::response::{write, Connection, Date, Status};
use crate::service::{ConnectionId, Served, Service, OUTPUT_LIMIT};

/// The statistics as a service.
pub struct Stats {
    forwarder: Rc<RefCell<Forwarder>>,
    date: Date,
}

impl Stats {
    /// The statistics of a balancer.
    pub fn new(forwarder: &Rc<RefCell<Forwarder>>) -> Self {
        Self {
            forwarder: Rc::clone(forwarder),
            date: Date::now(),
        }
    }

    /// The counts now.
    pub fn counts(&self) -> Counts {
        self.forwarder.borrow().counts()
    }

    fn answer(&self, method: &str, path: &str) -> (Status, Vec<u8>) {
        let error = |status: Status| {
            let body = format!(r#"{{"error":"{}"}}"#, status.line());
            (status, body.into_bytes())
        };
        match (method, path) {
            ("GET" | "HEAD", "/stats") => match serde_json::to_vec(&self.counts()) {
                Ok(body) => (Status::Ok, body),
                Err(_) => error(Status::ServerError),
            },
            (_, "/stats") => error(Status::MethodNotAllowed),
            _ => error(Status::NotFound),
        }
    }
}

impl Service for Stats {
    type Connection = ();

    const REQUEST_LIMIT: usize = MAX_HEAD + MAX_BODY;

    // 256 backends and 64 frontends, with the longest names.
    const ANSWER_LIMIT: usize = 128 * 1024;

    fn accepted(&mut self, _: ConnectionId) {}

    fn serve(&mut self, (): &mut (), input: &[u8], output: &mut Vec<u8>) -> Served {
        let mut served = Served::default();
        self.date.update(Instant::now());
        while output.len() < OUTPUT_LIMIT && !served.close {
            let request = match parse(&input[served.consumed..]) {
                Ok(Some(request)) => request,
                Ok(None) => break,
                Err(status) => {
                    write(output, status, &self.date, Connection::Close, b"", false);
                    served.close = true;
                    break;
                }
            };
            served.consumed += request.length;
            served.close = !request.keep_alive;
            let connection = request.connection();
            let (status, body) = self.answer(request.method, request.path);
            let is_head = request.method == "HEAD";
            write(output, status, &self.date, connection, &body, is_head);
        }
        served
    }
}
