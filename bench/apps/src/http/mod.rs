//! HTTP/1.1 by hyper, and a site with the records of a database.

mod pipe;
mod records;
mod service;
mod site;

pub use records::{Records, MAX_RECORDS};
pub use service::{json, Answer, Http, HttpCounts, Site};
pub use site::RecordSite;
