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

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use rustix::event::PollFlags;
use serde::Serialize;
use serde_json::{json, Value};

use crate::config::Module;
use crate::data_plane::plane::DataPlane;
use crate::error::NicError;
use crate::port::Port;
use crate::socket::{wait, ListeningSocket, Servers};

/// Longest command, in bytes.
const MAX_LINE: usize = 256;
/// Most clients at a time. More clients wait until one leaves.
const MAX_CLIENTS: usize = 16;
/// Longest time that a client may take to read an answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

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

/// A socket that takes the commands `link PORT up|down`, `module PORT dac|sr|none`, `stats`, `maps`
/// and `turn`. Dropping it closes the connections and removes the socket.
#[derive(Debug)]
pub struct ControlSocket {
    _servers: Servers,
}

impl ControlSocket {
    /// `plane` is the data plane if the card works in turns.
    pub(crate) fn new(
        path: &Path,
        ports: Vec<Port>,
        mut plane: Option<DataPlane>,
    ) -> Result<Self, NicError> {
        let socket = ListeningSocket::bind(path)?;
        let mut servers = Servers::new()?;
        servers.start("nic control".to_owned(), move |stop| {
            serve(&socket, stop, &ports, &mut plane);
        })?;
        Ok(Self { _servers: servers })
    }
}

/// A client, and the part of its next command that has arrived.
struct Client {
    stream: UnixStream,
    line: Vec<u8>,
}

fn serve(
    socket: &ListeningSocket,
    stop: BorrowedFd<'_>,
    ports: &[Port],
    plane: &mut Option<DataPlane>,
) {
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let room = clients.len() < MAX_CLIENTS;
        let mut fds = vec![(stop, PollFlags::IN), socket.clients(room)];
        let streams = clients.iter().map(|client| client.stream.as_fd());
        fds.extend(streams.map(|stream| (stream, PollFlags::IN)));
        // An error here means that one of this process's own descriptors is bad.
        let Ok(ready) = wait(&fds, socket.pause()) else {
            return;
        };
        if ready[0] {
            return;
        }
        let mut sent = ready[2..].iter();
        clients.retain_mut(|client| {
            sent.next() != Some(&true) || client.answer_commands(ports, plane)
        });
        if ready[1] {
            clients.extend(socket.accept().and_then(Client::new));
        }
    }
}

impl Client {
    fn new(stream: UnixStream) -> Option<Self> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(CLIENT_TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(CLIENT_TIMEOUT)).ok()?;
        let line = Vec::new();
        Some(Self { stream, line })
    }

    /// Reads the bytes that have arrived, and answers every complete line. Returns whether the
    /// client stays.
    fn answer_commands(&mut self, ports: &[Port], plane: &mut Option<DataPlane>) -> bool {
        let mut bytes = [0; MAX_LINE];
        let Ok(count @ 1..) = self.stream.read(&mut bytes) else {
            return false;
        };
        self.line.extend(&bytes[..count]);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            if !self.say(execute(&line, ports, plane.as_mut())) {
                return false;
            }
        }
        if self.line.len() <= MAX_LINE {
            return true;
        }
        // The client must leave, whether or not it reads this.
        self.say(Err(format!("the line has more than {MAX_LINE} bytes")));
        false
    }

    /// Sends the answer to a command. Returns whether the client took it.
    fn say(&mut self, answer: Result<String, String>) -> bool {
        let answer = answer.unwrap_or_else(|reason| format!("error: {reason}"));
        self.stream.write_all((answer + "\n").as_bytes()).is_ok()
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
    let each = |of: fn(&Port) -> Value| {
        let ports: Vec<Value> = ports.iter().map(of).collect();
        json!({"ports": ports}).to_string()
    };
    match words[..] {
        ["link", number, "up"] => port(number)?.set_plugged(true),
        ["link", number, "down"] => port(number)?.set_plugged(false),
        ["module", number, module] => {
            let module = Module::from_str(module, false)
                .map_err(|_| format!("module {module:?}: must be dac, sr or none"))?;
            port(number)?.set_module(module);
        }
        ["stats"] => return Ok(each(status)),
        ["maps"] => return Ok(each(Port::shared_memory)),
        ["turn", ref arguments @ ..] => {
            let done = turn(arguments, plane, ports)?;
            return serde_json::to_string(&done).map_err(|error| error.to_string());
        }
        _ => {
            return Err(format!(
                "unknown command {line:?}; choose one of: link PORT up|down, module PORT dac|sr|none, stats, maps, turn [FRAMES] [quiet]"
            ))
        }
    }
    Ok("ok".to_owned())
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

/// The counters over all sessions, and the state at this moment, whose `dma_faults` are those of the session.
fn status(port: &Port) -> Value {
    let address = port.mac_address().map(|byte| format!("{byte:02x}"));
    let mut status = json!(port.stats());
    status["port"] = json!(port.index());
    status["connected"] = json!(port.connected());
    status["module"] = json!(port.module());
    status["mac_address"] = json!(address.join(":"));
    status["state"] = json!(port.snapshot());
    status["notes"] = json!(port.notes());
    status["unmodelled"] = json!(port.unmodelled());
    status
}
