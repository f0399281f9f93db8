//! Why a trace failed.

use std::io;
use std::path::PathBuf;

use caches::stream::CodeError;
use nix::errno::Errno;

/// Why a trace failed. The program and its children have ended when a caller gets this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The program did not start.
    #[error("cannot start {}: {cause}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The card does not answer, or not as expected.
    #[error("the software card does not answer as expected: {0}")]
    Card(String),
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
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system refuses a request to trace.
    #[error(
        "cannot {what} of the traced program: {cause}; tracing needs the permission for ptrace"
    )]
    Ptrace {
        /// The request.
        what: &'static str,
        /// The system's error.
        cause: Errno,
    },
    /// A file of the system about the program cannot be used.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The program does not forward as a driver with rings does.
    #[error("{0}")]
    NoDriver(String),
    /// The program's code is not as expected.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// An instruction whose addresses the tracer cannot compute.
    #[error("the instruction at {0:#x} uses addresses in a vector register, which the tracer cannot follow")]
    Vector(u64),
}

impl TraceError {
    /// Makes an error of a failed request.
    pub(crate) fn ptrace(what: &'static str) -> impl FnOnce(Errno) -> Self {
        move |cause| Self::Ptrace { what, cause }
    }
}
