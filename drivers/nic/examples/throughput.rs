//! Measures the speed of the software NIC. A small forwarder runs in this process on one processor,
//! and the data plane on another.
//!
//! `cargo run --release -p nic --example throughput [-- SECONDS [shared-core]]`
//!
//! For every batch size, the example prints the rate, and the share of receive calls that returned a
//! full batch. A share of 99 % or more means that the forwarder limited the rate, and not the NIC.
//! With `shared-core`, the two take turns on one processor (lockstep), and the example prints the
//! time per packet of each.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::rc::Rc;
use std::sync::atomic::{compiler_fence, Ordering};
use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{Nic, NicConfig, Traffic};
use support::{Client, Memory, BUFFER};

const RING: usize = 512;
const IOVA: u64 = 0x4000_0000;
/// The rings of both ports lie in the first 2 MiB.
const RINGS: usize = 0x1_0000;
const POOL: usize = 0x20_0000;
/// Transmit descriptors that are cleaned at a time.
const CLEAN: usize = 32;

/// One port of the forwarder. A buffer that is sent changes places with one that was sent before.
struct Port {
    _client: Client,
    registers: *mut u32,
    /// The memory of both ports, which both devices have mapped.
    memory: Rc<Memory>,
    /// Offsets of the rings, and of the buffer in each slot.
    rx_ring: usize,
    tx_ring: usize,
    rx_buffers: Vec<usize>,
    tx_buffers: Vec<usize>,
    rx_next: usize,
    tx_next: usize,
    /// Transmit slots that are free.
    tx_free: usize,
}

impl Port {
    fn open(path: &std::path::Path, nth: usize, memory: &Rc<Memory>) -> Self {
        let (rx_ring, tx_ring) = (2 * nth * RINGS, (2 * nth + 1) * RINGS);
        let buffer = |slot: usize| POOL + (2 * nth * RING + slot) * BUFFER;
        let mut client = Client::connect(path);
        let len = memory.len() as u64;
        client.dma_map(IOVA, len, 0, 3, Some(&memory.file)).unwrap();
        client.set_bus_master(true);
        client.change(r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE, 0);
        client.set(r::RDBAL(0), IOVA as u32 + rx_ring as u32);
        client.set(r::RDLEN(0), RING as u32 * 16);
        let buffers = r::field(r::SRRCTL_BSIZEPACKET, 2) | r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER;
        client.set(r::SRRCTL(0), buffers | r::SRRCTL_DROP_EN);
        client.change(r::RXDCTL(0), r::RXDCTL_ENABLE, 0);
        client.set(r::TDBAL(0), IOVA as u32 + tx_ring as u32);
        client.set(r::TDLEN(0), RING as u32 * 16);
        client.set(r::DMATXCTL, r::DMATXCTL_TE);
        client.set(
            r::TXDCTL(0),
            support::thresholds(32, 8, 0) | r::TXDCTL_ENABLE,
        );
        client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
        support::links(&mut client);
        let port = Self {
            registers: client.pages.as_ref().unwrap().at(0, 0x8000).cast(),
            _client: client,
            memory: memory.clone(),
            rx_ring,
            tx_ring,
            rx_buffers: (0..RING).map(buffer).collect(),
            tx_buffers: (RING..2 * RING).map(buffer).collect(),
            rx_next: 0,
            tx_next: 0,
            tx_free: RING - CLEAN,
        };
        for slot in 0..RING {
            port.write(rx_ring, slot, port.rx_buffers[slot], 0);
        }
        port.set(r::RDT(0), RING as u32 - 1);
        port
    }

    #[inline(always)]
    fn set(&self, register: u32, value: u32) {
        compiler_fence(Ordering::Release);
        let register = self.registers.wrapping_add(register as usize / 4);
        // SAFETY: all registers used here lie in the shared pages, which are mapped up to 0x8000.
        unsafe { register.write_volatile(value) }
    }

    /// Writes a descriptor.
    #[inline(always)]
    fn write(&self, ring: usize, slot: usize, buffer: usize, second: u64) {
        self.memory
            .write_u64(ring + slot * 16, IOVA + buffer as u64);
        self.memory.write_u64(ring + slot * 16 + 8, second);
    }

    /// The second word of a descriptor.
    #[inline(always)]
    fn status(&self, ring: usize, slot: usize) -> u64 {
        let status = self.memory.read_u64(ring + slot * 16 + 8);
        compiler_fence(Ordering::Acquire);
        status
    }

    /// Frees transmit slots that the card has written back.
    #[inline(always)]
    fn clean(&mut self) {
        while self.tx_free <= RING - 2 * CLEAN {
            let last = (self.tx_next + self.tx_free + 2 * CLEAN - 1) % RING;
            if self.status(self.tx_ring, last) & r::TXD_DD == 0 {
                return;
            }
            self.tx_free += CLEAN;
        }
    }

