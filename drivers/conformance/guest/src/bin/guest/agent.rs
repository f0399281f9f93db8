//! The agent: runs programs for the host, over a virtio serial port.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use guest::message::{End, Reply, Request};
use rustix::process::{kill_process, setrlimit, Pid, Resource, Rlimit, Signal};

/// The process ids of the running jobs, by job number.
type Running = Arc<Mutex<HashMap<u64, Pid>>>;
type Port = Arc<Mutex<File>>;

/// Serves until the host closes the port.
pub(crate) fn serve(port: &Path) -> Result<()> {
    // Each job sets its own limit of locked memory. Only root, as the agent is, can raise a limit.
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    setrlimit(Resource::Memlock, unlimited)?;
    let open = || OpenOptions::new().read(true).write(true).open(port);
    let file = open().with_context(|| port.display().to_string())?;
    let lines = BufReader::new(file.try_clone()?).lines();
    let port: Port = Arc::new(Mutex::new(file));
    let running = Running::default();
    send(&port, &Reply::Ready)?;
    for line in lines {
        let line = line?;
        match serde_json::from_str(&line).with_context(|| line)? {
            Request::Start {
                job,
                argv,
                user,
                memlock_kib,
            } => start(job, &argv, user, memlock_kib, &port, &running)?,
            Request::Signal { job, signal } => {
                let jobs = running.lock().unwrap_or_else(PoisonError::into_inner);
                let signal = Signal::from_named_raw(signal).context("no such signal")?;
                // The job may have ended, but its id is still its own until `wait` has waited.
                if let Some(pid) = jobs.get(&job) {
                    let _ = kill_process(*pid, signal);
                }
            }
        }
    }
    Ok(())
}

fn send(port: &Port, reply: &Reply) -> Result<()> {
    let mut line = serde_json::to_string(reply)?;
    line.push('\n');
    let mut port = port.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(port.write_all(line.as_bytes())?)
}

fn start(
    job: u64,
    argv: &[String],
    user: u32,
    memlock_kib: Option<u64>,
    port: &Port,
    running: &Running,
) -> Result<()> {
    let limit = memlock_kib.map_or("unlimited".to_owned(), |kib| kib.to_string());
    // The agent's own limit is unlimited, so this can only lower it.
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -l \"$0\" && exec \"$@\"", &limit])
        .args(argv)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if user != 0 {
        command.uid(user).gid(user);
    }
    let began = Instant::now();
    match command.spawn() {
        Ok(child) => {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            running
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(job, pid.context("process id 0")?);
            let (port, running) = (port.clone(), running.clone());
            std::thread::spawn(move || wait(job, child, began, &port, &running));
            Ok(())
        }
        Err(error) => {
            let stderr = format!("cannot start: {error}");
            send(port, &ended(job, None, String::new(), stderr, began))
        }
    }
}

/// Waits for the end of a job and reports it.
fn wait(job: u64, mut child: Child, began: Instant, port: &Port, running: &Running) {
    let reader = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // After an error, `bytes` has the output so far.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let output = [stdout, stderr].map(|thread| thread.join().unwrap_or_default());
    let mut jobs = running.lock().unwrap_or_else(PoisonError::into_inner);
    let status = child.wait();
    jobs.remove(&job);
    drop(jobs);
    let [stdout, stderr] = output;
    // Without the port, the host cannot receive a report.
    let _ = send(port, &ended(job, status.ok(), stdout, stderr, began));
}

fn ended(
    job: u64,
    status: Option<std::process::ExitStatus>,
    stdout: String,
    stderr: String,
    began: Instant,
) -> Reply {
    Reply::Ended {
        job,
        end: End {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            stdout,
            stderr,
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        },
    }
}
