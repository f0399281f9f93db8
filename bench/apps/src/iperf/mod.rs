//! The server of iperf3: TCP in both directions, for one client at a time.

mod message;
mod service;

pub use service::{Iperf, IperfCounts};
