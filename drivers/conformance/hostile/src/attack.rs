//! What the hostile client does: the steps of which its rows consist. Their errors are those of the socket,
//! and promises that the card breaks.

use std::any::Any;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use harness::client::{accepted, fill, new_eventfd, signals, Session, PATIENCE};
use harness::codec::payload::{self, CONNECT, KINDS, MSIX, TRIGGER};
use harness::codec::{command, send_message, words, BAR0, BAR0_LEN, CONFIG};
use harness::memory::{memfd, Mapping};
use harness::Program;
use nic::registers as r;
use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};
use rustix::io::Errno;

use crate::builds::Build;
use crate::honest::{data, Queue, BUFFER, DESCRIPTORS, IOVA};
use crate::lie::{After, Lie};

/// How long an attack that repeats itself lasts.
const STORM: Duration = Duration::from_millis(600);

/// The card as the attacker sees it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Socket of the attacked port.
    pub socket: PathBuf,
    /// Socket of a second port, for attacks that need two.
    pub second: PathBuf,
}

/// What the attacker keeps until the checks are done: sessions, descriptors, memory.
pub type Held = Vec<Box<dyn Any + Send>>;

type Act = dyn Fn(&Target) -> io::Result<Held> + Send + Sync;

/// An attack.
#[derive(Clone)]
pub struct Attack(Arc<Act>);

impl Attack {
    /// Attacks. Returns what the attacker keeps.
    ///
    /// # Errors
    /// If the attack could not be set up. That the card closes the connection or does not answer is
    /// no error: whether the card serves others decides.
    pub fn perform(&self, target: &Target) -> Result<Held> {
        match self.0(target) {
            Err(error) if is_rebuff(&error) => Ok(Vec::new()),
            other => other.context("the attack could not be made"),
        }
    }
}

/// Whether an error means that the card has closed the connection, or lets the attacker wait.
pub fn is_rebuff(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    let kind = error.kind();
    matches!(
        kind,
        BrokenPipe | ConnectionReset | TimedOut | UnexpectedEof | WouldBlock
    )
}

/// Any attack.
pub fn act(act: impl Fn(&Target) -> io::Result<Held> + Send + Sync + 'static) -> Attack {
    Attack(Arc::new(act))
}

/// An attack in a session, which stays. `act` returns what else stays.
pub fn session<T: Any + Send>(
    attack: impl Fn(&mut Session) -> io::Result<T> + Send + Sync + 'static,
) -> Attack {
    act(move |target| {
        let mut session = Session::open(&target.socket)?;
        let kept = attack(&mut session)?;
        Ok(vec![Box::new(session), Box::new(kept)])
    })
}

/// An attack in a session whose transmit queue 0 runs. The memory of the queue stays mapped.
pub fn queue(
    attack: impl Fn(&mut Session, &mut Queue) -> io::Result<()> + Send + Sync + 'static,
) -> Attack {
    session(move |session| {
        let mut queue = Queue::start(session)?;
        attack(session, &mut queue)?;
        Ok(queue.memory)
    })
}

/// Sends a first message about which it lies.
pub fn first(command: u16, payload: Vec<u8>, lie: Lie) -> Attack {
    act(move |target| send_lie(Session::connect(&target.socket)?, command, &payload, &lie))
}

/// Sends a message about which it lies, after the version.
pub fn message(command: u16, payload: Vec<u8>, lie: Lie) -> Attack {
    act(move |target| {
        let session = Session::open_when_free(&target.socket, PATIENCE)?;
        send_lie(session, command, &payload, &lie)
    })
}

fn send_lie(mut session: Session, command: u16, payload: &[u8], lie: &Lie) -> io::Result<Held> {
    let mut message = session.request(command, payload);
    match lie.tell(&session.stream, None, &mut message, &[])? {
        After::Send => send_message(&session.stream, &message)?,
        After::Closed => return Ok(Vec::new()),
        After::Said | After::Silent => {}
    }
    Ok(vec![Box::new(session)])
}

