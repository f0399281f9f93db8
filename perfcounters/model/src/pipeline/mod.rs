//! Cycles of an executed stream.
//!
//! ```text
//! machine code -> llvm-mc -> llvm-mca: micro-operations, units, latencies -> Costs
//! steps with cache levels and mispredictions -> Window -> Timing
//! ```
//!
//! LLVM's scheduling model gives the micro-operations, the units and the latency of each instruction. The window executes
//! the stream with them. It does what `llvm-mca` does, and adds what `llvm-mca` cannot express and a driver spends most of its
//! stalls on:
//!
//! - Misses run in parallel as far as the fill buffers allow. A load of a line on its way waits for that line.
//! - A retired store requests its line, waits for it, and leaves the store buffer in order. A full buffer stops the core. On
//!   some processors, a store that hits L1 keeps the requests before and after it apart, so that they no longer overlap.
//! - A doorbell holds the head of the store buffer. A register read waits for everything before it.
//! - After a mispredicted branch, nothing enters the window until the branch is executed and the penalty is over.
//! - A taken branch ends a fetch, and only so many follow one another. A queue between fetch and rename evens this out.
//! - A load takes its data from the store buffer.
//!
//! `llvm-mca` has no input for any of these, because each depends on the time at which another instruction executes. It also
//! needs 15 to 70 µs for an instruction, and a cell has 250,000. [`llvm::simulate`] runs `llvm-mca` itself on a part of a
//! stream. Tests compare both on instructions that both know completely.
//!
//! The limits:
//!
//! - LLVM counts the parts of an instruction apart, and a compare apart from its jump. A core renames most such pairs as one.
//!   So code with many loads, stores and compares is faster than modelled where nothing else stops it.
//! - All code is in the micro-op cache. The scheduler has no limit apart from the reorder buffer.
//! - A store's address never delays a later load, also if both lie 4 KiB apart.
//! - Requests for lines start when the store retires. The superqueue is larger than the fill buffers, so the core alone never
//!   fills it.

mod buffers;
mod costs;
mod error;
mod front_end;
pub mod llvm;
mod ports;
mod timing;
mod window;

pub use costs::Costs;
pub use error::PipelineError;
pub use llvm::{Llvm, LlvmError};
pub use timing::{Cause, Causes, Timing};
pub use window::Window;
