//! Two ports, used frame by frame (`c/src/apps/ports.h`). This only copies frames and changes the calling
//! convention.

use std::ffi::{c_char, c_int, CStr};
use std::ptr::null_mut;
use std::rc::Rc;
use std::slice;

use ixgbe::driver::device::{Config, Device, OpenDevice, Stats};
use ixgbe::driver::mempool::{Mempool, Packet, MAX_SIZE};
use ixgbe::error::Result;
use ixgbe::rooms::forwarder::DEFAULT_CONNECT_TIMEOUT_MS;
use ixgbe::vfio::Container;
use self_cell::self_cell;

use crate::message::{report, status};

/// Enough packets for an RX ring, a TX ring and a batch.
const POOL_CAPACITY: u32 = 2048;
/// `PORTS_MAX_BATCH`.
const MAX_BATCH: usize = 256;

/// The two open devices.
struct Opened {
    // Fields are dropped in this order, so that a pool is unmapped while its devices are open.
    pools: [Mempool; 2],
    devices: [OpenDevice; 2],
    container: Rc<Container>,
}

/// The running ones of them.
struct Running<'p> {
    /// `None` before the first start and after the end.
    devices: [Option<Device<'p>>; 2],
    packets: Vec<Packet<'p>>,
}

self_cell!(
    struct Cell {
        owner: Opened,
        #[not_covariant]
        dependent: Running,
    }
);

/// `struct ports`.
pub struct Handle(Cell);

/// `struct ports_frame`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct PortsFrame {
    pub data: *mut u8,
    pub size: u32,
}

/// `struct ports_stats`.
#[repr(C)]
#[allow(missing_docs)]
pub struct PortsStats {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
}

fn open(device_a: &CStr, device_b: &CStr) -> Result<Cell> {
    let (device_a, device_b) = (device_a.to_string_lossy(), device_b.to_string_lossy());
    let container = Container::with_connect_timeout(DEFAULT_CONNECT_TIMEOUT_MS);
    let devices = [
        OpenDevice::open(&container, &device_a)?,
        OpenDevice::open(&container, &device_b)?,
    ];
    let pools = [
        Mempool::create(&container, POOL_CAPACITY)?,
        Mempool::create(&container, POOL_CAPACITY)?,
    ];
    let opened = Opened {
        pools,
        devices,
        container,
    };
    Ok(Cell::new(opened, |_| Running {
        devices: [None, None],
        packets: Vec::with_capacity(MAX_BATCH),
    }))
}

fn start(cell: &mut Cell, port: usize) -> Result<()> {
    cell.with_dependent_mut(|opened, running| {
        if let Some(mut device) = running.devices[port].take() {
            device.stop()?;
        }
        let device = opened.devices[port].start(&Config::default(), &opened.pools[port])?;
        running.devices[port] = Some(device);
        Ok(())
    })
}

/// Stops both ports. Returns the first error.
fn stop(cell: &mut Cell) -> Result<()> {
    cell.with_dependent_mut(|_, running| {
        let mut result = Ok(());
        for device in &mut running.devices {
            if let Some(mut device) = device.take() {
                result = result.and(device.stop());
            }
        }
        result
    })
}

