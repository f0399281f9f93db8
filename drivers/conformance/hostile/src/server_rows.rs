//! The scenarios of the hostile server.

use std::iter::repeat_n;

use harness::codec::{command, get32, put32, put64, Header, Message, BAR0_LEN, CONFIG, FLAG_REPLY};
use nic::registers as r;
use rustix::fs::{fcntl_add_seals, ftruncate, SealFlags};

use crate::builds::Build;
use crate::descriptors::Kind::{
    Epoll, Eventfd, Folder, Memory, Null, Own, Pipe, ReadOnly, Sealed, Socket, WriteSealed, Zero,
};
use crate::lie::Lie::{self, *};
use crate::lie::{body, edit, header, payload, put, put_long, random, refuse, with};
use crate::row::Expect::{Ends, Fails, Works};
use crate::row::Moment::{self, Always, From, Replies, Reply, Write, Writes};
use crate::row::Row;
use crate::tamper::Tamper::{Fill, Frames, Random, ReceiveRing, TransmitRing};
use crate::tamper::{later, once, punch, DOUBLE, EMPTY, NO_WRITES, ONE_PAGE};

/// Rows of one moment: name, lie, how the driver must end, and settings: fields of [`Row`] that are
/// true or have this value. The settings after the moment hold for all rows.
macro_rules! rows {
    ($moment:expr $(, $all:ident)*; $($name:literal $lie:expr, $expect:expr $(, $field:ident $(($value:expr))?)*;)*) => {
        {
            let all = |row: Row| Row { $($all: true,)* ..row };
            vec![$(Row { $($field: rows!(@value $($value)?),)* ..all(Row::new($name, $moment, $lie, $expect)) }),*]
        }
    };
    (@value) => { true };
    (@value $value:expr) => { $value };
}

const BOTH: &[usize] = &[0, 1];
const SECOND: &[usize] = &[1];

/// Only safe Rust keeps all metadata where no card can write. C and its translation have the
/// packet's pool and address in front of its frame, and a card that writes there ends them. The
/// safety lab has the hazard `dev-write-metadata` for this difference.
const RUST: &[Build] = &[Build::Rust];

const VERSION: Moment = Reply(command::VERSION, 0);
/// The description of BAR0: flags at byte 4, offset of the capabilities at 12, size at 16, offset
/// in the file at 24. The capability at 32 has identifier and version, the offset of the next one,
/// and the number of areas at 40. Areas of 16 bytes begin at 48.
const BAR0: Moment = Reply(command::REGION_INFO, 0);
const FIRST_MAP: Moment = Reply(command::DMA_MAP, 0);
const LAST_MAP: Moment = Reply(command::DMA_MAP, 2);
const UNMAPS: Moment = Replies(command::DMA_UNMAP);
const READS: Moment = Replies(command::REGION_READ);
/// The driver has read so often that it initialises the queues.
const LATER: Moment = From(command::REGION_READ, 180);
/// RXCTRL.RXEN is the last register before the driver forwards.
const STARTED: Moment = Write(r::RXCTRL, 1);
/// The third time that the driver hands receive descriptors over, it forwards.
const FORWARDING: Moment = Write(r::RDT(0), 2);

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

/// A request that servers may send, but not to these drivers.
const UNASKED: Header = Header {
    id: 1,
    command: 11,
    size: 16,
    flags: 0,
    error: 0,
};

/// All rows.
pub fn all() -> Vec<Row> {
    let tables = [
        spanning(),
        everywhere(),
        descriptions(),
        areas(),
        register_files(),
        reads(),
        memory(),
        frames_and_rings(),
    ];
    tables.concat()
}

