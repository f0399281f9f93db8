//! Why a trace failed.

use std::io;

/// Why a trace failed. The program and its children have ended when a caller gets this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The program ended before the trace was complete.
    #[error("the program {how} while it was traced{last_words}")]
    Ended {
        /// How it ended.
        how: String,
        /// The end of its standard error.
        last_words: String,
    },
    /// The trace took too long.
    #[error("no end of \"{doing}\" within {seconds} s{last_words}")]
    Hung {
        /// The step of the trace.
        doing: &'static str,
        /// The limit.
        seconds: u64,
        /// The end of the program's standard error.
        last_words: String,
    },
    /// The system refuses a request.
    #[error("cannot {what}: {cause}")]
    System {
        /// The request.
        what: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The program or the card does not behave as a driver or a card in turns does.
    #[error("{0}")]
    Unexpected(String),
}

impl TraceError {
    /// Makes an error of a failed request.
    pub(crate) fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |cause| Self::System {
            what,
            cause: cause.into(),
        }
    }

    /// Makes an error of a failed request to trace.
    pub(crate) fn ptrace<E: Into<io::Error>>(what: &str) -> impl FnOnce(E) -> Self {
        Self::system(format!(
            "{what} of the traced program (tracing needs the permission for ptrace)"
        ))
    }
}
