//! The process of the software card, watched from outside.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use rustix::process::{getrlimit, kill_process, prlimit, Pid, Resource, Rlimit, Signal};

use crate::builds::nic_program;
use crate::program::open_files_of;

/// Number of ports. A scenario attacks port 0, and some attack port 2 as well.
const PORTS: usize = 4;
/// Longest wait for the card's sockets.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Longest time from SIGTERM to the end.
pub const END_LIMIT: Duration = Duration::from_secs(5);

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Open files.
    pub files: usize,
    /// Memory mappings.
    pub mappings: usize,
    /// Resident memory in KiB.
    pub resident: u64,
    /// Address space in KiB.
    pub space: u64,
}

/// The card as a child process. Dropping it kills it.
#[derive(Debug)]
pub struct Card {
    child: Child,
    folder: PathBuf,
}

impl Card {
    /// Starts a card with four ports. `traffic` is the value of its option of that name.
    pub fn start(folder: &Path, traffic: &str) -> Result<Self> {
        let child = Command::new(nic_program()?)
            .args(["--ports", &PORTS.to_string()])
            .args(["--traffic", traffic, "--socket-dir"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.join("stdout"))?)
            .stderr(std::fs::File::create(folder.join("stderr"))?)
            .spawn()?;
        let mut card = Self {
            child,
            folder: folder.to_owned(),
        };
        let start = Instant::now();
        while !std::fs::read_to_string(folder.join("stdout"))?.contains("ready") {
            if start.elapsed() > START_LIMIT || card.has_ended()? {
                bail!("the card has not started: {}", card.stderr());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(card)
    }

    /// The socket of a port.
    pub fn socket(&self, port: usize) -> PathBuf {
        self.folder.join(format!("port{port}.sock"))
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// What the card wrote to standard error.
    pub fn stderr(&self) -> String {
        std::fs::read_to_string(self.folder.join("stderr")).unwrap_or_default()
    }

    /// Sets the number of files that the card can open, and returns the number before.
    pub fn limit_files(&self, limit: Option<u64>) -> io::Result<Option<u64>> {
        let limit = Rlimit {
            current: limit,
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        let id = Pid::from_child(&self.child);
        Ok(prlimit(Some(id), Resource::Nofile, limit)?.current)
    }

    /// What the card holds now.
    pub fn holdings(&self) -> Result<Holdings> {
        let read = |file: &str| {
            let path = format!("/proc/{}/{file}", self.id());
            std::fs::read_to_string(&path).context(path)
        };
        let status = read("status")?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
            value.with_context(|| format!("the card has no {name} It has ended"))
        };
        Ok(Holdings {
            files: open_files_of(self.id()),
            mappings: read("maps")?.lines().count(),
            resident: kib("VmRSS:")?,
            space: kib("VmSize:")?,
        })
    }

    /// Processor time that the card has used.
    pub fn processor_time(&self) -> Result<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        // Fields 14 and 15 of the whole line, in ticks of 10 ms.
        let fields = text.rsplit(')').next().unwrap_or("").split_whitespace();
        let ticks: Result<Vec<u64>, _> = fields.skip(11).take(2).map(str::parse).collect();
        Ok(Duration::from_millis(10 * ticks?.iter().sum::<u64>()))
    }

    /// Sends SIGTERM and waits. `None`: the card has not ended within five seconds.
    pub fn terminate(&mut self) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        if !self.has_ended()? {
            kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        }
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if start.elapsed() > END_LIMIT {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        // Errors mean that the card has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
