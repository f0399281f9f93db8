//! HTTP/1.1: a server of any site, and a site with the records of a database.

mod records;
pub mod request;
mod response;
mod service;
mod site;

pub use records::{Records, MAX_RECORDS};
pub use response::Status;
pub use service::{Http, HttpCounts, Route, Site};
pub use site::RecordSite;
