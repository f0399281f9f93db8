//! Measures the speed of the software NIC. A small forwarder runs in this process on one processor,
//! and the data plane on another.
//!
//! `cargo run --release -p nic --example throughput [-- SECONDS [shared-core]]`
//!
//! For every batch size, the example prints the rate, and the share of receive calls that returned a
//! full batch. A share of 99 % or more means that the forwarder limited the rate, and not the NIC.
//! With `shared-core`, the two take turns on one processor (lockstep), and the example prints the
//! time per packet of each. The environment variable `MAPS` spreads the packets over `many` DMA maps
//! or over `one`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::atomic::{compiler_fence, Ordering};
use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{Nic, NicConfig, Traffic};
use support::{Client, Memory, BUFFER};

const RING: usize = 512;
const BUFFERS: usize = 2048;
const IOVA: u64 = 0x4000_0000;
const DATA: usize = 64;
const RX_RING: usize = 0;
const TX_RING: usize = 0x4000;
const POOL: usize = 0x20_0000;
const CLEAN: usize = 32;
/// Bytes of a DMA map, and from buffer to buffer, if the memory consists of many maps.
const MAP: usize = 2 << 20;
const SPREAD: usize = 64 << 10;

/// One port of the forwarder: rings of 512 descriptors and a LIFO pool of 2 KiB buffers. It cleans
/// transmit descriptors 32 at a time.
struct Port {
    _client: Client,
    registers: *mut u32,
    memory: Memory,
    layout: Layout,
    free: Vec<u32>,
    rx_buffers: Vec<u32>,
    rx_next: usize,
    tx_buffers: Vec<u32>,
    tx_next: usize,
    tx_clean: usize,
}

/// How the packets lie in memory.
#[derive(Clone, Copy)]
struct Layout {
    /// Bytes from buffer to buffer.
    stride: usize,
    /// Bytes of a DMA map.
    map: usize,
}

impl Layout {
    /// The environment variable `MAPS`: `many` spreads the buffers over 64 maps of 2 MiB a port, and
    /// `one` over one map of the same size. Without it, the buffers lie close together in one map.
    fn from_environment() -> Self {
        let (stride, map) = match std::env::var("MAPS").as_deref() {
            Ok("many") => (SPREAD, MAP),
            Ok("one") => (SPREAD, usize::MAX),
            _ => (BUFFER, usize::MAX),
        };
        Self { stride, map }
    }

    /// Bytes of a port's memory.
    fn len(self) -> usize {
        POOL + BUFFERS * self.stride
    }

    /// The offset of a packet.
    #[inline(always)]
    fn packet(self, buffer: u32) -> usize {
        POOL + buffer as usize * self.stride + DATA
    }

    /// The buffers in the order of their first use. Buffers of spread memory come in no order, as in
    /// a pool that has been in use for a while.
    fn order(self) -> Vec<u32> {
        let step = if self.stride == BUFFER { 1 } else { 1297 };
        (0..BUFFERS as u32)
            .map(|nth| nth * step % BUFFERS as u32)
            .collect()
    }

    /// Maps a port's memory at an IOVA.
    fn map(self, client: &mut Client, iova: u64, memory: &Memory) {
        for offset in (0..memory.len()).step_by(self.map.min(memory.len())) {
            let len = self.map.min(memory.len() - offset) as u64;
            let offset = offset as u64;
            let file = Some(&memory.file);
            client.dma_map(iova + offset, len, offset, 3, file).unwrap();
        }
    }
}

/// A packet: its buffer and its length.
type Packet = (u32, u32);

impl Port {
    fn open(path: &std::path::Path) -> Self {
        let layout = Layout::from_environment();
        let len = layout.len();
        let memory = Memory::huge(len).unwrap_or_else(|| Memory::new(len));
        let mut client = Client::connect(path);
        layout.map(&mut client, IOVA, &memory);
        client.set_bus_master(true);
        client.change(r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE, 0);
        client.set(r::RDBAL(0), IOVA as u32 + RX_RING as u32);
        client.set(r::RDLEN(0), RING as u32 * 16);
        client.set(
            r::SRRCTL(0),
            2 | r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER | r::SRRCTL_DROP_EN,
        );
        client.change(r::RXDCTL(0), r::RXDCTL_ENABLE, 0);
        client.set(r::TDBAL(0), IOVA as u32 + TX_RING as u32);
        client.set(r::TDLEN(0), RING as u32 * 16);
        client.set(r::DMATXCTL, r::DMATXCTL_TE);
        client.set(r::TXDCTL(0), 32 | 8 << 8 | r::TXDCTL_ENABLE);
        client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
        let registers = client.pages.as_ref().unwrap().at(0, 0x8000).cast();
        let mut port = Self {
            _client: client,
            registers,
            memory,
            layout,
            free: layout.order(),
            rx_buffers: vec![0; RING],
            rx_next: 0,
            tx_buffers: vec![0; RING],
            tx_next: 0,
            tx_clean: 0,
        };
        for slot in 0..RING {
            let buffer = port.free.pop().unwrap();
            port.arm(slot, buffer);
        }
        port.set(r::RDT(0), RING as u32 - 1);
        port
    }

    #[inline(always)]
    fn set(&self, register: u32, value: u32) {
        compiler_fence(Ordering::Release);
        // SAFETY: all registers used here lie in the shared pages, which are mapped up to 0x8000.
        unsafe {
            self.registers
                .add(register as usize / 4)
                .write_volatile(value)
        }
    }

