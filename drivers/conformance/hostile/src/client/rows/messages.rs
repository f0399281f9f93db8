//! Messages that break a rule, for commands with and without a payload.

use nic::registers as r;
use std::borrow::Cow;

use crate::client::attack::{Attack, Change, Malformed, Row};
use crate::client::payload;
use crate::descriptors::Kind;
use crate::message::{command, put32, Message, FLAG_ERROR, FLAG_NO_REPLY, FLAG_REPLY};

/// Makes the payload of an honest message.
type Payload = fn() -> Vec<u8>;

/// The commands, and their honest payload. VERSION is the first message, the others come later.
const COMMANDS: [(&str, u16, Payload); 6] = [
    ("version", command::VERSION, payload::version),
    ("DMA map", command::DMA_MAP, || {
        payload::map(3, 0, 0x1000, 0x1000)
    }),
    ("SET_IRQS", command::SET_IRQS, || {
        payload::interrupts(payload::CONNECT, 2, 0, 1)
    }),
    ("region read", command::REGION_READ, || {
        payload::access(0, 0, 4)
    }),
    ("region write", command::REGION_WRITE, || {
        payload::write(u64::from(r::RDT(0)), 0, &[1; 4])
    }),
    ("reset", command::RESET, Vec::new),
];

/// The changes.
const CHANGES: [(&str, Change); 18] = [
    (
        "a reply",
        Change::Edit(|message| message.header.flags = FLAG_REPLY),
    ),
    (
        "all flags",
        Change::Edit(|message| message.header.flags = u32::MAX),
    ),
    (
        "an error that wants no reply",
        Change::Edit(|message| message.header.flags = FLAG_ERROR | FLAG_NO_REPLY),
    ),
    (
        "command 0",
        Change::Edit(|message| message.header.command = 0),
    ),
    (
        "command 65535",
        Change::Edit(|message| message.header.command = u16::MAX),
    ),
    ("size 0", Change::Edit(|message| message.header.size = 0)),
    ("size 15", Change::Edit(|message| message.header.size = 15)),
    (
        "size 2^32-1",
        Change::Edit(|message| message.header.size = u32::MAX),
    ),
    (
        "size of 1 MiB",
        Change::Edit(|message| message.header.size = 1 << 20),
    ),
    (
        "no payload",
        Change::Edit(|message| {
            message.payload.clear();
            message.fit_size();
        }),
    ),
    (
        "payload of all ones",
        Change::Edit(|message| message.payload.fill(0xff)),
    ),
    (
        "payload of 1 MiB",
        Change::Edit(|message| {
            message.payload.resize(1 << 20, 0x41);
            message.fit_size();
        }),
    ),
    ("64 pipes", Change::Pipes(64)),
    ("253 pipes", Change::Pipes(253)),
    ("silence in the header", Change::Stop(9)),
    ("silence in the payload", Change::Stop(17)),
    ("closed in the header", Change::Close(3)),
    ("sent 20,000 times", Change::Repeat(20_000)),
];

const fn special(
    name: &'static str,
    first: bool,
    command: u16,
    payload: Payload,
    edit: fn(&mut Message),
) -> Row {
    with(name, first, command, payload, Change::Edit(edit))
}

const fn with(
    name: &'static str,
    first: bool,
    command: u16,
    payload: Payload,
    change: Change,
) -> Row {
    Row {
        name: Cow::Borrowed(name),
        attack: Attack::Message(Malformed {
            first,
            command,
            payload,
            change,
        }),
        quiet: true,
        yields: false,
        files: None,
    }
}

/// Honest bytes of a message.
fn keep(_: &mut Message) {}

