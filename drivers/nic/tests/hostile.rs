//! Clients that do their worst: what a port's own driver and the shares of other ports show. The rows of the crate
//! `hostile` hold the card against everything else.
#![allow(clippy::unwrap_used)]

mod support;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{MmioMode, Nic, NicConfig, RunningDataPlane, Traffic};
use rustix::event::{eventfd, EventfdFlags};
use rustix::fs::{fallocate, FallocateFlags, OFlags};
use support::{eventually, Client, Driver, Memory, Rings};

const EINVAL: u32 = 22;

/// A NIC with two ports. The data plane runs.
struct Card {
    nic: Option<Nic>,
    running: Option<RunningDataPlane>,
    _directory: tempfile::TempDir,
}

impl Card {
    fn new(adjust: impl FnOnce(NicConfig) -> NicConfig) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = adjust(NicConfig::new(directory.path(), 2));
        let nic = Nic::new(config).unwrap();
        Self {
            running: Some(nic.run_data_plane().unwrap()),
            nic: Some(nic),
            _directory: directory,
        }
    }

    fn port(&self, index: usize) -> &nic::Port {
        self.nic.as_ref().unwrap().port(index).unwrap()
    }

    fn client(&self, port: usize) -> Client {
        Client::connect(self.port(port).socket())
    }

    fn driver(&self, port: usize) -> Driver {
        Driver::start(self.port(port).socket(), Rings::default())
    }

    /// Checks that a driver of this port receives frames.
    fn receives(&self, port: usize) {
        let mut driver = self.driver(port);
        for _ in 0..200 {
            eventually("frames arrive", || driver.receive().is_some());
        }
    }
}

impl Drop for Card {
    /// A card that hangs would keep the test from ending. The test process ends instead.
    fn drop(&mut self) {
        let (nic, running) = (self.nic.take(), self.running.take());
        let (ended, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(running);
            drop(nic);
            let _ = ended.send(());
        });
        if end.recv_timeout(support::TIMEOUT).is_err() {
            eprintln!("the card did not stop within {:?}", support::TIMEOUT);
            std::process::exit(101);
        }
    }
}

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// Fills an eventfd's counter and makes writes to it block.
fn block(fd: &OwnedFd) {
    let flags = rustix::fs::fcntl_getfl(fd).unwrap();
    rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK).unwrap();
    let _ = counter(fd);
    rustix::io::write(fd, &(u64::MAX - 1).to_ne_bytes()).unwrap();
    rustix::fs::fcntl_setfl(fd, flags - OFlags::NONBLOCK).unwrap();
}

/// Reads the counter and sets it to 0.
fn counter(fd: &OwnedFd) -> u64 {
    let flags = rustix::fs::fcntl_getfl(fd).unwrap();
    rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK).unwrap();
    let mut bytes = [0; 8];
    match rustix::io::read(fd, &mut bytes) {
        Ok(_) => u64::from_ne_bytes(bytes),
        Err(_) => 0,
    }
}

#[test]
fn a_full_eventfd_that_blocks_writers_does_not_block_the_data_plane() {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let card = Card::new(|config| saturated(config).with_mmio(mmio));
        let mut driver = card.driver(0);
        let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        driver.client.set_irq(0, &fd);
        driver.client.set(r::GPIE, r::GPIE_MSIX_MODE);
        driver.client.set(r::IVAR(0), 0x8080);
        driver.client.set(r::EIMS, 1);
        block(&fd);
        for _ in 0..200 {
            eventually("frames arrive in spite of it", || {
                driver.receive().is_some()
            });
        }
        card.receives(1);
        assert!(counter(&fd) >= u64::MAX - 1);
        eventually("interrupts arrive again", || {
            driver.receive();
            counter(&fd) > 0
        });
        block(&fd);
        drop(driver);
        card.receives(0);
    }
}

const ENOMEM: u32 = 12;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// A memory file of `len` bytes without memory.
fn sparse(len: u64) -> OwnedFd {
    let file = rustix::fs::memfd_create("sparse", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, len).unwrap();
    file
}

