//! Memory that the driver has lent, and that changes while the driver runs.

use nic::registers as r;
use rustix::fs::SealFlags;

use crate::builds::Build;
use crate::message::command;
use crate::server::lie::{Expect, Liars, Lie, Moment, Row};
use crate::server::tamper::Tamper;

const FIRST_MAP: Moment = Moment::Reply(command::DMA_MAP, 0);
const LAST_MAP: Moment = Moment::Reply(command::DMA_MAP, 2);
/// The driver hands descriptors over and forwards.
const FORWARDING: Moment = Moment::Write(r::RDT(0), 2);
/// RXCTRL.RXEN is the last register before the driver forwards.
const STARTED: Moment = Moment::Write(0x3000, 1);

/// Status of a receive descriptor: done.
const DD: u32 = 1;
/// Status of a receive descriptor: end of packet.
const EOP: u32 = 2;
/// Status of a transmit descriptor: done.
const TX_DD: u32 = 1;

const fn lent(name: &'static str, moment: Moment, tamper: Tamper, expect: Expect) -> Row {
    Row::new(name, moment, Lie::Tamper(tamper), expect).traffic()
}

const fn receive(name: &'static str, status: u32, length: u32) -> Row {
    let words = [None, None, Some(status), Some(length)];
    lent(name, FORWARDING, Tamper::ReceiveRing(words), Expect::Ends)
}

const fn transmit(name: &'static str, words: [Option<u32>; 4]) -> Row {
    lent(name, FORWARDING, Tamper::TransmitRing(words), Expect::Ends)
}

pub(super) const ROWS: &[Row] = &[
    lent(
        "memory: shortened to nothing at the first map",
        FIRST_MAP,
        Tamper::Resize(|_| 0),
        Expect::Ends,
    ),
    lent(
        "memory: shortened to a page at the first map",
        FIRST_MAP,
        Tamper::Resize(|_| 4096),
        Expect::Ends,
    ),
    lent(
        "memory: shortened to nothing at the last map",
        LAST_MAP,
        Tamper::Resize(|_| 0),
        Expect::Ends,
    ),
    lent(
        "memory: shortened by a byte at the last map",
        LAST_MAP,
        Tamper::Resize(|len| len.saturating_sub(1)),
        Expect::Ends,
    ),
    lent(
        "memory: shortened to nothing while it forwards",
        FORWARDING,
        Tamper::Resize(|_| 0),
        Expect::Ends,
    ),
    lent(
        "memory: shortened to half while it forwards",
        FORWARDING,
        Tamper::Resize(|len| len / 2),
        Expect::Ends,
    ),
    lent(
        "memory: shortened, registers shared",
        STARTED,
        Tamper::ResizeLater(|_| 0),
        Expect::Ends,
    )
    .shared(),
    lent(
        "memory: shortened at both devices",
        LAST_MAP,
        Tamper::ResizeLater(|_| 0),
        Expect::Ends,
    )
    .liars(Liars::Both),
    lent(
        "memory: shortened, default options",
        LAST_MAP,
        Tamper::ResizeLater(|_| 0),
        Expect::Ends,
    )
    .defaults(),
    lent(
        "memory: grown to twice its size",
        FIRST_MAP,
        Tamper::Resize(|len| len * 2),
        Expect::Ends,
    ),
    lent(
        "memory: grown to 2^60 bytes",
        FORWARDING,
        Tamper::Resize(|_| 1 << 60),
        Expect::Ends,
    ),
    lent(
        "memory: its pages taken out at the first map",
        FIRST_MAP,
        Tamper::Punch,
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: its pages taken out while it forwards",
        FORWARDING,
        Tamper::Punch,
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: sealed against future writes",
        FIRST_MAP,
        Tamper::Seal(SealFlags::FUTURE_WRITE),
        Expect::Ends,
    ),
    lent(
        "memory: sealed against writes",
        FIRST_MAP,
        Tamper::Seal(SealFlags::WRITE),
        Expect::Ends,
    ),
    lent(
        "memory: sealed against seals and sizes",
        FIRST_MAP,
        Tamper::Seal(SIZES),
        Expect::Ends,
    ),
    lent(
        "memory: all ones while it forwards",
        FORWARDING,
        Tamper::Fill(u32::MAX),
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: all zeroes while it forwards",
        FORWARDING,
        Tamper::Fill(0),
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: random while it forwards",
        FORWARDING,
        Tamper::Random,
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: random from the last map on",
        LAST_MAP,
        Tamper::Random,
        Expect::Ends,
    )
    .victims(RUST),
    lent(
        "memory: random, registers shared",
        STARTED,
        Tamper::Random,
        Expect::Ends,
    )
    .victims(RUST)
    .shared(),
    lent(
        "memory: random at both devices",
        FORWARDING,
        Tamper::Random,
        Expect::Ends,
    )
    .victims(RUST)
    .liars(Liars::Both),
    lent(
        "frames: all ones while it forwards",
        FORWARDING,
        Tamper::Frames(u32::MAX),
        Expect::Ends,
    ),
    lent(
        "frames: all zeroes while it forwards",
        FORWARDING,
        Tamper::Frames(0),
        Expect::Ends,
    ),
    lent(
        "frames: all ones at both devices",
        FORWARDING,
        Tamper::Frames(u32::MAX),
        Expect::Ends,
    )
    .liars(Liars::Both),
    receive("receive ring: done without frames", DD | EOP, 60),
    receive("receive ring: length 0", DD | EOP, 0),
    receive("receive ring: length 1", DD | EOP, 1),
    receive("receive ring: length 2048", DD | EOP, 2048),
    receive("receive ring: length 2049", DD | EOP, 2049),
    receive("receive ring: length 65535", DD | EOP, 65535),
    receive(
        "receive ring: length 65535 with VLAN tags",
        DD | EOP,
        u32::MAX,
    ),
    receive("receive ring: no end of packet", DD, 60),
    receive("receive ring: no end of packet, length 65535", DD, 65535),
    receive("receive ring: never done", 0, 60),
    receive("receive ring: all errors", DD | EOP | 0xfff0_0000, 60),
    receive("receive ring: all ones", u32::MAX, u32::MAX),
    lent(
        "receive ring: other addresses",
        FORWARDING,
        Tamper::ReceiveRing([Some(0), Some(0), None, None]),
        Expect::Ends,
    ),
    lent(
        "receive ring: addresses of all ones",
        FORWARDING,
        Tamper::ReceiveRing([Some(u32::MAX), Some(u32::MAX), None, None]),
        Expect::Ends,
    ),
    transmit(
        "transmit ring: always done",
        [None, None, None, Some(TX_DD)],
    ),
    transmit("transmit ring: never done", [None, None, None, Some(0)]),
    transmit("transmit ring: all ones", [Some(u32::MAX); 4]),
    transmit(
        "transmit ring: addresses of all ones",
        [Some(u32::MAX), Some(u32::MAX), None, None],
    ),
    transmit("transmit ring: all zeroes", [Some(0); 4]),
    transmit(
        "transmit ring: lengths of 65535",
        [None, None, Some(0x2bff_ffff), None],
    ),
];

/// Only safe Rust keeps all metadata where no card can write. C and its translation have the
/// packet's pool and address in front of its frame, and a card that writes there ends them. The
/// safety lab has the hazard `dev-write-metadata` for this difference.
const RUST: &[Build] = &[Build::Rust];

const SIZES: SealFlags = SealFlags::SEAL
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW);
