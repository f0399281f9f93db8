//! The errors of a load generator.

use std::io;
use std::path::PathBuf;

/// An error of a load generator.
#[derive(Debug, thiserror::Error)]
pub enum PktgenError {
    /// The configuration cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The configuration is wrong.
    #[error("{}: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The mistake.
        why: String,
    },
    /// Neither a shell nor SSH could be started.
    #[error("cannot start a load generator on {place}: {cause}")]
    Start {
        /// The machine.
        place: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The generator ended unexpectedly.
    #[error("the load generator on {place} ended ({status}); {said}")]
    Ended {
        /// The machine.
        place: String,
        /// The exit status.
        status: String,
        /// Its last output.
        said: String,
    },
    /// The generator does not answer.
    #[error("the load generator on {place} sent no {what} within {seconds} s; {said}")]
    Silent {
        /// The machine.
        place: String,
        /// The expected answer.
        what: String,
        /// The limit, seconds.
        seconds: u64,
        /// Its last output.
        said: String,
    },
    /// The generator cannot do what was asked.
    #[error("the load generator: {0}")]
    Refused(String),
    /// The rate is out of range.
    #[error("{rate} Mpps is out of range: {ports} ports can send up to {most:.2} Mpps")]
    Rate {
        /// The wanted rate, Mpps.
        rate: f64,
        /// The highest rate, Mpps.
        most: f64,
        /// The number of ports.
        ports: usize,
    },
    /// Ports of the generator have no link.
    #[error(
        "no link within {seconds} s: {ports}. Is the forwarder running at the other end? A port gets a \
         link only while both sides run. Check cables and SFP+ modules, too"
    )]
    NoLink {
        /// The limit, seconds.
        seconds: f64,
        /// The links of all ports.
        ports: String,
    },
    /// The generator was stopped before it was started.
    #[error("the load generator was not started")]
    NotStarted,
    /// The user interrupted the program.
    #[error("interrupted")]
    Interrupted,
}
