//! Descriptors that never end, point nowhere, or ask for much work.

use nic::registers as r;
use std::io;
use std::time::{Duration, Instant};

use crate::client::attack::{Held, Row, Target};
use crate::client::honest::{Queue, BUFFER, DESCRIPTORS, IOVA};
use crate::client::session::Session;

/// How long the client keeps the card busy.
const STORM: Duration = Duration::from_millis(800);
/// Data descriptor: type and extension.
const DATA: u32 = 3 << 20 | 1 << 29 | 1 << 25;
const EOP: u32 = 1 << 24;
const RS: u32 = 1 << 27;
/// Segment the frame.
const TSE: u32 = 1 << 31;
/// Context descriptor: type and extension.
const CONTEXT: u32 = 2 << 20 | 1 << 29;
/// Context of TCP over IPv4.
const TCP_IPV4: u32 = 1 << 11 | 1 << 10;
/// Longest frame to segment, in bytes.
const LONG: u32 = 256 << 10;

pub(super) const ROWS: &[Row] = &[
    Row::new("TSO: MSS 0 on 256 KiB", |target| segmented(target, 0)).busy(),
    Row::new("TSO: MSS 1 on 256 KiB", |target| segmented(target, 1)).busy(),
    Row::new("TSO: MSS 2 on 256 KiB", |target| segmented(target, 2)).busy(),
    Row::new("TSO: MSS 64 on 256 KiB", |target| segmented(target, 64)).busy(),
    Row::new("TSO: MSS 88 on 256 KiB", |target| segmented(target, 88)).busy(),
    Row::new("TSO: MSS 1460 on 256 KiB", |target| segmented(target, 1460)).busy(),
    Row::new("TSO: MSS 65535 on 256 KiB", |target| {
        segmented(target, 65535)
    })
    .busy(),
    Row::new("TSO: contexts only", |target| {
        ring(target, |_| context(1460))
    })
    .busy(),
    Row::new("TSO: without a context", |target| {
        ring(target, |_| data(0xffff, DATA | TSE | EOP | RS, LONG))
    })
    .busy(),
    Row::new("chains: without an end", |target| {
        ring(target, |_| data(60, DATA, 60))
    })
    .busy(),
    Row::new("chains: of empty pieces", |target| {
        ring(target, |_| data(0, DATA, 0))
    })
    .busy(),
    Row::new("chains: of pieces of a byte", |target| {
        ring(target, |slot| {
            let end = if slot % 40 == 39 { EOP | RS } else { 0 };
            data(1, DATA | end, 40)
        })
    })
    .busy(),
    Row::new("descriptors: all ones", |target| {
        ring(target, |_| [u32::MAX; 4])
    })
    .busy(),
    Row::new("descriptors: all zeroes", |target| ring(target, |_| [0; 4])).busy(),
    Row::new("descriptors: legacy, length 65535", |target| {
        ring(target, |_| {
            [IOVA as u32, (IOVA >> 32) as u32, 0x0b00_ffff, 0]
        })
    })
    .busy(),
    Row::new("descriptors: frames of 65535 bytes", |target| {
        ring(target, |_| data(65535, DATA | EOP | RS, 65535))
    })
    .busy(),
    Row::new("descriptors: frames at IOVAs without a map", |target| {
        ring(target, |slot| {
            [slot << 12, 0x77, DATA | EOP | RS | 60, 60 << 14]
        })
    })
    .busy(),
    Row::new("descriptors: frames at the last IOVA", |target| {
        ring(target, |_| {
            [0xffff_fff0, u32::MAX, DATA | EOP | RS | 60, 60 << 14]
        })
    })
    .busy(),
    Row::new("descriptors: frames in the ring itself", |target| {
        ring(target, |_| {
            [
                IOVA as u32,
                (IOVA >> 32) as u32,
                DATA | EOP | RS | 1024,
                1024 << 14,
            ]
        })
    })
    .busy(),
    Row::new("rings: at IOVAs without a map", |target| {
        placed(target, 0x77, 0, DESCRIPTORS * 16)
    })
    .busy(),
    Row::new("rings: at the last IOVA", |target| {
        placed(target, u32::MAX, 0xffff_ff80, DESCRIPTORS * 16)
    })
    .busy(),
    Row::new("rings: length 0", |target| placed(target, 1, 0, 0)).busy(),
    Row::new("rings: length 128", |target| placed(target, 1, 0, 128)).busy(),
    Row::new("rings: length of all ones", |target| {
        placed(target, 1, 0, u32::MAX)
    })
    .busy(),
    Row::new("rings: at an odd address", |target| {
        placed(target, 1, 1, DESCRIPTORS * 16)
    })
    .busy(),
    Row::new(
        "rings: all 128 queues at once, at the same memory",
        |target| {
            let mut session = Session::open(&target.socket)?;
            let queue = Queue::start(&mut session)?;
            session.set(r::RXCTRL, r::RXCTRL_RXEN)?;
            for n in 0..128 {
                session.set(r::TDBAL(n), IOVA as u32)?;
                session.set(r::TDBAH(n), (IOVA >> 32) as u32)?;
                session.set(r::TDLEN(n), DESCRIPTORS * 16)?;
                session.set(r::TXDCTL(n), r::TXDCTL_ENABLE)?;
                session.set(r::TDT(n), DESCRIPTORS - 1)?;
                session.set(r::RDBAL(n), IOVA as u32)?;
                session.set(r::RDBAH(n), (IOVA >> 32) as u32)?;
                session.set(r::RDLEN(n), DESCRIPTORS * 16)?;
                session.set(r::RXDCTL(n), r::RXDCTL_ENABLE)?;
                session.set(r::RDT(n), DESCRIPTORS - 1)?;
            }
            Ok(vec![Box::new(session), Box::new(queue.memory)])
        },
    )
    .busy(),
    Row::new("rings: receive buffers at IOVAs without a map", |target| {
        let mut session = Session::open(&target.socket)?;
        let queue = Queue::start(&mut session)?;
        for at in 0..DESCRIPTORS as usize * 4 {
            queue.memory.write(at, 0x7777_7777);
        }
        session.set(r::FCTRL, r::FCTRL_MPE | r::FCTRL_UPE | r::FCTRL_BAM)?;
        session.set(r::RDBAL(0), IOVA as u32)?;
        session.set(r::RDBAH(0), (IOVA >> 32) as u32)?;
        session.set(r::RDLEN(0), DESCRIPTORS * 16)?;
        session.set(r::RXDCTL(0), r::RXDCTL_ENABLE)?;
        session.set(r::RXCTRL, r::RXCTRL_RXEN)?;
        storm(&mut session, r::RDT(0))?;
        Ok(vec![Box::new(session), Box::new(queue.memory)])
    })
    .busy(),
    Row::new("head write-back: at IOVAs without a map", |target| {
        let mut session = Session::open(&target.socket)?;
        let queue = Queue::start(&mut session)?;
        session.set(r::TDWBAL(0), 0x7777_7701)?;
        session.set(r::TDWBAH(0), u32::MAX)?;
        storm(&mut session, r::TDT(0))?;
        Ok(vec![Box::new(session), Box::new(queue.memory)])
    })
    .busy(),
];