/// Lies that span commands.
fn spanning() -> Vec<Row> {
    rows! { Always;
        "every reply: the truth" Truth, Works;
        "every reply: the truth, registers shared" Truth, Works, shared, traffic;
        "every reply: the truth, to both devices" Truth, Works, liars(BOTH), traffic;
        "every reply: two pipes" with(&[Pipe; 2]), Ends;
        "every reply: 16 pipes" with(&[Pipe; 16]), Ends;
        "every reply: an epoll descriptor" with(&[Epoll]), Ends;
        "every reply: a socket" with(&[Socket]), Ends;
        "every reply: 1 ms late" Late(1), Ends;
        "every reply: 10 ms late" Late(10), Ends;
        "every reply: 100 ms late" Late(100), Ends;
        "every reply: 1 s late" Late(1000), Ends;
        "every reply: 4 s late" Late(4000), Ends;
        "every reply: 100 ms late, both devices" Late(100), Ends, liars(BOTH);
        "every reply: 20 ms late, both devices" Late(20), Fails, liars(BOTH), says(&["port0.sock", "too slowly"]);
        "every reply: 1.9 s late, both devices" Late(1900), Fails, liars(BOTH), says(&["port0.sock", "too slowly"]);
        "every reply: 1 s late, both devices, default options" Late(1000), Ends, liars(BOTH), defaults;
        "every reply: a byte each 10 ms" Drip(10), Ends;
        "every reply: a byte each 4 s" Drip(4000), Fails;
        "every reply: a byte each 4 s, default options" Drip(4000), Fails, defaults;
        "every reply: answered twice" Repeat(2), Fails;
        "every reply: error EPERM" refuse(1), Fails;
        "every reply: the last reply again" Stale, Fails, moment(From(command::GET_INFO, 0));
        "second device: silence at the first read" Stop(0), Fails, moment(Reply(command::REGION_READ, 0)), liars(SECOND);
        "second device: closed at the first read" Close(0), Fails, moment(Reply(command::REGION_READ, 0)), liars(SECOND);
        "second device: 100 ms late" Late(100), Ends, liars(SECOND);
        "second device: a version with a byte each second" Drip(1000), Fails, moment(VERSION), liars(SECOND), says(&["port1.sock", "stopped or stuck"]);
        "second device: silence at the fourth DMA map" Stop(0), Fails, moment(Reply(command::DMA_MAP, 3)), liars(SECOND), says(&["port1.sock", "stopped or stuck"]);
        "both devices: silence at the first DMA map, default options" Stop(0), Fails, moment(FIRST_MAP), liars(BOTH), defaults;
        "both devices: each doorbell 2.5 s late" Late(2500), Fails, moment(Writes(r::RDT(0))), liars(BOTH), says(&[".sock", "too slowly"]);
        "both devices: no interrupts, EOPNOTSUPP" refused_call(95), Fails, moment(Replies(command::SET_IRQS)), liars(BOTH), interrupts, says(&["refused command 8", "leave out --interrupts"]);
        "both devices: no interrupts, EINVAL" refused_call(22), Fails, moment(Replies(command::SET_IRQS)), liars(BOTH), interrupts, says(&["refused command 8", "leave out --interrupts"]);
        "silence from the first DMA map on" Stop(0), Fails, moment(FIRST_MAP);
        "silence from the third DMA map on" Stop(0), Fails, moment(LAST_MAP);
        "no answer to any DMA unmap" Omit, Ends, moment(UNMAPS);
        "no answer to any DMA unmap, default options" Omit, Ends, moment(UNMAPS), liars(BOTH), defaults;
        "no answer to one register write" Omit, Fails, moment(Reply(command::REGION_WRITE, 300));
        "no answer to one register read" Omit, Fails, moment(Reply(command::REGION_READ, 180));
        "silence while it forwards" Stop(0), Ends, moment(FORWARDING), traffic;
        "closed while it forwards" Close(0), Ends, moment(FORWARDING), traffic;
        "4 s late while it forwards" Late(4000), Ends, moment(FORWARDING), traffic;
        "a byte each 300 ms while it forwards" Drip(300), Ends, moment(FORWARDING), traffic;
        "refused while it forwards" refuse(19), Ends, moment(FORWARDING), traffic;
    }
}

/// A refusal without a payload.
fn refused_call(error: u32) -> Lie {
    edit(move |_, message| {
        message.payload.clear();
        message.fit_size();
        (message.header.flags, message.header.error) =
            (FLAG_REPLY | harness::codec::FLAG_ERROR, error);
    })
}