/// Sends commands, each of which the card may refuse.
pub fn calls<I: IntoIterator<Item = (u16, Vec<u8>)> + 'static>(calls: fn() -> I) -> Attack {
    session(move |session| {
        for (command, payload) in calls() {
            // What the card answers is its own affair: the checks that follow count.
            let _ = session.call(command, &payload, &[])?;
        }
        Ok(())
    })
}

/// A write to a region, for [`calls`].
pub fn write(region: u32, offset: u64, data: &[u8]) -> (u16, Vec<u8>) {
    (command::REGION_WRITE, payload::write(offset, region, data))
}

/// Writes registers while the queue runs.
pub fn registers<I: IntoIterator<Item = (u32, u32)> + 'static>(writes: fn() -> I) -> Attack {
    queue(move |session, _| session.set_all(writes()))
}

/// Repeats an action for a while.
pub fn storm(time: Duration, mut action: impl FnMut(u32) -> io::Result<()>) -> io::Result<()> {
    let start = Instant::now();
    (0..)
        .take_while(|_| start.elapsed() < time)
        .try_for_each(&mut action)
}

/// Repeats an action in one session for a while.
pub fn repeated(action: fn(&mut Session) -> io::Result<()>) -> Attack {
    session(move |session| storm(STORM, |_| action(session)))
}

/// Connects so often, and sends nothing.
pub fn silent(count: usize) -> Attack {
    use rustix::net::{
        connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType,
    };
    // The queue of a listening socket has a limit, at which a blocking connect would wait.
    let connected = |target: &Target| -> io::Result<OwnedFd> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(&target.socket)?)?;
        Ok(socket)
    };
    act(move |target| {
        let held: Vec<_> = (0..count).filter_map(|_| connected(target).ok()).collect();
        match held.is_empty() {
            true => Err(io::Error::other("no connection was possible")),
            false => Ok(vec![Box::new(held)]),
        }
    })
}

/// Starts the C driver on two ports, and kills it after so many milliseconds. All that in turn.
pub fn killed_drivers(milliseconds: &'static [u64]) -> Attack {
    act(move |target| {
        let program = Build::C.program().map_err(io::Error::other)?;
        for time in milliseconds {
            let sockets = [&target.socket, &target.second];
            let devices = sockets.map(|socket| format!("vfio-user:{}", socket.display()));
            let driver = Program::at(&program)
                .args(["--duration", "30"])
                .args(devices);
            let driver = driver.start().map_err(io::Error::other)?;
            std::thread::sleep(Duration::from_millis(*time));
            drop(driver);
        }
        Ok(Vec::new())
    })
}

/// Connects an eventfd with vector 0 of this kind.
pub fn connected(session: &mut Session, kind: u32) -> io::Result<OwnedFd> {
    let eventfd = new_eventfd()?;
    connect(session, kind, 0, &eventfd)?;
    Ok(eventfd)
}

fn connect(session: &mut Session, kind: u32, vector: u32, eventfd: &OwnedFd) -> io::Result<()> {
    accepted(session.interrupt(CONNECT, kind, vector, &[eventfd.as_fd()])?).map(drop)
}

/// A way to make the card signal vector 0 of a kind.
pub type Signal = fn(&mut Session, u32) -> io::Result<()>;
/// By a request.
pub const REQUEST: Signal = |session, kind| session.interrupt(TRIGGER, kind, 0, &[]).map(drop);
/// By the register EICS.
pub const EICS: Signal = |session, kind| {
    let mode = if kind == MSIX { r::GPIE_MSIX_MODE } else { 0 };
    session.set_all([
        (r::GPIE, mode),
        (r::IVAR(0), 0x8080_8080),
        (r::IVAR_MISC, 0x8080),
        (r::EIMS, u32::MAX >> 1),
        (r::EICS, u32::MAX >> 1),
    ])
};

