//! What host and agent say to each other: one JSON object a line, over a virtio serial port.

use serde::{Deserialize, Serialize};

/// From the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Starts a program.
    Start {
        /// What the host calls it from now on.
        job: u64,
        /// The program, by path or name, and its arguments.
        argv: Vec<String>,
        /// User and group to run it as; the agent is root.
        user: u32,
        /// Limit of locked memory in KiB (`ulimit -l`); unlimited if there is none.
        memlock_kib: Option<u64>,
    },
    /// Sends a signal to a job that was started; nothing happens if it has ended.
    Signal {
        /// Which.
        job: u64,
        /// The signal's number.
        signal: i32,
    },
}

/// From the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The agent runs: the first message.
    Ready,
    /// A job has ended.
    Ended {
        /// Which.
        job: u64,
        /// How.
        end: End,
    },
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Exit status; none if a signal ended it, or it could not be started.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// All of its output.
    pub stdout: String,
    /// All of its error output, or why it could not be started.
    pub stderr: String,
    /// How long it ran, in milliseconds of the guest.
    pub milliseconds: u64,
}