/// Each lie at each command that a driver sends, and how a driver ends that needs the answer.
fn everywhere() -> Vec<Row> {
    let lies: Vec<Row> = rows! { Always;
        "another id" header(|h| h.id ^= 1), Fails;
        "another command" header(|h| h.command += 1), Fails;
        "a request" header(|h| h.flags &= !FLAG_REPLY), Fails;
        "all flags" header(|h| h.flags = u32::MAX), Fails;
        "error 0" refuse(0), Fails;
        "error EIO" refuse(5), Fails;
        "error 2^32-1" refuse(u32::MAX), Fails;
        "size 0" header(|h| h.size = 0), Fails;
        "size 15" header(|h| h.size = 15), Fails;
        "size 2^31" header(|h| h.size = 1 << 31), Fails;
        "size 2^32-1" header(|h| h.size = u32::MAX), Fails;
        "size one too large" header(|h| h.size += 1), Fails;
        "no payload" payload(Vec::clear), Ends;
        "payload of one byte" payload(|p| p.resize(1, 0)), Ends;
        "payload of 4 KiB and a byte" payload(|p| p.resize(4097, 0)), Ends;
        "payload of 1 MiB" payload(|p| p.resize(1 << 20, 0)), Fails;
        "bytes after the message" body(|p| p.extend([0xff; 7])), Ends;
        "two pipes" with(&[Pipe; 2]), Ends;
        "253 pipes" with(&[Pipe; 253]), Ends;
        "silence" Stop(0), Fails;
        "silence in the header" Stop(8), Fails;
        "silence in the payload" Stop(17), Ends;
        "closed" Close(0), Fails;
        "closed in the header" Close(3), Fails;
        "a byte each 300 ms" Drip(300), Ends;
        "answered twice" Repeat(2), Ends;
        "the last reply again" Stale, Ends;
        "a message first" Unasked(UNASKED), Fails;
        "messages without end" Flood, Fails;
    };
    let at = |(place, command, number)| {
        lies.clone().into_iter().map(move |mut row| {
            row.name = format!("{place}: {}", row.name).into();
            row.moment = Reply(command, number);
            // The driver closes already, so it may end without the answer.
            let closes = command == command::DMA_UNMAP;
            row.expect = if closes { Ends } else { row.expect };
            row
        })
    };
    let with_files: Vec<Row> = rows! { VERSION, shared;
        "descriptors: one with the version" with(&[Sealed(4096)]), Fails, says(&["port0.sock", "descriptor"]);
        "descriptors: two with BAR0" with(&[Sealed(4096); 2]), Fails, moment(BAR0), says(&["port0.sock", "descriptor"]);
        "descriptors: one with a read" with(&[Sealed(4096)]), Fails, moment(Reply(command::REGION_READ, 0)), says(&["port0.sock", "descriptor"]);
        "descriptors: eight with a DMA map" with(&[Sealed(4096); 8]), Fails, moment(FIRST_MAP), says(&["port0.sock", "descriptor"]);
    };
    COMMANDS
        .into_iter()
        .flat_map(at)
        .chain(with_files)
        .collect()
}

/// Replaces all after the version.
fn text(text: impl AsRef<[u8]> + Send + Sync + 'static) -> Lie {
    payload(move |p| {
        p.truncate(4);
        p.extend(text.as_ref());
    })
}