const SPECIAL: &[Row] = &[
    special(
        "version text: major 1",
        true,
        command::VERSION,
        payload::version,
        |m| m.payload[0] = 1,
    ),
    special(
        "version text: without NUL",
        true,
        command::VERSION,
        payload::version,
        |m| {
            m.payload.pop();
            m.fit_size();
        },
    ),
    special(
        "version text: 1 MiB of brackets",
        true,
        command::VERSION,
        payload::version,
        |m| {
            m.payload.resize(1 << 20, b'[');
            m.fit_size();
        },
    ),
    special(
        "version: a second time",
        false,
        command::VERSION,
        payload::version,
        keep,
    ),
    special(
        "order: a read before the version",
        true,
        command::REGION_READ,
        || payload::access(0, 0, 4),
        keep,
    ),
    special(
        "order: a reset before the version",
        true,
        command::RESET,
        Vec::new,
        keep,
    ),
    special(
        "region read: count 2^32-1",
        false,
        command::REGION_READ,
        || payload::access(0, 0, u32::MAX),
        keep,
    ),
    special(
        "region read: count 0",
        false,
        command::REGION_READ,
        || payload::access(0, 0, 0),
        keep,
    ),
    special(
        "region read: offset 2^64-1",
        false,
        command::REGION_READ,
        || payload::access(u64::MAX, 0, 4),
        keep,
    ),
    special(
        "region read: region 2^32-1",
        false,
        command::REGION_READ,
        || payload::access(0, u32::MAX, 4),
        keep,
    ),
    special(
        "region read: all of BAR0",
        false,
        command::REGION_READ,
        || payload::access(0, 0, 512 << 10),
        keep,
    ),
    special(
        "region write: all of BAR0, all ones",
        false,
        command::REGION_WRITE,
        || payload::write(0, 0, &[0xff; 512 << 10]),
        keep,
    ),
    special(
        "region write: all of the configuration space",
        false,
        command::REGION_WRITE,
        || payload::write(0, 7, &[0xff; 256]),
        keep,
    ),
    special(
        "region write: all of the MSI-X table",
        false,
        command::REGION_WRITE,
        || payload::write(0, 4, &[0xff; 1024]),
        keep,
    ),
    special(
        "region write: count other than the payload",
        false,
        command::REGION_WRITE,
        || payload::write(0, 0, &[0; 4]),
        |m| {
            put32(&mut m.payload, 12, 4096);
        },
    ),
    special(
        "region info: room of 2^32-1",
        false,
        command::REGION_INFO,
        || payload::region_info(u32::MAX, 0),
        keep,
    ),
    special(
        "region info: room 0",
        false,
        command::REGION_INFO,
        || payload::region_info(0, 0),
        keep,
    ),
    special(
        "region info: region 2^32-1",
        false,
        command::REGION_INFO,
        || payload::region_info(32, u32::MAX),
        keep,
    ),
    special(
        "IRQ info: kind 2^32-1",
        false,
        command::IRQ_INFO,
        || payload::words(&[16, 0, u32::MAX, 0]),
        keep,
    ),
    special(
        "device info: argsz 0",
        false,
        command::GET_INFO,
        || payload::words(&[0; 4]),
        keep,
    ),
    with(
        "DMA map: with a folder",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::Folder]),
    ),
    with(
        "DMA map: with /dev/zero",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::Zero]),
    ),
    with(
        "DMA map: with an eventfd",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::Eventfd]),
    ),
    with(
        "DMA map: with two memfds",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::Page, Kind::Page]),
    ),
    with(
        "DMA map: of an empty memfd",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::Empty]),
    ),
    with(
        "DMA map: of a read-only memfd",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::ReadOnly]),
    ),
    with(
        "DMA map: of a memfd sealed against writes",
        false,
        command::DMA_MAP,
        || payload::map(3, 0, 0, 0x1000),
        Change::Files(&[Kind::WriteSealed]),
    ),
];

/// Every change of every command, and the special ones.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = SPECIAL.to_vec();
    for (at, command, payload) in COMMANDS {
        for (name, change) in CHANGES {
            let mut row = with("", command == command::VERSION, command, payload, change);
            row.name = Cow::Owned(format!("{at}: {name}"));
            rows.push(row);
        }
    }
    rows
}
