//! Compilers: those that are installed, and how they build the drivers.

pub mod builder;
pub mod compiler;
pub mod find;
pub mod machine;
pub mod profile;
pub mod recipe;
