//! The lab's application on the safe Rust driver. It forwards between two devices as `ixgbe-fwd`
//! does, performs one action on the way, and reports its counts at the end.
//!
//! It is the twin of `lab.c`, with the actions that compile in safe Rust. The other mistakes are in
//! `rust/tests/compile_fail/`.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ixgbe::driver::device::{Config, Device, OpenDevice};
use ixgbe::error::Result;
use ixgbe::driver::mempool::{Mempool, Packet, MAX_SIZE};
use ixgbe::vfio::Container;
use signal_hook::consts::SIGINT;

const RING_SIZE: u32 = 64;
const ODD_RING_SIZE: u32 = 96;
const POOL_CAPACITY: u32 = 512;
const BATCH: usize = 32;
const MAX_BATCH: usize = 128;
const ACTION_AFTER: u64 = 100;
const STATS_INTERVAL: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_micros(20);
const HOLD: Duration = Duration::from_millis(300);

/// The byte that the application writes outside its packets.
const MARK: u8 = 0xee;

const ACTIONS: [&str; 9] = [
    "forward",
    "leak",
    "write-past-end",
    "free-pool",
    "large-batch",
    "odd-ring",
    "index-after-send",
    "write-before-start",
    "hold",
];

#[derive(Default)]
struct Counts {
    rx: u64,
    dropped: u64,
    discarded: u64,
}

struct Lab<'p> {
    action: &'p str,
    counts: Counts,
    /// Whether an action that happens once has happened.
    done: bool,
    spare: Option<Mempool>,
    /// Packets received and not sent yet.
    collected: Vec<Packet<'p>>,
}

impl<'p> Lab<'p> {
    /// Performs an action on received packets.
    fn act(&mut self, packets: &mut Vec<Packet<'p>>) {
        if self.action == "leak" {
            // Forgets half of the packets, which then return to their pool.
            let kept = packets.len() / 2;
            self.counts.dropped += (packets.len() - kept) as u64;
            packets.truncate(kept);
            return;
        }
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        match self.action {
            "free-pool" => self.spare = None,
            // No mistake: the device writes to the packets meanwhile.
            "hold" => sleep(HOLD),
            "write-past-end" => {
                // Writes a trailer behind a packet that fills its buffer.
                if packets[0].set_size(MAX_SIZE) {
                    for i in MAX_SIZE..MAX_SIZE + 8 {
                        write(&mut packets[0], i);
                    }
                }
            }
            "write-before-start" => {
                // Writes a tunnel header in front of the data, which begins at index 0.
                write(&mut packets[0], header_before(0));
            }
            _ => {}
        }
    }

    /// Sends packets and drops those that do not fit into the ring.
    fn send(&mut self, to: &mut Device<'p>, packets: &mut Vec<Packet<'p>>) -> Result<()> {
        let sent = to.tx_batch(0, packets)?;
        if self.action == "index-after-send" && self.counts.rx > ACTION_AFTER && sent > 0 {
            // Writes to a packet that stood in the vector before it was sent.
            write(&mut packets[0], 30);
        }
        self.counts.dropped += packets.len() as u64;
        packets.clear();
        Ok(())
    }

    fn forward(&mut self, from: &mut Device<'p>, to: &mut Device<'p>) -> Result<usize> {
        let mut packets = Vec::new();
        let received = from.rx_batch(0, &mut packets, BATCH)?;
        if received == 0 {
            return Ok(0);
        }
        self.counts.rx += received as u64;
        for packet in &mut packets {
            packet.change_at(1, |byte| byte.wrapping_add(1));
        }
        let after = self.counts.rx > ACTION_AFTER;
        if self.action == "large-batch" && after && !self.done {
            // Sends more packets in one call than the ring has descriptors.
            self.collected.append(&mut packets);
            if self.collected.len() > MAX_BATCH - BATCH {
                let mut batch = std::mem::take(&mut self.collected);
                self.send(to, &mut batch)?;
                self.done = true;
            }
            return Ok(received);
        }
        if after {
            self.act(&mut packets);
        }
        self.send(to, &mut packets)?;
        Ok(received)
    }

    fn run(&mut self, a: &mut Device<'p>, b: &mut Device<'p>, stopped: &AtomicBool) -> Result<()> {
        let mut stats_time = Instant::now();
        while !stopped.load(Ordering::Relaxed) {
            let received = self.forward(a, b)? + self.forward(b, a)?;
            if stats_time.elapsed() >= STATS_INTERVAL {
                stats_time = Instant::now();
                a.stats_read()?;
                b.stats_read()?;
            }
            if received == 0 {
                sleep(IDLE);
            }
        }
        Ok(())
    }
}

