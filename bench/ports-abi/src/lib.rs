//! The C interface of libports.so (`c/src/apps/stack_port.h`) for the safe Rust driver. With it, applications use all
//! three drivers in the same way. It is not part of the driver.
//!
//! The stack gets the address of a packet's bytes. The packet itself stays here, in a slot, and so
//! keeps its owner: the stack's number of the slot frees it or sends it. The stack trusts the device
//! not to write to a packet after DD, as the C driver does.
//!
//! The caller must keep the contract of the header: names end in NUL, a port comes from `stack_port_open` and is not
//! closed, arrays have `count` elements, other pointers are valid, and `error` is valid for writes of `error_size` bytes.
//! The stack no longer uses packets that were sent or freed.
#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::null_mut;
use std::rc::Rc;
use std::slice;
use std::time::Duration;

use ixgbe::driver::device::{Config, Device, OpenDevice, MAX_QUEUES};
use ixgbe::driver::mempool::{Mempool, Packet, MAX_SIZE};
use ixgbe::error::{Error, Result};
use ixgbe::rooms::interrupts::Waits;
use ixgbe::vfio::Container;
use self_cell::self_cell;

/// A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the stack.
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;
const POOL_MIN_CAPACITY: u32 = 2048;

/// Time between two interrupts of a queue, in microseconds: none, because an answer is urgent.
const INTERRUPT_INTERVAL_US: u32 = 0;

/// `STACK_PORT_MAX_BATCH`.
const MAX_BATCH: usize = 256;

/// `struct stack_port_config`.
#[repr(C)]
pub struct StackPortConfig {
    pub device: *const c_char,
    pub queues: u32,
    pub ring_size: u32,
    pub connect_timeout_ms: u32,
    pub link_timeout_ms: u32,
    pub interrupts: u32,
}

/// `struct stack_packet`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StackPacket {
    pub data: *mut u8,
    pub size: u32,
    pub slot: u32,
    pub owner: *mut c_void,
}

/// `struct stack_port_stats`.
#[repr(C)]
pub struct StackPortStats {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub interrupts: u64,
    pub sleeps: u64,
    pub ordinary_pages: u64,
}

/// The open device.
struct Opened {
    // Fields are dropped in this order, so that a pool is unmapped while its device is open.
    pools: Vec<Mempool>,
    device: OpenDevice,
    container: Rc<Container>,
}

/// The running device, and the packets that the stack has.
struct Running<'p> {
    device: Device<'p>,
    slots: Vec<Option<Packet<'p>>>,
    free_slots: Vec<u32>,
    batch: Vec<Packet<'p>>,
    waits: Waits,
}

self_cell!(
    struct Cell {
        owner: Opened,
        #[not_covariant]
        dependent: Running,
    }
);

/// `struct stack_port`.
pub struct StackPort(Cell);

impl<'p> Running<'p> {
    /// Keeps a packet that the stack gets.
    fn lend(&mut self, mut packet: Packet<'p>) -> StackPacket {
        let (data, size) = (packet.as_mut_ptr(), packet.size() as u32);
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize] = Some(packet);
        StackPacket {
            data,
            size,
            slot,
            owner: null_mut(),
        }
    }

    /// Takes back a packet from the stack. `None` if the stack does not have it.
    fn take_back(&mut self, slot: u32) -> Option<Packet<'p>> {
        let packet = self.slots.get_mut(slot as usize)?.take()?;
        self.free_slots.push(slot);
        Some(packet)
    }
}

