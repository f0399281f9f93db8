//! Registers and configuration space that read what no card has.

use crate::memory::random_bytes;
use crate::message::{command, get32, get64, put32, Message};
use crate::server::lie::{Expect, Liars, Lie, Moment, Row};

/// All reads from the first on.
const ALL: Moment = Moment::Replies(command::REGION_READ);
/// All replies after the driver has read so often that it initialises the queues.
const LATER: Moment = Moment::From(command::REGION_READ, 180);

const fn reads(
    name: &'static str,
    moment: Moment,
    lie: fn(&Message, &mut Vec<u8>),
    expect: Expect,
) -> Row {
    Row::new(name, moment, Lie::Payload(lie), expect).traffic()
}

/// Sets the value of a read reply of any size.
fn fill(request: &Message, payload: &mut [u8], byte: u8) {
    if request.header.command == command::REGION_READ {
        payload[16..].fill(byte);
    }
}

/// Sets the value that a register reads.
fn set(request: &Message, payload: &mut Vec<u8>, register: u64, value: u32) {
    let is_read = request.header.command == command::REGION_READ && get32(&request.payload, 8) == 0;
    if is_read && get64(&request.payload, 0) == register {
        put32(payload, 16, value);
    }
}

/// Sets the bytes of the configuration space from `offset` on.
fn configuration(request: &Message, payload: &mut [u8], offset: u64, value: &[u8]) {
    if get32(&request.payload, 8) == 7 && get64(&request.payload, 0) == offset {
        for (byte, wanted) in payload[16..].iter_mut().zip(value) {
            *byte = *wanted;
        }
    }
}

