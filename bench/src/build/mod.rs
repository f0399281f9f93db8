//! Builds the drivers: which sources, which compiler, which flags.
//!
//! A [`request`] names a driver, a recipe of [`toolchain`] and a commit, and calls the Makefile. [`checkout`] takes the
//! sources of a commit, or a patched tree. [`runner`] runs make, cargo, compilers and git. [`stamp`] says what a folder
//! was built from. [`builds`] knows where each build lies. [`sides`] builds what `asm --diff` compares, [`verdict`] a
//! patched tree with its tests, and [`peers`] the drivers of other projects.

/// The drivers' builds: their variants, their folders, their compilers and their files.
pub mod builds {
    pub mod cells;
    pub mod variants;
}
pub(crate) mod checkout;
pub mod peers;
pub mod request;
pub(crate) mod runner;
pub mod sides;
pub(crate) mod stamp;
/// Compilers: those that are installed, and how they build the drivers.
pub mod toolchain {
    mod ask;
    pub mod compiler;
    pub mod find;
    pub mod identity;
    pub mod recipe;
}
pub mod verdict;
