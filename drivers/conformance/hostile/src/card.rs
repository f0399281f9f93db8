//! The process of the software card, watched from outside.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use harness::{wait_until, Program, Running};
use rustix::process::{getrlimit, prlimit, Pid, Resource, Rlimit, Signal};

use crate::program::open_files_of;

/// Number of ports. A scenario attacks port 0, and some attack port 2 as well.
const PORTS: usize = 4;
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
    running: Running,
    folder: PathBuf,
}

impl Card {
    /// Starts a card with four ports. `traffic` is the value of its option of that name.
    pub fn start(folder: &Path, traffic: &str) -> Result<Self> {
        let program = Program::nic(folder)?.args(["--ports", &PORTS.to_string()]);
        let mut running = program.args(["--traffic", traffic]).start()?;
        wait_until("the card", || running.has_said("ready"))?;
        let [_, stderr] = running.so_far()?;
        ensure!(running.is_running()?, "the card has not started: {stderr}");
        Ok(Self {
            running,
            folder: folder.to_owned(),
        })
    }

    /// The socket of a port.
    pub fn socket(&self, port: usize) -> PathBuf {
        self.folder.join(format!("port{port}.sock"))
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(!self.running.is_running()?)
    }

    /// What the card wrote to standard error.
    pub fn stderr(&self) -> String {
        self.running
            .so_far()
            .map_or_else(|error| error.to_string(), |[_, stderr]| stderr)
    }

    /// Sets the number of files that the card can open, and returns the number before.
    pub fn limit_files(&self, limit: Option<u64>) -> io::Result<Option<u64>> {
        let limit = Rlimit {
            current: limit,
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        let id = Pid::from_raw(self.id() as i32);
        Ok(prlimit(id, Resource::Nofile, limit)?.current)
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
    pub fn terminate(&mut self) -> Result<Option<ExitStatus>> {
        if self.running.is_running()? {
            self.running.signal(Signal::TERM)?;
        }
        self.running.ends_within(END_LIMIT)?;
        self.running.ended()
    }
}
