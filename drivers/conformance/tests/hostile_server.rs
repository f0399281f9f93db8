//! Servers that lie, are slow, or pass the wrong descriptors. Whatever the server of its sockets does, a
//! driver ends within ten seconds, with exit status 0 or 1, and a message if it failed.
//!
//! The server is a thread of the test. It answers like a card whose registers are all messages, and each
//! test changes some of its replies.
#![allow(clippy::expect_used)] // for tests

use std::collections::HashMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{mpsc, Arc};
use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{for_each_implementation, Implementation, Output, Program};
use rustix::fs::{
    fallocate, fcntl_add_seals, ftruncate, memfd_create, FallocateFlags, MemfdFlags, SealFlags,
};
use rustix::io::Errno;
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

for_each_implementation!(
    an_honest_server_is_driven,
    areas_that_are_not_whole_pages_of_the_file_are_refused,
    a_register_file_that_could_become_shorter_is_refused,
    replies_with_descriptors_are_refused,
    a_server_that_sends_byte_by_byte,
    a_server_that_is_silent_at_the_mapping_of_memory,
    servers_that_answer_every_message_late,
    servers_that_answer_every_doorbell_late,
    registers_that_never_change,
    memory_keeps_its_size_and_its_pages,
    servers_without_interrupts_are_refused,
);

/// Every driver must end within this time.
const LIMIT: Duration = Duration::from_secs(10);

// Commands of the protocol.
const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const GET_INFO: u16 = 4;
const GET_REGION_INFO: u16 = 5;
const SET_IRQS: u16 = 8;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;

const HEADER: usize = 16;
const BAR0_SIZE: u64 = 0x2_0000;

