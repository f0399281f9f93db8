//! ixgbe-forward-minimal: forwards packets between two devices, both ways, until SIGINT or SIGTERM. It is the
//! driver's first example: all that it needs is in `driver`. ixgbe-fwd is this and options.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use ixgbe::driver::device::{Config, Device, OpenDevice};
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::error::Result;
use ixgbe::vfio::Container;
use signal_hook::consts::{SIGINT, SIGTERM};

const BATCH: usize = 32;
const PACKETS: u32 = 2048;
/// It looks for a signal once in so many turns.
const TURNS_PER_LOOK: u32 = 1024;
/// The byte of a packet that the forwarder changes.
const CHANGED_BYTE: usize = 1;

/// Sends what one device has received with the other. Returns the number of packets sent.
fn forward<'p>(
    from: &mut Device<'p>,
    to: &mut Device<'p>,
    packets: &mut Vec<Packet<'p>>,
) -> Result<usize> {
    from.rx_batch(0, packets, BATCH)?;
    for packet in &mut *packets {
        packet.change_at(CHANGED_BYTE, |byte| byte.wrapping_add(1));
    }
    let sent = to.tx_batch(0, packets)?;
    // The ring is full. Dropping these packets is better than losing later ones in RX.
    packets.clear();
    Ok(sent)
}

/// Forwards both ways until a signal comes. Returns the number of packets sent.
fn run(a: &str, b: &str, ended: &AtomicBool) -> Result<usize> {
    let container = Container::new();
    let open_a = OpenDevice::open(&container, a)?;
    let open_b = OpenDevice::open(&container, b)?;
    let pools = [
        Mempool::create(&container, PACKETS)?,
        Mempool::create(&container, PACKETS)?,
    ];
    let mut device_a = open_a.start(&Config::default(), &pools[0])?;
    let mut device_b = open_b.start(&Config::default(), &pools[1])?;
    let mut packets = Vec::with_capacity(BATCH);
    let mut sent = 0;
    while !ended.load(Ordering::Relaxed) {
        for _ in 0..TURNS_PER_LOOK {
            sent += forward(&mut device_a, &mut device_b, &mut packets)?;
            sent += forward(&mut device_b, &mut device_a, &mut packets)?;
        }
    }
    let stopped = device_a.stop();
    stopped.and(device_b.stop())?;
    Ok(sent)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = arguments.as_slice() else {
        eprintln!("usage: ixgbe-forward-minimal DEVICE DEVICE");
        return ExitCode::from(2);
    };
    // A signal only sets the flag, so that the devices are stopped first.
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        if let Err(cause) = signal_hook::flag::register(signal, Arc::clone(&ended)) {
            eprintln!("ixgbe-forward-minimal: signal {signal}: {cause}");
            return ExitCode::FAILURE;
        }
    }
    match run(a, b, &ended) {
        Ok(sent) => println!("sent {sent} packets"),
        Err(error) => {
            eprintln!("ixgbe-forward-minimal: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