#[test]
fn a_client_may_take_a_tebibyte_of_address_space_and_other_clients_as_much() {
    let card = Card::new(saturated);
    let file = sparse(16 * TIB);
    let (mut one, mut other) = (card.client(0), card.client(1));
    for client in [&mut one, &mut other] {
        let mut map = |at: u64, size| client.dma_map(at, size, at, 3, Some(&file));
        map(0, TIB / 2).unwrap();
        map(TIB, TIB / 2).unwrap();
        assert_eq!(map(2 * TIB, 4096), Err(ENOMEM));
        assert_eq!(map(2 * TIB, u64::MAX - 4 * TIB + 1), Err(EINVAL));
        client.dma_unmap(0, TIB / 2).unwrap();
        client
            .dma_map(2 * TIB, 4096, 2 * TIB, 3, Some(&file))
            .unwrap();
    }
    let notes = card.port(0).notes().concat();
    assert!(notes.contains("bytes of address space"), "{notes}");
    drop((one, other));
    card.receives(0);
}

#[test]
fn a_guest_with_much_memory_works() {
    let card = Card::new(saturated);
    let mut driver = card.driver(0);
    let guest = sparse(96 * GIB);
    driver
        .client
        .dma_map(1 << 40, 3 * GIB, 0, 3, Some(&guest))
        .unwrap();
    driver
        .client
        .dma_map((1 << 40) + 4 * GIB, 93 * GIB, 3 * GIB, 3, Some(&guest))
        .unwrap();
    for _ in 0..200 {
        eventually("frames arrive", || driver.receive().is_some());
    }
}

/// What a hostile driver asks of the card.
struct Worst {
    name: &'static str,
    /// The descriptor in a slot: address and command.
    descriptor: fn(u64) -> [u64; 2],
    /// The pages of the frames are taken away and come back.
    cold: bool,
    /// The least share of its frames that another port keeps. The card cannot count what the first use of a page
    /// costs, so cold pages leave it less.
    share: f64,
}

const PIECE: u64 = r::TXD_DEXT | r::TXD_DTYP_DATA | r::TXD_IFCS;
const LARGE: u64 = PIECE | r::TXD_TSE | r::TXD_POPTS_IXSM | r::TXD_POPTS_TXSM;

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

const WORST: [Worst; 5] = [
    Worst {
        name: "256 KiB cut into segments of 8 bytes",
        descriptor: |slot| group(slot, 8, 65_535),
        cold: false,
        share: 0.4,
    },
    Worst {
        name: "frames of 15 KiB with CRCs to check",
        descriptor: |_| {
            [
                Flood::DATA,
                r::TXD_DEXT | r::TXD_DTYP_DATA | r::TXD_EOP | 15_800,
            ]
        },
        cold: false,
        share: 0.4,
    },
    Worst {
        name: "pieces of 64 KiB that never end a frame",
        descriptor: |_| [Flood::DATA, LARGE | 65_535],
        cold: false,
        share: 0.4,
    },
    Worst {
        name: "impossible offloads, so that each frame leaves a note",
        descriptor: |slot| group(slot, slot % 8, 4096),
        cold: false,
        share: 0.4,
    },
    Worst {
        name: "small frames in cold pages",
        descriptor: |slot| {
            [
                Flood::DATA + slot * 4096,
                PIECE | r::TXD_EOP | r::TXD_RS | 60,
            ]
        },
        cold: true,
        share: 0.05,
    },
];

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

    fn start(card: &Card, worst: &Worst) -> Self {
        let (mut client, memory) = (card.client(0), Memory::new(Self::LEN as usize));
        client
            .dma_map(Self::IOVA, Self::LEN, 0, 3, Some(&memory.file))
            .unwrap();
        client.set_bus_master(true);
        client.change(r::DMATXCTL, r::DMATXCTL_TE, 0);
        for queue in 0..Self::QUEUES {
            for slot in 0..Self::RING {
                let words = (worst.descriptor)(slot.into());
                let at = (queue * Self::RING + slot) as usize * 16;
                memory.write_u64(at, words[0]);
                memory.write_u64(at + 8, words[1]);
            }
            client.set(r::TDBAL(queue), Self::IOVA as u32 + queue * Self::RING * 16);
            client.set(r::TDLEN(queue), Self::RING * 16);
            client.set(r::TXDCTL(queue), 32 | r::TXDCTL_ENABLE);
            client.set(r::TDT(queue), Self::RING - 1);
        }
        Self {
            client,
            memory,
            cold: worst.cold,
        }
    }

    /// Hands all descriptors over again.
    fn refill(&mut self) {
        if self.cold {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(
                &self.memory.file,
                flags,
                Self::FRAMES,
                Self::LEN - Self::FRAMES,
            )
            .unwrap();
        }
        for queue in 0..Self::QUEUES {
            let head = self.client.get(r::TDH(queue));
            self.client
                .set(r::TDT(queue), (head + Self::RING - 1) % Self::RING);
        }
    }
}