/// Runs `act` on a running port. `None` if the port does not run.
fn with_device<R>(
    this: &mut Handle,
    port: u32,
    act: impl FnOnce(&mut Device<'_>) -> Result<R>,
) -> Option<Result<R>> {
    this.0
        .with_dependent_mut(|_, running| running.devices[port as usize].as_mut().map(act))
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// The device names are NUL-terminated strings. `error` is valid for writes of `error_size` bytes.
#[no_mangle]
pub unsafe extern "C" fn ports_open(
    device_a: *const c_char,
    device_b: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut Handle {
    // SAFETY: the caller guarantees it.
    let (device_a, device_b) = unsafe { (CStr::from_ptr(device_a), CStr::from_ptr(device_b)) };
    match open(device_a, device_b) {
        Ok(cell) => Box::into_raw(Box::new(Handle(cell))),
        Err(reason) => {
            // SAFETY: the caller guarantees it.
            unsafe { report(&reason.to_string(), error, error_size) };
            null_mut()
        }
    }
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// `this` came from [`ports_open`] and was not closed; `error` is valid for writes of `error_size`
/// bytes.
#[no_mangle]
pub unsafe extern "C" fn ports_start(
    this: *mut Handle,
    port: u32,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let started = start(&mut this.0, port as usize);
    // SAFETY: the caller guarantees it.
    unsafe { status(started, error, error_size) }
}

/// See `c/src/apps/ports.h`. A port that does not run has no link.
///
/// # Safety
/// As [`ports_start`]; `speed` is valid for writes.
#[no_mangle]
pub unsafe extern "C" fn ports_link_speed(
    this: *mut Handle,
    port: u32,
    speed: *mut u32,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read = with_device(this, port, |device| device.link_speed()).unwrap_or(Ok(0));
    let result = read.map(|mbit| {
        // SAFETY: the caller guarantees it.
        unsafe { speed.write(mbit) };
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(result, error, error_size) }
}

/// See `c/src/apps/ports.h`. A port that does not run, or has failed, sends nothing;
/// [`ports_stats`] reports the reason.
///
/// # Safety
/// `this` came from [`ports_open`] and was not closed. `frames` points to `count` frames, and `data`
/// of each is valid for reads of `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn ports_send(
    this: *mut Handle,
    port: u32,
    frames: *const PortsFrame,
    count: u32,
) -> u32 {
    // SAFETY: the caller guarantees it.
    let (this, frames) = unsafe { (&mut *this, slice::from_raw_parts(frames, count as usize)) };
    this.0.with_dependent_mut(|opened, running| {
        let port = port as usize;
        let Some(device) = &mut running.devices[port] else {
            return 0;
        };
        let packets = &mut running.packets;
        for frame in frames.iter().take(MAX_BATCH) {
            let size = frame.size as usize;
            let fits = (1..=MAX_SIZE).contains(&size);
            let Some(mut packet) = fits.then(|| opened.pools[port].alloc()).flatten() else {
                break;
            };
            // SAFETY: the caller guarantees it.
            let data = unsafe { slice::from_raw_parts(frame.data, size) };
            if !packet.set_size(size) || !packet.write_at(0, data) {
                break;
            }
            packets.push(packet);
        }
        let sent = device.tx_batch(0, packets).unwrap_or(0);
        packets.clear();
        sent as u32
    })
}

/// See `c/src/apps/ports.h`. A port that does not run, or has failed, receives nothing;
/// [`ports_stats`] reports the reason.
///
/// # Safety
/// `this` came from [`ports_open`] and was not closed. `frames` points to `count` frames, and `data`
/// of each is valid for reads and writes of `size` initialised bytes.
#[no_mangle]
pub unsafe extern "C" fn ports_receive(
    this: *mut Handle,
    port: u32,
    frames: *mut PortsFrame,
    count: u32,
) -> u32 {
    // SAFETY: the caller guarantees it.
    let (this, frames) = unsafe {
        (
            &mut *this,
            slice::from_raw_parts_mut(frames, count as usize),
        )
    };
    this.0.with_dependent_mut(|_, running| {
        let Some(device) = &mut running.devices[port as usize] else {
            return 0;
        };
        let packets = &mut running.packets;
        // Packets that were received before an error still count.
        let _ = device.rx_batch(0, packets, frames.len().min(MAX_BATCH));
        for (frame, packet) in frames.iter_mut().zip(packets.iter()) {
            let size = packet.size().min(frame.size as usize);
            // SAFETY: the caller guarantees `frame.size` bytes.
            let into = unsafe { slice::from_raw_parts_mut(frame.data, size) };
            // The packet has `size` bytes.
            let _ = packet.read_at(0, into);
            frame.size = packet.size() as u32;
        }
        let received = packets.len() as u32;
        packets.clear();
        received
    })
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// As [`ports_start`]; `stats` is valid for writes.
#[no_mangle]
pub unsafe extern "C" fn ports_stats(
    this: *mut Handle,
    port: u32,
    stats: *mut PortsStats,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read =
        with_device(this, port, |device| device.stats_read()).unwrap_or(Ok(Stats::default()));
    let result = read.map(|read| {
        // SAFETY: the caller guarantees it.
        unsafe {
            stats.write(PortsStats {
                rx_packets: read.rx_packets,
                rx_bytes: read.rx_bytes,
                tx_packets: read.tx_packets,
                tx_bytes: read.tx_bytes,
            });
        }
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(result, error, error_size) }
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// As [`ports_start`]; `value` is valid for writes.
#[no_mangle]
pub unsafe extern "C" fn ports_register(
    this: *mut Handle,
    port: u32,
    offset: u32,
    value: *mut u32,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read = this.0.borrow_owner().devices[port as usize].register_read(offset);
    let result = read.map(|read| {
        // SAFETY: the caller guarantees it.
        unsafe { value.write(read) };
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(result, error, error_size) }
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// `this` came from [`ports_open`] and was not closed.
#[no_mangle]
pub unsafe extern "C" fn ports_on_ordinary_pages(this: *const Handle) -> bool {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &*this };
    this.0.borrow_owner().container.on_ordinary_pages()
}

/// See `c/src/apps/ports.h`.
///
/// # Safety
/// As [`ports_start`]. The pointer is not used again.
#[no_mangle]
pub unsafe extern "C" fn ports_close(
    this: *mut Handle,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let mut this = unsafe { Box::from_raw(this) };
    let stopped = stop(&mut this.0);
    // SAFETY: the caller guarantees it.
    unsafe { status(stopped, error, error_size) }
}
