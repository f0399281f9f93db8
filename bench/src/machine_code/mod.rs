//! What the compilers made of the data path: disassembly, loops and checks.

pub mod checks;
pub mod code_match;
pub mod data_path;
pub mod disassembly;
pub mod listing;