/// Lies about the version, the device and BAR0.
fn descriptions() -> Vec<Row> {
    let version: Vec<Row> = rows! { VERSION;
        "version text: major 1" put([(0, 1 | 1 << 16)]), Fails;
        "version text: major 65535" put([(0, 0x1_ffff)]), Fails;
        "version text: minor 65535" put([(0, 0xffff_0000)]), Works;
        "version text: no text" text(""), Works;
        "version text: without NUL" payload(|p| _ = p.pop()), Works;
        "version text: NULs only" payload(|p| after(4, p).fill(0)), Works;
        "version text: half of the JSON" payload(|p| p.truncate(30)), Works;
        "version text: JSON of 4000 brackets" text([b'['; 4000]), Works;
        "version text: JSON of 64 KiB" text(vec![b'{'; 65536]), Fails;
        "version text: not UTF-8" payload(|p| after(4, p).fill(0xfe)), Works;
        "version text: random" payload(|p| random(after(4, p))), Ends;
        "version text: capabilities of zero" text("{\"capabilities\":{\"max_msg_fds\":0,\"max_data_xfer_size\":0,\"pgsizes\":0,\"max_dma_maps\":0}}\0"), Works;
        "version text: capabilities below zero" text("{\"capabilities\":{\"max_msg_fds\":-1,\"max_data_xfer_size\":-1,\"pgsizes\":-1}}\0"), Works;
        "version text: capabilities of 10^999" text("{\"capabilities\":{\"max_msg_fds\":1e999,\"max_data_xfer_size\":1e999}}\0"), Works;
    };
    let device: Vec<Row> = rows! { Reply(command::GET_INFO, 0);
        "device: not PCI" put([(4, 0)]), Fails;
        "device: all flags" put([(4, u32::MAX)]), Works;
        "device: no regions" put([(8, 0)]), Fails;
        "device: 7 regions" put([(8, 7)]), Fails;
        "device: 2^32-1 regions" put([(8, u32::MAX)]), Works;
        "device: 2^32-1 kinds of interrupts" put([(12, u32::MAX)]), Works;
        "device: argsz 2^32-1" put([(0, u32::MAX)]), Works;
        "device: random" payload(|p| random(p)), Ends;
    };
    let bar0: Vec<Row> = rows! { BAR0, shared;
        "BAR0: size 0" put_long(16, 0), Fails;
        "BAR0: size 1" put_long(16, 1), Fails;
        "BAR0: size 4096" put_long(16, 4096), Fails;
        "BAR0: size 2^63" put_long(16, 1 << 63), Works;
        "BAR0: size 2^64-1" put_long(16, u64::MAX), Works;
        "BAR0: no size and no areas" payload(|p| { put64(p, 16, 0); set_areas(p, &[]); }), Works;
        "BAR0: file offset 2^40" put_long(24, 1 << 40), Fails;
        "BAR0: file offset 2^63" put_long(24, 1 << 63), Fails;
        "BAR0: file offset 2^64-4096" put_long(24, 4096_u64.wrapping_neg()), Fails, says(&["port0.sock", "end of the file"]);
        "BAR0: file offset at the end of the file" put_long(24, BAR0_LEN), Fails;
        "BAR0: file offset 1" put_long(24, 1), Fails;
        "BAR0: another index" put([(8, 7)]), Works;
        "BAR0: argsz 0" put([(0, 0)]), Fails;
        "BAR0: argsz 2^32-1" put([(0, u32::MAX)]), Fails;
        "BAR0: no flags" put([(4, 0)]), Works;
        "BAR0: all flags" put([(4, u32::MAX)]), Works;
        "BAR0: mappable, but without capabilities" put([(4, 7), (12, 0)]), Fails;
        "BAR0: random" payload(|p| random(p)), Ends;
        "capabilities: at byte 1" put([(12, 1)]), Fails;
        "capabilities: at byte 8, in the description" put([(12, 8)]), Fails;
        "capabilities: at byte 33" put([(12, 33)]), Fails;
        "capabilities: beyond the end" put([(12, 4000)]), Fails;
        "capabilities: at byte 2^32-1" put([(12, u32::MAX)]), Fails;
        "capabilities: one that is its own next" put([(32, 0xffff), (36, 32)]), Fails;
        "capabilities: next at byte 1" put([(32, 0xffff), (36, 1)]), Fails;
        "capabilities: next beyond the end" put([(32, 0xffff), (36, 0x7fff_fff0)]), Fails;
        "capabilities: next at byte 2^32-1" put([(32, 0xffff), (36, u32::MAX)]), Fails;
        "capabilities: a loop of two" put([(32, 0xffff), (36, 64), (64, 0xffff), (68, 32)]), Fails;
        "capabilities: a chain of 250" payload(chain), Fails;
        "capabilities: unknown version" put([(32, 1 | 0xffff << 16)]), Works;
    };
    [version, device, bar0].concat()
}

/// The bytes from this offset on.
fn after(at: usize, payload: &mut [u8]) -> &mut [u8] {
    payload.get_mut(at..).unwrap_or_default()
}

/// Unknown capabilities, 16 bytes apart.
fn chain(payload: &mut Vec<u8>) {
    for nth in 0..250 {
        let next = if nth < 249 { 48 + 16 * nth } else { 0 };
        put32(payload, 32 + 16 * nth, 0xffff);
        put32(payload, 36 + 16 * nth, next as u32);
    }
}

/// Replaces the areas.
fn set_areas(payload: &mut Vec<u8>, areas: &[(u64, u64)]) {
    payload.truncate(48);
    put32(payload, 40, areas.len() as u32);
    for (nth, (offset, len)) in areas.iter().enumerate() {
        put64(payload, 48 + 16 * nth, *offset);
        put64(payload, 56 + 16 * nth, *len);
    }
    let len = payload.len() as u32;
    put32(payload, 0, len);
}