/// Fails unless something holds that the card promises.
fn ensure(holds: bool, what: &str) -> io::Result<()> {
    holds
        .then_some(())
        .ok_or_else(|| io::Error::other(what.to_owned()))
}

/// Connects an eventfd of the kind number `kind`, fills it, and makes the card signal it so often. The port
/// still answers, and signals again once the counter is read. Then the attacker does it once more.
pub fn full(kind: usize, signal: Signal, times: u32) -> Attack {
    session(move |session| {
        let kind = KINDS[kind];
        let eventfd = connected(session, kind)?;
        fill(&eventfd)?;
        (0..times).try_for_each(|_| signal(session, kind))?;
        ensure(session.get(r::STATUS)? != 0, "the port does not answer")?;
        ensure(signals(&eventfd)? >= u64::MAX - 1, "it was not full")?;
        REQUEST(session, kind)?;
        ensure(signals(&eventfd)? >= 1, "there are no signals any more")?;
        fill(&eventfd)?;
        signal(session, kind)?;
        Ok(eventfd)
    })
}

/// Connects 64 vectors with full eventfds, one for all or one for each, and signals all.
pub fn full_vectors(shared: bool) -> Attack {
    session(move |session| {
        let count = if shared { 1 } else { 64 };
        let eventfds: io::Result<Vec<_>> = (0..count).map(|_| new_eventfd()).collect();
        let eventfds = eventfds?;
        (0..64).try_for_each(|vector| {
            connect(session, MSIX, vector as u32, &eventfds[vector % count])
        })?;
        eventfds.iter().try_for_each(fill)?;
        EICS(session, MSIX)?;
        let all = payload::interrupts(TRIGGER, MSIX, 0, 64);
        let _ = session.call(command::SET_IRQS, &all, &[])?;
        Ok(eventfds)
    })
}

/// Connects a descriptor that is no eventfd, alone and after an eventfd. The card refuses with EINVAL, and
/// the eventfd of before stays connected.
pub fn no_eventfd(make: fn() -> io::Result<(OwnedFd, Option<OwnedFd>)>) -> Attack {
    session(move |session| {
        let (descriptor, peer) = make()?;
        let refused = |session: &mut Session, kind, files: &[BorrowedFd<'_>]| {
            let payload = payload::interrupts(CONNECT, kind, 0, files.len() as u32);
            let answer = session.call(command::SET_IRQS, &payload, files)?;
            let refused = answer == Err(Errno::INVAL.raw_os_error() as u32);
            ensure(refused, "the card takes a descriptor that is no eventfd")
        };
        for kind in KINDS {
            let eventfd = connected(session, kind)?;
            refused(session, kind, &[descriptor.as_fd()])?;
            REQUEST(session, kind)?;
            ensure(signals(&eventfd)? == 1, "the eventfd is not connected")?;
            if kind == MSIX {
                refused(session, kind, &[eventfd.as_fd(), descriptor.as_fd()])?;
            }
        }
        EICS(session, MSIX)?;
        Ok((descriptor, peer))
    })
}

/// Fills a descriptor until it would block, and then lets it block.
pub fn stuff(descriptor: &OwnedFd) -> io::Result<()> {
    let flags = fcntl_getfl(descriptor)?;
    fcntl_setfl(descriptor, flags | OFlags::NONBLOCK)?;
    while rustix::io::write(descriptor, &[0; 4096]).is_ok() {}
    Ok(fcntl_setfl(descriptor, flags)?)
}

/// Sends SET_IRQS with these words and an eventfd.
pub fn vectors(flags: u32, kind: u32, start: u32, count: u32) -> Attack {
    session(move |session| {
        let eventfd = new_eventfd()?;
        let payload = payload::interrupts(flags, kind, start, count);
        let _ = session.call(command::SET_IRQS, &payload, &[eventfd.as_fd()])?;
        Ok(eventfd)
    })
}

