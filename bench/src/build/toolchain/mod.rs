//! Compilers: those that are installed, and how they build the drivers.

pub mod builder;
pub mod compiler;
pub mod content;
pub mod find;
pub mod identity;
pub mod invocation;
pub mod machine;
pub mod profile;
pub mod recipe;
