//! Registers and configuration space that read what no card has.

use nic::registers as r;

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
fn set(request: &Message, payload: &mut Vec<u8>, register: u32, value: u32) {
    let is_read = request.header.command == command::REGION_READ && get32(&request.payload, 8) == 0;
    if is_read && get64(&request.payload, 0) == u64::from(register) {
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
        |m, p| fill(m, p, 0xff),
        Expect::Fails,
    ),
    reads(
        "reads: all ones, default options",
        ALL,
        |m, p| fill(m, p, 0xff),
        Expect::Fails,
    )
    .defaults(),
    reads(
        "reads: all zeroes",
        ALL,
        |m, p| fill(m, p, 0),
        Expect::Fails,
    ),
    reads("reads: 0xa5", ALL, |m, p| fill(m, p, 0xa5), Expect::Fails),
    reads(
        "reads: random",
        ALL,
        |_, p| random_bytes(&mut p[16..]),
        Expect::Fails,
    ),
    reads(
        "reads: all ones after a while",
        LATER,
        |m, p| fill(m, p, 0xff),
        Expect::Fails,
    ),
    reads(
        "reads: all zeroes after a while",
        LATER,
        |m, p| fill(m, p, 0),
        Expect::Fails,
    ),
    reads(
        "reads: all zeroes after a while, both devices",
        LATER,
        |m, p| fill(m, p, 0),
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
        |m, p| {
            if m.header.command == command::REGION_READ {
                p.pop();
            }
        },
        Expect::Fails,
    ),
    reads(
        "reads: one byte more",
        ALL,
        |m, p| {
            if m.header.command == command::REGION_READ {
                p.push(0);
            }
        },
        Expect::Fails,
    ),
    reads(
        "configuration space: another vendor",
        ALL,
        |m, p| configuration(m, p, 0, &[1, 2]),
        Expect::Fails,
    ),
    reads(
        "configuration space: another device",
        ALL,
        |m, p| configuration(m, p, 2, &[1, 2]),
        Expect::Fails,
    ),
    reads(
        "CTRL: the reset never ends",
        ALL,
        |m, p| set(m, p, 0, 1 << 26),
        Expect::Fails,
    ),
    reads(
        "CTRL: all ones",
        ALL,
        |m, p| set(m, p, r::CTRL, u32::MAX),
        Expect::Fails,
    ),
    reads(
        "STATUS: the master never stops",
        ALL,
        |m, p| set(m, p, r::STATUS, r::STATUS_MASTER_ENABLE),
        Expect::Works,
    ),
    reads(
        "EEC: the EEPROM is never read",
        ALL,
        |m, p| set(m, p, r::EEC, 0),
        Expect::Fails,
    ),
    reads(
        "RDRXCTL: DMA is never ready",
        ALL,
        |m, p| set(m, p, r::RDRXCTL, 0),
        Expect::Fails,
    ),
    reads(
        "LINKS: never up",
        ALL,
        |m, p| set(m, p, r::LINKS, 0),
        Expect::Fails,
    ),
    reads(
        "LINKS: never up at both devices",
        ALL,
        |m, p| set(m, p, r::LINKS, 0),
        Expect::Fails,
    )
    .liars(Liars::Both),
    reads(
        "LINKS: an unknown speed",
        ALL,
        |m, p| set(m, p, r::LINKS, r::LINKS_UP),
        Expect::Works,
    ),
    reads(
        "RXDCTL: the queue never starts",
        ALL,
        |m, p| set(m, p, r::RXDCTL(0), 0),
        Expect::Fails,
    ),
    reads(
        "RXDCTL: the queue never stops",
        ALL,
        |m, p| set(m, p, r::RXDCTL(0), r::RXDCTL_ENABLE),
        Expect::Fails,
    ),
    reads(
        "TXDCTL: the queue never starts",
        ALL,
        |m, p| set(m, p, r::TXDCTL(0), 0),
        Expect::Fails,
    ),
    reads(
        "TXDCTL: the queue never stops",
        ALL,
        |m, p| set(m, p, r::TXDCTL(0), r::TXDCTL_ENABLE),
        Expect::Fails,
    ),
    reads(
        "RDH: beyond the ring",
        ALL,
        |m, p| set(m, p, r::RDH(0), 0xffff),
        Expect::Works,
    ),
    reads(
        "RDH: all ones",
        ALL,
        |m, p| set(m, p, r::RDH(0), u32::MAX),
        Expect::Works,
    ),
    reads(
        "RDT: beyond the ring",
        ALL,
        |m, p| set(m, p, r::RDT(0), 0xffff),
        Expect::Works,
    ),
    reads(
        "TDH: beyond the ring",
        ALL,
        |m, p| set(m, p, r::TDH(0), 0xffff),
        Expect::Fails,
    ),
    reads(
        "TDH: all ones",
        ALL,
        |m, p| set(m, p, r::TDH(0), u32::MAX),
        Expect::Fails,
    ),
    reads(
        "TDT: beyond the ring",
        ALL,
        |m, p| set(m, p, r::TDT(0), 0xffff),
        Expect::Works,
    ),
    reads(
        "GPRC: all ones",
        ALL,
        |m, p| set(m, p, r::GPRC, u32::MAX),
        Expect::Works,
    ),
    reads(
        "GPTC: goes backward",
        ALL,
        |m, p| {
            let id = u32::from(m.header.id);
            set(m, p, r::GPTC, u32::MAX - 1000 * id);
        },
        Expect::Ends,
    ),
    reads(
        "SWSM: the semaphore is never free",
        ALL,
        |m, p| set(m, p, r::SWSM, r::SWSM_SMBI | r::SWSM_SWESMBI),
        Expect::Works,
    ),
    reads(
        "SW_FW_SYNC: the firmware keeps all",
        ALL,
        |m, p| set(m, p, r::SW_FW_SYNC, u32::MAX),
        Expect::Works,
    ),
    reads(
        "MSCA: a command never ends",
        ALL,
        |m, p| set(m, p, r::MSCA, r::MSCA_MDI_COMMAND),
        Expect::Works,
    ),
];