/// Sends a command again and again, and reads no answer.
pub fn unread(count: u32, command: u16, payload: Vec<u8>) -> Attack {
    session(move |session| {
        session
            .stream
            .set_write_timeout(Some(Duration::from_secs(1)))?;
        (0..count).try_for_each(|_| session.post(command, &payload))
    })
}

/// Maps `count` parts of a sparse file of `len` bytes, or of a file for each, at the offset and IOVA of its
/// `place`. The card takes `most` and refuses the rest; without `most`, it may refuse at any number.
pub fn parts(
    each: bool,
    len: u64,
    size: u64,
    count: u64,
    most: Option<u64>,
    place: impl Fn(u64) -> [u64; 2] + Send + Sync + 'static,
) -> Attack {
    session(move |session| {
        let mut file = memfd(len)?;
        for nth in 0..count {
            let [offset, iova] = place(nth);
            let taken = session.map(&file, offset, iova, size)?.is_ok();
            if !taken && most.is_none() {
                break;
            }
            let right = most.is_none_or(|most| taken == (nth < most));
            ensure(right, "the card takes another number of maps")?;
            if each {
                file = memfd(len)?;
            }
        }
        Ok(file)
    })
}

/// Maps so many parts of a sparse file, each at offset 0. The card refuses from some number on.
pub fn sparse(len: u64, size: u64, count: u64) -> Attack {
    parts(false, len, size, count, None, move |nth| [0, nth * size])
}

/// Maps a file of a mebibyte at these offsets, IOVAs and sizes. The card may refuse each.
pub fn maps<const N: usize>(maps: [(u64, u64, u64); N]) -> Attack {
    session(move |session| {
        let file = memfd(1 << 20)?;
        for (offset, iova, size) in maps {
            let _ = session.map(&file, offset, iova, size)?;
        }
        Ok(file)
    })
}

/// Maps a mebibyte at IOVA 0.
pub fn mapped(session: &mut Session) -> io::Result<OwnedFd> {
    let file = memfd(1 << 20)?;
    accepted(session.map(&file, 0, 0, 1 << 20)?)?;
    Ok(file)
}

/// Starts a queue, and hands over 40 frames.
pub fn sending(session: &mut Session) -> io::Result<Queue> {
    let mut queue = Queue::start(session)?;
    (0..40).for_each(|_| _ = queue.post_frame());
    queue.ring_doorbell(session)?;
    Ok(queue)
}

/// Changes the file of a queue while the card sends from it.
pub fn while_sending(change: fn(&OwnedFd) -> rustix::io::Result<()>) -> Attack {
    session(move |session| {
        // Memory beyond the end of a file ends the process that touches it, so no mapping stays.
        let file = sending(session)?.file;
        change(&file)?;
        for tail in 0..200 {
            match session.set(r::TDT(0), tail % DESCRIPTORS) {
                Err(error) if is_rebuff(&error) => break,
                other => other?,
            }
        }
        Ok(file)
    })
}

/// Writes all registers of BAR0, in writes of 4 KiB.
pub fn each_register(value: fn(u32) -> u32) -> Attack {
    queue(move |session, _| {
        for page in (0..BAR0_LEN as u32).step_by(0x1000) {
            let values: Vec<_> = (page..page + 0x1000).step_by(4).map(value).collect();
            let (command, payload) = write(BAR0, u64::from(page), &words(&values));
            let _ = session.call(command, &payload, &[])?;
        }
        Ok(())
    })
}

