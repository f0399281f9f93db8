//! What the fuzzing crates share: a reader of inputs, and runs of a corpus without a fuzzer.
//!
//! libFuzzer makes up inputs under `make test ONLY=fuzz`. The unit tests have no fuzzer, so [`run`] repeats the
//! corpus and changes it, the same way in every run.

mod input;
mod run;

pub use input::Input;
pub use run::{run, CorpusError};
