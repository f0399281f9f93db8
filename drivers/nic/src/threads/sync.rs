//! The standard library's synchronization, for `alarm.rs`, `turns.rs` and `mappings.rs`.
//!
//! `tests/models.rs` compiles those files a second time, with loom's types in place of these.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard};
pub(crate) use std::thread::{current, park_timeout, yield_now, Thread};
