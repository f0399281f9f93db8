//! Descriptors for interrupts that block, or are none.

use nic::registers as r;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{eventfd, EventfdFlags};
use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};

use crate::client::attack::{Held, Row, Target};
use crate::client::payload::{self, CONNECT, TRIGGER};
use crate::client::session::{expect, Session};
use crate::descriptors::{files, Kind};
use crate::message::command;

/// Vectors of MSI-X.
const MSIX: u32 = 2;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "eventfd: full and blocking, signalled by request, INTx",
        |target| full(target, 0, by_request),
    ),
    Row::new(
        "eventfd: full and blocking, signalled by request, MSI",
        |target| full(target, 1, by_request),
    ),
    Row::new(
        "eventfd: full and blocking, signalled by request, MSI-X",
        |target| full(target, MSIX, by_request),
    ),
    Row::new(
        "eventfd: full and blocking, signalled by EICS, INTx",
        |target| full(target, 0, by_register),
    ),
    Row::new(
        "eventfd: full and blocking, signalled by EICS, MSI",
        |target| full(target, 1, by_register),
    ),
    Row::new(
        "eventfd: full and blocking, signalled by EICS, MSI-X",
        |target| full(target, MSIX, by_register),
    ),
    Row::new(
        "eventfd: full and blocking, signalled 1,000 times",
        |target| {
            let mut held = full(target, MSIX, by_register)?;
            let Some(session) = held
                .iter_mut()
                .find_map(|item| item.downcast_mut::<Session>())
            else {
                return Ok(held);
            };
            for _ in 0..1000 {
                session.set(r::EICS, 0x7fff_ffff)?;
            }
            Ok(held)
        },
    ),
    Row::new("eventfd: closed by the client", |target| {
        let (mut session, eventfd) = connected(target, MSIX)?;
        drop(eventfd);
        by_register(&mut session, MSIX)?;
        Ok(vec![Box::new(session)])
    }),
    Row::new("eventfd: the same for all vectors", |target| {
        let mut session = Session::open(&target.socket)?;
        let eventfd = eventfd(0, EventfdFlags::empty())?;
        for vector in 0..64 {
            let payload = payload::interrupts(CONNECT, MSIX, vector, 1);
            expect(
                "SET_IRQS",
                session.call(command::SET_IRQS, &payload, &[eventfd.as_fd()])?,
            )?;
        }
        fill(&eventfd)?;
        by_register(&mut session, MSIX)?;
        session
            .call(
                command::SET_IRQS,
                &payload::interrupts(TRIGGER, MSIX, 0, 64),
                &[],
            )?
            .ok();
        Ok(vec![Box::new(session), Box::new(eventfd)])
    }),
    Row::new("eventfd: 64 of their own, all full", |target| {
        let mut session = Session::open(&target.socket)?;
        let mut held: Held = Vec::new();
        for vector in 0..64 {
            let eventfd = eventfd(0, EventfdFlags::empty())?;
            let payload = payload::interrupts(CONNECT, MSIX, vector, 1);
            expect(
                "SET_IRQS",
                session.call(command::SET_IRQS, &payload, &[eventfd.as_fd()])?,
            )?;
            fill(&eventfd)?;
            held.push(Box::new(eventfd));
        }
        session
            .call(
                command::SET_IRQS,
                &payload::interrupts(TRIGGER, MSIX, 0, 64),
                &[],
            )?
            .ok();
        held.push(Box::new(session));
        Ok(held)
    }),
    Row::new("no eventfd: a pipe that is full", |target| {
        let pipe = crate::descriptors::pipe()?;
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        while rustix::io::write(&pipe, &[0; 4096]).is_ok() {}
        fcntl_setfl(&pipe, flags)?;
        other(target, pipe)
    }),
    Row::new("no eventfd: a socket that is full", |target| {
        let (one, peer) = std::os::unix::net::UnixStream::pair()?;
        one.set_nonblocking(true)?;
        while rustix::io::write(&one, &[0; 4096]).is_ok() {}
        one.set_nonblocking(false)?;
        let mut held = other(target, one.into())?;
        held.push(Box::new(peer));
        Ok(held)
    }),
    Row::new("no eventfd: an epoll descriptor", |target| {
        other(target, one(Kind::Epoll)?)
    }),
    Row::new("no eventfd: a memfd", |target| {
        other(target, one(Kind::Page)?)
    }),
    Row::new("no eventfd: a folder", |target| {
        other(target, one(Kind::Folder)?)
    }),
    Row::new("no eventfd: /dev/null", |target| {
        other(target, one(Kind::Null)?)
    }),
    Row::new("vectors: all 2^32 of them", |target| {
        request(target, payload::interrupts(CONNECT, MSIX, 0, u32::MAX))
    }),
    Row::new("vectors: a range that overflows", |target| {
        request(target, payload::interrupts(CONNECT, MSIX, u32::MAX, 2))
    }),
    Row::new("vectors: an unknown kind", |target| {
        request(target, payload::interrupts(CONNECT, 77, 0, 1))
    }),
    Row::new("vectors: all flags", |target| {
        request(target, payload::interrupts(u32::MAX, MSIX, 0, 1))
    }),
    Row::new("vectors: 200,000 requests without an answer", |target| {
        let mut session = Session::open(&target.socket)?;
        session
            .stream
            .set_write_timeout(Some(std::time::Duration::from_secs(1)))?;
        for _ in 0..200_000 {
            session.post(
                command::SET_IRQS,
                &payload::interrupts(TRIGGER, MSIX, 0, 64),
            )?;
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new("EICS: a storm of causes", |target| {
        let (mut session, eventfd) = connected(target, MSIX)?;
        for _ in 0..3000 {
            by_register(&mut session, MSIX)?;
        }
        Ok(vec![Box::new(session), Box::new(eventfd)])
    }),
];

/// Connects an eventfd with vector 0 of this kind.
fn connected(target: &Target, kind: u32) -> io::Result<(Session, OwnedFd)> {
    let mut session = Session::open(&target.socket)?;
    let eventfd = eventfd(0, EventfdFlags::NONBLOCK)?;
    let payload = payload::interrupts(CONNECT, kind, 0, 1);
    expect(
        "SET_IRQS",
        session.call(command::SET_IRQS, &payload, &[eventfd.as_fd()])?,
    )?;
    Ok((session, eventfd))
}

/// Makes an eventfd block, and fills its counter.
fn fill(eventfd: &OwnedFd) -> io::Result<()> {
    let flags = fcntl_getfl(eventfd)?;
    fcntl_setfl(eventfd, flags - OFlags::NONBLOCK)?;
    rustix::io::write(eventfd, &(u64::MAX - 1).to_ne_bytes())?;
    Ok(())
}

/// Connects an eventfd, fills it, and makes the card signal it.
fn full(
    target: &Target,
    kind: u32,
    signal: fn(&mut Session, u32) -> io::Result<()>,
) -> io::Result<Held> {
    let (mut session, eventfd) = connected(target, kind)?;
    fill(&eventfd)?;
    signal(&mut session, kind)?;
    Ok(vec![Box::new(session), Box::new(eventfd)])
}

fn by_request(session: &mut Session, kind: u32) -> io::Result<()> {
    let answer = session.call(
        command::SET_IRQS,
        &payload::interrupts(TRIGGER, kind, 0, 1),
        &[],
    )?;
    expect("SET_IRQS", answer).map(drop)
}

fn by_register(session: &mut Session, kind: u32) -> io::Result<()> {
    let is_msix = if kind == MSIX { 0x10 } else { 0 };
    session.set(r::GPIE, is_msix)?;
    session.set(r::IVAR(0), 0x8080_8080)?;
    session.set(r::IVAR_MISC, 0x8080)?;
    session.set(r::EIMS, 0x7fff_ffff)?;
    session.set(r::EICS, 0x7fff_ffff)
}

/// Connects a descriptor that is no eventfd, and makes the card signal it. The card may refuse.
fn other(target: &Target, descriptor: OwnedFd) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let payload = payload::interrupts(CONNECT, MSIX, 0, 1);
    // A refusal is what the card should answer, and the checks that follow count.
    let _ = session.call(command::SET_IRQS, &payload, &[descriptor.as_fd()])?;
    by_register(&mut session, MSIX)?;
    let _ = session.call(
        command::SET_IRQS,
        &payload::interrupts(TRIGGER, MSIX, 0, 1),
        &[],
    )?;
    Ok(vec![Box::new(session), Box::new(descriptor)])
}

fn request(target: &Target, payload: Vec<u8>) -> io::Result<Held> {
    let mut session = Session::open(&target.socket)?;
    let eventfd = eventfd(0, EventfdFlags::NONBLOCK)?;
    let _ = session.call(command::SET_IRQS, &payload, &[eventfd.as_fd()])?;
    Ok(vec![Box::new(session), Box::new(eventfd)])
}

fn one(kind: Kind) -> io::Result<OwnedFd> {
    let made = files(&[kind], Vec::new())?.pop();
    made.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
