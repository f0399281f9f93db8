//! Clients that do their worst: what a port's own driver and the shares of other ports show. The rows of the crate
//! `hostile` hold the card against everything else.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use harness::client::fill;
use harness::codec::{command, payload, receive, send, Message};
use harness::memory::memfd;
use nic::registers as r;
use nic::{MmioMode, RunningDataPlane};
use rustix::fs::{fallocate, FallocateFlags};
use support::{eventually, signals, Bench, Client, Driver, Memory, Rings, MODES};

const EINVAL: u32 = 22;
const ENOMEM: u32 = 12;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// A card with a frame for every free descriptor. Its data plane runs.
fn running(mmio: MmioMode) -> (Bench, RunningDataPlane) {
    let bench = Bench::saturated(mmio);
    let plane = bench.nic.run_data_plane().unwrap();
    (bench, plane)
}

/// Checks that frames arrive at a driver.
fn receives(driver: &mut Driver) {
    for _ in 0..200 {
        eventually("frames arrive", || driver.receive().is_some());
    }
}

#[test]
fn a_full_eventfd_that_blocks_writers_does_not_block_the_data_plane() {
    for mmio in MODES {
        let (bench, _plane) = running(mmio);
        let mut driver = bench.driver(0, Rings::default());
        let fd = driver.client.interrupt(0, 0x8080);
        fill(&fd).unwrap();
        receives(&mut driver);
        receives(&mut bench.driver(1, Rings::default()));
        assert!(signals(&fd) >= u64::MAX - 1);
        eventually("interrupts arrive again", || {
            driver.receive();
            signals(&fd) > 0
        });
        fill(&fd).unwrap();
        drop(driver);
        receives(&mut bench.driver(0, Rings::default()));
    }
}

#[test]
fn a_client_may_take_a_tebibyte_of_address_space_and_other_clients_as_much() {
    let (bench, _plane) = running(MmioMode::Shared);
    let file = memfd(16 * TIB).unwrap();
    let mut clients = [0, 1].map(|port| bench.client(port));
    for client in &mut clients {
        let mut map = |at: u64, size| client.dma_map(at, size, at, 3, Some(&file));
        map(0, TIB / 2).unwrap();
        map(TIB, TIB / 2).unwrap();
        assert_eq!(map(2 * TIB, 4096), Err(ENOMEM));
        assert_eq!(map(2 * TIB, u64::MAX - 4 * TIB + 1), Err(EINVAL));
        client.dma_unmap(0, TIB / 2).unwrap();
        let again = client.dma_map(2 * TIB, 4096, 2 * TIB, 3, Some(&file));
        again.unwrap();
    }
    let notes = bench.port(0).notes().concat();
    assert!(notes.contains("bytes of address space"), "{notes}");
    drop(clients);
    receives(&mut bench.driver(0, Rings::default()));
}