    /// Forwards up to `batch` packets through `to`, and returns their number.
    #[inline(always)]
    fn forward(&mut self, to: &mut Port, batch: usize) -> usize {
        to.clean();
        let mut count = 0;
        while count < batch.min(to.tx_free) {
            let (rx, tx) = (self.rx_next, to.tx_next);
            let status = self.status(self.rx_ring, rx);
            if status & r::RXD_DD == 0 {
                break;
            }
            std::mem::swap(&mut self.rx_buffers[rx], &mut to.tx_buffers[tx]);
            let byte = self.memory.at(to.tx_buffers[tx] + 1, 1);
            // SAFETY: inside the mapping.
            unsafe { byte.write_volatile(byte.read_volatile().wrapping_add(1)) }
            let len = r::field64_get(r::RXD_LENGTH, status) as usize;
            let command = support::data_command(len, len) | r::TXD_EOP | r::TXD_RS;
            to.write(to.tx_ring, tx, to.tx_buffers[tx], command);
            self.write(self.rx_ring, rx, self.rx_buffers[rx], 0);
            (self.rx_next, to.tx_next) = ((rx + 1) % RING, (tx + 1) % RING);
            count += 1;
        }
        to.tx_free -= count;
        if count > 0 {
            self.set(r::RDT(0), ((self.rx_next + RING - 1) % RING) as u32);
            to.set(r::TDT(0), to.tx_next as u32);
        }
        count
    }
}

struct Forwarder {
    ports: [Port; 2],
    received: u64,
    calls: u64,
    full: u64,
}

impl Forwarder {
    fn open(nic: &Nic) -> Self {
        let len = POOL + 4 * RING * BUFFER;
        let memory = Rc::new(Memory::huge(len).unwrap_or_else(|| Memory::new(len)));
        Self {
            ports: [0, 1].map(|nth| Port::open(nic.ports()[nth].socket(), nth, &memory)),
            received: 0,
            calls: 0,
            full: 0,
        }
    }

    #[inline(always)]
    fn turn(&mut self, batch: usize) {
        let [a, b] = &mut self.ports;
        for count in [a.forward(b, batch), b.forward(a, batch)] {
            self.received += count as u64;
            self.calls += 1;
            self.full += u64::from(count == batch);
        }
    }
}

fn nic(directory: &tempfile::TempDir, cpu: Option<usize>) -> Nic {
    let mut config = NicConfig::new(directory.path(), 2);
    config.cpu = cpu;
    Nic::new(config.with_each_port(|port| port.traffic = Traffic::Saturate)).unwrap()
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}

fn concurrent(duration: Duration) {
    println!("{:>6} {:>10} {:>10}  verified", "batch", "Mpps", "full %");
    for batch in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let directory = tempfile::tempdir().unwrap();
        let nic = nic(&directory, Some(1));
        let _running = nic.run_data_plane().unwrap();
        pin(0);
        let mut forwarder = Forwarder::open(&nic);
        let warm = Instant::now();
        while warm.elapsed() < Duration::from_millis(100) {
            forwarder.turn(batch);
        }
        (forwarder.received, forwarder.calls, forwarder.full) = (0, 0, 0);
        let start = Instant::now();
        while start.elapsed() < duration {
            for _ in 0..1 + 256 / batch {
                forwarder.turn(batch);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let mut ports = nic.ports().iter();
        let ok = ports.all(|port| port.stats().verify.clean());
        println!(
            "{batch:>6} {:>10.2} {:>10.2}  {}",
            forwarder.received as f64 / seconds / 1e6,
            100.0 * forwarder.full as f64 / forwarder.calls as f64,
            if ok { "ok" } else { "NOT OK" },
        );
    }
}

fn lockstep(duration: Duration) {
    println!(
        "{:>6} {:>16} {:>16} {:>12}",
        "batch", "NIC ns/packet", "driver ns/packet", "packets"
    );
    for batch in [1, 8, 32, 256] {
        let directory = tempfile::tempdir().unwrap();
        let nic = nic(&directory, None);
        let mut plane = nic.data_plane().unwrap();
        pin(0);
        let mut forwarder = Forwarder::open(&nic);
        let (mut device, mut driver) = (Duration::ZERO, Duration::ZERO);
        let start = Instant::now();
        while start.elapsed() < duration {
            let before = Instant::now();
            plane.poll();
            let between = Instant::now();
            for _ in 0..(256 / batch).max(1) {
                forwarder.turn(batch);
            }
            device += between - before;
            driver += between.elapsed();
        }
        let per_packet = |time: Duration| time.as_nanos() as f64 / forwarder.received as f64;
        println!(
            "{batch:>6} {:>16.1} {:>16.1} {:>12}",
            per_packet(device),
            per_packet(driver),
            forwarder.received
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1.0);
    let duration = Duration::from_secs_f64(seconds);
    match arguments.next().as_deref() {
        Some("shared-core") => lockstep(duration),
        _ => concurrent(duration),
    }
}
