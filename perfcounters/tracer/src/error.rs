//! Why a trace failed.

use std::io;

/// Why a trace failed. The program and its children have ended when a caller gets this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The program ended before the trace was complete: how, and the end of its standard error.
    #[error("the program {0} while it was traced{1}")]
    Ended(String, String),
    /// The trace took too long: its step, the limit in seconds, and the end of the program's standard error.
    #[error("no end of \"{0}\" within {1} s{2}")]
    Hung(&'static str, u64, String),
    /// The system refuses a request.
    #[error("cannot {0}: {1}")]
    System(String, io::Error),
    /// The program or the card does not behave as a driver or a card in turns does.
    #[error("{0}")]
    Unexpected(String),
}

impl TraceError {
    /// Makes an error of a failed request.
    pub(crate) fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |cause| Self::System(what, cause.into())
    }

    /// Makes an error of a failed request to trace.
    pub(crate) fn ptrace<E: Into<io::Error>>(what: &str) -> impl FnOnce(E) -> Self {
        Self::system(format!(
            "{what} of the traced program (tracing needs the permission for ptrace)"
        ))
    }
}
