//! What boots the guests of the tests, and the messages between the tests and the agent in the guest.
//!
//! A message is a JSON object on a line of its own, over a virtio serial port. Errors are [`anyhow::Error`]: only the
//! reader of a failed test handles them.

mod initramfs;

use serde::{Deserialize, Serialize};

pub use initramfs::{fetch, repository, Initramfs};

/// A message from the host. `job` is the number that the host gives to a script.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Starts a script for the shell, as root.
    Start {
        /// The new job.
        job: u64,
        /// The script.
        script: String,
    },
    /// Sends a signal to the process of a job, unless the job has ended.
    Signal {
        /// The job.
        job: u64,
        /// The signal's number.
        signal: i32,
    },
}

/// The message from the agent that a job has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    /// The job.
    pub job: u64,
    /// How it ended, as `wait` encodes it.
    pub status: i32,
    /// Its whole standard output.
    pub stdout: String,
    /// Its whole standard error.
    pub stderr: String,
}
