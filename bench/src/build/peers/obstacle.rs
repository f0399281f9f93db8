//! Why a peer cannot be built: it cannot be had here, or something is wrong.

use anyhow::Error;

/// Why a peer is not there.
#[derive(Debug, thiserror::Error)]
pub enum Obstacle {
    /// It cannot be had here. The text says why, and what to do about it.
    #[error("{0}")]
    Absent(String),
    /// Something is wrong, and the command fails.
    #[error("{0:#}")]
    Failed(#[from] Error),
}

/// A result of which an [`Obstacle`] may be in the way.
pub type Outcome<T> = Result<T, Obstacle>;
