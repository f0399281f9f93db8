//! Lies that fit the reply to any command, at each command that a driver sends.

use nic::registers as r;
use std::borrow::Cow;

use crate::descriptors::Kind;
use crate::message::{command, Header, FLAG_ERROR, FLAG_REPLY};
use crate::server::lie::{Expect, Liars, Lie, Moment, Row};

/// The commands that drivers send, and the number of the reply that is a lie. The numbers lie in
/// the middle of what a driver sends.
const COMMANDS: [(&str, u16, u32); 7] = [
    ("version", command::VERSION, 0),
    ("device info", command::GET_INFO, 0),
    ("region info", command::REGION_INFO, 0),
    ("DMA map", command::DMA_MAP, 1),
    ("region read", command::REGION_READ, 200),
    ("region write", command::REGION_WRITE, 100),
    ("DMA unmap", command::DMA_UNMAP, 0),
];

/// The lies, and how a driver ends that needs the answer.
const LIES: [(&str, Lie, Expect); 29] = [
    (
        "another id",
        Lie::Header(|header| header.id ^= 1),
        Expect::Fails,
    ),
    (
        "another command",
        Lie::Header(|header| header.command += 1),
        Expect::Fails,
    ),
    (
        "a request",
        Lie::Header(|header| header.flags &= !FLAG_REPLY),
        Expect::Fails,
    ),
    (
        "all flags",
        Lie::Header(|header| header.flags = u32::MAX),
        Expect::Fails,
    ),
    (
        "error 0",
        Lie::Header(|header| refuse(header, 0)),
        Expect::Fails,
    ),
    (
        "error EIO",
        Lie::Header(|header| refuse(header, 5)),
        Expect::Fails,
    ),
    (
        "error 2^32-1",
        Lie::Header(|header| refuse(header, u32::MAX)),
        Expect::Fails,
    ),
    (
        "size 0",
        Lie::Header(|header| header.size = 0),
        Expect::Fails,
    ),
    (
        "size 15",
        Lie::Header(|header| header.size = 15),
        Expect::Fails,
    ),
    (
        "size 2^31",
        Lie::Header(|header| header.size = 1 << 31),
        Expect::Fails,
    ),
    (
        "size 2^32-1",
        Lie::Header(|header| header.size = u32::MAX),
        Expect::Fails,
    ),
    (
        "size one too large",
        Lie::Header(|header| header.size += 1),
        Expect::Fails,
    ),
    (
        "no payload",
        Lie::Payload(|_, payload| payload.clear()),
        Expect::Ends,
    ),
    (
        "payload of one byte",
        Lie::Payload(|_, payload| payload.resize(1, 0)),
        Expect::Ends,
    ),
    (
        "payload of 4 KiB and a byte",
        Lie::Payload(|_, payload| payload.resize(4097, 0)),
        Expect::Ends,
    ),
    (
        "payload of 1 MiB",
        Lie::Payload(|_, payload| payload.resize(1 << 20, 0)),
        Expect::Fails,
    ),
    (
        "bytes after the message",
        Lie::Body(|payload| payload.extend([0xff; 7])),
        Expect::Ends,
    ),
    (
        "two pipes",
        Lie::Files(&[Kind::Pipe, Kind::Pipe]),
        Expect::Ends,
    ),
    ("253 pipes", Lie::Pipes(253), Expect::Ends),
    ("silence", Lie::Silence, Expect::Fails),
    ("silence in the header", Lie::Stop(8), Expect::Fails),
    ("silence in the payload", Lie::Stop(17), Expect::Ends),
    ("closed", Lie::Close(0), Expect::Fails),
    ("closed in the header", Lie::Close(3), Expect::Fails),
    ("a byte each 300 ms", Lie::Drip(300), Expect::Ends),
    ("answered twice", Lie::Repeat(2), Expect::Ends),
    ("the last reply again", Lie::Stale, Expect::Ends),
    ("a message first", Lie::Unasked(UNASKED), Expect::Fails),
    ("messages without end", Lie::Flood, Expect::Fails),
];

/// A request that servers may send, but not to these drivers.
const UNASKED: Header = Header {
    id: 1,
    command: 11,
    size: 16,
    flags: 0,
    error: 0,
};

