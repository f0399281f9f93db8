//! The host's side of the agent: runs programs in the guest with a time limit.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::process::Signal;

use crate::message::{End, Reply, Request};

/// How long a killed job may take to end.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// What the agent has reported so far.
#[derive(Debug, Default)]
struct AgentState {
    ready: bool,
    /// Why the connection has ended.
    disconnected: Option<String>,
    ended: HashMap<u64, End>,
}

#[derive(Debug, Default)]
struct SharedState {
    state: Mutex<AgentState>,
    changed: Condvar,
}

impl SharedState {
    fn lock(&self) -> MutexGuard<'_, AgentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `take` returns a value. Fails if the connection ends or the time is over.
    fn wait<T>(
        &self,
        limit: Duration,
        mut take: impl FnMut(&mut AgentState) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(found) = take(&mut state) {
                return Ok(found);
            }
            if let Some(reason) = &state.disconnected {
                bail!("the guest's agent disconnected: {reason}");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), "no answer from the guest for {limit:?}");
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The connection to a machine's agent.
#[derive(Debug)]
pub(crate) struct Client {
    stream: Mutex<UnixStream>,
    shared: Arc<SharedState>,
    next_job: Mutex<u64>,
}

impl Client {
    /// Connects to QEMU's end of the serial port, which QEMU creates when it starts.
    pub(crate) fn connect(socket: &Path, limit: Duration) -> Result<Self> {
        let deadline = Instant::now() + limit;
        let stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(error) => ensure!(Instant::now() < deadline, "{}: {error}", socket.display()),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let shared = Arc::new(SharedState::default());
        let (from_agent, state) = (stream.try_clone()?, shared.clone());
        std::thread::Builder::new()
            .name("agent's replies".to_owned())
            .spawn(move || {
                let reason = read_replies(from_agent, &state);
                state.lock().disconnected = Some(reason);
                state.changed.notify_all();
            })?;
        Ok(Self {
            stream: Mutex::new(stream),
            shared,
            next_job: Mutex::new(0),
        })
    }

    /// Waits until the agent runs.
    pub(crate) fn wait_ready(&self, limit: Duration) -> Result<()> {
        self.shared.wait(limit, |state| state.ready.then_some(()))
    }

    fn send(&self, request: &Request) -> Result<()> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(line.as_bytes()).context("the agent")
    }
}

/// Reads replies until the connection ends, and returns the reason for its end.
fn read_replies(from: UnixStream, to: &SharedState) -> String {
    for line in BufReader::new(from).lines() {
        let reply = match line {
            Ok(line) => serde_json::from_str(&line).with_context(|| line),
            Err(error) => return error.to_string(),
        };
        let mut state = to.lock();
        match reply {
            Ok(Reply::Ready) => state.ready = true,
            Ok(Reply::Ended { job, end }) => {
                state.ended.insert(job, end);
            }
            Err(error) => return format!("invalid reply: {error:#}"),
        }
        drop(state);
        to.changed.notify_all();
    }
    "the agent closed its port".to_owned()
}

/// A program to run in a guest.
#[derive(Debug)]
pub struct Run<'vm> {
    client: &'vm Client,
    argv: Vec<String>,
    user: u32,
    memlock_kib: Option<u64>,
}

impl<'vm> Run<'vm> {
    pub(crate) fn new(client: &'vm Client, argv: Vec<String>) -> Self {
        Self {
            client,
            argv,
            user: 0,
            memlock_kib: None,
        }
    }

    /// Runs it as this user, and as the group of the same number, instead of root.
    #[must_use]
    pub fn user(mut self, user: u32) -> Self {
        self.user = user;
        self
    }