/// Writes all shared words 50 times.
pub fn shared_registers(value: fn(usize) -> u32) -> Attack {
    session(move |session| {
        let queue = Queue::start(session)?;
        let mapping = Mapping::of(session.register_file()?)?;
        for _ in 0..50 {
            for page in [0x1000, 0x6000] {
                (page / 4..(page + 0x1000) / 4).for_each(|at| mapping.write(at, value(at)));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok((mapping, queue.memory))
    })
}

/// Keeps the configuration space busy: bus mastering on and off.
pub fn bus_mastering(times: u32) -> Attack {
    session(move |session| {
        (0..times).try_for_each(|nth| {
            session.write(CONFIG, 4, if nth % 2 == 0 { &[6, 0] } else { &[0, 0] })
        })
    })
}

/// A context of TCP over IPv4: headers of 14, 20 and 20 bytes.
pub fn context(mss: u64) -> [u64; 2] {
    let kind = r::TXD_DEXT | r::TXD_DTYP_CONTEXT | r::TXD_CONTEXT_L4T_TCP | r::TXD_CONTEXT_IPV4;
    let lengths = r::field64(r::TXD_CONTEXT_L4LEN, 20) | r::field64(r::TXD_CONTEXT_MSS, mss);
    [14 << 9 | 20, kind | lengths]
}

/// Asks for segmentation of frames of 256 KiB, again and again.
pub fn segmented(mss: u64) -> Attack {
    const LONG: u64 = 256 << 10;
    const LAST: u64 = r::TXD_EOP | r::TXD_RS;
    queue(move |session, queue| {
        // An IPv4 header, so that the card finds what it expects.
        queue.memory.write(BUFFER as usize / 4 + 3, 0x0045_0008);
        storm(Duration::from_millis(800), |_| {
            for _ in 0..10 {
                queue.post(context(mss));
                for piece in 0..5 {
                    let last = if piece == 4 { LAST } else { 0 };
                    queue.post(data(LONG / 5, r::TXD_IFCS | r::TXD_TSE | last, LONG));
                }
            }
            std::thread::sleep(Duration::from_millis(1));
            queue.ring_doorbell(session)
        })
    })
}

/// Fills the ring with descriptors, again and again.
pub fn ring(descriptor: fn(u64) -> [u64; 2]) -> Attack {
    queue(move |session, queue| {
        storm(Duration::from_millis(400), |_| {
            (0..u64::from(DESCRIPTORS) - 1).for_each(|slot| _ = queue.post(descriptor(slot)));
            std::thread::sleep(Duration::from_millis(1));
            queue.ring_doorbell(session)
        })
    })
}

/// Rings a doorbell with changing values.
pub fn doorbells(session: &mut Session, tail: u32) -> io::Result<()> {
    storm(Duration::from_millis(200), |nth| {
        session.set(tail, nth.wrapping_mul(17) % DESCRIPTORS)
    })
}

/// Puts the ring of queue 0 elsewhere, and rings its doorbell.
pub fn placed(base: u64, len: u32) -> Attack {
    queue(move |session, _| {
        session.set_all([
            (r::TXDCTL(0), 0),
            (r::TDBAL(0), base as u32),
            (r::TDBAH(0), (base >> 32) as u32),
            (r::TDLEN(0), len),
            (r::TXDCTL(0), r::TXDCTL_ENABLE),
        ])?;
        doorbells(session, r::TDT(0))
    })
}

/// Registers that start queue `n` in both directions, with its rings at the same memory.
pub fn both_rings(n: u32) -> Vec<(u32, u32)> {
    let (low, high) = (IOVA as u32, (IOVA >> 32) as u32);
    vec![
        (r::TDBAL(n), low),
        (r::TDBAH(n), high),
        (r::TDLEN(n), DESCRIPTORS * 16),
        (r::TXDCTL(n), r::TXDCTL_ENABLE),
        (r::TDT(n), DESCRIPTORS - 1),
        (r::RDBAL(n), low),
        (r::RDBAH(n), high),
        (r::RDLEN(n), DESCRIPTORS * 16),
        (r::RXDCTL(n), r::RXDCTL_ENABLE),
        (r::RDT(n), DESCRIPTORS - 1),
    ]
}