/// A data descriptor at the frame, with so many bytes here and in all.
fn data(len: u32, command: u32, total: u32) -> [u32; 4] {
    let address = IOVA + BUFFER;
    [
        address as u32,
        (address >> 32) as u32,
        command | len,
        total << 14,
    ]
}

/// A context of TCP over IPv4: headers of 14, 20 and 20 bytes.
fn context(mss: u32) -> [u32; 4] {
    [14 << 9 | 20, 0, CONTEXT | TCP_IPV4, mss << 16 | 20 << 8]
}

/// Asks for segmentation of long frames, again and again.
fn segmented(target: &Target, mss: u32) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let mut queue = Queue::start(&mut session)?;
    let start = Instant::now();
    // An IPv4 header, so that the card finds what it expects.
    queue.memory.write(BUFFER as usize / 4 + 3, 0x0045_0008);
    while start.elapsed() < STORM {
        for _ in 0..10 {
            queue.post(context(mss));
            for piece in 0..5 {
                let last = if piece == 4 { EOP | RS } else { 0 };
                queue.post(data(LONG / 5, DATA | TSE | last, LONG));
            }
        }
        queue.ring_doorbell(&mut session)?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(vec![Box::new(session), Box::new(queue.memory)])
}

/// Fills the ring with descriptors, again and again.
fn ring(target: &Target, descriptor: fn(u32) -> [u32; 4]) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let mut queue = Queue::start(&mut session)?;
    let start = Instant::now();
    while start.elapsed() < STORM / 2 {
        for slot in 0..DESCRIPTORS - 1 {
            queue.post(descriptor(slot));
        }
        queue.ring_doorbell(&mut session)?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(vec![Box::new(session), Box::new(queue.memory)])
}

/// Puts the ring elsewhere, and rings its doorbell.
fn placed(target: &Target, high: u32, low: u32, len: u32) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let queue = Queue::start(&mut session)?;
    session.set(r::TXDCTL(0), 0)?;
    session.set(r::TDBAL(0), low)?;
    session.set(r::TDBAH(0), high)?;
    session.set(r::TDLEN(0), len)?;
    session.set(r::TXDCTL(0), r::TXDCTL_ENABLE)?;
    storm(&mut session, r::TDT(0))?;
    Ok(vec![Box::new(session), Box::new(queue.memory)])
}

/// Rings a doorbell with changing values.
fn storm(session: &mut Session, tail: u32) -> io::Result<()> {
    let start = Instant::now();
    let mut value = 0;
    while start.elapsed() < STORM / 4 {
        value = (value + 17) % DESCRIPTORS;
        session.set(tail, value)?;
    }
    Ok(())
}
