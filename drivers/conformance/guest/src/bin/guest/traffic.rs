//! Both ends of the tests' traffic. Every wait is bounded.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use sha2::{Digest, Sha256};

/// How long an end waits for the next bytes.
const QUIET: Duration = Duration::from_secs(10);
/// How long a receiver waits for its connection.
const CONNECTION: Duration = Duration::from_secs(20);
/// Bytes handed to TCP at once: several segments, so that the card must split them.
const CHUNK: usize = 256 * 1024;
/// Datagrams in flight at once.
const WINDOW: usize = 16;

/// Prints a transfer's number of bytes and their hash in one line.
fn report(bytes: u64, hash: Sha256) {
    let hex: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    println!("{bytes} {hex}");
}

/// Fills a buffer with pseudo-random bytes (xorshift64), fast enough not to limit the transfer.
fn fill(state: &mut u64, buffer: &mut [u8]) {
    for word in buffer.chunks_mut(8) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        word.copy_from_slice(&state.to_le_bytes()[..word.len()]);
    }
}

pub(crate) fn tcp_receive(port: u16) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    listener.set_nonblocking(true)?;
    let deadline = Instant::now() + CONNECTION;
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ensure!(
                    Instant::now() < deadline,
                    "no connection within {CONNECTION:?}"
                );
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error.into()),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(QUIET))?;
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        match stream
            .read(&mut buffer)
            .with_context(|| format!("after {bytes} bytes"))?
        {
            0 => break,
            got => {
                hash.update(&buffer[..got]);
                bytes += got as u64;
            }
        }
    }
    report(bytes, hash);
    Ok(())
}

pub(crate) fn tcp_send(to: SocketAddr, bytes: u64) -> Result<()> {
    let deadline = Instant::now() + CONNECTION;
    // The receiver may not listen yet.
    let mut stream = loop {
        match TcpStream::connect_timeout(&to, QUIET) {
            Ok(stream) => break stream,
            Err(error) => ensure!(Instant::now() < deadline, "{to}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    stream.set_write_timeout(Some(QUIET))?;
    let (mut hash, mut sent, mut buffer) = (Sha256::new(), 0, vec![0; CHUNK]);
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ bytes;
    while sent < bytes {
        let part = CHUNK.min(usize::try_from(bytes - sent)?);
        fill(&mut state, &mut buffer[..part]);
        hash.update(&buffer[..part]);
        stream
            .write_all(&buffer[..part])
            .with_context(|| format!("after {sent} bytes"))?;
        sent += part as u64;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // The receiver closes the connection when it has all bytes.
    stream.set_read_timeout(Some(QUIET))?;
    ensure!(stream.read(&mut [0])? == 0, "{to} sent bytes back");
    report(sent, hash);
    Ok(())
}

pub(crate) fn udp_echo(port: u16) -> Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    let mut buffer = vec![0; 65_536];
    loop {
        let (got, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..got], from)?;
    }
}

/// The datagram of this length. All lengths have different bytes.
fn datagram(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (length as u64) << 20;
    let mut bytes = vec![0; length];
    fill(&mut state, &mut bytes);
    bytes
}

pub(crate) fn udp_check(to: SocketAddr, lengths: RangeInclusive<usize>) -> Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    let all: Vec<_> = lengths.collect();
    let mut buffer = vec![0; 65_536];
    // The echo may not listen yet, and then refuses a datagram.
    let deadline = Instant::now() + CONNECTION;
    while socket
        .send(b"?")
        .and_then(|_| socket.recv(&mut buffer))
        .is_err()
    {
        ensure!(Instant::now() < deadline, "{to} does not answer");
        std::thread::sleep(Duration::from_millis(50));
    }
    for window in all.chunks(WINDOW) {
        let mut missing = window.to_vec();
        for length in window {
            socket.send(&datagram(*length))?;
        }
        while !missing.is_empty() {
            let got = socket.recv(&mut buffer).with_context(|| {
                format!("datagrams of these lengths did not come back: {missing:?}")
            })?;
            let place = missing.iter().position(|length| *length == got);
            let place = place
                .with_context(|| format!("an unexpected datagram of {got} bytes came back"))?;
            missing.swap_remove(place);
            ensure!(
                buffer[..got] == datagram(got),
                "the datagram of {got} bytes came back altered"
            );
        }
    }
    println!("{} datagrams", all.len());
    Ok(())
}