    #[inline(always)]
    fn arm(&mut self, slot: usize, buffer: u32) {
        self.rx_buffers[slot] = buffer;
        let address = IOVA + self.layout.packet(buffer) as u64;
        self.memory.write_u64(RX_RING + slot * 16, address);
        self.memory.write_u64(RX_RING + slot * 16 + 8, 0);
    }

    #[inline(always)]
    fn receive(&mut self, packets: &mut Vec<Packet>, batch: usize) {
        let first = self.rx_next;
        for _ in 0..batch {
            let slot = self.rx_next;
            let status = self.memory.read_u64(RX_RING + slot * 16 + 8);
            if status & r::RXD_DD == 0 {
                break;
            }
            compiler_fence(Ordering::Acquire);
            let Some(fresh) = self.free.pop() else { break };
            packets.push((self.rx_buffers[slot], (status >> 32) as u32 & 0xffff));
            self.arm(slot, fresh);
            self.rx_next = (slot + 1) % RING;
        }
        if self.rx_next != first {
            self.set(r::RDT(0), ((self.rx_next + RING - 1) % RING) as u32);
        }
    }

    #[inline(always)]
    fn touch(&self, packet: Packet) {
        let byte = self.memory.at(self.layout.packet(packet.0) + 1, 1);
        // SAFETY: inside the mapping.
        unsafe { byte.write_volatile(byte.read_volatile().wrapping_add(1)) }
    }
}

/// Sends packets through `to` that `from` has received. They stay in the memory of `from`, which
/// both devices have mapped.
#[inline(always)]
fn send(from: &mut Port, to: &mut Port, packets: &mut Vec<Packet>, dropped: &mut u64, offset: u64) {
    while (to.tx_next + RING - to.tx_clean) % RING >= CLEAN {
        let last = (to.tx_clean + CLEAN - 1) % RING;
        if to.memory.read_u64(TX_RING + last * 16 + 8) & r::TXD_DD == 0 {
            break;
        }
        compiler_fence(Ordering::Acquire);
        for n in 0..CLEAN {
            from.free.push(to.tx_buffers[(to.tx_clean + n) % RING]);
        }
        to.tx_clean = (to.tx_clean + CLEAN) % RING;
    }
    let first = to.tx_next;
    for (buffer, len) in packets.drain(..) {
        let next = (to.tx_next + 1) % RING;
        if next == to.tx_clean {
            *dropped += 1;
            from.free.push(buffer);
            continue;
        }
        let slot = to.tx_next;
        to.tx_buffers[slot] = buffer;
        let address = offset + from.layout.packet(buffer) as u64;
        let command = support::data_command(len as usize, len as usize) | r::TXD_EOP | r::TXD_RS;
        to.memory.write_u64(TX_RING + slot * 16, address);
        to.memory.write_u64(TX_RING + slot * 16 + 8, command);
        to.tx_next = next;
    }
    if to.tx_next != first {
        to.set(r::TDT(0), to.tx_next as u32);
    }
}

/// Offset of the IOVAs at which the other port's memory is mapped.
const OTHER: u64 = 0x8000_0000;

struct Forwarder {
    a: Port,
    b: Port,
    packets: Vec<Packet>,
    received: u64,
    calls: u64,
    full: u64,
    dropped: u64,
}

impl Forwarder {
    fn open(nic: &Nic) -> Self {
        let [a, b] = nic.ports() else {
            panic!("two ports")
        };
        let (mut a, mut b) = (Port::open(a.socket()), Port::open(b.socket()));
        a.layout.map(&mut a._client, OTHER, &b.memory);
        b.layout.map(&mut b._client, OTHER, &a.memory);
        Self {
            a,
            b,
            packets: Vec::with_capacity(RING),
            received: 0,
            calls: 0,
            full: 0,
            dropped: 0,
        }
    }

    #[inline(always)]
    fn turn(&mut self, batch: usize) {
        for _ in 0..2 {
            let Self {
                a: from,
                b: to,
                packets,
                ..
            } = self;
            from.receive(packets, batch);
            self.received += packets.len() as u64;
            self.calls += 1;
            self.full += u64::from(packets.len() == batch);
            for packet in packets.iter() {
                from.touch(*packet);
            }
            send(from, to, packets, &mut self.dropped, OTHER);
            // Forward in the other direction.
            std::mem::swap(&mut self.a, &mut self.b);
        }
    }
}

fn nic(directory: &tempfile::TempDir, cpu: Option<usize>) -> Nic {
    let mut config =
        NicConfig::new(directory.path(), 2).with_each_port(|port| port.traffic = Traffic::Saturate);
    config.cpu = cpu;
    if let Ok(mode) = std::env::var("VERIFY") {
        config = config.with_each_port(|port| port.verify = mode.parse().unwrap());
    }
    Nic::new(config).unwrap()
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}

fn concurrent(duration: Duration) {
    println!(
        "{:>6} {:>10} {:>10} {:>10}  verified",
        "batch", "Mpps", "full %", "dropped"
    );
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
        let ok = nic.ports().iter().all(|port| {
            let stats = port.stats();
            stats.verify.missing <= forwarder.dropped
                && stats.verify.altered + stats.verify.duplicated == 0
        });
        println!(
            "{batch:>6} {:>10.2} {:>10.2} {:>10}  {}",
            forwarder.received as f64 / seconds / 1e6,
            100.0 * forwarder.full as f64 / forwarder.calls as f64,
            forwarder.dropped,
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