/// Replaces the areas, and lets the file begin at this offset.
fn areas_at<const N: usize>(file_offset: u64, areas: [(u64, u64); N]) -> Lie {
    payload(move |p| {
        put64(p, 24, file_offset);
        set_areas(p, &areas);
    })
}

fn only<const N: usize>(areas: [(u64, u64); N]) -> Lie {
    areas_at(0, areas)
}

/// Lies about the parts of BAR0 that the driver may map.
fn areas() -> Vec<Row> {
    const WHOLE_PAGES: &[&str] = &["port0.sock", "whole pages"];
    rows! { BAR0, shared;
        "areas: 2^32-1 of them" put([(40, u32::MAX)]), Fails;
        "areas: 2^28 of them" put([(40, 1 << 28)]), Fails;
        "areas: one more than there are" payload(|p| put32(p, 40, get32(p, 40).wrapping_add(1))), Fails;
        "areas: none" only([]), Works;
        "areas: 200 of a page" only([(0x1000, 0x1000); 200]), Fails;
        "areas: size 0" only([(0x1000, 0)]), Fails;
        "areas: size 1" only([(0x1000, 1)]), Fails;
        "areas: half a page" only([(0x1000, 0x800)]), Fails, says(WHOLE_PAGES);
        "areas: size 0x19, which ends in a register" only([(0x1000, 0x19)]), Fails;
        "areas: size 0x1a, which ends in a register" only([(0x1000, 0x1a)]), Fails;
        "areas: size 2^64-1" only([(0x1000, u64::MAX)]), Fails;
        "areas: size that overflows" only([(0x1000, 0x1000_u64.wrapping_neg())]), Fails;
        "areas: offset 1" only([(1, 0x1000)]), Fails;
        "areas: offset 0x1008, which splits a page" only([(0x1008, 0x1000)]), Fails;
        "areas: odd offset with an odd file offset" areas_at(0xfe6, [(0x1a, 0x1000)]), Fails, says(WHOLE_PAGES);
        "areas: two bytes short, with a file offset that fits" areas_at(0xfee, [(0x12, 0x1008)]), Fails;
        "areas: offset beyond BAR0" only([(1 << 40, 0x1000)]), Fails;
        "areas: end beyond BAR0" only([(0x7f000, 0x2000)]), Fails;
        "areas: beyond the file" payload(|p| { put64(p, 16, 1 << 40); set_areas(p, &[(0x1000, 1 << 30)]); }), Fails;
        "areas: the same one twice" only([(0x1000, 0x1000), (0x1000, 0x1000)]), Fails;
        "areas: overlapping" only([(0, 0x8000), (0x1000, 0x6000)]), Fails, says(&["port0.sock", "overlap"]);
        "areas: all of BAR0" only([(0, BAR0_LEN)]), Fails;
    }
}

