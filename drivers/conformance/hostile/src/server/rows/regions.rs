//! Lies about the version, the device, its regions and the file of the registers.

use crate::descriptors::Kind;
use crate::memory::random_bytes;
use crate::message::{command, put32, put64, Message};
use crate::server::lie::{Expect, Lie, Moment, Row};
use crate::server::tamper::Tamper;

const VERSION: Moment = Moment::Reply(command::VERSION, 0);
const DEVICE: Moment = Moment::Reply(command::GET_INFO, 0);
/// The description of BAR0: flags at byte 4, offset of the capabilities at 12, size at 16, offset
/// in the file at 24. The capability at 32 has identifier and version, the offset of the next one,
/// and the number of areas at 40. Areas of 16 bytes begin at 48.
const BAR0: Moment = Moment::Reply(command::REGION_INFO, 0);

const fn version(name: &'static str, lie: fn(&Message, &mut Vec<u8>), expect: Expect) -> Row {
    Row::new(name, VERSION, Lie::Payload(lie), expect)
}

const fn device(name: &'static str, lie: fn(&Message, &mut Vec<u8>), expect: Expect) -> Row {
    Row::new(name, DEVICE, Lie::Payload(lie), expect)
}

const fn bar0(name: &'static str, lie: fn(&Message, &mut Vec<u8>), expect: Expect) -> Row {
    Row::new(name, BAR0, Lie::Payload(lie), expect).shared()
}

const fn file(name: &'static str, kinds: &'static [Kind], expect: Expect) -> Row {
    Row::new(name, BAR0, Lie::Files(kinds), expect).shared()
}

const fn registers(name: &'static str, tamper: Tamper) -> Row {
    Row::new(name, BAR0, Lie::OwnRegisters(tamper), Expect::Ends)
        .shared()
        .traffic()
}

/// Replaces the areas.
fn areas(payload: &mut Vec<u8>, areas: &[(u64, u64)]) {
    payload.truncate(48);
    put32(payload, 40, areas.len() as u32);
    for (nth, (offset, len)) in areas.iter().enumerate() {
        put64(payload, 48 + 16 * nth, *offset);
        put64(payload, 56 + 16 * nth, *len);
    }
    let len = payload.len() as u32;
    put32(payload, 0, len);
}

/// Replaces all after the version.
fn capabilities(payload: &mut Vec<u8>, text: &[u8]) {
    payload.truncate(4);
    payload.extend(text);
}