/// A unit of counted work takes a nanosecond with optimization, and a multiple without: then rounds are longer, and
/// the share is smaller.
const OPTIMIZED: f64 = if cfg!(debug_assertions) { 0.25 } else { 1.0 };

/// Most attempts to see the other port's share on a busy machine.
const ATTEMPTS: usize = 5;

/// The frames that a driver of a port receives in a time, while `beside` runs every few milliseconds.
fn frames_in(card: &Card, port: usize, time: Duration, mut beside: impl FnMut()) -> u64 {
    let mut driver = card.driver(port);
    eventually("frames arrive", || driver.receive().is_some());
    let before = card.port(port).stats().delivered;
    let end = Instant::now() + time;
    let mut next = Instant::now();
    while Instant::now() < end {
        if Instant::now() >= next {
            beside();
            next += Duration::from_millis(2);
        }
        for _ in 0..32 {
            driver.receive();
        }
    }
    card.port(port).stats().delivered - before
}

/// While one client does its worst, a driver of another port keeps its share of the frames that it receives alone.
#[test]
fn other_ports_go_on_while_one_client_does_its_worst() {
    for worst in &WORST {
        let card = Card::new(saturated);
        // Other processes disturb card, driver and client alike. So the best of some medians counts:
        // a port that the card starves never reaches the limit.
        let enough = (0..ATTEMPTS).any(|_| {
            let shares = shares_beside(&card, worst);
            println!(
                "{}: {shares:.2?} of the frames of a driver alone",
                worst.name
            );
            shares[2] >= worst.share * OPTIMIZED
        });
        assert!(enough, "{}: the other port starves", worst.name);
    }
}

/// The frames of a driver beside a client that does its worst, divided by those of the driver alone.
/// Five pairs, in ascending order.
fn shares_beside(card: &Card, worst: &Worst) -> Vec<f64> {
    let time = Duration::from_millis(100);
    let mut shares: Vec<_> = (0..5)
        .map(|_| {
            let alone = frames_in(card, 1, time, || ());
            let mut flood = Flood::start(card, worst);
            let beside = frames_in(card, 1, time, || flood.refill());
            beside as f64 / alone as f64
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    shares
}

#[test]
fn a_client_that_says_nothing_holds_no_place_and_loses_its_connection() {
    let card = Card::new(saturated);
    // This session has begun, so it may be silent for as long as it likes.
    let mut silent_driver = card.driver(1);
    let mut silent: Vec<_> = (0..40)
        .map(|_| Client::raw(card.port(0).socket()))
        .collect();
    let mut half = Client::raw(card.port(0).socket());
    half.send(&[0; 10], &[]);
    let start = Instant::now();
    card.receives(0);
    assert!(start.elapsed() < Duration::from_secs(3));
    let last = silent.last_mut().unwrap();
    last.stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    assert!(last.receive(0).is_none(), "the card closes the connection");
    assert!(start.elapsed() < Duration::from_secs(8));
    card.receives(0);
    assert_ne!(silent_driver.client.get(r::STATUS), 0);
}

#[test]
fn a_first_message_in_parts_does_not_keep_others_waiting() {
    let card = Card::new(saturated);
    let mut slow = Client::raw(card.port(0).socket());
    let message = slow.message(support::COMMAND_VERSION, 0, &[0, 0, 1, 0, b'{', b'}', 0]);
    let (first, rest) = message.split_at(9);
    slow.send(first, &[]);
    let start = Instant::now();
    card.receives(0);
    assert!(start.elapsed() < Duration::from_secs(3));
    // The slow client still gets its turn.
    slow.send(rest, &[]);
    assert!(slow.receive(support::COMMAND_VERSION).unwrap().is_ok());
}