/// Other files in place of the registers, and files that change.
fn register_files() -> Vec<Row> {
    let own = |change| OwnRegisters(change);
    let folders: Vec<_> = [Own].into_iter().chain(repeat_n(Folder, 15)).collect();
    let sent: Vec<Row> = rows! { BAR0, shared;
        "registers' file: none" with(&[]), Works;
        "registers' file: a pipe" with(&[Pipe]), Fails;
        "registers' file: a folder" with(&[Folder]), Fails;
        "registers' file: /dev/null" with(&[Null]), Fails;
        "registers' file: /dev/zero" with(&[Zero]), Fails;
        "registers' file: an eventfd" with(&[Eventfd]), Fails;
        "registers' file: a socket" with(&[Socket]), Fails;
        "registers' file: empty" with(&[Memory(0)]), Fails;
        "registers' file: a page" with(&[Memory(4096)]), Fails;
        "registers' file: a page, default options" with(&[Memory(4096)]), Fails, defaults;
        "registers' file: a page that keeps its size" with(&[Sealed(4096)]), Fails, says(&["port0.sock", "end of the file"]);
        "registers' file: without seals" with(&[Memory(BAR0_LEN)]), Fails, says(&["port0.sock", "F_SEAL_SHRINK"]);
        "registers' file: read-only" with(&[ReadOnly]), Fails;
        "registers' file: sealed against writes" with(&[WriteSealed]), Fails;
        "registers' file: the right one and a pipe" with(&[Own, Pipe]), Fails;
        "registers' file: a pipe and the right one" with(&[Pipe, Own]), Fails;
        "registers' file: the right one and 15 folders" with(&folders), Fails;
    };
    let changed: Vec<Row> = rows! { BAR0, shared, traffic;
        "registers' file: shortened to nothing at once" own(once(EMPTY)), Ends;
        "registers' file: shortened to a page at once" own(once(ONE_PAGE)), Ends;
        "registers' file: shortened to nothing later" own(later(EMPTY)), Ends;
        "registers' file: shortened to a page later" own(later(ONE_PAGE)), Ends;
        "registers' file: grown" own(once(DOUBLE)), Ends;
        "registers' file: its pages taken out" own(once(punch)), Ends;
        "registers' file: all ones" own(Fill(u32::MAX)), Ends;
        "registers' file: all zeroes" own(Fill(0)), Ends;
        "registers' file: enabled, with heads beyond the ring" own(Fill(r::RXDCTL_ENABLE | 0xffff)), Ends;
        "registers' file: random" own(Random), Ends;
    };
    [sent, changed].concat()
}

/// Changes the reply to reads that `which` chooses, by their region and offset.
fn read_as(
    which: impl Fn(u32, u64) -> bool + Send + Sync + 'static,
    change: impl Fn(&Message, &mut Vec<u8>) + Send + Sync + 'static,
) -> Lie {
    edit(move |request, reply| {
        let is_read = request.header.command == command::REGION_READ;
        if request
            .access()
            .is_some_and(|(region, offset)| is_read && which(region, offset))
        {
            change(request, &mut reply.payload);
            reply.fit_size();
        }
    })
}

/// Sets all bytes that any read returns.
fn every(byte: u8) -> Lie {
    read_as(|_, _| true, move |_, p| after(16, p).fill(byte))
}

/// Sets the value that a register reads.
fn register(register: u32, value: u32) -> Lie {
    read_as(
        move |region, offset| (region, offset) == (0, register.into()),
        move |_, p| put32(p, 16, value),
    )
}

/// Sets the bytes of the configuration space from `offset` on.
fn config(at: u64, value: [u8; 2]) -> Lie {
    let set = move |_: &Message, p: &mut Vec<u8>| {
        for (byte, wanted) in after(16, p).iter_mut().zip(value) {
            *byte = wanted;
        }
    };
    read_as(move |region, offset| (region, offset) == (CONFIG, at), set)
}