pub(super) const ROWS: &[Row] = &[
    version("version text: major 1", |_, p| p[0] = 1, Expect::Fails),
    version(
        "version text: major 65535",
        |_, p| p[0..2].fill(0xff),
        Expect::Fails,
    ),
    version(
        "version text: minor 65535",
        |_, p| p[2..4].fill(0xff),
        Expect::Works,
    ),
    version("version text: no text", |_, p| p.truncate(4), Expect::Works),
    version(
        "version text: without NUL",
        |_, p| {
            p.pop();
        },
        Expect::Works,
    ),
    version(
        "version text: NULs only",
        |_, p| p[4..].fill(0),
        Expect::Works,
    ),
    version(
        "version text: half of the JSON",
        |_, p| p.truncate(30),
        Expect::Works,
    ),
    version(
        "version text: JSON of 4000 brackets",
        |_, p| capabilities(p, &[b'['; 4000]),
        Expect::Works,
    ),
    version(
        "version text: JSON of 64 KiB",
        |_, p| capabilities(p, &[b'{'; 65536]),
        Expect::Fails,
    ),
    version(
        "version text: not UTF-8",
        |_, p| p[4..].fill(0xfe),
        Expect::Works,
    ),
    version(
        "version text: random",
        |_, p| random_bytes(&mut p[4..]),
        Expect::Ends,
    ),
    version(
        "version text: capabilities of zero",
        |_, p| {
            capabilities(p,
        b"{\"capabilities\":{\"max_msg_fds\":0,\"max_data_xfer_size\":0,\"pgsizes\":0,\"max_dma_maps\":0}}\0")
        },
        Expect::Works,
    ),
    version(
        "version text: capabilities below zero",
        |_, p| {
            capabilities(p,
        b"{\"capabilities\":{\"max_msg_fds\":-1,\"max_data_xfer_size\":-1,\"pgsizes\":-1}}\0")
        },
        Expect::Works,
    ),
    version(
        "version text: capabilities of 10^999",
        |_, p| {
            capabilities(
                p,
                b"{\"capabilities\":{\"max_msg_fds\":1e999,\"max_data_xfer_size\":1e999}}\0",
            )
        },
        Expect::Works,
    ),
    device("device: not PCI", |_, p| put32(p, 4, 0), Expect::Fails),
    device(
        "device: all flags",
        |_, p| put32(p, 4, u32::MAX),
        Expect::Works,
    ),
    device("device: no regions", |_, p| put32(p, 8, 0), Expect::Fails),
    device("device: 7 regions", |_, p| put32(p, 8, 7), Expect::Fails),
    device(
        "device: 2^32-1 regions",
        |_, p| put32(p, 8, u32::MAX),
        Expect::Works,
    ),
    device(
        "device: 2^32-1 kinds of interrupts",
        |_, p| put32(p, 12, u32::MAX),
        Expect::Works,
    ),
    device(
        "device: argsz 2^32-1",
        |_, p| put32(p, 0, u32::MAX),
        Expect::Works,
    ),
    device("device: random", |_, p| random_bytes(p), Expect::Ends),
    bar0("BAR0: size 0", |_, p| put64(p, 16, 0), Expect::Fails),
    bar0("BAR0: size 1", |_, p| put64(p, 16, 1), Expect::Fails),
    bar0("BAR0: size 4096", |_, p| put64(p, 16, 4096), Expect::Fails),
    bar0(
        "BAR0: size 2^63",
        |_, p| put64(p, 16, 1 << 63),
        Expect::Works,
    ),
    bar0(
        "BAR0: size 2^64-1",
        |_, p| put64(p, 16, u64::MAX),
        Expect::Works,
    ),
    bar0(
        "BAR0: no size and no areas",
        |_, p| {
            put64(p, 16, 0);
            areas(p, &[]);
        },
        Expect::Works,
    ),
    bar0(
        "BAR0: file offset 2^40",
        |_, p| put64(p, 24, 1 << 40),
        Expect::Fails,
    ),
    bar0(
        "BAR0: file offset 2^63",
        |_, p| put64(p, 24, 1 << 63),
        Expect::Fails,
    ),
    bar0(
        "BAR0: file offset 2^64-4096",
        |_, p| put64(p, 24, 4096_u64.wrapping_neg()),
        Expect::Fails,
    ),
    bar0(
        "BAR0: file offset at the end of the file",
        |_, p| put64(p, 24, 512 << 10),
        Expect::Fails,
    ),
    bar0("BAR0: file offset 1", |_, p| put64(p, 24, 1), Expect::Fails),
    bar0("BAR0: another index", |_, p| put32(p, 8, 7), Expect::Works),
    bar0("BAR0: argsz 0", |_, p| put32(p, 0, 0), Expect::Fails),
    bar0(
        "BAR0: argsz 2^32-1",
        |_, p| put32(p, 0, u32::MAX),
        Expect::Fails,
    ),
    bar0("BAR0: no flags", |_, p| put32(p, 4, 0), Expect::Works),
    bar0(
        "BAR0: all flags",
        |_, p| put32(p, 4, u32::MAX),
        Expect::Works,
    ),
    bar0(
        "BAR0: mappable, but without capabilities",
        |_, p| {
            put32(p, 4, 7);
            put32(p, 12, 0);
        },
        Expect::Fails,
    ),
    bar0("BAR0: random", |_, p| random_bytes(p), Expect::Ends),
    bar0(
        "capabilities: at byte 1",
        |_, p| put32(p, 12, 1),
        Expect::Fails,
    ),
    bar0(
        "capabilities: at byte 8, in the description",
        |_, p| put32(p, 12, 8),
        Expect::Fails,
    ),
    bar0(
        "capabilities: at byte 33",
        |_, p| put32(p, 12, 33),
        Expect::Fails,
    ),
    bar0(
        "capabilities: beyond the end",
        |_, p| put32(p, 12, 4000),
        Expect::Fails,
    ),
    bar0(
        "capabilities: at byte 2^32-1",
        |_, p| put32(p, 12, u32::MAX),
        Expect::Fails,
    ),
    bar0(
        "capabilities: one that is its own next",
        |_, p| {
            put32(p, 32, 0xffff);
            put32(p, 36, 32);
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: next at byte 1",
        |_, p| {
            put32(p, 32, 0xffff);
            put32(p, 36, 1);
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: next beyond the end",
        |_, p| {
            put32(p, 32, 0xffff);
            put32(p, 36, 0x7fff_fff0);
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: next at byte 2^32-1",
        |_, p| {
            put32(p, 32, 0xffff);
            put32(p, 36, u32::MAX);
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: a loop of two",
        |_, p| {
            for (at, next) in [(32, 64), (64, 32)] {
                put32(p, at, 0xffff);
                put32(p, at + 4, next);
            }
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: a chain of 250",
        |_, p| {
            for nth in 0..250 {
                put32(p, 32 + 16 * nth, 0xffff);
                put32(
                    p,
                    36 + 16 * nth,
                    if nth < 249 { 48 + 16 * nth as u32 } else { 0 },
                );
            }
        },
        Expect::Fails,
    ),
    bar0(
        "capabilities: unknown version",
        |_, p| put32(p, 32, 1 | 0xffff << 16),
        Expect::Works,
    ),
    bar0(
        "areas: 2^32-1 of them",
        |_, p| put32(p, 40, u32::MAX),
        Expect::Fails,
    ),
    bar0(
        "areas: 2^28 of them",
        |_, p| put32(p, 40, 1 << 28),
        Expect::Fails,
    ),
    bar0(
        "areas: one more than there are",
        |_, p| {
            let n = p[40];
            put32(p, 40, u32::from(n) + 1);
        },
        Expect::Fails,
    ),
    bar0("areas: none", |_, p| areas(p, &[]), Expect::Works),
    bar0(
        "areas: 200 of a page",
        |_, p| areas(p, &[(0x1000, 0x1000); 200]),
        Expect::Fails,
    ),
    bar0(
        "areas: size 0",
        |_, p| areas(p, &[(0x1000, 0)]),
        Expect::Fails,
    ),
    bar0(
        "areas: size 1",
        |_, p| areas(p, &[(0x1000, 1)]),
        Expect::Fails,
    ),
    bar0(
        "areas: size 0x19, which ends in a register",
        |_, p| areas(p, &[(0x1000, 0x19)]),
        Expect::Fails,
    ),
    bar0(
        "areas: size 0x1a, which ends in a register",
        |_, p| areas(p, &[(0x1000, 0x1a)]),
        Expect::Fails,
    ),
    bar0(
        "areas: size 2^64-1",
        |_, p| areas(p, &[(0x1000, u64::MAX)]),
        Expect::Fails,
    ),
    bar0(
        "areas: size that overflows",
        |_, p| areas(p, &[(0x1000, 0x1000_u64.wrapping_neg())]),
        Expect::Fails,
    ),
    bar0(
        "areas: offset 1",
        |_, p| areas(p, &[(1, 0x1000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: offset 0x1008, which splits a page",
        |_, p| areas(p, &[(0x1008, 0x1000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: odd offset with an odd file offset",
        |_, p| {
            put64(p, 24, 0xfe6);
            areas(p, &[(0x1a, 0x1000)]);
        },
        Expect::Fails,
    ),
    bar0(
        "areas: two bytes short, with a file offset that fits",
        |_, p| {
            put64(p, 24, 0xfee);
            areas(p, &[(0x12, 0x1008)]);
        },
        Expect::Fails,
    ),
    bar0(
        "areas: offset beyond BAR0",
        |_, p| areas(p, &[(1 << 40, 0x1000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: end beyond BAR0",
        |_, p| areas(p, &[(0x7f000, 0x2000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: beyond the file",
        |_, p| {
            put64(p, 16, 1 << 40);
            areas(p, &[(0x1000, 1 << 30)]);
        },
        Expect::Fails,
    ),
    bar0(
        "areas: the same one twice",
        |_, p| areas(p, &[(0x1000, 0x1000), (0x1000, 0x1000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: overlapping",
        |_, p| areas(p, &[(0, 0x8000), (0x1000, 0x6000)]),
        Expect::Fails,
    ),
    bar0(
        "areas: all of BAR0",
        |_, p| areas(p, &[(0, 512 << 10)]),
        Expect::Fails,
    ),
    file("registers' file: none", &[], Expect::Works),
    file("registers' file: a pipe", &[Kind::Pipe], Expect::Fails),
    file("registers' file: a folder", &[Kind::Folder], Expect::Fails),
    file("registers' file: /dev/null", &[Kind::Null], Expect::Fails),
    file("registers' file: /dev/zero", &[Kind::Zero], Expect::Fails),
    file(
        "registers' file: an eventfd",
        &[Kind::Eventfd],
        Expect::Fails,
    ),
    file("registers' file: a socket", &[Kind::Socket], Expect::Fails),
    file("registers' file: empty", &[Kind::Empty], Expect::Fails),
    file("registers' file: a page", &[Kind::Page], Expect::Fails),
    file(
        "registers' file: a page, default options",
        &[Kind::Page],
        Expect::Fails,
    )
    .defaults(),
    file(
        "registers' file: without seals",
        &[Kind::Unsealed],
        Expect::Fails,
    ),
    file(
        "registers' file: read-only",
        &[Kind::ReadOnly],
        Expect::Fails,
    ),
    file(
        "registers' file: sealed against writes",
        &[Kind::WriteSealed],
        Expect::Fails,
    ),
    file(
        "registers' file: the right one and a pipe",
        &[Kind::Own, Kind::Pipe],
        Expect::Fails,
    ),
    file(
        "registers' file: a pipe and the right one",
        &[Kind::Pipe, Kind::Own],
        Expect::Fails,
    ),
    file(
        "registers' file: the right one and 15 folders",
        &[
            Kind::Own,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
            Kind::Folder,
        ],
        Expect::Fails,
    ),
    registers(
        "registers' file: shortened to nothing at once",
        Tamper::Resize(|_| 0),
    ),
    registers(
        "registers' file: shortened to a page at once",
        Tamper::Resize(|_| 4096),
    ),
    registers(
        "registers' file: shortened to nothing later",
        Tamper::ResizeLater(|_| 0),
    ),
    registers(
        "registers' file: shortened to a page later",
        Tamper::ResizeLater(|_| 4096),
    ),
    registers("registers' file: grown", Tamper::Resize(|len| len * 2)),
    registers("registers' file: its pages taken out", Tamper::Punch),
    registers("registers' file: all ones", Tamper::Fill(u32::MAX)),
    registers("registers' file: all zeroes", Tamper::Fill(0)),
    registers(
        "registers' file: enabled, with heads beyond the ring",
        Tamper::Fill(0x0200_ffff),
    ),
    registers("registers' file: random", Tamper::Random),
];
