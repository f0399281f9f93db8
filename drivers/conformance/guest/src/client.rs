//! The host's side of the agent: programs in the guest, never for longer than allowed.

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

/// How long a job that is killed may take to be gone.
const DEATH: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Ends {
    ready: bool,
    /// Why the agent is not there any more.
    gone: Option<String>,
    ended: HashMap<u64, End>,
}

#[derive(Debug, Default)]
struct Shared {
    ends: Mutex<Ends>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `take` has something, or says that it never will.
    fn wait<T>(&self, limit: Duration, mut take: impl FnMut(&mut Ends) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + limit;
        let mut ends = self.lock();
        loop {
            if let Some(found) = take(&mut ends) {
                return Ok(found);
            }
            if let Some(why) = &ends.gone {
                bail!("the guest is gone: {why}");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), "nothing from the guest for {limit:?}");
            let waited = self.changed.wait_timeout(ends, left);
            ends = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The connection to a machine's agent.
#[derive(Debug)]
pub(crate) struct Client {
    stream: Mutex<UnixStream>,
    shared: Arc<Shared>,
    next_job: Mutex<u64>,
}

impl Client {
    /// Connects to QEMU's end of the serial port, which it makes when it starts.
    pub(crate) fn connect(socket: &Path, limit: Duration) -> Result<Self> {
        let deadline = Instant::now() + limit;
        let stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(error) => ensure!(Instant::now() < deadline, "{}: {error}", socket.display()),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let shared = Arc::new(Shared::default());
        let (reader, told) = (stream.try_clone()?, shared.clone());
        std::thread::Builder::new()
            .name("agent's replies".to_owned())
            .spawn(move || {
                let why = read_replies(reader, &told);
                told.lock().gone = Some(why);
                told.changed.notify_all();
            })?;
        Ok(Self {
            stream: Mutex::new(stream),
            shared,
            next_job: Mutex::new(0),
        })
    }

    /// Waits until the agent runs.
    pub(crate) fn wait_ready(&self, limit: Duration) -> Result<()> {
        self.shared.wait(limit, |ends| ends.ready.then_some(()))
    }

    fn send(&self, request: &Request) -> Result<()> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(line.as_bytes()).context("the agent")
    }
}

/// Returns why there are no more.
fn read_replies(from: UnixStream, to: &Shared) -> String {
    for line in BufReader::new(from).lines() {
        let reply = match line {
            Ok(line) => serde_json::from_str(&line).with_context(|| line),
            Err(error) => return error.to_string(),
        };
        let mut ends = to.lock();
        match reply {
            Ok(Reply::Ready) => ends.ready = true,
            Ok(Reply::Ended { job, end }) => {
                ends.ended.insert(job, end);
            }
            Err(error) => return format!("not a reply: {error:#}"),
        }
        drop(ends);
        to.changed.notify_all();
    }
    "it has closed its port".to_owned()
}

/// A program to be run in a guest.
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

    /// As this user, and the group of the same number, instead of root.
    #[must_use]
    pub fn user(mut self, user: u32) -> Self {
        self.user = user;
        self
    }

    /// With no more locked memory than this.
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

    /// Starts it. Whether that succeeds, its end will tell.
    ///
    /// # Errors
    /// If the guest is gone.
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

    /// Runs it to its end.
    ///
    /// # Errors
    /// If the guest is gone, or it takes longer than `limit`.
    pub fn run(self, limit: Duration) -> Result<Output> {
        self.start()?.wait(limit)
    }
}

/// A program that runs in a guest. Dropping it kills it.
#[derive(Debug)]
pub struct Job<'vm> {
    client: &'vm Client,
    number: u64,
    name: String,
    ended: bool,
}

impl Job<'_> {
    /// Sends it a signal.
    ///
    /// # Errors
    /// If it has ended, or the guest is gone.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(end) = self.client.shared.lock().ended.get(&self.number) {
            bail!("{} has ended before its signal: {end:?}", self.name);
        }
        self.client.send(&Request::Signal {
            job: self.number,
            signal: signal.as_raw(),
        })
    }

    /// Whether it has not ended yet.
    pub fn is_running(&self) -> bool {
        !self.client.shared.lock().ended.contains_key(&self.number)
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// If it has not ended after `limit`, or the guest is gone; it is killed then.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        let number = self.number;
        let shared = &self.client.shared;
        let waited = shared.wait(limit, |ends| ends.ended.remove(&number));
        let end = match waited {
            Ok(end) => end,
            Err(error) => {
                self.signal(Signal::KILL)?;
                self.ended = true;
                let end = shared.wait(DEATH, |ends| ends.ended.remove(&number));
                bail!("{}: {error}; it was killed: {end:#?}", self.name);
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
            // If the guest is gone, so is the job.
            let _ = self.signal(Signal::KILL);
            let number = self.number;
            let _ = self
                .client
                .shared
                .wait(DEATH, |ends| ends.ended.remove(&number));
        }
    }
}

/// What a program in the guest has left behind.
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
    /// If it is another, or a signal has ended the program.
    pub fn expect_exit(&self, code: i32) -> Result<&Self> {
        ensure!(
            self.end.code == Some(code),
            "exit status is not {code}: {self}"
        );
        Ok(self)
    }

    /// Checks that the program says all of this on its standard error.
    ///
    /// # Errors
    /// What it does not say.
    pub fn expect_stderr<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<&Self> {
        for text in texts {
            let text = text.as_ref();
            ensure!(
                self.end.stderr.contains(text),
                "does not say {text:?}: {self}"
            );
        }
        Ok(self)
    }

    /// Checks that it succeeded and had nothing to say.
    ///
    /// # Errors
    /// If it has not.
    pub fn expect_success(&self) -> Result<&Self> {
        self.expect_exit(0)?;
        ensure!(self.end.stderr.is_empty(), "says something: {self}");
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
