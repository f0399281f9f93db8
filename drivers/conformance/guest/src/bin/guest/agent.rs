//! The agent: runs scripts for the host, over a virtio serial port.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use guest::{End, Request};
use rustix::process::{
    pidfd_open, pidfd_send_signal, setrlimit, Pid, PidfdFlags, Resource, Rlimit, Signal,
};

/// Serves until the host closes the port.
pub(crate) fn serve(port: &str) -> Result<()> {
    // A script can lower its own limit of locked memory. Only root, as the agent is, can raise one.
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    setrlimit(Resource::Memlock, unlimited)?;
    let mut options = OpenOptions::new();
    let port = options
        .read(true)
        .write(true)
        .open(port)
        .context(port.to_owned())?;
    let mut processes = HashMap::new();
    for line in BufReader::new(port.try_clone()?).lines() {
        match serde_json::from_str(&line?)? {
            Request::Start { job, script } => {
                let child = Command::new("/bin/sh")
                    .args(["-c", &format!(". /lib/functions.sh; {script}")])
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()?;
                processes.insert(
                    job,
                    pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?,
                );
                let port = port.try_clone()?;
                thread::spawn(move || report(job, child, port));
            }
            Request::Signal { job, signal } => {
                let signal = Signal::from_named_raw(signal).context("no such signal")?;
                // The process may have ended.
                let _ = processes
                    .get(&job)
                    .map(|process| pidfd_send_signal(process, signal));
            }
        }
    }
    Ok(())
}

/// Waits for the end of a job and reports it.
fn report(job: u64, child: Child, mut port: File) -> Result<()> {
    let output = child.wait_with_output()?;
    let end = End {
        job,
        status: output.status.into_raw(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    let line = serde_json::to_string(&end)? + "\n";
    // The kernel may take a long line in parts, and another job may end meanwhile.
    static LINE: Mutex<()> = Mutex::new(());
    let _line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    port.write_all(line.as_bytes())?;
    Ok(())
}
