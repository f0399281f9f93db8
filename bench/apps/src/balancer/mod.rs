//! A load balancer for TCP. It ends each client's connection, and opens one of its own to a backend.

mod config;
mod health;
mod proxy;
mod stats;

pub use config::Config;
pub use proxy::Balancer;