    /// Limits its locked memory.
    #[must_use]
    pub fn memlock_kib(mut self, limit: u64) -> Self {
        self.memlock_kib = Some(limit);
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.argv.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<String>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Starts the program. If the start fails, the end of the job says so.
    ///
    /// # Errors
    /// If the guest's agent is disconnected.
    pub fn start(self) -> Result<Job<'vm>> {
        let number = {
            let mut next = self
                .client
                .next_job
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *next += 1;
            *next
        };
        let name = self.argv.join(" ");
        self.client.send(&Request::Start {
            job: number,
            argv: self.argv,
            user: self.user,
            memlock_kib: self.memlock_kib,
        })?;
        Ok(Job {
            client: self.client,
            number,
            name,
            ended: false,
        })
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// If the guest's agent is disconnected, or the program runs longer than `limit`.
    pub fn run(self, limit: Duration) -> Result<Output> {
        self.start()?.wait(limit)
    }
}

/// A running program in a guest. Dropping it kills the process.
#[derive(Debug)]
pub struct Job<'vm> {
    client: &'vm Client,
    number: u64,
    name: String,
    ended: bool,
}

impl Job<'_> {
    /// Sends a signal.
    ///
    /// # Errors
    /// If the program has ended, or the guest's agent is disconnected.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(end) = self.client.shared.lock().ended.get(&self.number) {
            bail!("{} ended before the signal: {end:?}", self.name);
        }
        self.client.send(&Request::Signal {
            job: self.number,
            signal: signal.as_raw(),
        })
    }

    /// Whether the program still runs.
    pub fn is_running(&self) -> bool {
        !self.client.shared.lock().ended.contains_key(&self.number)
    }

    /// Waits for the end of the program.
    ///
    /// # Errors
    /// If the program still runs after `limit`, or the guest's agent is disconnected. The program is
    /// then killed.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        let number = self.number;
        let shared = &self.client.shared;
        let waited = shared.wait(limit, |state| state.ended.remove(&number));
        let end = match waited {
            Ok(end) => end,
            Err(error) => {
                self.signal(Signal::KILL)?;
                self.ended = true;
                let end = shared.wait(KILL_LIMIT, |state| state.ended.remove(&number));
                bail!("{}: {error}; killed: {end:#?}", self.name);
            }
        };
        self.ended = true;
        Ok(Output {
            name: self.name.clone(),
            end,
        })
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.ended && self.is_running() {
            // If the guest has ended, the job has ended too.
            let _ = self.signal(Signal::KILL);
            let number = self.number;
            let _ = self
                .client
                .shared
                .wait(KILL_LIMIT, |state| state.ended.remove(&number));
        }
    }
}

/// The result of a program that has ended in the guest.
#[derive(Debug)]
pub struct Output {
    name: String,
    /// How it ended.
    pub end: End,
}

impl Output {
    /// Checks the exit status.
    ///
    /// # Errors
    /// If the status is another, or a signal ended the program.
    pub fn expect_exit(&self, code: i32) -> Result<&Self> {
        ensure!(
            self.end.code == Some(code),
            "exit status is not {code}: {self}"
        );
        Ok(self)
    }

    /// Checks that the standard error contains all these texts.
    ///
    /// # Errors
    /// Names the text that is missing.
    pub fn expect_stderr<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<&Self> {
        for text in texts {
            let text = text.as_ref();
            ensure!(
                self.end.stderr.contains(text),
                "standard error lacks {text:?}: {self}"
            );
        }
        Ok(self)
    }

    /// Checks that the program succeeded without a message on standard error.
    ///
    /// # Errors
    /// If the program failed or printed a message.
    pub fn expect_success(&self) -> Result<&Self> {
        self.expect_exit(0)?;
        ensure!(self.end.stderr.is_empty(), "unexpected message: {self}");
        Ok(self)
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let End {
            code,
            signal,
            stdout,
            stderr,
            milliseconds,
        } = &self.end;
        write!(
            f,
            "{} (exit {code:?}, signal {signal:?}, {milliseconds} ms)",
            self.name
        )?;
        write!(f, "\n-- stdout\n{stdout}-- stderr\n{stderr}")
    }
}