pub(super) const ROWS: &[Row] = &[
    reads(
        "reads: all ones",
        ALL,
        |r, p| fill(r, p, 0xff),
        Expect::Fails,
    ),
    reads(
        "reads: all ones, default options",
        ALL,
        |r, p| fill(r, p, 0xff),
        Expect::Fails,
    )
    .defaults(),
    reads(
        "reads: all zeroes",
        ALL,
        |r, p| fill(r, p, 0),
        Expect::Fails,
    ),
    reads("reads: 0xa5", ALL, |r, p| fill(r, p, 0xa5), Expect::Fails),
    reads(
        "reads: random",
        ALL,
        |_, p| random_bytes(&mut p[16..]),
        Expect::Fails,
    ),
    reads(
        "reads: all ones after a while",
        LATER,
        |r, p| fill(r, p, 0xff),
        Expect::Fails,
    ),
    reads(
        "reads: all zeroes after a while",
        LATER,
        |r, p| fill(r, p, 0),
        Expect::Fails,
    ),
    reads(
        "reads: all zeroes after a while, both devices",
        LATER,
        |r, p| fill(r, p, 0),
        Expect::Fails,
    )
    .liars(Liars::Both),
    reads(
        "reads: another offset in the reply",
        ALL,
        |_, p| put32(p, 0, 0xffff_fff0),
        Expect::Works,
    ),
    reads(
        "reads: another region in the reply",
        ALL,
        |_, p| put32(p, 8, 77),
        Expect::Works,
    ),
    reads(
        "reads: another count in the reply",
        ALL,
        |_, p| put32(p, 12, u32::MAX),
        Expect::Works,
    ),
    reads(
        "reads: one byte short",
        ALL,
        |r, p| {
            if r.header.command == command::REGION_READ {
                p.pop();
            }
        },
        Expect::Fails,
    ),
    reads(
        "reads: one byte more",
        ALL,
        |r, p| {
            if r.header.command == command::REGION_READ {
                p.push(0);
            }
        },
        Expect::Fails,
    ),
    reads(
        "configuration space: another vendor",
        ALL,
        |r, p| configuration(r, p, 0, &[1, 2]),
        Expect::Fails,
    ),
    reads(
        "configuration space: another device",
        ALL,
        |r, p| configuration(r, p, 2, &[1, 2]),
        Expect::Fails,
    ),
    reads(
        "CTRL: the reset never ends",
        ALL,
        |r, p| set(r, p, 0, 1 << 26),
        Expect::Fails,
    ),
    reads(
        "CTRL: all ones",
        ALL,
        |r, p| set(r, p, 0, u32::MAX),
        Expect::Fails,
    ),
    reads(
        "STATUS: the master never stops",
        ALL,
        |r, p| set(r, p, 8, 1 << 19),
        Expect::Fails,
    ),
    reads(
        "EEC: the EEPROM is never read",
        ALL,
        |r, p| set(r, p, 0x1_0010, 0),
        Expect::Fails,
    ),
    reads(
        "RDRXCTL: DMA is never ready",
        ALL,
        |r, p| set(r, p, 0x2f00, 0),
        Expect::Fails,
    ),
    reads(
        "LINKS: never up",
        ALL,
        |r, p| set(r, p, 0x42a4, 0),
        Expect::Fails,
    ),
    reads(
        "LINKS: never up at both devices",
        ALL,
        |r, p| set(r, p, 0x42a4, 0),
        Expect::Fails,
    )
    .liars(Liars::Both),
    reads(
        "LINKS: an unknown speed",
        ALL,
        |r, p| set(r, p, 0x42a4, 1 << 30),
        Expect::Works,
    ),
    reads(
        "RXDCTL: the queue never starts",
        ALL,
        |r, p| set(r, p, 0x1028, 0),
        Expect::Fails,
    ),
    reads(
        "RXDCTL: the queue never stops",
        ALL,
        |r, p| set(r, p, 0x1028, 1 << 25),
        Expect::Fails,
    ),
    reads(
        "TXDCTL: the queue never starts",
        ALL,
        |r, p| set(r, p, 0x6028, 0),
        Expect::Fails,
    ),
    reads(
        "TXDCTL: the queue never stops",
        ALL,
        |r, p| set(r, p, 0x6028, 1 << 25),
        Expect::Fails,
    ),
    reads(
        "RDH: beyond the ring",
        ALL,
        |r, p| set(r, p, 0x1010, 0xffff),
        Expect::Works,
    ),
    reads(
        "RDH: all ones",
        ALL,
        |r, p| set(r, p, 0x1010, u32::MAX),
        Expect::Works,
    ),
    reads(
        "RDT: beyond the ring",
        ALL,
        |r, p| set(r, p, 0x1018, 0xffff),
        Expect::Works,
    ),
    reads(
        "TDH: beyond the ring",
        ALL,
        |r, p| set(r, p, 0x6010, 0xffff),
        Expect::Fails,
    ),
    reads(
        "TDH: all ones",
        ALL,
        |r, p| set(r, p, 0x6010, u32::MAX),
        Expect::Fails,
    ),
    reads(
        "TDT: beyond the ring",
        ALL,
        |r, p| set(r, p, 0x6018, 0xffff),
        Expect::Works,
    ),
    reads(
        "GPRC: all ones",
        ALL,
        |r, p| set(r, p, 0x4074, u32::MAX),
        Expect::Works,
    ),
    reads(
        "GPTC: goes backward",
        ALL,
        |r, p| {
            let id = u32::from(r.header.id);
            set(r, p, 0x4080, u32::MAX - 1000 * id);
        },
        Expect::Ends,
    ),
    reads(
        "SWSM: the semaphore is never free",
        ALL,
        |r, p| set(r, p, 0x1_0140, 3),
        Expect::Works,
    ),
    reads(
        "SW_FW_SYNC: the firmware keeps all",
        ALL,
        |r, p| set(r, p, 0x1_0160, u32::MAX),
        Expect::Works,
    ),
    reads(
        "MSCA: a command never ends",
        ALL,
        |r, p| set(r, p, 0x425c, 1 << 30),
        Expect::Works,
    ),
];
