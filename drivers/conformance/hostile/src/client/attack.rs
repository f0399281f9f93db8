//! What a scenario of the hostile client consists of.

use std::any::Any;
use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::client::session::{Session, PATIENCE};
use crate::descriptors::{files, Kind};
use crate::message::{send, Message};

/// A scenario: a client attacks port 0.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name, `class: what the client does`.
    pub name: Cow<'static, str>,
    /// What the client does.
    pub attack: Attack,
    /// The card has nothing to do while the attacker stays, so it must leave the processor alone.
    pub quiet: bool,
    /// The attacker has no session, so the attacked port must serve others while the attacker stays.
    pub yields: bool,
    /// During the attack, the card can open only so many files beyond those that it has open. With
    /// none, it can serve no one else meanwhile, and must only do so afterwards.
    pub files: Option<u64>,
}

impl Row {
    /// A row after which the card must be idle.
    pub const fn new(name: &'static str, attack: fn(&Target) -> io::Result<Held>) -> Self {
        Self {
            name: Cow::Borrowed(name),
            attack: Attack::Act(attack),
            quiet: true,
            yields: false,
            files: None,
        }
    }

    /// The card works while the attacker stays.
    #[must_use]
    pub const fn busy(mut self) -> Self {
        self.quiet = false;
        self
    }

    /// The attacked port must serve others while the attacker stays.
    #[must_use]
    pub const fn yields(mut self) -> Self {
        self.yields = true;
        self
    }

    /// The card can open only so many files more.
    #[must_use]
    pub const fn files(mut self, files: u64) -> Self {
        self.files = Some(files);
        self
    }
}

/// The card as the attacker sees it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Socket of the attacked port.
    pub socket: PathBuf,
    /// Socket of a second port, for attacks that need two.
    pub second: PathBuf,
    /// Number of the card's process.
    pub card: u32,
}

/// What the attacker keeps until the checks are done: sessions, descriptors, memory.
pub type Held = Vec<Box<dyn Any + Send>>;

/// What the client does.
#[derive(Clone, Copy, Debug)]
pub enum Attack {
    /// Sends a message that breaks a rule.
    Message(Malformed),
    /// Anything else.
    Act(fn(&Target) -> io::Result<Held>),
}

/// A message that breaks a rule.
#[derive(Clone, Copy, Debug)]
pub struct Malformed {
    /// The message is the first one. Otherwise the client agrees on the version before.
    pub first: bool,
    /// The command.
    pub command: u16,
    /// The payload of an honest message.
    pub payload: fn() -> Vec<u8>,
    /// What the client changes.
    pub change: Change,
}

/// A change of a message.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Changes header or payload. The size stays as the header has it.
    Edit(fn(&mut Message)),
    /// Sends these descriptors with it.
    Files(&'static [Kind]),
    /// Sends so many pipes with it.
    Pipes(usize),
    /// Sends so many bytes of it, and nothing more.
    Stop(usize),
    /// Sends so many bytes of it, and closes the connection.
    Close(usize),
    /// Sends it so often, and reads no answer.
    Repeat(usize),
}

impl Attack {
    /// Attacks. Returns what the attacker keeps.
    ///
    /// # Errors
    /// If the attack could not be set up. That the card closes the connection or does not answer is
    /// no error: whether the card serves others decides.
    pub fn perform(&self, target: &Target) -> Result<Held> {
        let attacked = match self {
            Self::Message(message) => message.send(target),
            Self::Act(act) => act(target),
        };
        match attacked {
            Err(error) if is_rebuff(&error) => Ok(Vec::new()),
            other => other.context("the attack could not be made"),
        }
    }
}

/// Whether an error means that the card has closed the connection, or lets the attacker wait.
pub fn is_rebuff(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    let kinds = [
        BrokenPipe,
        ConnectionReset,
        TimedOut,
        UnexpectedEof,
        WouldBlock,
    ];
    kinds.contains(&error.kind())
}

impl Malformed {
    fn send(&self, target: &Target) -> io::Result<Held> {
        let mut session = if self.first {
            Session::connect(&target.socket)?
        } else {
            Session::open_when_free(&target.socket, PATIENCE)?
        };
        let mut message = session.request(self.command, &(self.payload)());
        let mut cut = None;
        let mut count = 1;
        match self.change {
            Change::Edit(edit) => edit(&mut message),
            Change::Files(kinds) => message.files = files(kinds, Vec::new())?,
            Change::Pipes(number) => {
                let kinds = vec![Kind::Pipe; number];
                message.files = files(&kinds, Vec::new())?;
            }
            Change::Stop(at) | Change::Close(at) => cut = Some(at),
            Change::Repeat(number) => count = number,
        }
        let mut bytes = message.bytes();
        bytes.truncate(cut.unwrap_or(bytes.len()));
        let borrowed: Vec<_> = message.files.iter().map(AsFd::as_fd).collect();
        for _ in 0..count {
            send(&session.stream, &bytes, &borrowed)?;
        }
        if matches!(self.change, Change::Close(_)) {
            return Ok(Vec::new());
        }
        Ok(vec![Box::new(session)])
    }
}
