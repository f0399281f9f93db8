//! What a row of the hostile server consists of, and when its lie is due.

use std::borrow::Cow;
use std::collections::HashMap;

use harness::codec::{command, Message, BAR0};

use crate::builds::Build;
use crate::lie::Lie;

/// A scenario: at a moment, the server lies.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name, `class: what the server does`.
    pub name: Cow<'static, str>,
    /// When the server lies.
    pub moment: Moment,
    /// What the server does.
    pub lie: Lie,
    /// How the driver must end.
    pub expect: Expect,
    /// The queue registers are shared memory. Otherwise each register access is a message.
    pub shared: bool,
    /// Frames arrive at both ports.
    pub traffic: bool,
    /// The driver has its default options, apart from the duration. Otherwise it waits at most a second
    /// for a link.
    pub defaults: bool,
    /// The driver uses interrupts.
    pub interrupts: bool,
    /// The ports that lie.
    pub liars: &'static [usize],
    /// The builds that meet the lie.
    pub victims: &'static [Build],
    /// Texts of the driver's only message.
    pub says: &'static [&'static str],
    /// No change of memory that lasts is possible.
    pub refused: bool,
}

/// When the server lies.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// At the reply number `1` (from 0) to the command `0`.
    Reply(u16, u32),
    /// At every reply to this command.
    Replies(u16),
    /// At the reply number `1` to the command `0`, and at each reply after it to any command.
    From(u16, u32),
    /// At every reply.
    Always,
    /// At the reply to the write number `1` (from 0) to the register `0`.
    Write(u32, u32),
    /// At every reply to a write to this register.
    Writes(u32),
}

/// How the driver must end. In each case within the time limit, and never by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// With status 0.
    Works,
    /// With status 1 and a message.
    Fails,
    /// In one of the two ways: builds differ, or the order of events decides.
    Ends,
}

impl Row {
    /// A row in the usual setting: trapped registers, no traffic, short options, port 0.
    pub fn new(name: &'static str, moment: Moment, lie: Lie, expect: Expect) -> Self {
        Self {
            name: name.into(),
            moment,
            lie,
            expect,
            shared: false,
            traffic: false,
            defaults: false,
            interrupts: false,
            liars: &[0],
            victims: &Build::ALL,
            says: &[],
            refused: false,
        }
    }
}

/// Counts replies, to find the moments of lies.
#[derive(Debug, Default)]
pub struct Moments {
    replies: HashMap<u16, u32>,
    writes: HashMap<u64, u32>,
    /// [`Moment::From`] has come.
    begun: bool,
}

impl Moments {
    /// Counts the reply to this request, and says whether it is one to lie at.
    pub fn are_due(&mut self, moment: Moment, request: &Message) -> bool {
        let asked = request.header.command;
        let count = |counter: &mut u32| std::mem::replace(counter, *counter + 1);
        let nth = count(self.replies.entry(asked).or_default());
        let written = match request.access() {
            Some((BAR0, offset)) if asked == command::REGION_WRITE => {
                Some((offset, count(self.writes.entry(offset).or_default())))
            }
            _ => None,
        };
        match moment {
            Moment::Always => true,
            Moment::Replies(wanted) => asked == wanted,
            Moment::Reply(wanted, number) => asked == wanted && nth == number,
            Moment::From(wanted, number) => {
                self.begun |= asked == wanted && nth == number;
                self.begun
            }
            Moment::Write(wanted, number) => written == Some((u64::from(wanted), number)),
            Moment::Writes(wanted) => {
                written.is_some_and(|(offset, _)| offset == u64::from(wanted))
            }
        }
    }
}
