//! LLVM's tables of instruction costs, through its programs `llvm-mc` and `llvm-mca`.
//!
//! `llvm-mc` turns machine code into the assembly that `llvm-mca` reads, so the two always agree on the syntax.

mod assembly;
mod program;
mod simulation;
mod tables;

pub(super) use assembly::{disassemble, Line};
pub use program::{Llvm, LlvmError, LLVM_FOLDER, LLVM_VERSION};
pub use simulation::{simulate, Simulated, Timed};
pub(super) use tables::{dispatch_width, instruction_tables, Row, Use};
