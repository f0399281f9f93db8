//! The scenarios of the hostile client.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use harness::client::Session;
use harness::codec::command::*;
use harness::codec::payload::{self, access, interrupts, map, unmap, CONNECT, MSIX, TRIGGER};
use harness::codec::{
    put32, receive, send, words, BAR0, BAR0_LEN, CONFIG, FLAG_ERROR, FLAG_NO_REPLY, FLAG_REPLY,
};
use harness::memory::Mapping;
use nic::registers as r;
use rustix::fs::{fcntl_add_seals, ftruncate, SealFlags};

use crate::attack::*;
use crate::client::Row;
use crate::descriptors::make;
use crate::descriptors::Kind::{self, Eventfd, Folder, Memory, Pipe, ReadOnly, WriteSealed, Zero};
use crate::honest::{data, BUFFER, DESCRIPTORS, IOVA};
use crate::lie::Lie::{self, Close, Repeat, Stop, Truth};
use crate::lie::{body, header, payload as edit, random, with};
use crate::tamper::punch;

const GIB: u64 = 1 << 30;
/// Bits of the data descriptors.
const DATA: u64 = r::TXD_IFCS;
const LAST: u64 = r::TXD_EOP | r::TXD_RS;
/// I/O BAR: a register's address, and from byte 4 its data.
const IO_BAR: u32 = 2;
/// Region of the MSI-X table.
const MSIX_TABLE: u32 = 4;

/// Rows: name, attack, and settings: fields of [`Row`] that are true or have this value.
macro_rules! rows {
    ($($name:literal $attack:expr $(, $field:ident $(($value:expr))?)*;)*) => {
        vec![$(Row { $($field: rows!(@value $($value)?),)* ..Row::new($name, $attack) }),*]
    };
    (@value) => { true };
    (@value $value:expr) => { $value };
}

/// All rows.
pub fn all() -> Vec<Row> {
    [
        messages(),
        special(),
        connections(),
        interrupts_rows(),
        maps_rows(),
        registers_rows(),
        rings(),
    ]
    .concat()
}

/// Each change of each command. VERSION is the first message, the others come later.
fn messages() -> Vec<Row> {
    let doorbell = payload::write(r::RDT(0).into(), BAR0, &[1; 4]);
    let commands = [
        ("version", VERSION, payload::version()),
        ("DMA map", DMA_MAP, map(3, 0, 0x1000, 0x1000)),
        ("SET_IRQS", SET_IRQS, interrupts(CONNECT, MSIX, 0, 1)),
        ("region read", REGION_READ, access(0, BAR0, 4)),
        ("region write", REGION_WRITE, doorbell),
        ("reset", RESET, Vec::new()),
    ];
    let unanswered = FLAG_ERROR | FLAG_NO_REPLY;
    let changes: [(&str, Lie); 18] = [
        ("a reply", header(|h| h.flags = FLAG_REPLY)),
        ("all flags", header(|h| h.flags = u32::MAX)),
        (
            "an error that wants no reply",
            header(move |h| h.flags = unanswered),
        ),
        ("command 0", header(|h| h.command = 0)),
        ("command 65535", header(|h| h.command = u16::MAX)),
        ("size 0", header(|h| h.size = 0)),
        ("size 15", header(|h| h.size = 15)),
        ("size 2^32-1", header(|h| h.size = u32::MAX)),
        ("size of 1 MiB", header(|h| h.size = 1 << 20)),
        ("no payload", edit(Vec::clear)),
        ("payload of all ones", body(|p| p.fill(0xff))),
        ("payload of 1 MiB", edit(|p| p.resize(1 << 20, 0x41))),
        ("64 pipes", with(&[Pipe; 64])),
        ("253 pipes", with(&[Pipe; 253])),
        ("silence in the header", Stop(9)),
        ("silence in the payload", Stop(17)),
        ("closed in the header", Close(3)),
        ("sent 20,000 times", Repeat(20_000)),
    ];
    let mut rows = Vec::new();
    for (at, command, payload) in &commands {
        let tell = if *command == VERSION { first } else { message };
        rows.extend(changes.iter().map(|(change, lie)| {
            let attack = tell(*command, payload.clone(), lie.clone());
            Row::new(format!("{at}: {change}"), attack)
        }));
    }
    rows
}

