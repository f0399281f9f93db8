//! Builds the drivers: which sources, which compiler, which flags.

pub mod builds;
pub mod peers;
pub mod sides;
pub mod toolchain;
pub mod verdict;
