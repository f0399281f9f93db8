//! What the program calls: interposed functions, signal handlers and the seccomp filter.

mod begin;
mod files;
mod filter;
mod fork;
mod interpose;
mod memory;
mod next;
mod signals;
mod traps;