/// Lies that span commands.
const EVERYWHERE: &[Row] = &[
    Row::new(
        "every reply: the truth",
        Moment::Always,
        Lie::Nothing,
        Expect::Works,
    ),
    Row::new(
        "every reply: the truth, registers shared",
        Moment::Always,
        Lie::Nothing,
        Expect::Works,
    )
    .shared()
    .traffic(),
    Row::new(
        "every reply: the truth, to both devices",
        Moment::Always,
        Lie::Nothing,
        Expect::Works,
    )
    .liars(Liars::Both)
    .traffic(),
    Row::new(
        "every reply: two pipes",
        Moment::Always,
        Lie::Files(PIPES),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 16 pipes",
        Moment::Always,
        Lie::Pipes(16),
        Expect::Ends,
    ),
    Row::new(
        "every reply: an epoll descriptor",
        Moment::Always,
        Lie::Files(&[Kind::Epoll]),
        Expect::Ends,
    ),
    Row::new(
        "every reply: a socket",
        Moment::Always,
        Lie::Files(&[Kind::Socket]),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 1 ms late",
        Moment::Always,
        Lie::Late(1),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 10 ms late",
        Moment::Always,
        Lie::Late(10),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 100 ms late",
        Moment::Always,
        Lie::Late(100),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 1 s late",
        Moment::Always,
        Lie::Late(1000),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 4 s late",
        Moment::Always,
        Lie::Late(4000),
        Expect::Ends,
    ),
    Row::new(
        "every reply: 100 ms late, both devices",
        Moment::Always,
        Lie::Late(100),
        Expect::Ends,
    )
    .liars(Liars::Both),
    Row::new(
        "every reply: 1 s late, both devices, default options",
        Moment::Always,
        Lie::Late(1000),
        Expect::Ends,
    )
    .liars(Liars::Both)
    .defaults(),
    Row::new(
        "every reply: a byte each 10 ms",
        Moment::Always,
        Lie::Drip(10),
        Expect::Ends,
    ),
    Row::new(
        "every reply: a byte each 4 s",
        Moment::Always,
        Lie::Drip(4000),
        Expect::Fails,
    ),
    Row::new(
        "every reply: a byte each 4 s, default options",
        Moment::Always,
        Lie::Drip(4000),
        Expect::Fails,
    )
    .defaults(),
    Row::new(
        "every reply: answered twice",
        Moment::Always,
        Lie::Repeat(2),
        Expect::Fails,
    ),
    Row::new(
        "every reply: error EPERM",
        Moment::Always,
        Lie::Header(|header| refuse(header, 1)),
        Expect::Fails,
    ),
    Row::new(
        "every reply: the last reply again",
        Moment::From(command::GET_INFO, 0),
        Lie::Stale,
        Expect::Fails,
    ),
    Row::new(
        "second device: silence at the first read",
        SECOND,
        Lie::Silence,
        Expect::Fails,
    )
    .liars(Liars::Second),
    Row::new(
        "second device: closed at the first read",
        SECOND,
        Lie::Close(0),
        Expect::Fails,
    )
    .liars(Liars::Second),
    Row::new(
        "second device: 100 ms late",
        Moment::Always,
        Lie::Late(100),
        Expect::Ends,
    )
    .liars(Liars::Second),
    Row::new(
        "both devices: silence at the first DMA map, default options",
        FIRST_MAP,
        Lie::Silence,
        Expect::Fails,
    )
    .liars(Liars::Both)
    .defaults(),
    Row::new(
        "silence from the first DMA map on",
        FIRST_MAP,
        Lie::Silence,
        Expect::Fails,
    ),
    Row::new(
        "silence from the third DMA map on",
        Moment::Reply(command::DMA_MAP, 2),
        Lie::Silence,
        Expect::Fails,
    ),
    Row::new(
        "no answer to any DMA unmap",
        Moment::Replies(command::DMA_UNMAP),
        Lie::Omit,
        Expect::Ends,
    ),
    Row::new(
        "no answer to any DMA unmap, default options",
        Moment::Replies(command::DMA_UNMAP),
        Lie::Omit,
        Expect::Ends,
    )
    .liars(Liars::Both)
    .defaults(),
    Row::new(
        "no answer to one register write",
        Moment::Reply(command::REGION_WRITE, 300),
        Lie::Omit,
        Expect::Fails,
    ),
    Row::new(
        "no answer to one register read",
        Moment::Reply(command::REGION_READ, 180),
        Lie::Omit,
        Expect::Fails,
    ),
    Row::new(
        "silence while it forwards",
        FORWARDING,
        Lie::Silence,
        Expect::Ends,
    )
    .traffic(),
    Row::new(
        "closed while it forwards",
        FORWARDING,
        Lie::Close(0),
        Expect::Ends,
    )
    .traffic(),
    Row::new(
        "4 s late while it forwards",
        FORWARDING,
        Lie::Late(4000),
        Expect::Ends,
    )
    .traffic(),
    Row::new(
        "a byte each 300 ms while it forwards",
        FORWARDING,
        Lie::Drip(300),
        Expect::Ends,
    )
    .traffic(),
    Row::new(
        "refused while it forwards",
        FORWARDING,
        Lie::Header(|header| refuse(header, 19)),
        Expect::Ends,
    )
    .traffic(),
];

const PIPES: &[Kind] = &[Kind::Pipe, Kind::Pipe];
const FIRST_MAP: Moment = Moment::Reply(command::DMA_MAP, 0);
const SECOND: Moment = Moment::Reply(command::REGION_READ, 0);
/// The third time that the driver hands receive descriptors over.
const FORWARDING: Moment = Moment::Write(r::RDT(0), 2);

fn refuse(header: &mut Header, error: u32) {
    header.flags |= FLAG_ERROR;
    header.error = error;
}

/// Every lie at every command, and those that span commands.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = EVERYWHERE.to_vec();
    for (at, command, number) in COMMANDS {
        for (name, lie, expect) in LIES {
            // The driver closes already, so it may end without the answer.
            let expect = if command == command::DMA_UNMAP {
                Expect::Ends
            } else {
                expect
            };
            let mut row = Row::new("", Moment::Reply(command, number), lie, expect);
            row.name = Cow::Owned(format!("{at}: {name}"));
            rows.push(row);
        }
    }
    rows
}
