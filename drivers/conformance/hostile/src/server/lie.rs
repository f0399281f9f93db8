//! What a scenario of the hostile server consists of.

use std::borrow::Cow;

use crate::builds::Build;
use crate::descriptors::Kind;
use crate::message::{Header, Message};
use crate::server::tamper::Tamper;

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
    /// The card and the driver's options.
    pub setup: Setup,
}

impl Row {
    /// A row in the usual setting: trapped registers, no traffic, short options, port 0.
    pub const fn new(name: &'static str, moment: Moment, lie: Lie, expect: Expect) -> Self {
        Self {
            name: Cow::Borrowed(name),
            moment,
            lie,
            expect,
            setup: Setup {
                shared: false,
                traffic: false,
                defaults: false,
                liars: Liars::First,
                victims: &Build::ALL,
            },
        }
    }

    /// The card shares its queue registers.
    #[must_use]
    pub const fn shared(mut self) -> Self {
        self.setup.shared = true;
        self
    }

    /// Frames arrive.
    #[must_use]
    pub const fn traffic(mut self) -> Self {
        self.setup.traffic = true;
        self
    }

    /// The driver has its default options, apart from the duration.
    #[must_use]
    pub const fn defaults(mut self) -> Self {
        self.setup.defaults = true;
        self
    }

    /// Only these builds meet the lie.
    #[must_use]
    pub const fn victims(mut self, victims: &'static [Build]) -> Self {
        self.setup.victims = victims;
        self
    }

    /// These ports lie.
    #[must_use]
    pub const fn liars(mut self, liars: Liars) -> Self {
        self.setup.liars = liars;
        self
    }
}

/// The card and the driver's options.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The queue registers are shared memory. Otherwise each register access is a message.
    pub shared: bool,
    /// Frames arrive at both ports.
    pub traffic: bool,
    /// The driver has its default options. Otherwise it waits at most a second for a link.
    pub defaults: bool,
    /// The ports whose server lies.
    pub liars: Liars,
    /// The builds that meet the lie.
    pub victims: &'static [Build],
}

/// The ports whose server lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liars {
    /// The device that the driver opens first.
    First,
    /// The device that the driver opens second.
    Second,
    /// Both devices.
    Both,
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
}

/// What the server does.
#[derive(Clone, Copy, Debug)]
pub enum Lie {
    /// Tells the truth.
    Nothing,
    /// Changes the header.
    Header(fn(&mut Header)),
    /// Changes the payload, and the size with it. The function sees the request.
    Payload(fn(&Message, &mut Vec<u8>)),
    /// Changes the payload, and leaves the size as it was.
    Body(fn(&mut Vec<u8>)),
    /// Sends these descriptors instead of the reply's.
    Files(&'static [Kind]),
    /// Sends so many pipes with the reply.
    Pipes(usize),
    /// Does not answer.
    Omit,
    /// Does not answer, and answers no later message either.
    Silence,
    /// Sends the reply in pieces of one byte, so many milliseconds apart.
    Drip(u64),
    /// Answers so many milliseconds late.
    Late(u64),
    /// Sends so many bytes of the reply and closes the connection.
    Close(usize),
    /// Sends so many bytes of the reply and nothing more.
    Stop(usize),
    /// Answers so often.
    Repeat(usize),
    /// Sends the reply to the message before.
    Stale,
    /// Sends this message first.
    Unasked(Header),
    /// Sends messages without end.
    Flood,
    /// Answers, and then changes memory that the driver has lent or uses.
    Tamper(Tamper),
    /// Offers an own file as registers, and then changes that file.
    OwnRegisters(Tamper),
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