/// A request of the driver.
struct Request {
    id: u16,
    command: u16,
    payload: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl Request {
    fn u64_at(&self, at: usize) -> u64 {
        let bytes = self.payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn u32_at(&self, at: usize) -> u32 {
        let bytes = self.payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Whether it writes the tail of a queue.
    fn is_doorbell(&self) -> bool {
        self.command == REGION_WRITE
            && self.u32_at(8) == 0
            && matches!(self.u64_at(0), 0x1018 | 0x6018)
    }
}

/// When the bytes of a reply are sent.
enum Pace {
    AtOnce,
    After(Duration),
    /// One byte, then a pause of this length.
    ByteByByte(Duration),
    Never,
}

/// A reply of the server.
struct Reply {
    payload: Vec<u8>,
    fds: Vec<OwnedFd>,
    pace: Pace,
    /// The server refuses the request with this error.
    refused: Option<Errno>,
}

impl Reply {
    fn with(payload: Vec<u8>) -> Self {
        Self {
            payload,
            fds: Vec::new(),
            pace: Pace::AtOnce,
            refused: None,
        }
    }
}

/// The registers of a card that does everything at once, except receiving and sending.
#[derive(Default)]
struct Card {
    values: HashMap<(u32, u64), u32>,
}

impl Card {
    fn read(&self, region: u32, offset: u64) -> u32 {
        let value = self.values.get(&(region, offset)).copied().unwrap_or(0);
        match (region, offset) {
            // Vendor and device of the 82599 in configuration space.
            (7, 0) => 0x10fb_8086,
            // CTRL: the reset is complete.
            (0, 0x0) => value & !0x0400_0008,
            // EEC.ARD, SECRXSTAT.SECRX_RDY, RDRXCTL.DMAIDONE, LINKS.UP
            (0, 0x10010) => 1 << 9,
            (0, 0x8d04) => 1,
            (0, 0x2f00) => value | 1 << 3,
            (0, 0x42a4) => 1 << 30 | 3 << 28,
            // TDH is TDT: everything was sent.
            (0, 0x6010) => self.read(0, 0x6018),
            _ => value,
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let (offset, region) = (request.u64_at(0), request.u32_at(8));
        Reply::with(match request.command {
            VERSION => b"\0\0\x01\0{}\0".to_vec(),
            GET_INFO => words([16, 2, 9, 5]),
            GET_REGION_INFO => region_info(&[]),
            REGION_READ => {
                let count = request.u32_at(12) as usize;
                let value = u64::from(self.read(region, offset & !3)) >> (8 * (offset & 3));
                let mut payload = request.payload.clone();
                payload.extend(&value.to_le_bytes()[..count.min(8)]);
                payload
            }
            REGION_WRITE => {
                let shift = 8 * (offset & 3);
                self.values
                    .insert((region, offset & !3), request.u32_at(16) << shift);
                request.payload[..16].to_vec()
            }
            // DMA_MAP and DMA_UNMAP return what they were sent.
            _ => request.payload.clone(),
        })
    }
}

fn words<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.map(u32::to_le_bytes).concat()
}

/// The description of BAR0, with these areas to map, each an offset and a size.
fn region_info(areas: &[(u64, u64)]) -> Vec<u8> {
    let (flags, at) = if areas.is_empty() { (3, 0) } else { (15, 32) };
    let size = if areas.is_empty() {
        32
    } else {
        48 + 16 * areas.len()
    };
    let mut info = words([size as u32, flags, 0, at]);
    info.extend([BAR0_SIZE, 0].map(u64::to_le_bytes).concat());
    if !areas.is_empty() {
        info.extend(words([1 | 1 << 16, 0, areas.len() as u32, 0]));
    }
    for &(offset, size) in areas {
        info.extend([offset, size].map(u64::to_le_bytes).concat());
    }
    info
}

fn receive(stream: &UnixStream, data: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<()> {
    let mut received = 0;
    while received < data.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut part = [IoSliceMut::new(&mut data[received..])];
        let message = recvmsg(stream, &mut part, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                fds.extend(passed);
            }
        }
        if message.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received += message.bytes;
    }
    Ok(())
}

fn send(stream: &UnixStream, data: &[u8], fds: &[OwnedFd]) -> io::Result<()> {
    let fds: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    sendmsg(
        stream,
        &[IoSlice::new(data)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Answers the driver until it goes away. `change` changes each reply before it is sent.
fn serve(stream: &UnixStream, change: &mut impl FnMut(&Request, &mut Reply)) -> io::Result<()> {
    let mut card = Card::default();
    loop {
        let mut header = [0; HEADER];
        let mut fds = Vec::new();
        receive(stream, &mut header, &mut fds)?;
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let size = usize::from(half(4)).max(HEADER);
        let mut payload = vec![0; size - HEADER];
        receive(stream, &mut payload, &mut fds)?;
        let request = Request {
            id: half(0),
            command: half(2),
            payload,
            fds,
        };
        let mut reply = card.answer(&request);
        change(&request, &mut reply);

        let size = (HEADER + reply.payload.len()) as u32;
        let mut bytes = words([
            u32::from(request.id) | u32::from(request.command) << 16,
            size,
        ]);
        bytes.extend(words(match reply.refused {
            Some(error) => [0x21, error.raw_os_error().unsigned_abs()],
            None => [1, 0],
        }));
        bytes.extend(&reply.payload);
        match reply.pace {
            Pace::Never => continue,
            Pace::ByteByByte(pause) => {
                for byte in bytes {
                    send(stream, &[byte], &[])?;
                    std::thread::sleep(pause);
                }
                continue;
            }
            Pace::After(pause) => std::thread::sleep(pause),
            Pace::AtOnce => {}
        }
        send(stream, &bytes, &reply.fds)?;
    }
}

/// Runs a driver on two servers whose replies `change` changes. The first argument is the port.
fn run(
    implementation: Implementation,
    change: impl FnMut(usize, &Request, &mut Reply) + Clone + Send + 'static,
) -> Result<Output> {
    run_with(implementation, &[], change)
}

/// The same with more arguments for the driver.
fn run_with(
    implementation: Implementation,
    arguments: &[&str],
    change: impl FnMut(usize, &Request, &mut Reply) + Clone + Send + 'static,
) -> Result<Output> {
    let directory = tempfile::tempdir()?;
    let mut devices = Vec::new();
    for port in 0..2 {
        let path = directory.path().join(format!("port{port}.sock"));
        let listener = UnixListener::bind(&path)?;
        devices.push(format!("vfio-user:{}", path.display()));
        let mut change = change.clone();
        // The thread ends when the driver closes its socket, or else with the test's process.
        std::thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            serve(&stream, &mut |request, reply| change(port, request, reply))
        });
    }
    let output = Program::forwarder(implementation)?
        .args(["--duration", "0.5", "--link-timeout", "1"])
        .args(arguments)
        .args(devices)
        .run(LIMIT)?;
    Ok(output)
}

/// A kernel without asynchronous I/O, or a card without MSI-X.
fn servers_without_interrupts_are_refused(implementation: Implementation) -> Result<()> {
    for error in [Errno::OPNOTSUPP, Errno::INVAL] {
        let output = run_with(
            implementation,
            &["--interrupts"],
            move |_, request, reply| {
                if request.command == SET_IRQS {
                    reply.payload.clear();
                    reply.refused = Some(error);
                }
            },
        )?;
        expect_failure(&output, &["refused command 8", "leave out --interrupts"])?;
    }
    Ok(())
}

/// Checks that a driver ended by itself, with one message that contains all `texts`.
fn expect_failure(output: &Output, texts: &[&str]) -> Result<()> {
    output.expect_exit(1)?.expect_stderr(texts)?;
    let lines = output.stderr.lines();
    let messages = lines.filter(|line| !line.contains("huge pages")).count();
    ensure!(messages == 1, "not exactly one message: {output}");
    Ok(())
}

fn an_honest_server_is_driven(implementation: Implementation) -> Result<()> {
    let output = run(implementation, |_, _, _| {})?;
    output.expect_success()?;
    Ok(())
}

/// A file of registers, sealed against shrinking or not.
fn register_file(size: u64, sealed: bool) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("hostile-bar0", flags).expect("a memfd");
    ftruncate(&file, size).expect("its size");
    if sealed {
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).expect("its seals");
    }
    file
}

/// Runs a driver on servers whose BAR0 has these areas, in a file of this size that starts at
/// `file_offset` of it.
fn run_mapped(
    implementation: Implementation,
    areas: &'static [(u64, u64)],
    file_offset: u64,
    file_size: u64,
    sealed: bool,
) -> Result<Output> {
    run(implementation, move |_, request, reply| {
        if request.command == GET_REGION_INFO {
            reply.payload = region_info(areas);
            reply.payload[24..32].copy_from_slice(&file_offset.to_le_bytes());
            reply.fds = vec![register_file(file_size, sealed)];
        }
    })
}

fn areas_that_are_not_whole_pages_of_the_file_are_refused(
    implementation: Implementation,
) -> Result<()> {
    let whole = BAR0_SIZE;
    // Register 0x1018 of this area would lie two bytes beyond the mapping.
    let output = run_mapped(implementation, &[(0x1a, 0x1000)], 0xfe6, whole, true)?;
    expect_failure(&output, &["port0.sock", "whole pages"])?;
    let output = run_mapped(implementation, &[(0x1000, 0x800)], 0, whole, true)?;
    expect_failure(&output, &["port0.sock", "whole pages"])?;
    let output = run_mapped(
        implementation,
        &[(0, 0x3000), (0x2000, 0x1000)],
        0,
        whole,
        true,
    )?;
    expect_failure(&output, &["port0.sock", "overlap"])?;
    // The file ends before the area does: an access would be a signal.
    let output = run_mapped(implementation, &[(0, 0x10000)], 0, 0x8000, true)?;
    expect_failure(&output, &["port0.sock", "end of the file"])?;
    let output = run_mapped(implementation, &[(0, 0x1000)], !0xfff, whole, true)?;
    expect_failure(&output, &["port0.sock", "end of the file"])?;
    Ok(())
}

fn a_register_file_that_could_become_shorter_is_refused(
    implementation: Implementation,
) -> Result<()> {
    let output = run_mapped(implementation, &[(0, BAR0_SIZE)], 0, BAR0_SIZE, false)?;
    expect_failure(&output, &["port0.sock", "F_SEAL_SHRINK"])
}

/// The first reply to `command` carries this many descriptors.
fn replies_with_descriptors_are_refused(implementation: Implementation) -> Result<()> {
    for (command, count) in [
        (VERSION, 1),
        (GET_REGION_INFO, 2),
        (REGION_READ, 1),
        (DMA_MAP, 8),
    ] {
        let output = run(implementation, move |_, request, reply| {
            if request.command == command {
                reply.fds = (0..count).map(|_| register_file(4096, true)).collect();
            }
        })?;
        expect_failure(&output, &["port0.sock", "descriptor"])?;
    }
    Ok(())
}

/// The limit counts for the whole reply, not from each byte.
fn a_server_that_sends_byte_by_byte(implementation: Implementation) -> Result<()> {
    let output = run(implementation, |port, request, reply| {
        if port == 1 && request.command == VERSION {
            reply.pace = Pace::ByteByByte(Duration::from_secs(1));
        }
    })?;
    expect_failure(&output, &["port1.sock", "stopped or stuck"])
}

/// The driver gives up the device, and does not wait for it again when it frees its memory.
fn a_server_that_is_silent_at_the_mapping_of_memory(implementation: Implementation) -> Result<()> {
    let mut maps = 0;
    let output = run(implementation, move |port, request, reply| {
        maps += usize::from(request.command == DMA_MAP);
        if port == 1 && maps > 3 {
            reply.pace = Pace::Never;
        }
    })?;
    expect_failure(&output, &["port1.sock", "stopped or stuck"])
}

/// Every reply is in time, but not all of them together.
fn servers_that_answer_every_message_late(implementation: Implementation) -> Result<()> {
    for pause in [1900, 20] {
        let output = run(implementation, move |_, _, reply| {
            reply.pace = Pace::After(Duration::from_millis(pause));
        })?;
        expect_failure(&output, &["port0.sock", "too slowly"])?;
    }
    Ok(())
}

/// A card that completes no descriptor gets no doorbells after the start, so these answer late at once.
fn servers_that_answer_every_doorbell_late(implementation: Implementation) -> Result<()> {
    let output = run(implementation, |_, request, reply| {
        if request.is_doorbell() {
            reply.pace = Pace::After(Duration::from_millis(2500));
        }
    })?;
    expect_failure(&output, &[".sock", "too slowly"])
}

/// Both ports accept every message at once, but no register does what it should.
fn registers_that_never_change(implementation: Implementation) -> Result<()> {
    // The values that keep a driver waiting longest: it takes the device to be busy for ever.
    for (offset, stuck) in [
        (0x0, 0x0400_0008_u32),
        (0x8, 1 << 19),
        (0x1028, 1 << 25),
        (0x6010, 9),
    ] {
        let output = run(implementation, move |_, request, reply| {
            if request.command == REGION_READ
                && request.u32_at(8) == 0
                && (request.u64_at(0) == offset
                    || offset == 0x1028 && matches!(request.u64_at(0), 0x1028..=0x2000))
            {
                reply.payload[16..20].copy_from_slice(&stuck.to_le_bytes());
            }
        })?;
        match offset {
            // The end of bus mastering ends the requests of a master that stays enabled.
            0x8 => output
                .expect_exit(0)?
                .expect_stderr(["warning: ", "STATUS.MASTER_ENABLE"])
                .map(drop)?,
            _ => expect_failure(&output, &["port0.sock", "waited for"])?,
        }
    }
    Ok(())
}

/// The server cannot shorten the memory that it got, nor take its pages away once it is mapped. The
/// driver forwards on.
fn memory_keeps_its_size_and_its_pages(implementation: Implementation) -> Result<()> {
    let (results, outcomes) = mpsc::channel();
    let mut kept: Vec<Arc<OwnedFd>> = Vec::new();
    let output = run(implementation, move |_, request, _| {
        if request.command == DMA_MAP {
            for fd in &request.fds {
                let _ = results.send(("shorten", ftruncate(fd, 0)));
                let _ = results.send(("lengthen", ftruncate(fd, 1 << 40)));
                let _ = results.send(("seal", fcntl_add_seals(fd, SealFlags::WRITE)));
                kept.extend(fd.try_clone().map(Arc::new));
            }
        } else if request.command == REGION_WRITE {
            // The driver has mapped this memory for all devices by now.
            for fd in kept.drain(..) {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let _ = results.send(("take pages of", fallocate(&fd, flags, 0, 4096)));
            }
        }
    })?;
    output.expect_success()?;
    let outcomes: Vec<_> = outcomes.try_iter().collect();
    ensure!(outcomes.len() >= 12, "the driver mapped too little memory");
    for (what, outcome) in outcomes {
        ensure!(
            matches!(outcome, Err(Errno::PERM | Errno::BUSY)),
            "the server could {what} the memory: {outcome:?}"
        );
    }
    Ok(())
}
