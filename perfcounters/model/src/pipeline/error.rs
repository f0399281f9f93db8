//! What can be wrong with a step.

/// Why an instruction cannot be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// The costs were made from code without this instruction.
    #[error("the costs have no instruction at {0:#x}: make them from the code of the stream")]
    UnknownInstruction(u64),
    /// The levels do not fit the accesses.
    #[error("the instruction at {address:#x} has {accesses} accesses, but {served} of them have a level")]
    Accesses {
        /// The address of the instruction.
        address: u64,
        /// Its accesses.
        accesses: usize,
        /// The levels given.
        served: usize,
    },
}
