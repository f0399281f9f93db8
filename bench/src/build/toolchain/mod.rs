//! Compilers: those that are installed, and how they build the drivers.

mod ask;
pub mod compiler;
pub mod find;
pub mod identity;
pub mod recipe;
