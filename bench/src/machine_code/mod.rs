//! The machine code of the data path: its disassembly, its loops and its checks.

pub mod checks;
pub mod code_match;
pub mod data_path;
pub mod disassembly;
pub mod listing;
