//! What threads meet at: the standard library's. For `alarm.rs`, `turns.rs` and `mappings.rs`, which are also
//! compiled with loom's instead: see `tests/models.rs`.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard};
pub(crate) use std::thread::{current, park_timeout, yield_now, Thread};
