//! The drivers' builds: their variants, their folders, their compilers and their files.

pub mod cells;
pub mod variants;
