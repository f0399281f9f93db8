//! Reads the machine code of a built driver.
//!
//! [`disassembly`] reads programs, and [`source`] their line tables. [`checks`] finds loops and checks. [`selection`]
//! takes the data path out of a program, and [`lines`] puts it into one list without addresses. [`difference`]
//! compares two such lists, and [`listing`] shows one or two of them. [`asm`] is the command.

pub mod asm;
pub(crate) mod checks;
pub(crate) mod counts;
pub(crate) mod data_path;
pub(crate) mod difference;
pub(crate) mod disassembly;
pub(crate) mod lines;
pub(crate) mod listing;
pub(crate) mod names;
pub(crate) mod selection;
pub(crate) mod source;
pub(crate) mod symbols;
