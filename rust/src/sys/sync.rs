//! The atomic types of [`super::return_list`]. `tests/models.rs` compiles that file a second time, with
//! loom's types in place of these.

pub use std::sync::atomic::{AtomicU32, Ordering};
