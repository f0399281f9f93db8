//! Maps of memory: huge, many, overlapping, and of files that change.

use nic::registers as r;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{fallocate, fcntl_add_seals, ftruncate, FallocateFlags, SealFlags};

use crate::client::attack::{is_rebuff, Held, Row, Target};
use crate::client::honest::{Queue, BUFFER};
use crate::client::payload;
use crate::client::session::{expect, Answer, Session};
use crate::memory::memfd;
use crate::message::command;

const GIB: u64 = 1 << 30;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "maps: a page of a sparse file of 1 TiB, 120 times",
        |target| sparse(target, 1 << 40, 0x1000, 120),
    ),
    Row::new("maps: a page of a sparse file of 8 EiB", |target| {
        sparse(target, i64::MAX as u64 & !0xfff, 0x1000, 10)
    }),
    Row::new("maps: 64 GiB of a sparse file, 100 times", |target| {
        sparse(target, 64 * GIB, 64 * GIB, 100)
    }),
    Row::new("maps: 1 GiB of a sparse file, 300 times", |target| {
        sparse(target, GIB, GIB, 300)
    }),
    Row::new("maps: 64 MiB of a sparse file, 200 times", |target| {
        sparse(target, 64 << 20, 64 << 20, 200)
    }),
    Row::new("maps: 128 TiB at once", |target| {
        sparse(target, 1 << 47, 1 << 47, 1)
    }),
    Row::new("maps: 65,600 of a page", |target| {
        sparse(target, 0x1000, 0x1000, 65_600)
    }),
    Row::new("maps: 600 files", |target| {
        let mut session = Session::open(&target.socket)?;
        for nth in 0..600 {
            // The card refuses from some number on.
            let _ = session.map(&memfd(0x1000)?, 0, nth << 12, 0x1000)?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("maps: 600 files, few descriptors", |target| {
        let mut session = Session::open(&target.socket)?;
        for nth in 0..600 {
            let _ = session.map(&memfd(0x1000)?, 0, nth << 12, 0x1000)?;
        }
        Ok(vec![Box::new(session)])
    })
    .files(12),
    Row::new("maps: the same range twice", |target| {
        requests(target, &[(0, 0, 0x2000), (0, 0, 0x2000)])
    }),
    Row::new("maps: overlapping ranges", |target| {
        requests(target, &[(0, 0, 0x2000), (0, 0x1000, 0x2000)])
    }),
    Row::new("maps: size 0", |target| requests(target, &[(0, 0, 0)])),
    Row::new("maps: size 2^64-4096", |target| {
        requests(target, &[(0, 0x1000, 0x1000_u64.wrapping_neg())])
    }),
    Row::new("maps: an odd IOVA", |target| {
        requests(target, &[(0, 1, 0x1000)])
    }),
    Row::new("maps: an odd size", |target| {
        requests(target, &[(0, 0, 0x1001)])
    }),
    Row::new("maps: an odd offset", |target| {
        requests(target, &[(1, 0, 0x1000)])
    }),
    Row::new("maps: an offset of 2^63", |target| {
        requests(target, &[(1 << 63, 0, 0x1000)])
    }),
    Row::new("maps: beyond the end of the file", |target| {
        requests(target, &[(0, 0, 1 << 30)])
    }),
    Row::new("maps: up to the last IOVA", |target| {
        requests(target, &[(0, 0x1000_u64.wrapping_neg(), 0x1000)])
    }),
    Row::new("maps: across the last IOVA", |target| {
        requests(target, &[(0, 0x1000_u64.wrapping_neg(), 0x2000)])
    }),
    Row::new("maps: no permissions and all flags", |target| {
        let mut session = Session::open(&target.socket)?;
        for flags in [0, u32::MAX, 1, 2] {
            let payload = payload::map(flags, 0, u64::from(flags) << 20, 0x1000);
            let _ = session.call(command::DMA_MAP, &payload, &[])?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("unmaps: parts of a map", |target| {
        let (mut session, file) = mapped(target, 0x10_0000)?;
        for (iova, size) in [
            (0x1000, 0x1000),
            (0, 0x1000),
            (0xf_f000, 0x1000),
            (0x8_0000, u64::MAX),
        ] {
            let _ = session.call(command::DMA_UNMAP, &payload::unmap(0, iova, size), &[])?;
        }
        Ok(vec![Box::new(session), Box::new(file)])
    }),
    Row::new("unmaps: of what was never mapped", |target| {
        let mut session = Session::open(&target.socket)?;
        for (flags, iova, size) in [
            (0, 0, 0x1000),
            (0, 0, u64::MAX),
            (4, 0, 0),
            (4, 1, 1),
            (u32::MAX, 0, 0),
        ] {
            let _ = session.call(command::DMA_UNMAP, &payload::unmap(flags, iova, size), &[])?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("unmaps: 5,000 times map and unmap", |target| {
        let mut session = Session::open(&target.socket)?;
        let file = memfd(0x10_0000)?;
        for _ in 0..5000 {
            expect("DMA_MAP", session.map(&file, 0, 0, 0x10_0000)?)?;
            let unmapped =
                session.call(command::DMA_UNMAP, &payload::unmap(0, 0, 0x10_0000), &[])?;
            expect("DMA_UNMAP", unmapped)?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("unmaps: the ring while the card sends", |target| {
        let (mut session, _queue) = sending(target)?;
        let all = payload::unmap(4, 0, 0);
        expect("DMA_UNMAP", session.call(command::DMA_UNMAP, &all, &[])?)?;
        Ok(vec![Box::new(session)])
    })
    .busy(),
    Row::new(
        "files: shortened to nothing while the card sends",
        |target| while_sending(target, |file| Ok(ftruncate(file, 0)?)),
    )
    .busy(),
    Row::new("files: shortened to half while the card sends", |target| {
        while_sending(target, |file| Ok(ftruncate(file, BUFFER)?))
    })
    .busy(),
    Row::new("files: grown while the card sends", |target| {
        while_sending(target, |file| Ok(ftruncate(file, 1 << 40)?))
    })
    .busy(),
    Row::new("files: pages taken out while the card sends", |target| {
        while_sending(target, |file| {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            Ok(fallocate(file, flags, 0, 1 << 20)?)
        })
    })
    .busy(),
    Row::new("files: sealed against all while the card sends", |target| {
        while_sending(target, |file| {
            Ok(fcntl_add_seals(
                file,
                SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL,
            )?)
        })
    })
    .busy(),
    Row::new("files: shortened before the card touches them", |target| {
        let (mut session, file) = mapped(target, 0x10_0000)?;
        ftruncate(&file, 0)?;
        session.set(0, 1 << 26)?;
        Ok(vec![Box::new(session), Box::new(file)])
    }),
];

/// Maps parts of a sparse file at many IOVAs. The card refuses from some number on.
fn sparse(target: &Target, file_size: u64, map_size: u64, count: u64) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let file = memfd(file_size)?;
    for nth in 0..count {
        let Some(iova) = map_size.checked_mul(nth) else {
            break;
        };
        if session.map(&file, 0, iova, map_size)?.is_err() {
            break;
        }
    }
    Ok(vec![Box::new(session), Box::new(file)])
}

/// Maps a file of a mebibyte at these offsets, IOVAs and sizes. The card may refuse each.
fn requests(target: &Target, maps: &[(u64, u64, u64)]) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let file = memfd(1 << 20)?;
    for (offset, iova, size) in maps {
        let _: Answer = session.map(&file, *offset, *iova, *size)?;
    }
    Ok(vec![Box::new(session), Box::new(file)])
}

fn mapped(target: &Target, size: u64) -> io::Result<(Session, OwnedFd)> {
    let mut session = Session::open(&target.socket)?;
    let file = memfd(size)?;
    expect("DMA_MAP", session.map(&file, 0, 0, size)?)?;
    Ok((session, file))
}

/// Starts a queue, and hands over 40 frames.
fn sending(target: &Target) -> io::Result<(Session, Queue)> {
    let mut session = Session::open(&target.socket)?;
    let mut queue = Queue::start(&mut session)?;
    for _ in 0..40 {
        queue.post_frame();
    }
    queue.ring_doorbell(&mut session)?;
    Ok((session, queue))
}

/// Changes the file of a queue while the card sends from it.
fn while_sending(target: &Target, change: fn(&OwnedFd) -> io::Result<()>) -> io::Result<Held> {
    let (mut session, queue) = sending(target)?;
    let file = queue.file.try_clone()?;
    // Memory beyond the end of a file ends the process that touches it.
    drop(queue);
    change(&file)?;
    for tail in 0..200 {
        let rung = session.set(r::TDT(0), tail % 64);
        match rung {
            Err(error) if is_rebuff(&error) => break,
            other => other?,
        }
    }
    Ok(vec![Box::new(session), Box::new(file)])
}