/// Writes the mark to a byte of a packet, or panics beyond its end.
#[cfg(feature = "trusted-device")]
fn write(packet: &mut Packet<'_>, index: usize) {
    packet[index] = MARK;
}

/// The same for a packet that is no slice.
#[cfg(not(feature = "trusted-device"))]
fn write(packet: &mut Packet<'_>, index: usize) {
    assert!(
        packet.change_at(index, |_| MARK),
        "there is no byte {index}"
    );
}

/// The index of a header of 48 bytes in front of the data at index `data`. The subtraction wraps round
/// below 0, or panics if the compiler checks for overflow.
fn header_before(data: usize) -> usize {
    data - 48
}

/// Counts the packets that did not return to their pool, and those that returned twice.
fn inspect(pool: &Mempool) -> (usize, usize) {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc())
        .take(2 * pool.capacity())
        .collect();
    // Two packets in one place would have the number of the later one.
    for (number, packet) in packets.iter_mut().enumerate() {
        assert!(packet.set_size(8) && packet.write_at(0, &number.to_le_bytes()));
    }
    let apart = |(number, packet): &(usize, &Packet<'_>)| {
        let mut bytes = [0; 8];
        packet.read_at(0, &mut bytes) && usize::from_le_bytes(bytes) == *number
    };
    let places = packets.iter().enumerate().filter(apart).count();
    (
        pool.capacity() - places.min(pool.capacity()),
        packets.len() - places,
    )
}

fn forward_until_stopped(arguments: &[String]) -> (Counts, Vec<(usize, usize)>, Result<()>) {
    let container = Container::new();
    let mut counts = Counts::default();
    let opened = (|| {
        let devices = [
            OpenDevice::open(&container, &arguments[1])?,
            OpenDevice::open(&container, &arguments[2])?,
        ];
        let pools = [
            Mempool::create(&container, POOL_CAPACITY)?,
            Mempool::create(&container, POOL_CAPACITY)?,
        ];
        let spare = Mempool::create(&container, POOL_CAPACITY)?;
        Ok((devices, pools, spare))
    })();
    let (devices, pools, spare) = match opened {
        Ok(opened) => opened,
        Err(error) => return (counts, Vec::new(), Err(error)),
    };
    let result = with_devices(arguments, &devices, &pools, spare, &mut counts);
    (counts, pools.iter().map(inspect).collect(), result)
}

fn with_devices(
    arguments: &[String],
    devices: &[OpenDevice; 2],
    pools: &[Mempool; 2],
    spare: Mempool,
    counts: &mut Counts,
) -> Result<()> {
    let action = arguments[0].as_str();
    let odd = action == "odd-ring";
    let ring_size = if odd { ODD_RING_SIZE } else { RING_SIZE };
    let config = Config {
        rx_ring_size: ring_size,
        tx_ring_size: ring_size,
        ..Config::default()
    };
    let mut a = devices[0].start_queues(&config, &pools[..1])?;
    let mut b = devices[1].start_queues(&config, &pools[1..])?;
    let stopped = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(SIGINT, Arc::clone(&stopped));
    assert!(registered.is_ok(), "no signal handler");

    let mut lab = Lab {
        action,
        counts: Counts::default(),
        done: false,
        spare: Some(spare),
        collected: Vec::new(),
    };
    let mut result = lab.run(&mut a, &mut b, &stopped);
    *counts = lab.counts;
    for device in [&mut a, &mut b] {
        let losses = device.rx_losses(0).unwrap_or_default();
        counts.discarded += losses.discarded;
        result = result.and(device.stop_queues());
    }
    result
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.len() != 3 || !ACTIONS.contains(&arguments[0].as_str()) {
        eprintln!("usage: lab ACTION DEVICE DEVICE");
        return ExitCode::from(2);
    }
    let (counts, pools, result) = forward_until_stopped(&arguments);
    let missing: usize = pools.iter().map(|(missing, _)| missing).sum();
    let twice: usize = pools.iter().map(|(_, twice)| twice).sum();
    let Counts {
        dropped, discarded, ..
    } = counts;
    println!(
        r#"{{"dropped":{dropped},"discarded":{discarded},"missing":{missing},"twice":{twice}}}"#
    );
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}
