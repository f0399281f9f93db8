//! The ixgbe driver in C, transpiled by C2Rust.
//!
//! `make transpile` generates `gen` from `c/src`, one module for each C file. Do not edit it: change the C, then run
//! `make transpile`. The rest is written by hand:
//!
//! - this crate root, and `bin`, which runs the transpiled programs,
//! - [`shim`]: the accessors of `c/src/driver/mmio.h`, which C2Rust cannot translate correctly,
//! - `layout`: the assertions of the C about sizes and offsets, which C2Rust drops.

// Transpiled C cannot satisfy the lints for Rust.
#[allow(
    clippy::all,
    clippy::too_many_lines,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::expect_used,
    clashing_extern_declarations,
    dead_code,
    improper_ctypes,
    improper_ctypes_definitions,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    static_mut_refs,
    unsafe_op_in_unsafe_fn,
    unused
)]
#[rustfmt::skip]
pub mod gen;

mod layout;
pub mod quad;
pub mod shim;
#[cfg(test)]
mod tests;
