//! What a balancer has done, over HTTP: `GET /stats`.

use std::cell::RefCell;
use std::rc::Rc;

use hyper::{Method, StatusCode};
use serde::Serialize;

use super::config::Config;
use crate::http::{json, Answer, Site};

/// What went through a frontend, or to a backend. Bytes are those of the payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Connections since the start.
    pub connections_total: u64,
    /// Connections now.
    pub connections_current: u64,
    /// Bytes of clients.
    pub bytes_in: u64,
    /// Bytes to clients.
    pub bytes_out: u64,
}

/// A frontend.
#[derive(Clone, Debug, Serialize)]
pub struct FrontendCounts {
    /// Its name.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// What went through it.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Connections that were reset because no backend was up.
    pub refused: u64,
}

/// Whether a backend gets connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It does.
    Up,
    /// It gets no new ones.
    Draining,
    /// It gets none.
    Down,
}

impl State {
    /// Its name, as in the statistics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Draining => "draining",
            Self::Down => "down",
        }
    }
}

/// A backend.
#[derive(Clone, Debug, Serialize)]
pub struct BackendCounts {
    /// Its name.
    pub name: String,
    /// Its address and port.
    pub address: String,
    /// Whether it gets connections.
    pub state: State,
    /// Whether it is up.
    pub is_up: bool,
    /// What went to it.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Checks with a result.
    pub checks: u64,
    /// Checks that failed.
    pub checks_failed: u64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    /// The frontends, as in the configuration.
    pub frontends: Vec<FrontendCounts>,
    /// The backends, as in the configuration.
    pub backends: Vec<BackendCounts>,
}

impl Counts {
    /// The counts of a balancer that has done nothing yet.
    pub fn new(config: &Config) -> Self {
        let frontends = config.frontends.iter().map(|frontend| FrontendCounts {
            name: frontend.name.clone(),
            port: frontend.port,
            traffic: Traffic::default(),
            refused: 0,
        });
        let backends = config.backends.iter().map(|backend| BackendCounts {
            name: backend.name.clone(),
            address: backend.address.to_string(),
            state: State::Down,
            is_up: false,
            traffic: Traffic::default(),
            checks: 0,
            checks_failed: 0,
        });
        Self {
            frontends: frontends.collect(),
            backends: backends.collect(),
        }
    }

    /// The traffic of a frontend and of a backend.
    pub fn traffic(&mut self, frontend: usize, backend: usize) -> [&mut Traffic; 2] {
        [
            &mut self.frontends[frontend].traffic,
            &mut self.backends[backend].traffic,
        ]
    }
}

/// The statistics as a site.
pub struct StatsSite(pub Rc<RefCell<Counts>>);

impl Site for StatsSite {
    fn answer(&mut self, method: &Method, path: &str) -> Answer {
        let (status, text) = match path {
            "/stats" if matches!(*method, Method::GET | Method::HEAD) => {
                match serde_json::to_vec(&*self.0.borrow()) {
                    Ok(stats) => (StatusCode::OK, stats),
                    Err(_) => json(StatusCode::INTERNAL_SERVER_ERROR),
                }
            }
            "/stats" => json(StatusCode::METHOD_NOT_ALLOWED),
            _ => json(StatusCode::NOT_FOUND),
        };
        Answer::Json(status, text)
    }
}
