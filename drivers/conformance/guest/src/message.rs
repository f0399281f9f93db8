//! The messages between host and agent: one JSON object per line over a virtio serial port.

use serde::{Deserialize, Serialize};

/// A message from the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Starts a program.
    Start {
        /// The number that the host gives to the job.
        job: u64,
        /// The program, by path or name, and its arguments.
        argv: Vec<String>,
        /// User and group that run the program; the agent is root.
        user: u32,
        /// Limit of locked memory in KiB (`ulimit -l`), or none.
        memlock_kib: Option<u64>,
    },
    /// Sends a signal to a job, unless the job has ended.
    Signal {
        /// The job's number.
        job: u64,
        /// The signal's number.
        signal: i32,
    },
}

/// A message from the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The first message: the agent runs.
    Ready,
    /// A job has ended.
    Ended {
        /// The job's number.
        job: u64,
        /// How it ended.
        end: End,
    },
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Exit status, unless a signal ended the job or it could not be started.
    pub code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// Its whole standard output.
    pub stdout: String,
    /// Its whole standard error, or the reason why it could not be started.
    pub stderr: String,
    /// How long it ran, in milliseconds of the guest's clock.
    pub milliseconds: u64,
}
