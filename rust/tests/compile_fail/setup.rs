//! What the programs in this folder share: a port of the card, and packets to work with.
#![allow(dead_code)]

use std::process::ExitCode;

use ixgbe::driver::device::{Config, Device, OpenDevice};
use ixgbe::error::Result;
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::vfio::Container;

/// Packets of a pool. A receive ring holds 512 of them.
const CAPACITY: u32 = 1024;
/// Bytes of a packet.
const SIZE: usize = 60;

/// Starts the port that the command line names, calls `act` with it and with a pool, and stops it.
pub fn with_device(
    act: impl for<'p> FnOnce(&mut Device<'p>, &'p Mempool) -> Result<()>,
) -> ExitCode {
    finish(start(act))
}

fn start(act: impl for<'p> FnOnce(&mut Device<'p>, &'p Mempool) -> Result<()>) -> Result<()> {
    let container = Container::new();
    let open = OpenDevice::open(&container, &address())?;
    let pool = Mempool::create(&container, CAPACITY)?;
    let mut device = open.start(&Config::default(), &pool)?;
    act(&mut device, &pool)?;
    device.stop()
}

/// The port that the command line names.
pub fn address() -> String {
    std::env::args().nth(1).unwrap_or_default()
}

/// Takes `count` packets of 60 bytes from a pool.
pub fn packets(pool: &Mempool, count: usize) -> Vec<Packet<'_>> {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).take(count).collect();
    for packet in &mut packets {
        assert!(packet.set_size(SIZE), "a packet has room for {SIZE} bytes");
    }
    assert_eq!(packets.len(), count, "the pool has {count} packets");
    packets
}

/// Prints the error of a program, if there is one, and returns its exit status.
pub fn finish(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
