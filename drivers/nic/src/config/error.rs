//! The error of a configuration that makes no sense.

use thiserror::Error;

/// A setting that makes no sense. The text names the setting and the valid values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// For settings that are checked elsewhere. The text names the setting and the valid values.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
