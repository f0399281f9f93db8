//! The clock of the processor's cores: fixed for a run, checked, and set back afterwards.
//!
//! [`cpufreq`] reads and writes the kernel's files, [`note`] keeps the earlier settings in a file, and
//! [`holder`] ties both to the life of a run. [`core_clock`] measures the clock that a core really has.

pub mod cli;
pub mod core_clock;
pub mod cpufreq;
pub mod holder;
pub mod note;