/// Registers and configuration space that read what no card has.
fn reads() -> Vec<Row> {
    const WAITED: &[&str] = &["port0.sock", "waited for"];
    rows! { READS, traffic;
        "reads: all ones" every(0xff), Fails;
        "reads: all ones, default options" every(0xff), Fails, defaults;
        "reads: all zeroes" every(0), Fails;
        "reads: 0xa5" every(0xa5), Fails;
        "reads: random" payload(|p| random(after(16, p))), Fails;
        "reads: all ones after a while" every(0xff), Fails, moment(LATER);
        "reads: all zeroes after a while" every(0), Fails, moment(LATER);
        "reads: all zeroes after a while, both devices" every(0), Fails, moment(LATER), liars(BOTH);
        "reads: another offset in the reply" put([(0, 0xffff_fff0)]), Works;
        "reads: another region in the reply" put([(8, 77)]), Works;
        "reads: another count in the reply" put([(12, u32::MAX)]), Works;
        "reads: one byte short" payload(|p| _ = p.pop()), Fails;
        "reads: one byte more" payload(|p| p.push(0)), Fails;
        "configuration space: another vendor" config(0, [1, 2]), Fails;
        "configuration space: another device" config(2, [1, 2]), Fails;
        "CTRL: the reset never ends" register(r::CTRL, r::CTRL_RST), Fails, says(WAITED);
        "CTRL: all ones" register(r::CTRL, u32::MAX), Fails;
        "STATUS: the master never stops" register(r::STATUS, r::STATUS_MASTER_ENABLE), Works, says(&["warning: ", "STATUS.MASTER_ENABLE"]);
        "EEC: the EEPROM is never read" register(r::EEC, 0), Fails;
        "RDRXCTL: DMA is never ready" register(r::RDRXCTL, 0), Fails;
        "LINKS: never up" register(r::LINKS, 0), Fails;
        "LINKS: never up at both devices" register(r::LINKS, 0), Fails, liars(BOTH);
        "LINKS: an unknown speed" register(r::LINKS, r::LINKS_UP), Works;
        "RXDCTL: the queue never starts" register(r::RXDCTL(0), 0), Fails;
        "RXDCTL: the queue never stops" register(r::RXDCTL(0), r::RXDCTL_ENABLE), Fails, says(WAITED);
        "TXDCTL: the queue never starts" register(r::TXDCTL(0), 0), Fails;
        "TXDCTL: the queue never stops" register(r::TXDCTL(0), r::TXDCTL_ENABLE), Fails;
        "RDH: beyond the ring" register(r::RDH(0), 0xffff), Works;
        "RDH: all ones" register(r::RDH(0), u32::MAX), Works;
        "RDT: beyond the ring" register(r::RDT(0), 0xffff), Works;
        "TDH: beyond the ring" register(r::TDH(0), 0xffff), Fails;
        "TDH: stuck in the ring" register(r::TDH(0), 9), Fails, says(WAITED);
        "TDH: all ones" register(r::TDH(0), u32::MAX), Fails;
        "TDT: beyond the ring" register(r::TDT(0), 0xffff), Works;
        "GPRC: all ones" register(r::GPRC, u32::MAX), Works;
        "GPTC: goes backward" read_as(
            |region, offset| (region, offset) == (0, r::GPTC.into()),
            |request, p| put32(p, 16, u32::MAX - 1000 * u32::from(request.header.id)),
        ), Ends;
        "SWSM: the semaphore is never free" register(r::SWSM, r::SWSM_SMBI | r::SWSM_SWESMBI), Works;
        "SW_FW_SYNC: the firmware keeps all" register(r::SW_FW_SYNC, u32::MAX), Works;
        "MSCA: a command never ends" register(r::MSCA, r::MSCA_MDI_COMMAND), Works;
    }
}

/// Memory that the driver has lent, and that changes while the driver runs.
fn memory() -> Vec<Row> {
    let first: Vec<Row> = rows! { FIRST_MAP, traffic;
        "memory: shortened to nothing at the first map" Tamper(once(EMPTY)), Ends;
        "memory: shortened to a page at the first map" Tamper(once(ONE_PAGE)), Ends;
        "memory: grown to twice its size" Tamper(once(DOUBLE)), Ends;
        "memory: its pages taken out at the first map" Tamper(once(punch)), Ends, victims(RUST);
        "memory: sealed against future writes" Tamper(once(|file, _| fcntl_add_seals(file, SealFlags::FUTURE_WRITE))), Ends;
        "memory: sealed against writes" Tamper(once(NO_WRITES)), Ends;
        "memory: sealed against seals and sizes" Tamper(once(|file, _| fcntl_add_seals(file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW))), Ends;
    };
    let last: Vec<Row> = rows! { LAST_MAP, traffic;
        "memory: shortened to nothing at the last map" Tamper(once(EMPTY)), Ends;
        "memory: shortened by a byte at the last map" Tamper(once(|file, len| ftruncate(file, len.saturating_sub(1)))), Ends;
        "memory: shortened at both devices" Tamper(later(EMPTY)), Ends, liars(BOTH);
        "memory: shortened, default options" Tamper(later(EMPTY)), Ends, defaults;
        "memory: random from the last map on" Tamper(Random), Ends, victims(RUST);
    };
    let forwarding: Vec<Row> = rows! { FORWARDING, traffic;
        "memory: shortened to nothing while it forwards" Tamper(once(EMPTY)), Ends;
        "memory: shortened to half while it forwards" Tamper(once(|file, len| ftruncate(file, len / 2))), Ends;
        "memory: grown to 2^60 bytes" Tamper(once(|file, _| ftruncate(file, 1 << 60))), Ends;
        "memory: its pages taken out while it forwards" Tamper(once(punch)), Ends, victims(RUST);
        "memory: all ones while it forwards" Tamper(Fill(u32::MAX)), Ends, victims(RUST);
        "memory: all zeroes while it forwards" Tamper(Fill(0)), Ends, victims(RUST);
        "memory: random while it forwards" Tamper(Random), Ends, victims(RUST);
        "memory: random at both devices" Tamper(Random), Ends, victims(RUST), liars(BOTH);
    };
    let started: Vec<Row> = rows! { STARTED, traffic, shared;
        "memory: shortened, registers shared" Tamper(later(EMPTY)), Ends;
        "memory: random, registers shared" Tamper(Random), Ends, victims(RUST);
    };
    let kept: Vec<Row> = rows! { Replies(command::DMA_MAP), refused;
        "memory keeps its size: shortened at each map" Tamper(once(EMPTY)), Works, liars(BOTH);
        "memory keeps its size: grown at each map" Tamper(once(|file, _| ftruncate(file, 1 << 40))), Works, liars(BOTH);
        "memory keeps its seals: sealed at each map" Tamper(once(NO_WRITES)), Works, liars(BOTH);
        "memory keeps its pages: taken out while it forwards" Tamper(once(|file, _| punch(file, 4096))), Works, moment(Write(r::RDT(0), 0)), liars(BOTH);
    };
    [first, last, forwarding, started, kept].concat()
}

