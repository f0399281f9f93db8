//! The errors of a load generator.

use std::io;
use std::path::PathBuf;

/// What can go wrong with a load generator.
#[derive(Debug, thiserror::Error)]
pub enum PktgenError {
    /// The configuration is not there.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The configuration is wrong.
    #[error("{}: {why}", path.display())]
    Config {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Neither a shell nor SSH could be started.
    #[error("cannot start a load generator on {place}: {cause}")]
    Start {
        /// Where.
        place: String,
        /// What the system said.
        cause: io::Error,
    },
    /// It ended by itself.
    #[error("the load generator on {place} ended ({status}); {said}")]
    Ended {
        /// Where.
        place: String,
        /// How.
        status: String,
        /// What it had said.
        said: String,
    },
    /// It does not answer.
    #[error("the load generator on {place} gave no {what} in {seconds} s; {said}")]
    Silent {
        /// Where.
        place: String,
        /// What was waited for.
        what: String,
        /// How long.
        seconds: u64,
        /// What it had said.
        said: String,
    },
    /// It does not do what it was asked.
    #[error("the load generator: {0}")]
    Refused(String),
    /// Another rate than it can send.
    #[error("{rate} Mpps is not a rate from 0 to the {most:.2} Mpps that {ports} ports can send")]
    Rate {
        /// What was asked for, Mpps.
        rate: f64,
        /// The most, Mpps.
        most: f64,
        /// On how many ports.
        ports: usize,
    },
    /// The generator was stopped before it was started.
    #[error("the load generator was not started")]
    NotStarted,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
