//! Mistakes with packets and devices, which do not compile. Each is in a function of its own, and in the
//! program with `--cfg FUNCTION` only. Without, the program takes a port of the card and does the same right.
//!
//! The comment of a function names the compiler's error. `--cfg harmless` leaves out the lines that make later
//! lines a mistake.

use std::process::ExitCode;

use ixgbe::driver::device::{Config, Device, OpenDevice};
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::error::Result;
use ixgbe::rooms::pipeline::RemotePacket;
use ixgbe::vfio::{BareDevice, Container};

/// The program keeps a reference to a packet while it sends the packet, and writes through it later.
/// error[E0499]: cannot borrow `packets` as mutable more than once at a time
fn use_after_send<'p>(device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let mut packets = take(pool, 4);
    let first = &mut packets[0];
    first.change_at(30, |_| 0x11);
    #[cfg(not(harmless))]
    device.tx_batch(0, &mut packets)?;
    #[cfg(use_after_send)]
    {
        first.change_at(30, |_| 0xee);
    }
    Ok(())
}

/// The program gives a packet back to its pool twice.
/// error[E0382]: use of moved value: `packet`
fn double_free(pool: &Mempool) {
    for packet in take(pool, 4) {
        #[cfg(not(harmless))]
        drop(packet);
        #[cfg(double_free)]
        drop(packet);
    }
}

/// The program keeps a packet longer than the packet's pool, and writes to it.
/// error[E0505]: cannot move out of `pool` because it is borrowed
fn use_after_pool() -> Result<()> {
    let pool = Mempool::create(&Container::new(), 64)?;
    let mut packets = take(&pool, 1);
    #[cfg(use_after_pool)]
    drop(pool);
    packets[0].change_at(0, |_| 0xee);
    Ok(())
}

/// The program writes a header in front of a packet's data, at an index below 0.
/// error[E0600]: cannot apply unary operator `-` to type `usize`
fn negative_index(pool: &Mempool) {
    let mut packets = take(pool, 1);
    #[cfg(negative_index)]
    {
        packets[0].change_at(-48, |_| 0xee);
    }
    packets[0].change_at(48, |_| 0xee);
}

/// A second thread receives from a device that belongs to the first thread.
/// error[E0277]: `Rc<vfio::VfioDevice>` cannot be sent between threads safely
fn two_threads(device: &mut Device<'_>) {
    let receive = |device: &mut Device<'_>| device.rx_batch(0, &mut Vec::new(), 32).is_ok();
    std::thread::scope(|scope| {
        #[cfg(two_threads)]
        scope.spawn(|| assert!(receive(device)));
        let received = receive(device);
        scope.spawn(move || assert!(received));
    });
}

/// A second thread frees a packet, whose pool belongs to the first thread.
/// error[E0277]: `*const ()` cannot be sent between threads safely
fn foreign_free(pool: &Mempool) {
    let packets = take(pool, 1);
    #[cfg(not(foreign_free))]
    let packets: Vec<_> = packets.into_iter().map(RemotePacket::from).collect();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(packets));
    });
}

/// A worker thread holds a packet while the program destroys the packet's pool.
/// error[E0505]: cannot move out of `pool` because it is borrowed
fn pool_destroyed() -> Result<()> {
    let pool = Mempool::create(&Container::new(), 64)?;
    let mut packets = take(&pool, 1).into_iter().map(RemotePacket::from);
    std::thread::scope(|scope| {
        let packet = packets.next();
        let worker = scope.spawn(|| packet.is_some_and(|mut packet| packet.change_at(0, |_| 0xee)));
        #[cfg(pool_destroyed)]
        drop(pool);
        assert!(worker.join().unwrap_or(false));
    });
    Ok(())
}

/// The program aims a receive queue at packets that it holds, by a write to a register: Receive Descriptor Base
/// Address Low of queue 0.
/// error[E0624]: method `open` is private
fn raw_registers(address: &str) -> Result<()> {
    let container = Container::new();
    let device = BareDevice::open(address)?;
    let pool = Mempool::create(&container, 64)?;
    let packets = take(&pool, 1);
    let (rdbal, first_packet) = (0x1000, 0x20_0040);
    #[cfg(raw_registers)]
    container.open(address)?.write32(rdbal, first_packet)?;
    device.write32(rdbal, first_packet)?;
    assert!(device.read32(rdbal).is_ok() && packets[0].size() == 60);
    Ok(())
}

/// The program allocates a ring of its own, with which it could aim the device at any packet.
/// error[E0603]: module `sys` is private
fn raw_memory() -> Result<()> {
    let container = Container::new();
    #[cfg(raw_memory)]
    drop(ixgbe::sys::dma::Ring::alloc(&container, Box::new([0; 64]))?);
    drop(Mempool::create(&container, 64)?);
    Ok(())
}

/// Takes `count` packets of 60 bytes from a pool.
fn take(pool: &Mempool, count: usize) -> Vec<Packet<'_>> {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).take(count).collect();
    for packet in &mut packets {
        assert!(packet.set_size(60));
    }
    assert_eq!(packets.len(), count);
    packets
}

fn run(address: &str) -> Result<()> {
    raw_registers(address)?;
    let container = Container::new();
    let open = OpenDevice::open(&container, address)?;
    // A receive ring holds 512 of them.
    let pool = Mempool::create(&container, 1024)?;
    let mut device = open.start(&Config::default(), &pool)?;
    use_after_send(&mut device, &pool)?;
    double_free(&pool);
    use_after_pool()?;
    negative_index(&pool);
    two_threads(&mut device);
    foreign_free(&pool);
    pool_destroyed()?;
    raw_memory()?;
    device.stop()
}

fn main() -> ExitCode {
    match run(&std::env::args().nth(1).unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
