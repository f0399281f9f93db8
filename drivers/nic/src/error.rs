//! Errors of a NIC as a whole, and of its configuration.

use std::fmt::Display;
use std::io;
use std::path::Path;

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

/// Returns a [`ConfigError`] with the text of the first condition that does not hold.
macro_rules! ensure {
    ($($holds:expr => $text:literal;)+) => {
        $(if !$holds {
            return Err($crate::error::ConfigError(format!($text)));
        })+
    };
}
pub(crate) use ensure;

/// Why a NIC cannot start, or cannot end properly. Mistakes of drivers are not errors of the NIC.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields
pub enum NicError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A folder, a socket, an interface or a file cannot be used.
    #[error("{what} {name}: {reason}; {remedy}")]
    Unusable {
        what: &'static str,
        name: String,
        reason: String,
        remedy: String,
    },
    /// The operating system refuses memory or threads.
    #[error("{what}: {reason}")]
    Os {
        what: &'static str,
        reason: io::Error,
    },
    /// The data plane is in use already.
    #[error("the data plane is in use already: a NIC has one, which either is stepped by hand or runs in its thread")]
    DataPlaneTaken,
    /// The ports are divided among several data planes.
    #[error("the NIC has several data planes, which only run in threads; step one by hand without data_plane_cpus")]
    SeveralDataPlanes,
}

impl NicError {
    /// `what` is the kind of the object.
    pub(crate) fn unusable(
        what: &'static str,
        name: impl AsRef<Path>,
        reason: impl Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Unusable {
            what,
            name: name.as_ref().display().to_string(),
            reason: reason.to_string(),
            remedy: remedy.into(),
        }
    }

    /// For `map_err` after a request to the operating system.
    pub(crate) fn os<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> Self {
        move |reason| Self::Os {
            what,
            reason: reason.into(),
        }
    }
}