#[test]
fn a_guest_with_much_memory_works() {
    let (bench, _plane) = running(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    let guest = memfd(96 * GIB).unwrap();
    for (iova, size, offset) in [(0, 3, 0), (4, 93, 3)] {
        let [iova, size, offset] = [iova, size, offset].map(|gibs| gibs * GIB);
        let mapped = driver
            .client
            .dma_map(TIB + iova, size, offset, 3, Some(&guest));
        mapped.unwrap();
    }
    receives(&mut driver);
}

const PIECE: u64 = r::TXD_DEXT | r::TXD_DTYP_DATA | r::TXD_IFCS;
const LARGE: u64 = PIECE | r::TXD_TSE | r::TXD_POPTS_IXSM | r::TXD_POPTS_TXSM;
const SMALL: u64 = PIECE | r::TXD_EOP | r::TXD_RS | 60;
/// A frame of 15 KiB without a CRC.
const UNCHECKED: u64 = r::TXD_DEXT | r::TXD_DTYP_DATA | r::TXD_EOP | 15_800;

/// Descriptors of a long frame in groups of five: a context, then four pieces.
fn group(slot: u64, mss: u64, len: u64) -> [u64; 2] {
    let kind = r::TXD_DEXT | r::TXD_DTYP_CONTEXT | r::TXD_CONTEXT_L4T_TCP | r::TXD_CONTEXT_IPV4;
    let lengths = r::field64(r::TXD_CONTEXT_L4LEN, 20) | r::field64(r::TXD_CONTEXT_MSS, mss);
    match slot % 5 {
        0 => [14 << 9 | 20, kind | lengths],
        4 => [Flood::DATA, LARGE | r::TXD_EOP | len],
        _ => [Flood::DATA, LARGE | len],
    }
}

/// What a hostile driver asks of the card: the descriptor in a slot, and the least share of its frames that another
/// port keeps.
type Worst = (&'static str, fn(u64) -> [u64; 2], f64);

const WORST: [Worst; 5] = [
    ("segments of 8 bytes", |slot| group(slot, 8, 65_535), 0.4),
    ("CRCs to check", |_| [Flood::DATA, UNCHECKED], 0.4),
    ("endless frames", |_| [Flood::DATA, LARGE | 65_535], 0.4),
    // Impossible offloads, so that each frame leaves a note.
    ("notes", |slot| group(slot, slot % 8, 4096), 0.4),
    // The card cannot count what the first use of a page costs, so cold pages leave the other port less.
    (COLD, |slot| [Flood::DATA + slot * 4096, SMALL], 0.0),
];

/// The pages of the frames are taken away and come back. The other port has no promised share then, but goes on.
const COLD: &str = "small frames in cold pages";

/// A driver that keeps all 16 transmit queues of a port full.
struct Flood {
    client: Client,
    memory: Memory,
    cold: bool,
}

impl Flood {
    const IOVA: u64 = 0x4000_0000;
    const QUEUES: u32 = 16;
    const RING: u32 = 1024;
    /// Offset of the frames in the memory, and its length.
    const FRAMES: u64 = 16 << 20;
    const LEN: u64 = 64 << 20;
    const DATA: u64 = Self::IOVA + Self::FRAMES;

    fn start(bench: &Bench, (name, descriptor, _): Worst) -> Self {
        let (mut client, memory) = (bench.client(0), Memory::new(Self::LEN as usize));
        let mapped = client.dma_map(Self::IOVA, Self::LEN, 0, 3, Some(&memory.file));
        mapped.unwrap();
        client.set_bus_master(true);
        client.change(r::DMATXCTL, r::DMATXCTL_TE, 0);
        for queue in 0..Self::QUEUES {
            for slot in 0..Self::RING {
                let words = descriptor(slot.into());
                let at = (queue * Self::RING + slot) as usize * 16;
                memory.write_u64(at, words[0]);
                memory.write_u64(at + 8, words[1]);
            }
            client.set(r::TDBAL(queue), Self::IOVA as u32 + queue * Self::RING * 16);
            client.set(r::TDLEN(queue), Self::RING * 16);
            client.set(r::TXDCTL(queue), 32 | r::TXDCTL_ENABLE);
            client.set(r::TDT(queue), Self::RING - 1);
        }
        let cold = name == COLD;
        Self {
            client,
            memory,
            cold,
        }
    }

    /// Hands all descriptors over again.
    fn refill(&mut self) {
        if self.cold {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let len = Self::LEN - Self::FRAMES;
            fallocate(&self.memory.file, flags, Self::FRAMES, len).unwrap();
        }
        for queue in 0..Self::QUEUES {
            let head = self.client.get(r::TDH(queue));
            let tail = (head + Self::RING - 1) % Self::RING;
            self.client.set(r::TDT(queue), tail);
        }
    }
}

/// A unit of counted work takes a nanosecond with optimization, and a multiple without: then rounds are longer, and
/// the share is smaller.
const OPTIMIZED: f64 = if cfg!(debug_assertions) { 0.25 } else { 1.0 };

/// The least share of a port that goes on.
const GOES_ON: f64 = 0.005;

/// Most attempts to see the other port's share on a busy machine.
const ATTEMPTS: usize = 5;

/// The frames that a driver of port 1 receives in a moment, while `beside` runs every few milliseconds.
fn frames_beside(bench: &Bench, mut beside: impl FnMut()) -> u64 {
    let (mut driver, port) = (bench.driver(1, Rings::default()), bench.port(1));
    eventually("frames arrive", || driver.receive().is_some());
    let before = port.stats().delivered;
    let mut next = Instant::now();
    let end = next + Duration::from_millis(100);
    while Instant::now() < end {
        if Instant::now() >= next {
            beside();
            next += Duration::from_millis(2);
        }
        (0..32).for_each(|_| drop(driver.receive()));
    }
    port.stats().delivered - before
}

/// While one client does its worst, a driver of another port keeps its share of the frames that it receives alone.
#[test]
fn other_ports_go_on_while_one_client_does_its_worst() {
    for worst in WORST {
        let (name, _, share) = worst;
        let (bench, _plane) = running(MmioMode::Shared);
        // Other processes disturb card, driver and client alike. So the best of some medians counts:
        // a port that the card starves never reaches the limit.
        let enough = (0..ATTEMPTS).any(|_| {
            let mut shares = [(); 5].map(|()| {
                let alone = frames_beside(&bench, || ());
                let mut flood = Flood::start(&bench, worst);
                frames_beside(&bench, || flood.refill()) as f64 / alone as f64
            });
            shares.sort_by(f64::total_cmp);
            println!("{name}: {shares:.2?} of the frames of a driver alone");
            shares[2] >= (share * OPTIMIZED).max(GOES_ON)
        });
        assert!(enough, "{name}: the other port starves");
    }
}

#[test]
fn a_slow_client_gets_its_turn_and_one_that_says_nothing_loses_its_connection() {
    let (bench, _plane) = running(MmioMode::Shared);
    // This session has begun, so it may be silent for as long as it likes.
    let mut silent_driver = bench.client(1);
    let connect = || UnixStream::connect(bench.port(0).socket()).unwrap();
    let (slow, silent) = (connect(), connect());
    let version = Message::request(1, command::VERSION, &payload::version()).bytes();
    send(&slow, &version[..9], &[]).unwrap();
    let start = Instant::now();
    receives(&mut bench.driver(0, Rings::default()));
    assert!(start.elapsed() < Duration::from_secs(3));
    send(&slow, &version[9..], &[]).unwrap();
    assert_eq!(receive(&slow).unwrap().header.error, 0);
    drop(slow);
    let limit = Duration::from_secs(10);
    silent.set_read_timeout(Some(limit)).unwrap();
    let closed = receive(&silent).unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::UnexpectedEof);
    assert!(start.elapsed() < Duration::from_secs(8));
    receives(&mut bench.driver(0, Rings::default()));
    assert_ne!(silent_driver.get(r::STATUS), 0);
}
