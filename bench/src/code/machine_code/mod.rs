//! The machine code of the data path: its disassembly, its loops, its checks, and its differences.
//!
//! [`disassembly`] and [`listing`] read programs. [`checks`] finds loops and checks. [`selection`] takes the
//! data path out of a program, [`code`] puts it into one list without addresses, and [`difference`] compares two such lists.

pub mod checks;
pub mod code;
pub mod code_match;
pub mod counts;
pub mod data_path;
pub mod difference;
pub mod disassembly;
pub mod frames;
pub mod listing;
pub mod names;
pub mod selection;
pub mod source;
pub mod symbols;
