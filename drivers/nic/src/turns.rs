//! A card that works in turns: it does one exact round when a command asks for it, and tells what it
//! did.
//!
//! A program that traces a driver stops the driver, lets the card work, and goes on. So two runs do
//! the same, and nothing depends on the time.

use serde::Serialize;

use crate::data_plane::plane::DataPlane;
use crate::device::registers as r;
use crate::memory::dma::MapInFile;
use crate::memory::shared::FileId;
use crate::port::Port;

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

/// The answer to `maps`.
#[derive(Debug, Serialize)]
struct Memory {
    ports: Vec<PortMemory>,
}

/// The memory that a port and its driver share.
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

/// Executes a command that a card in turns understands; `None` if it is another command.
pub(crate) fn execute(
    words: &[&str],
    plane: Option<&mut DataPlane>,
    ports: &[Port],
) -> Option<Result<String, String>> {
    let answer = match words {
        ["turn", rest @ ..] => turn(rest, plane, ports).and_then(|done| json(&done)),
        ["maps"] => json(&Memory {
            ports: ports.iter().map(memory_of).collect(),
        }),
        _ => return None,
    };
    Some(answer)
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
        let accesses = port.device().dma.log.take();
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

fn memory_of(port: &Port) -> PortMemory {
    let device = port.device();
    let peek = |address| device.registers.peek(address);
    let ring = |queue, tail, low, high, bytes| RingMemory {
        queue,
        tail,
        iova: u64::from(peek(low)) | u64::from(peek(high)) << 32,
        bytes: peek(bytes),
    };
    let queues = 0..crate::config::QUEUES as u32;
    let rx_on = |queue: &u32| peek(r::RXDCTL(*queue)) & r::RXDCTL_ENABLE != 0;
    let tx_on = |queue: &u32| peek(r::TXDCTL(*queue)) & r::TXDCTL_ENABLE != 0;
    let rx = queues.clone().filter(rx_on).map(|queue| {
        let (low, high) = (r::RDBAL(queue), r::RDBAH(queue));
        ring(queue, r::RDT(queue), low, high, r::RDLEN(queue))
    });
    let tx = queues.filter(tx_on).map(|queue| {
        let (low, high) = (r::TDBAL(queue), r::TDBAH(queue));
        ring(queue, r::TDT(queue), low, high, r::TDLEN(queue))
    });
    PortMemory {
        port: port.index(),
        registers: device.registers.memory().file_id(),
        rx_rings: rx.collect(),
        tx_rings: tx.collect(),
        maps: device.dma.maps_in_files(),
    }
}