/// Frames and descriptors that change while the driver forwards.
fn frames_and_rings() -> Vec<Row> {
    /// Status of a receive descriptor: done, and end of packet.
    const DONE: u32 = (r::RXD_DD | r::RXD_EOP) as u32;
    const DD: u32 = r::RXD_DD as u32;
    const ONES: Option<u32> = Some(u32::MAX);
    let received = |status, length| Tamper(ReceiveRing([None, None, Some(status), Some(length)]));
    let sent = |words| Tamper(TransmitRing(words));
    rows! { FORWARDING, traffic;
        "frames: all ones while it forwards" Tamper(Frames(u32::MAX)), Ends;
        "frames: all zeroes while it forwards" Tamper(Frames(0)), Ends;
        "frames: all ones at both devices" Tamper(Frames(u32::MAX)), Ends, liars(BOTH);
        "receive ring: done without frames" received(DONE, 60), Ends;
        "receive ring: length 0" received(DONE, 0), Ends;
        "receive ring: length 1" received(DONE, 1), Ends;
        "receive ring: length 2048" received(DONE, 2048), Ends;
        "receive ring: length 2049" received(DONE, 2049), Ends;
        "receive ring: length 65535" received(DONE, 65535), Ends;
        "receive ring: length 65535 with VLAN tags" received(DONE, u32::MAX), Ends;
        "receive ring: no end of packet" received(DD, 60), Ends;
        "receive ring: no end of packet, length 65535" received(DD, 65535), Ends;
        "receive ring: never done" received(0, 60), Ends;
        "receive ring: all errors" received(DONE | 0xfff0_0000, 60), Ends;
        "receive ring: all ones" received(u32::MAX, u32::MAX), Ends;
        "receive ring: other addresses" Tamper(ReceiveRing([Some(0), Some(0), None, None])), Ends;
        "receive ring: addresses of all ones" Tamper(ReceiveRing([ONES, ONES, None, None])), Ends;
        "transmit ring: always done" sent([None, None, None, Some(1)]), Ends;
        "transmit ring: never done" sent([None, None, None, Some(0)]), Ends;
        "transmit ring: all ones" sent([ONES; 4]), Ends;
        "transmit ring: addresses of all ones" sent([ONES, ONES, None, None]), Ends;
        "transmit ring: all zeroes" sent([Some(0); 4]), Ends;
        "transmit ring: lengths of 65535" sent([None, None, Some(0x2bff_ffff), None]), Ends;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_with_metadata_spares_a_build() {
        for row in all() {
            let spares = row.victims != Build::ALL;
            assert!(!spares || row.name.starts_with("memory: "), "{}", row.name);
            assert!(row.victims.contains(&Build::Rust), "{}", row.name);
        }
    }

    #[test]
    fn a_row_of_each_class_has_the_default_options() {
        let rows = all();
        for class in [
            "every reply",
            "registers' file",
            "reads",
            "memory",
            "both devices",
            "no answer",
        ] {
            let mut of_class = rows.iter().filter(|row| row.name.starts_with(class));
            assert!(of_class.any(|row| row.defaults), "{class}");
        }
    }
}