/// Payloads that fit one command.
fn special() -> Vec<Row> {
    let version = |lie| first(VERSION, payload::version(), lie);
    let read = |offset, region, count| message(REGION_READ, access(offset, region, count), Truth);
    let write =
        |region, data: &[u8], lie| message(REGION_WRITE, payload::write(0, region, data), lie);
    let info = |room, region| message(REGION_INFO, payload::region_info(room, region), Truth);
    let dma_map = |files: &[Kind]| message(DMA_MAP, map(3, 0, 0, 0x1000), with(files));
    rows! {
        "version text: major 1" version(body(|p| p[0] = 1));
        "version text: without NUL" version(edit(|p| _ = p.pop()));
        "version text: 1 MiB of brackets" version(edit(|p| p.resize(1 << 20, b'[')));
        "version: a second time" message(VERSION, payload::version(), Truth);
        "order: a read before the version" first(REGION_READ, access(0, BAR0, 4), Truth);
        "order: a reset before the version" first(RESET, Vec::new(), Truth);
        "region read: count 2^32-1" read(0, BAR0, u32::MAX);
        "region read: count 0" read(0, BAR0, 0);
        "region read: offset 2^64-1" read(u64::MAX, BAR0, 4);
        "region read: region 2^32-1" read(0, u32::MAX, 4);
        "region read: all of BAR0" read(0, BAR0, BAR0_LEN as u32);
        "region write: all of BAR0, all ones" write(BAR0, &[0xff; BAR0_LEN as usize], Truth);
        "region write: all of the configuration space" write(CONFIG, &[0xff; 256], Truth);
        "region write: all of the MSI-X table" write(MSIX_TABLE, &[0xff; 1024], Truth);
        "region write: count other than the payload" write(BAR0, &[0; 4], body(|p| put32(p, 12, 4096)));
        "region info: room of 2^32-1" info(u32::MAX, BAR0);
        "region info: room 0" info(0, BAR0);
        "region info: region 2^32-1" info(32, u32::MAX);
        "IRQ info: kind 2^32-1" message(IRQ_INFO, words(&[16, 0, u32::MAX, 0]), Truth);
        "device info: argsz 0" message(GET_INFO, words(&[0; 4]), Truth);
        "DMA map: with a folder" dma_map(&[Folder]);
        "DMA map: with /dev/zero" dma_map(&[Zero]);
        "DMA map: with an eventfd" dma_map(&[Eventfd]);
        "DMA map: with two memfds" dma_map(&[Memory(4096); 2]);
        "DMA map: of an empty memfd" dma_map(&[Memory(0)]);
        "DMA map: of a read-only memfd" dma_map(&[ReadOnly]);
        "DMA map: of a memfd sealed against writes" dma_map(&[WriteSealed]);
    }
}

