//! Both ends of the tests' traffic. A receiver waits for ever: the host ends it.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use fastrand::Rng;
use sha2::{Digest, Sha256};

const TCP_PORT: u16 = 5001;
const UDP_PORT: u16 = 5002;
/// How long an end waits for the next bytes.
const QUIET: Duration = Duration::from_secs(10);
/// How often, and after what pause, an end tries to reach a receiver that may not listen yet.
const TRIES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(50);
/// Bytes handed to TCP at once: several segments, so that the card must split them.
const CHUNK: usize = 256 * 1024;
/// Datagrams in flight at once.
const WINDOW: usize = 16;
/// The longest datagram, in bytes: three fragments.
const LONGEST: usize = 3000;

/// Prints a transfer's number of bytes and their hash in one line.
fn report(bytes: u64, hash: Sha256) {
    println!("{bytes} {:02x?}", hash.finalize().to_vec());
}

/// Tries until it succeeds.
fn insist<T>(mut attempt: impl FnMut() -> std::io::Result<T>) -> Result<T> {
    for _ in 1..TRIES {
        if let Ok(done) = attempt() {
            return Ok(done);
        }
        thread::sleep(PAUSE);
    }
    attempt().context("the receiver does not listen")
}

/// Accepts one connection, and prints the number and SHA-256 of its bytes.
pub(crate) fn tcp_receive() -> Result<()> {
    let (mut stream, _) = TcpListener::bind((Ipv4Addr::UNSPECIFIED, TCP_PORT))?.accept()?;
    stream.set_read_timeout(Some(QUIET))?;
    let mut hash = Sha256::new();
    let bytes = std::io::copy(&mut stream, &mut hash)?;
    report(bytes, hash);
    Ok(())
}

/// Sends random bytes, and prints their number and SHA-256.
pub(crate) fn tcp_send(address: IpAddr, bytes: u64) -> Result<()> {
    let to = (address, TCP_PORT).into();
    let mut stream = insist(|| TcpStream::connect_timeout(&to, QUIET))?;
    stream.set_write_timeout(Some(QUIET))?;
    let (mut hash, mut sent, mut buffer) = (Sha256::new(), 0, vec![0; CHUNK]);
    let mut random = Rng::with_seed(bytes);
    while sent < bytes {
        let part = &mut buffer[..CHUNK.min(usize::try_from(bytes - sent)?)];
        random.fill(part);
        hash.update(&*part);
        let written = stream.write_all(part);
        written.with_context(|| format!("after {sent} bytes"))?;
        sent += part.len() as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    // The receiver closes the connection when it has all bytes.
    stream.set_read_timeout(Some(QUIET))?;
    ensure!(stream.read(&mut [0])? == 0, "{to} sent bytes back");
    report(sent, hash);
    Ok(())
}

/// Sends back all datagrams until killed.
pub(crate) fn udp_echo() -> Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, UDP_PORT))?;
    let mut buffer = [0; LONGEST];
    loop {
        let (got, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..got], from)?;
    }
}

/// The datagram of this length. All lengths have different bytes.
fn datagram(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Rng::with_seed(length as u64).fill(&mut bytes);
    bytes
}

/// Sends a datagram of each length, and checks that it comes back unaltered.
pub(crate) fn udp_check(address: IpAddr) -> Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((address, UDP_PORT))?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut buffer = [0; LONGEST + 1];
    // A datagram is refused while nothing listens.
    insist(|| socket.send(b"?").and_then(|_| socket.recv(&mut buffer)))?;
    let lengths: Vec<_> = (1..=LONGEST).collect();
    for window in lengths.chunks(WINDOW) {
        let mut missing = window.to_vec();
        for length in window {
            socket.send(&datagram(*length))?;
        }
        while !missing.is_empty() {
            let got = socket.recv(&mut buffer);
            let got = got.with_context(|| format!("did not come back: {missing:?}"))?;
            let place = missing.iter().position(|length| *length == got);
            missing.swap_remove(place.with_context(|| format!("unexpected: {got} bytes"))?);
            ensure!(buffer[..got] == datagram(got), "altered: {got} bytes");
        }
    }
    println!("{} datagrams", lengths.len());
    Ok(())
}
