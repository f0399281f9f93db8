//! Connections: too many, silent, half, and cut off.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::builds::Build;
use crate::client::attack::{is_rebuff, Held, Row, Target};
use crate::client::honest::Queue;
use crate::client::payload;
use crate::client::session::Session;
use crate::message::{command, receive, send};

/// How long an attack that repeats itself lasts.
const STORM: Duration = Duration::from_millis(600);

pub(super) const ROWS: &[Row] = &[
    Row::new("connections: silent from the start", |target| {
        silent(target, 1)
    })
    .yields(),
    Row::new("connections: 200 silent ones", |target| silent(target, 200)).yields(),
    Row::new("connections: 200 silent ones, few descriptors", |target| {
        silent(target, 200)
    })
    .files(24),
    Row::new("connections: 200 silent ones, no descriptor", |target| {
        silent(target, 200)
    })
    .files(0),
    Row::new("connections: silent after the version", |target| {
        Ok(vec![Box::new(Session::open(&target.socket)?)])
    }),
    Row::new("connections: 2,000 that close at once", |target| {
        for _ in 0..2000 {
            drop(Session::connect(&target.socket)?);
        }
        Ok(Vec::new())
    }),
    Row::new("connections: 20 with half a version", |target| {
        let mut held: Held = Vec::new();
        for _ in 0..20 {
            let mut session = Session::connect(&target.socket)?;
            let bytes = session
                .request(command::VERSION, &payload::version())
                .bytes();
            send(&session.stream, &bytes[..10], &[])?;
            held.push(Box::new(session));
        }
        Ok(held)
    })
    .yields(),
    Row::new(
        "connections: sessions that begin and end without pause",
        |target| {
            // The card may still be busy with the session before.
            storm(|| {
                drop(Session::open(&target.socket));
                Ok(())
            })?;
            Ok(Vec::new())
        },
    ),
    Row::new("connections: a byte each 50 ms", |target| {
        let mut session = Session::connect(&target.socket)?;
        for byte in session
            .request(command::VERSION, &payload::version())
            .bytes()
        {
            send(&session.stream, &[byte], &[])?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(vec![Box::new(session)])
    }),
    Row::new(
        "connections: requests whose answers are not read",
        |target| {
            let mut session = Session::open(&target.socket)?;
            session
                .stream
                .set_write_timeout(Some(Duration::from_secs(1)))?;
            for _ in 0..100 {
                session.post(command::REGION_READ, &payload::access(0, 0, 512 << 10))?;
            }
            Ok(vec![Box::new(session)])
        },
    ),
    Row::new("connections: a reset storm", |target| {
        let mut session = Session::open(&target.socket)?;
        storm(|| session.call(command::RESET, &[], &[]).map(drop))?;
        Ok(vec![Box::new(session)])
    }),
    Row::new("connections: a reset storm in registers", |target| {
        let mut session = Session::open(&target.socket)?;
        storm(|| session.set(0, 1 << 26))?;
        Ok(vec![Box::new(session)])
    }),
    Row::new("connections: random bytes", |target| {
        let session = Session::connect(&target.socket)?;
        let mut bytes = vec![0; 1 << 16];
        crate::memory::random_bytes(&mut bytes);
        send(&session.stream, &bytes, &[])?;
        Ok(vec![Box::new(session)])
    }),
    Row::new("connections: cut off while the queue runs", |target| {
        let mut session = Session::open(&target.socket)?;
        let mut queue = Queue::start(&mut session)?;
        for _ in 0..40 {
            queue.post_frame();
        }
        queue.ring_doorbell(&mut session)?;
        Ok(Vec::new())
    }),
    Row::new("connections: closed with an answer under way", |target| {
        let mut session = Session::open(&target.socket)?;
        session.post(command::REGION_READ, &payload::access(0, 0, 512 << 10))?;
        Ok(Vec::new())
    }),
    Row::new(
        "connections: both directions shut down, but open",
        |target| {
            let session = Session::open(&target.socket)?;
            session.stream.shutdown(std::net::Shutdown::Both)?;
            Ok(vec![Box::new(session)])
        },
    ),
    Row::new(
        "connections: only the writing direction shut down",
        |target| {
            let session = Session::open(&target.socket)?;
            session.stream.shutdown(std::net::Shutdown::Write)?;
            // The card may answer with the end of the connection.
            let ended = receive(&session.stream).map(drop);
            ended.or_else(|error| {
                if is_rebuff(&error) {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
            Ok(vec![Box::new(session)])
        },
    ),
    Row::new("drivers: one killed while it forwards", |target| {
        killed_driver(target, 300)
    }),
    Row::new("drivers: one killed while it starts", |target| {
        killed_driver(target, 20)
    }),
    Row::new("drivers: ten killed one after the other", |target| {
        for number in 0..10 {
            killed_driver(target, 10 * number)?;
        }
        Ok(Vec::new())
    }),
];

/// Repeats an action for a while.
fn storm(mut action: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let start = Instant::now();
    while start.elapsed() < STORM {
        action()?;
    }
    Ok(())
}

/// Connects so often, and sends nothing.
fn silent(target: &Target, count: usize) -> io::Result<Held> {
    let mut held: Held = Vec::new();
    for _ in 0..count {
        // The queue of a listening socket has a limit, at which connect would wait.
        let stream = nonblocking(target);
        if let Ok(stream) = stream {
            held.push(Box::new(stream));
        }
    }
    if held.is_empty() {
        return Err(io::Error::other("no connection was possible"));
    }
    Ok(held)
}

fn nonblocking(target: &Target) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::net::{
        connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(&target.socket)?)?;
    Ok(socket)
}

/// Starts the C driver on two ports, and kills it after so many milliseconds.
fn killed_driver(target: &Target, milliseconds: u64) -> io::Result<Held> {
    let program = Build::C.program().map_err(io::Error::other)?;
    let device = |path: &std::path::Path| format!("vfio-user:{}", path.display());
    let mut driver = Command::new(program)
        .args(["--duration", "30"])
        .args([device(&target.socket), device(&target.second)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    std::thread::sleep(Duration::from_millis(milliseconds));
    driver.kill()?;
    driver.wait()?;
    Ok(Vec::new())
}