fn start(config: &StackPortConfig, device: &str) -> Result<Cell> {
    if !(1..=MAX_QUEUES).contains(&config.queues) {
        let message = format!("a port has 1 to {MAX_QUEUES} queues, not {}", config.queues);
        return Err(Box::new(Error::Argument(message)));
    }
    let container = Container::with_connect_timeout(config.connect_timeout_ms);
    let device = OpenDevice::open(&container, device)?;
    let capacity = (config.ring_size * POOL_PACKETS_PER_DESCRIPTOR).max(POOL_MIN_CAPACITY);
    let pools: Result<Vec<_>> = (0..config.queues)
        .map(|_| Mempool::create(&container, capacity))
        .collect();
    let opened = Opened {
        pools: pools?,
        device,
        container,
    };
    Cell::try_new(opened, |opened| {
        let queues = Config {
            rx_queues: config.queues,
            tx_queues: config.queues,
            rx_ring_size: config.ring_size,
            tx_ring_size: config.ring_size,
            ..Config::default()
        };
        let mut device = opened.device.start_queues(&queues, &opened.pools)?;
        device.wait_for_link(config.link_timeout_ms.into())?;
        if config.interrupts != 0 {
            device.use_interrupts(INTERRUPT_INTERVAL_US)?;
        }
        Ok(Running {
            device,
            slots: Vec::with_capacity(2 * MAX_BATCH),
            free_slots: Vec::with_capacity(2 * MAX_BATCH),
            batch: Vec::with_capacity(MAX_BATCH),
            waits: Waits::default(),
        })
    })
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_open(
    config: *const StackPortConfig,
    error: *mut c_char,
    error_size: usize,
) -> *mut StackPort {
    // SAFETY: the caller guarantees it.
    let config = unsafe { &*config };
    // SAFETY: the caller guarantees it.
    let device = unsafe { CStr::from_ptr(config.device) };
    match start(config, &device.to_string_lossy()) {
        Ok(cell) => Box::into_raw(Box::new(StackPort(cell))),
        Err(reason) => {
            // SAFETY: the caller guarantees it.
            unsafe { report(&reason.to_string(), error, error_size) };
            null_mut()
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_mac(
    this: *mut StackPort,
    mac: *mut [u8; 6],
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read = this
        .0
        .with_dependent_mut(|_, running| running.device.mac_read());
    let result = read.map(|address| {
        // SAFETY: the caller guarantees it.
        unsafe { mac.write(address) };
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(result, error, error_size) }
}

/// A port that has failed receives nothing; [`stack_port_stats`] reports the reason.
#[no_mangle]
pub unsafe extern "C" fn stack_port_receive(
    this: *mut StackPort,
    queue: u32,
    packets: *mut StackPacket,
    count: u32,
) -> u32 {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    this.0.with_dependent_mut(|_, running| {
        let mut batch = std::mem::take(&mut running.batch);
        let wanted = (count as usize).min(MAX_BATCH);
        // Packets that were received before an error still count.
        let _ = running.device.rx_batch(queue as usize, &mut batch, wanted);
        let received = batch.len();
        for (i, packet) in batch.drain(..).enumerate() {
            // SAFETY: there are at most `count` packets, for which the caller guarantees room.
            unsafe { packets.add(i).write(running.lend(packet)) };
        }
        running.batch = batch;
        received as u32
    })
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_free(
    this: *mut StackPort,
    packets: *const StackPacket,
    count: u32,
) {
    // SAFETY: the caller guarantees it.
    let (this, packets) = unsafe { (&mut *this, slice::from_raw_parts(packets, count as usize)) };
    this.0.with_dependent_mut(|_, running| {
        for packet in packets {
            drop(running.take_back(packet.slot));
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_alloc(this: *mut StackPort, packet: *mut StackPacket) -> bool {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    this.0.with_dependent_mut(|opened, running| {
        let Some(mut taken) = opened.pools[0].alloc() else {
            return false;
        };
        // The whole buffer fits, by definition.
        let _ = taken.set_size(MAX_SIZE);
        // SAFETY: the caller guarantees it.
        unsafe { packet.write(running.lend(taken)) };
        true
    })
}

/// A port that has failed sends nothing; [`stack_port_stats`] reports the reason.
#[no_mangle]
pub unsafe extern "C" fn stack_port_send(
    this: *mut StackPort,
    queue: u32,
    packets: *const StackPacket,
    count: u32,
) -> u32 {
    // SAFETY: the caller guarantees it.
    let (this, packets) = unsafe { (&mut *this, slice::from_raw_parts(packets, count as usize)) };
    this.0.with_dependent_mut(|_, running| {
        let mut batch = std::mem::take(&mut running.batch);
        for packet in packets.iter().take(MAX_BATCH) {
            let Some(mut taken) = running.take_back(packet.slot) else {
                break;
            };
            // A size beyond the buffer leaves the size as it was.
            let _ = taken.set_size(packet.size as usize);
            batch.push(taken);
        }
        let sent = running
            .device
            .tx_batch(queue as usize, &mut batch)
            .unwrap_or(0);
        // The stack keeps the others, in the slots that it knows.
        for (packet, left) in packets[sent..].iter().zip(batch.drain(..)) {
            running.slots[packet.slot as usize] = Some(left);
            running.free_slots.retain(|slot| *slot != packet.slot);
        }
        running.batch = batch;
        sent as u32
    })
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_wait(
    this: *mut StackPort,
    timeout_ms: u32,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let timeout = Duration::from_millis(timeout_ms.into());
    let waited = this
        .0
        .with_dependent_mut(|_, running| running.device.wait(timeout, &mut running.waits));
    // SAFETY: the caller guarantees it.
    unsafe { status(waited, error, error_size) }
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_stats(
    this: *mut StackPort,
    stats: *mut StackPortStats,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let ordinary_pages = this.0.borrow_owner().container.on_ordinary_pages().into();
    let read = this.0.with_dependent_mut(|_, running| {
        let read = running.device.stats_read()?;
        let waits = running.waits;
        Ok(StackPortStats {
            rx_packets: read.rx_packets,
            rx_bytes: read.rx_bytes,
            tx_packets: read.tx_packets,
            tx_bytes: read.tx_bytes,
            interrupts: waits.interrupts,
            sleeps: waits.sleeps,
            ordinary_pages,
        })
    });
    let result = read.map(|read| {
        // SAFETY: the caller guarantees it.
        unsafe { stats.write(read) };
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(result, error, error_size) }
}

#[no_mangle]
pub unsafe extern "C" fn stack_port_close(
    this: *mut StackPort,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let mut this = unsafe { Box::from_raw(this) };
    let stopped = this
        .0
        .with_dependent_mut(|_, running| running.device.stop());
    // SAFETY: the caller guarantees it.
    unsafe { status(stopped, error, error_size) }
}

/// Writes a message with its NUL to `error`, truncated to `size` bytes.
unsafe fn report(message: &str, error: *mut c_char, size: usize) {
    let Some(room) = size.checked_sub(1) else {
        return;
    };
    let length = message.len().min(room);
    // SAFETY: `length + 1 <= size`, and the caller guarantees `size` bytes.
    unsafe {
        error.copy_from_nonoverlapping(message.as_ptr().cast(), length);
        error.add(length).write(0);
    }
}

/// Returns 0, or -1 with the reason.
unsafe fn status(result: Result<()>, error: *mut c_char, size: usize) -> c_int {
    let Err(reason) = result else { return 0 };
    // SAFETY: the caller guarantees it.
    unsafe { report(&reason.to_string(), error, size) };
    -1
}
