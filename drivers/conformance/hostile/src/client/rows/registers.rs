//! Writes to every register, by messages and in shared memory.

use nic::registers as r;
use std::io;

use crate::client::attack::{Held, Row, Target};
use crate::client::honest::Queue;
use crate::client::payload;
use crate::client::session::{expect, Session};
use crate::memory::Mapping;
use crate::message::{command, receive, send};

/// Bytes of BAR0.
const BAR0_LEN: u32 = 512 << 10;

pub(super) const ROWS: &[Row] = &[
    Row::new("registers: each all ones", |target| {
        each(target, |_| u32::MAX)
    })
    .busy(),
    Row::new("registers: each zero", |target| each(target, |_| 0)),
    Row::new("registers: each its own offset", |target| {
        each(target, |register| register)
    })
    .busy(),
    Row::new("registers: each random", |target| {
        each(target, |register| register.wrapping_mul(0x9e37_79b9))
    })
    .busy(),
    Row::new("registers: all read", |target| {
        let mut session = Session::open(&target.socket)?;
        for offset in (0..BAR0_LEN).step_by(0x1_0000) {
            let payload = payload::access(u64::from(offset), 0, 0x1_0000);
            expect(
                "REGION_READ",
                session.call(command::REGION_READ, &payload, &[])?,
            )?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("registers: accesses of 1, 2, 3, 5 and 7 bytes", |target| {
        let mut session = Session::open(&target.socket)?;
        for len in [1, 2, 3, 5, 7] {
            for offset in 0x1000..0x1040 {
                let data = vec![0xff; len];
                let _ = session.call(
                    command::REGION_WRITE,
                    &payload::write(offset, 0, &data),
                    &[],
                )?;
            }
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("registers: through the I/O BAR, at any address", |target| {
        let mut session = Session::open(&target.socket)?;
        for address in [0, 1, 0x1018, 0x7_fffc, 0x8_0000, u32::MAX] {
            let write = payload::write(0, 2, &u32::to_le_bytes(address));
            let _ = session.call(command::REGION_WRITE, &write, &[])?;
            let _ = session.call(
                command::REGION_WRITE,
                &payload::write(4, 2, &[0xff; 4]),
                &[],
            )?;
            let _ = session.call(command::REGION_READ, &payload::access(4, 2, 4), &[])?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("configuration space: each byte all ones", |target| {
        let mut session = Session::open(&target.socket)?;
        for offset in 0..256 {
            let _ = session.call(
                command::REGION_WRITE,
                &payload::write(offset, 7, &[0xff]),
                &[],
            )?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new(
        "configuration space: bus mastering on and off 3,000 times",
        |target| {
            let mut session = Session::open(&target.socket)?;
            for nth in 0..3000 {
                let value = if nth % 2 == 0 { [6, 0] } else { [0, 0] };
                let _ = session.call(command::REGION_WRITE, &payload::write(4, 7, &value), &[])?;
            }
            Ok(vec![Box::new(session)])
        },
    ),
    Row::new("shared registers: all ones", |target| {
        shared(target, |_| u32::MAX)
    })
    .busy(),
    Row::new("shared registers: random", |target| {
        shared(target, |at| (at as u32).wrapping_mul(0x9e37_79b9))
    })
    .busy(),
    Row::new(
        "shared registers: heads and tails beyond the ring",
        |target| shared(target, |_| 0x0200_ffff),
    )
    .busy(),
    Row::new("shared registers: shortened by the client", |target| {
        let mut session = Session::open(&target.socket)?;
        let file = register_file(&mut session)?;
        // The card seals its file, so that this is refused.
        let _ = rustix::fs::ftruncate(&file, 0);
        let _ = rustix::fs::ftruncate(&file, 1 << 40);
        Ok(vec![Box::new(session), Box::new(file)])
    }),
    Row::new("shared registers: kept after the session", |target| {
        let mut session = Session::open(&target.socket)?;
        let mapping = Mapping::of(register_file(&mut session)?)?;
        drop(session);
        for round in 0..50 {
            for at in 0x1000 / 4..0x8000 / 4 {
                mapping.write(at, if round % 2 == 0 { u32::MAX } else { 0 });
            }
        }
        Ok(vec![Box::new(mapping)])
    })
    .busy(),
    Row::new("tails: all values in turn", |target| {
        let mut session = Session::open(&target.socket)?;
        let queue = Queue::start(&mut session)?;
        for tail in (0..70).chain([0x7fff, 0xffff, u32::MAX]) {
            session.set(r::TDT(0), tail)?;
            session.set(r::RDT(0), tail)?;
        }
        Ok(vec![Box::new(session), Box::new(queue.memory)])
    })
    .busy(),
    Row::new("heads: all values in turn", |target| {
        let mut session = Session::open(&target.socket)?;
        let queue = Queue::start(&mut session)?;
        for head in (0..70).chain([0x7fff, 0xffff, u32::MAX]) {
            session.set(r::TDH(0), head)?;
            session.set(r::TDT(0), head / 2)?;
        }
        Ok(vec![Box::new(session), Box::new(queue.memory)])
    })
    .busy(),
];

/// Writes all registers of BAR0, in writes of 4 KiB.
fn each(target: &Target, value: fn(u32) -> u32) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let queue = Queue::start(&mut session)?;
    for page in (0..BAR0_LEN).step_by(0x1000) {
        let words = (page..page + 0x1000).step_by(4).map(value);
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let _ = session.call(
            command::REGION_WRITE,
            &payload::write(u64::from(page), 0, &bytes),
            &[],
        )?;
    }
    Ok(vec![Box::new(session), Box::new(queue.memory)])
}

/// The file of the shared registers.
fn register_file(session: &mut Session) -> io::Result<std::os::fd::OwnedFd> {
    let request = session.request(command::REGION_INFO, &payload::region_info(4096, 0));
    send(&session.stream, &request.bytes(), &[])?;
    let file = receive(&session.stream)?.files.pop();
    file.ok_or_else(|| io::Error::other("the card shares no registers"))
}

/// Writes all shared words 50 times.
fn shared(target: &Target, value: fn(usize) -> u32) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let queue = Queue::start(&mut session)?;
    let mapping = Mapping::of(register_file(&mut session)?)?;
    for _ in 0..50 {
        for page in [0x1000, 0x6000] {
            for at in page / 4..(page + 0x1000) / 4 {
                mapping.write(at, value(at));
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    Ok(vec![
        Box::new(session),
        Box::new(mapping),
        Box::new(queue.memory),
    ])
}
