//! Commands to a running NIC over a UNIX socket. Each command is a line, and so is each answer.
//!
//! | command | answer |
//! |---|---|
//! | `link PORT up`, `link PORT down` | `ok`: the wire is plugged in, or pulled out |
//! | `module PORT dac`, `… sr`, `… none` | `ok`: the SFP+ cage holds another module, or none |
//! | `stats` | JSON: the counters and the state of each port |
//! | `maps` | JSON: the rings and the DMA maps of each port, with the files behind them |
//! | `turn [FRAMES] [quiet]` | JSON: what the card did in one round; only if it works in turns |
//!
//! A command that fails is answered with `error: ` and the reason.
//!
//! A card in turns does one exact round at each `turn`. A program that traces a driver stops the driver,
//! lets the card work, and goes on. So two runs do the same, and nothing depends on the time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use clap::ValueEnum;
use rustix::event::{eventfd, EventfdFlags, PollFlags};
use serde::Serialize;

use crate::config::{Module, QUEUES};
use crate::data_plane::plane::DataPlane;
use crate::device::ring::{RingRegisters, RECEIVE, TRANSMIT};
use crate::error::NicError;
use crate::memory::dma::MapInFile;
use crate::memory::shared::FileId;
use crate::port::Port;
use crate::report::{PortCounters, Snapshot};
use crate::socket::{wait, ListeningSocket, ACCEPT_PAUSE};

/// Longest command, in bytes.
const MAX_LINE: usize = 256;
/// Most clients at a time. More clients wait until one leaves.
const MAX_CLIENTS: usize = 16;
/// Longest time that a client may take to read an answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

/// The answer to `stats` for one port.
#[derive(Debug, Serialize)]
struct PortStatus {
    port: usize,
    connected: bool,
    module: Module,
    mac_address: String,
    /// Over all sessions.
    #[serde(flatten)]
    counters: PortCounters,
    /// The state at this moment. Its `dma_faults` are those of the current session.
    state: Snapshot,
    notes: Vec<String>,
    unmodelled: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Ports<T> {
    ports: Vec<T>,
}

/// The answer to `turn`.
#[derive(Debug, Serialize)]
struct TurnDone {
    /// Frames stored in the driver's memory in this turn.
    received: u64,
    /// Frames that the card fetched from the driver in this turn.
    transmitted: u64,
    /// The transfers in order: port, `r` (the card reads) or `w`, IOVA, bytes.
    dma: Vec<(usize, char, u64, u32)>,
}

/// The answer to `maps` for one port: the memory that it and its driver share.
#[derive(Debug, Serialize)]
struct PortMemory {
    port: usize,
    /// The file of the register space. The driver may map pages of it.
    registers: FileId,
    rx_rings: Vec<RingMemory>,
    tx_rings: Vec<RingMemory>,
    maps: Vec<MapInFile>,
}

/// The ring of an enabled queue.
#[derive(Debug, Serialize)]
struct RingMemory {
    queue: u32,
    /// Offset of the tail register in the register space.
    tail: u32,
    iova: u64,
    bytes: u32,
}

/// A socket that takes the commands `link PORT up|down`, `module PORT dac|sr|none`, `stats`, `maps`
/// and `turn`. Dropping it closes the connections and removes the socket.
#[derive(Debug)]
pub struct ControlSocket {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl ControlSocket {
    /// `plane` is the data plane if the card works in turns.
    pub(crate) fn new(
        path: &Path,
        ports: Vec<Port>,
        mut plane: Option<DataPlane>,
    ) -> Result<Self, NicError> {
        let os = |what| move |reason| NicError::Os { what, reason };
        let socket = ListeningSocket::bind(path)?;
        let stop =
            eventfd(0, EventfdFlags::CLOEXEC).map_err(|errno| os("eventfd")(errno.into()))?;
        let stopping = stop.try_clone().map_err(os("eventfd"))?;
        let thread = std::thread::Builder::new()
            .name("nic control".to_owned())
            .spawn(move || serve(&socket, &stopping, &ports, &mut plane))
            .map_err(os("control thread"))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // The write fails only if the counter is full. Then the descriptor is readable anyway.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has reported the panic itself.
            let _ = thread.join();
        }
    }
}

/// A client, and the part of its next command that has arrived.
struct Client {
    stream: UnixStream,
    line: Vec<u8>,
}

fn serve(socket: &ListeningSocket, stop: &OwnedFd, ports: &[Port], plane: &mut Option<DataPlane>) {
    let mut clients: BTreeMap<u64, Client> = BTreeMap::new();
    let mut next = 0;
    let mut paused = false;
    loop {
        let mut fds = vec![(stop.as_fd(), PollFlags::IN)];
        fds.extend(
            clients
                .values()
                .map(|client| (client.stream.as_fd(), PollFlags::IN)),
        );
        if clients.len() < MAX_CLIENTS && !paused {
            fds.push((socket.fd(), PollFlags::IN));
        }
        let pause = paused.then_some(ACCEPT_PAUSE);
        paused = false;
        // An error here means that one of this process's own descriptors is bad.
        let Ok(ready) = wait(&fds, pause) else { return };
        if ready.first() == Some(&true) {
            return;
        }
        let numbers: Vec<u64> = clients.keys().copied().collect();
        for (number, ready) in numbers.iter().zip(&ready[1..]) {
            let stays = clients
                .get_mut(number)
                .is_some_and(|client| !ready || client.answer_commands(ports, plane));
            if !stays {
                clients.remove(number);
            }
        }
        if ready.get(1 + numbers.len()) == Some(&true) {
            match socket.accept().map(|client| client.and_then(Client::new)) {
                Ok(Some(client)) => {
                    clients.insert(next, client);
                    next += 1;
                }
                Ok(None) => {}
                Err(_no_room) => paused = true,
            }
        }
    }
}

impl Client {
    fn new(stream: UnixStream) -> Option<Self> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(CLIENT_TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(CLIENT_TIMEOUT)).ok()?;
        Some(Self {
            stream,
            line: Vec::new(),
        })
    }

