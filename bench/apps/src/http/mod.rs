//! A service over HTTP/1.1 that returns records of a database as JSON.

mod records;
pub mod request;
pub(crate) mod response;
mod service;

pub use records::{Records, MAX_RECORDS};
pub use service::{Http, HttpCounts};
