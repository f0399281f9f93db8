//! A key-value store that speaks the Redis protocol (RESP2).

mod commands;
pub mod resp;
mod store;

pub use commands::{Kv, KvCounts};