    /// Reads the bytes that have arrived, and answers every complete line. Returns whether the
    /// client stays.
    fn answer_commands(&mut self, ports: &[Port], plane: &mut Option<DataPlane>) -> bool {
        let mut bytes = [0; MAX_LINE];
        let count = match self.stream.read(&mut bytes) {
            Ok(0) | Err(_) => return false,
            Ok(count) => count,
        };
        for byte in &bytes[..count] {
            if *byte != b'\n' {
                self.line.push(*byte);
                if self.line.len() > MAX_LINE {
                    let text = format!("error: the line has more than {MAX_LINE} bytes\n");
                    // The client must leave, whether or not it reads this.
                    let _ = self.stream.write_all(text.as_bytes());
                    return false;
                }
                continue;
            }
            let line = String::from_utf8_lossy(&self.line).into_owned();
            self.line.clear();
            let answer = execute(&line, ports, plane.as_mut())
                .unwrap_or_else(|reason| format!("error: {reason}"));
            if self.stream.write_all((answer + "\n").as_bytes()).is_err() {
                return false;
            }
        }
        true
    }
}

/// Executes a command. Returns the answer, or the reason why it failed.
fn execute(line: &str, ports: &[Port], plane: Option<&mut DataPlane>) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let port = |number: &str| {
        let found = number.parse().ok();
        let found = found.and_then(|number: usize| ports.get(number));
        found.ok_or_else(|| {
            let last = ports.len() - 1;
            format!("port {number:?}: ports are numbered 0 to {last}")
        })
    };
    match words[..] {
        ["link", number, "up"] => port(number)?.set_plugged(true),
        ["link", number, "down"] => port(number)?.set_plugged(false),
        ["module", number, module] => {
            let module = Module::from_str(module, false)
                .map_err(|_| format!("module {module:?}: must be dac, sr or none"))?;
            port(number)?.set_module(module);
        }
        ["stats"] => return json(&Ports { ports: ports.iter().map(status).collect() }),
        ["maps"] => return json(&Ports { ports: ports.iter().map(memory_of).collect() }),
        ["turn", ref arguments @ ..] => return json(&turn(arguments, plane, ports)?),
        _ => {
            return Err(format!(
                "unknown command {line:?}; choose one of: link PORT up|down, module PORT dac|sr|none, stats, maps, turn [FRAMES] [quiet]"
            ))
        }
    }
    Ok("ok".to_owned())
}

fn json(answer: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(answer).map_err(|error| error.to_string())
}

fn turn(
    arguments: &[&str],
    plane: Option<&mut DataPlane>,
    ports: &[Port],
) -> Result<TurnDone, String> {
    let plane = plane.ok_or("turn: the card runs by itself; start it with --turns")?;
    let (arguments, quiet) = match arguments {
        [rest @ .., "quiet"] => (rest, true),
        all => (all, false),
    };
    let ready = match arguments {
        [] => None,
        [count] => Some(count.parse().map_err(|_| {
            format!("turn {count:?}: write the number of frames that may wait, such as 8")
        })?),
        _ => return Err("turn takes at most one number, and the word quiet".to_owned()),
    };
    let progress = plane.turn(ready);
    let mut dma = Vec::new();
    for port in ports {
        let accesses = port.device().dma.table.log.take();
        if quiet {
            continue;
        }
        dma.extend(accesses.iter().map(|access| {
            let kind = if access.write { 'w' } else { 'r' };
            (port.index(), kind, access.iova, access.bytes)
        }));
    }
    Ok(TurnDone {
        received: progress.received,
        transmitted: progress.transmitted,
        dma,
    })
}

fn status(port: &Port) -> PortStatus {
    let address = port.mac_address().map(|byte| format!("{byte:02x}"));
    PortStatus {
        port: port.index(),
        connected: port.connected(),
        module: port.module(),
        mac_address: address.join(":"),
        counters: port.stats(),
        state: port.snapshot(),
        notes: port.notes(),
        unmodelled: port.unmodelled(),
    }
}

fn memory_of(port: &Port) -> PortMemory {
    let device = port.device();
    let peek = |address| device.registers.peek(address);
    let rings = |of: &RingRegisters| {
        let queues = 0..QUEUES as u32;
        let enabled = queues.filter(|queue| peek((of.control)(*queue)) & of.enable != 0);
        let ring = |queue| RingMemory {
            queue,
            tail: (of.tail)(queue),
            iova: of.base(queue, peek),
            bytes: peek((of.len)(queue)),
        };
        enabled.map(ring).collect()
    };
    PortMemory {
        port: port.index(),
        registers: device.registers.memory().file_id(),
        rx_rings: rings(&RECEIVE),
        tx_rings: rings(&TRANSMIT),
        maps: device.dma.table.maps_in_files(),
    }
}