/// Connections: too many, silent, half, and cut off.
fn connections() -> Vec<Row> {
    let nothing = || Ok(Vec::new());
    rows! {
        "connections: silent from the start" silent(1), yields;
        "connections: 200 silent ones" silent(200), yields;
        "connections: 200 silent ones, few descriptors" silent(200), files(Some(24));
        "connections: 200 silent ones, no descriptor" silent(200), files(Some(0)), says(Some("a client must wait"));
        "connections: silent after the version" session(|_| Ok(()));
        "connections: 2,000 that close at once" act(move |target| {
            (0..2000).try_for_each(|_| Session::connect(&target.socket).map(drop))?;
            nothing()
        });
        "connections: 20 with half a version" act(|target| {
            let half = |_| {
                let mut session = Session::connect(&target.socket)?;
                let bytes = session.request(VERSION, &payload::version()).bytes();
                send(&session.stream, &bytes[..10], &[])?;
                Ok(session)
            };
            let sessions: io::Result<Vec<_>> = (0..20).map(half).collect();
            Ok(vec![Box::new(sessions?)])
        }), yields;
        // The card may still be busy with the session before.
        "connections: sessions that begin and end without pause" act(move |target| {
            storm(Duration::from_millis(600), |_| Session::open(&target.socket).map(drop).or(Ok(())))?;
            nothing()
        });
        "connections: a byte each 50 ms" first(VERSION, payload::version(), Lie::Drip(50));
        "connections: requests whose answers are not read" unread(100, REGION_READ, access(0, BAR0, BAR0_LEN as u32));
        "connections: a reset storm" repeated(|session| session.call(RESET, &[], &[]).map(drop));
        "connections: a reset storm in registers" repeated(|session| session.set(r::CTRL, r::CTRL_RST));
        "connections: random bytes" act(|target| {
            let (session, mut bytes) = (Session::connect(&target.socket)?, vec![0; 1 << 16]);
            random(&mut bytes);
            send(&session.stream, &bytes, &[])?;
            Ok(vec![Box::new(session)])
        });
        "connections: cut off while the queue runs" act(move |target| {
            sending(&mut Session::open(&target.socket)?)?;
            nothing()
        });
        "connections: closed with an answer under way" act(move |target| {
            let all = access(0, BAR0, BAR0_LEN as u32);
            Session::open(&target.socket)?.post(REGION_READ, &all)?;
            nothing()
        });
        "connections: both directions shut down, but open" session(|session| session.stream.shutdown(std::net::Shutdown::Both));
        "connections: only the writing direction shut down" session(|session| {
            session.stream.shutdown(std::net::Shutdown::Write)?;
            // The card may answer with the end of the connection.
            match receive(&session.stream) {
                Err(error) if !is_rebuff(&error) => Err(error),
                _ => Ok(()),
            }
        });
        "drivers: one killed while it forwards" killed_drivers(&[300]);
        "drivers: one killed while it starts" killed_drivers(&[20]);
        "drivers: ten killed one after the other" killed_drivers(&[0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    }
}

/// Descriptors for interrupts that block, or are none.
fn interrupts_rows() -> Vec<Row> {
    let other = |make: fn() -> io::Result<_>| no_eventfd(make);
    rows! {
        "eventfd: full and blocking, signalled by request, INTx" full(0, REQUEST, 1);
        "eventfd: full and blocking, signalled by request, MSI" full(1, REQUEST, 1);
        "eventfd: full and blocking, signalled by request, MSI-X" full(2, REQUEST, 1);
        "eventfd: full and blocking, signalled by EICS, INTx" full(0, EICS, 1);
        "eventfd: full and blocking, signalled by EICS, MSI" full(1, EICS, 1);
        "eventfd: full and blocking, signalled by EICS, MSI-X" full(2, EICS, 1);
        "eventfd: full and blocking, signalled 1,000 times" full(2, EICS, 1000);
        "eventfd: closed by the client" session(|session| {
            drop(connected(session, MSIX)?);
            EICS(session, MSIX)
        });
        "eventfd: the same for all vectors" full_vectors(true);
        "eventfd: 64 of their own, all full" full_vectors(false);
        "no eventfd: a pipe that is full" other(|| {
            let pipe = make(Pipe)?;
            stuff(&pipe).map(|()| (pipe, None))
        });
        "no eventfd: a socket that is full" other(|| {
            let (one, peer) = UnixStream::pair()?;
            let one = one.into();
            stuff(&one).map(|()| (one, Some(peer.into())))
        });
        "no eventfd: an epoll descriptor" other(|| Ok((make(Kind::Epoll)?, None)));
        "no eventfd: a memfd" other(|| Ok((make(Memory(4096))?, None)));
        "no eventfd: a folder" other(|| Ok((make(Folder)?, None)));
        "no eventfd: /dev/null" other(|| Ok((make(Kind::Null)?, None)));
        "vectors: all 2^32 of them" vectors(CONNECT, MSIX, 0, u32::MAX);
        "vectors: a range that overflows" vectors(CONNECT, MSIX, u32::MAX, 2);
        "vectors: an unknown kind" vectors(CONNECT, 77, 0, 1);
        "vectors: all flags" vectors(u32::MAX, MSIX, 0, 1);
        "vectors: 200,000 requests without an answer" unread(200_000, SET_IRQS, interrupts(TRIGGER, MSIX, 0, 64));
        "EICS: a storm of causes" session(|session| {
            let eventfd = connected(session, MSIX)?;
            (0..3000).try_for_each(|_| EICS(session, MSIX)).map(|()| eventfd)
        });
    }
}

/// Maps of memory: huge, many, overlapping, and of files that change.
fn maps_rows() -> Vec<Row> {
    let unmaps = |ranges: &[(u64, u64)]| {
        ranges
            .iter()
            .map(|(iova, size)| unmap(0, *iova, *size))
            .collect::<Vec<_>>()
    };
    rows! {
        "maps: a page of a sparse file of 1 TiB, 120 times" sparse(1 << 40, 0x1000, 120);
        "maps: a page of a sparse file of 8 EiB" sparse(i64::MAX as u64 & !0xfff, 0x1000, 10);
        "maps: 64 GiB of a sparse file, 100 times" sparse(64 * GIB, 64 * GIB, 100);
        "maps: 1 GiB of a sparse file, 300 times" sparse(GIB, GIB, 300);
        "maps: 64 MiB of a sparse file, 200 times" sparse(64 << 20, 64 << 20, 200);
        "maps: 128 TiB at once" sparse(1 << 47, 1 << 47, 1);
        "maps: 65,600 of a page" sparse(0x1000, 0x1000, 65_600);
        "maps: 600 files" parts(true, 0x1000, 0x1000, 600, Some(600), |nth| [0, nth << 12]);
        "maps: 600 files, few descriptors" parts(true, 0x1000, 0x1000, 600, Some(600), |nth| [0, nth << 12]), files(Some(12));
        "maps: 2,049 files, of which the card takes 2,048" parts(true, 0x1000, 0x1000, 2049, Some(2048), |nth| [0, nth << 12]);
        "maps: a page of each of 200 files of 4 TiB" parts(true, 4 << 40, 0x1000, 200, Some(200), |nth| [(nth << 34) + 0x1000, nth << 30]), room(64 * GIB);
        // In an order that the kernel cannot merge.
        "maps: 4,000 pages of a file, far apart" parts(false, 64 * GIB, 0x1000, 4000, Some(4000), |nth| [(nth * 7919 % 4000) << 24, nth << 12]);
        "maps: 64 MiB of a file without memory, 128 times" sparse(8 * GIB, 64 << 20, 128);
        "maps: the same range twice" maps([(0, 0, 0x2000), (0, 0, 0x2000)]);
        "maps: overlapping ranges" maps([(0, 0, 0x2000), (0, 0x1000, 0x2000)]);
        "maps: size 0" maps([(0, 0, 0)]);
        "maps: size 2^64-4096" maps([(0, 0x1000, 0x1000_u64.wrapping_neg())]);
        "maps: an odd IOVA" maps([(0, 1, 0x1000)]);
        "maps: an odd size" maps([(0, 0, 0x1001)]);
        "maps: an odd offset" maps([(1, 0, 0x1000)]);
        "maps: an offset of 2^63" maps([(1 << 63, 0, 0x1000)]);
        "maps: beyond the end of the file" maps([(0, 0, 1 << 30)]);
        "maps: up to the last IOVA" maps([(0, 0x1000_u64.wrapping_neg(), 0x1000)]);
        "maps: across the last IOVA" maps([(0, 0x1000_u64.wrapping_neg(), 0x2000)]);
        "maps: no permissions and all flags" calls(|| [0, u32::MAX, 1, 2].map(|flags| (DMA_MAP, map(flags, 0, u64::from(flags) << 20, 0x1000))));
        "unmaps: parts of a map" session(move |session| {
            let file = mapped(session)?;
            for part in unmaps(&[(0x1000, 0x1000), (0, 0x1000), (0xf_f000, 0x1000), (0x8_0000, u64::MAX)]) {
                let _ = session.call(DMA_UNMAP, &part, &[])?;
            }
            Ok(file)
        });
        "unmaps: of what was never mapped" calls(|| {
            let ranges = [(0, 0, 0x1000), (0, 0, u64::MAX), (4, 0, 0), (4, 1, 1), (u32::MAX, 0, 0)];
            ranges.map(|(flags, iova, size)| (DMA_UNMAP, unmap(flags, iova, size)))
        });
        "unmaps: 5,000 times map and unmap" session(|session| (0..5000).try_for_each(|_| {
            mapped(session)?;
            session.command(DMA_UNMAP, &unmap(0, 0, 1 << 20), &[]).map(drop)
        }));
        "unmaps: the ring while the card sends" session(|session| {
            sending(session)?;
            session.command(DMA_UNMAP, &unmap(4, 0, 0), &[]).map(drop)
        }), busy;
        "files: shortened to nothing while the card sends" while_sending(|file| ftruncate(file, 0)), busy;
        "files: shortened to half while the card sends" while_sending(|file| ftruncate(file, BUFFER)), busy;
        "files: grown while the card sends" while_sending(|file| ftruncate(file, 1 << 40)), busy;
        "files: pages taken out while the card sends" while_sending(|file| punch(file, 1 << 20)), busy;
        "files: sealed against all while the card sends" while_sending(|file| {
            fcntl_add_seals(file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL)
        }), busy;
        "files: shortened before the card touches them" session(|session| {
            let file = mapped(session)?;
            ftruncate(&file, 0)?;
            session.set(r::CTRL, r::CTRL_RST).map(|()| file)
        });
    }
}

/// Writes to every register, by messages and in shared memory.
fn registers_rows() -> Vec<Row> {
    fn all_values() -> impl Iterator<Item = u32> {
        (0..70).chain([0x7fff, 0xffff, u32::MAX])
    }
    fn mixed(value: u32) -> u32 {
        value.wrapping_mul(0x9e37_79b9)
    }
    rows! {
        "registers: each all ones" each_register(|_| u32::MAX), busy;
        "registers: each zero" each_register(|_| 0);
        "registers: each its own offset" each_register(|register| register), busy;
        "registers: each random" each_register(mixed), busy;
        "registers: all read" session(|session| (0..BAR0_LEN).step_by(0x1_0000).try_for_each(|offset| {
            session.command(REGION_READ, &access(offset, BAR0, 0x1_0000), &[]).map(drop)
        }));
        "registers: accesses of 1, 2, 3, 5 and 7 bytes" calls(|| [1, 2, 3, 5, 7].into_iter().flat_map(|len| {
            (r::RDBAL(0)..r::RDBAL(1)).map(move |offset| write(BAR0, offset.into(), &vec![0xff; len]))
        }));
        "registers: through the I/O BAR, at any address" calls(|| {
            let addresses = [r::CTRL, 1, r::RDT(0), 0x7_fffc, BAR0_LEN as u32, u32::MAX];
            addresses.into_iter().flat_map(|address| [
                write(IO_BAR, 0, &address.to_le_bytes()),
                write(IO_BAR, 4, &[0xff; 4]),
                (REGION_READ, access(4, IO_BAR, 4)),
            ])
        });
        "configuration space: each byte all ones" calls(|| (0..256).map(|offset| write(CONFIG, offset, &[0xff])));
        "configuration space: bus mastering on and off 3,000 times" bus_mastering(3000);
        "shared registers: all ones" shared_registers(|_| u32::MAX), busy;
        "shared registers: random" shared_registers(|at| mixed(at as u32)), busy;
        "shared registers: heads and tails beyond the ring" shared_registers(|_| r::RXDCTL_ENABLE | 0xffff), busy;
        "shared registers: shortened by the client" session(|session| {
            let file = session.register_file()?;
            // The card seals its file, so that this is refused.
            let _ = ftruncate(&file, 0);
            let _ = ftruncate(&file, 1 << 40);
            Ok(file)
        });
        "shared registers: kept after the session" act(|target| {
            let mapping = Mapping::of(Session::open(&target.socket)?.register_file()?)?;
            for round in 0..50 {
                (0x1000 / 4..0x8000 / 4).for_each(|at| mapping.write(at, if round % 2 == 0 { u32::MAX } else { 0 }));
            }
            Ok(vec![Box::new(mapping)])
        }), busy;
        "tails: all values in turn" registers(|| all_values().flat_map(|tail| [(r::TDT(0), tail), (r::RDT(0), tail)])), busy;
        "heads: all values in turn" registers(|| all_values().flat_map(|head| [(r::TDH(0), head), (r::TDT(0), head / 2)])), busy;
    }
}

/// Descriptors that never end, point nowhere, or ask for much work.
fn rings() -> Vec<Row> {
    let rows: Vec<Row> = rows! {
        "TSO: MSS 0 on 256 KiB" segmented(0);
        "TSO: MSS 1 on 256 KiB" segmented(1);
        "TSO: MSS 2 on 256 KiB" segmented(2);
        "TSO: MSS 64 on 256 KiB" segmented(64);
        "TSO: MSS 88 on 256 KiB" segmented(88);
        "TSO: MSS 1460 on 256 KiB" segmented(1460);
        "TSO: MSS 65535 on 256 KiB" segmented(65535);
        "TSO: contexts only" ring(|_| context(1460));
        "TSO: without a context" ring(|_| data(0xffff, DATA | r::TXD_TSE | LAST, 256 << 10));
        "chains: without an end" ring(|_| data(60, DATA, 60));
        "chains: of empty pieces" ring(|_| data(0, DATA, 0));
        "chains: of pieces of a byte" ring(|slot| data(1, if slot % 40 == 39 { DATA | LAST } else { DATA }, 40));
        "descriptors: all ones" ring(|_| [u64::MAX; 2]);
        "descriptors: all zeroes" ring(|_| [0; 2]);
        "descriptors: legacy, length 65535" ring(|_| [IOVA, 0x0b00_ffff]);
        "descriptors: frames of 65535 bytes" ring(|_| data(65535, DATA | LAST, 65535));
        "descriptors: frames at IOVAs without a map" ring(|slot| [0x77 << 32 | slot << 12, data(60, DATA | LAST, 60)[1]]);
        "descriptors: frames at the last IOVA" ring(|_| [0x10_u64.wrapping_neg(), data(60, DATA | LAST, 60)[1]]);
        "descriptors: frames in the ring itself" ring(|_| [IOVA, data(1024, DATA | LAST, 1024)[1]]);
        "rings: at IOVAs without a map" placed(0x77 << 32, DESCRIPTORS * 16);
        "rings: at the last IOVA" placed(0x80_u64.wrapping_neg(), DESCRIPTORS * 16);
        "rings: length 0" placed(IOVA, 0);
        "rings: length 128" placed(IOVA, 128);
        "rings: length of all ones" placed(IOVA, u32::MAX);
        "rings: at an odd address" placed(IOVA + 1, DESCRIPTORS * 16);
        "rings: all 128 queues at once, at the same memory" registers(|| [(r::RXCTRL, r::RXCTRL_RXEN)].into_iter().chain((0..128).flat_map(both_rings)));
        "rings: receive buffers at IOVAs without a map" queue(|session, queue| {
            (0..DESCRIPTORS as usize * 4).for_each(|at| queue.memory.write(at, 0x7777_7777));
            session.set(r::FCTRL, r::FCTRL_MPE | r::FCTRL_UPE | r::FCTRL_BAM)?;
            session.set_all(both_rings(0).into_iter().skip(5))?;
            session.set(r::RXCTRL, r::RXCTRL_RXEN)?;
            doorbells(session, r::RDT(0))
        });
        "head write-back: at IOVAs without a map" queue(|session, _| {
            session.set(r::TDWBAL(0), 0x7777_7700 | r::TDWBAL_HEAD_WB_EN)?;
            session.set(r::TDWBAH(0), u32::MAX)?;
            doorbells(session, r::TDT(0))
        });
    };
    rows.into_iter()
        .map(|row| Row { busy: true, ..row })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_rows;
    use std::collections::BTreeSet;

    #[test]
    fn both_sides_have_150_rows_whose_names_are_unique_and_fit_the_table() {
        let names = |side: Vec<String>| {
            let unique: BTreeSet<_> = side.iter().collect();
            assert!(
                side.len() >= 150 && unique.len() == side.len(),
                "{} {}",
                side.len(),
                unique.len()
            );
            side.iter()
                .for_each(|name| assert!(name.contains(' ') && name.len() <= 70, "{name}"));
        };
        names(all().into_iter().map(|row| row.name.into()).collect());
        names(
            server_rows::all()
                .into_iter()
                .map(|row| row.name.into())
                .collect(),
        );
    }
}
