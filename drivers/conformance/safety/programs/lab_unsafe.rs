//! The lab's application on the transpiled driver: `lab.c`, function by function, in Rust that is
//! as unsafe as the driver's interface.
//!
//! That interface is C's, with a copy of each structure in each module: pointers are cast from one
//! to the other. `packet_alloc` and `packet_free` are inline functions of a C header, so they are
//! here once more.
// SAFETY, for all blocks below: the lab lives until `main` ends, and its parts do not move. What the
// deeds do is not sound, on purpose.
#![allow(clippy::undocumented_unsafe_blocks, static_mut_refs)]

use std::ffi::{c_char, CStr, CString};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ixgbe_unsafe::gen::device::{device as Device, rx_queue, tx_queue};
use ixgbe_unsafe::gen::mempool::{error, mempool as Mempool, packet};
use ixgbe_unsafe::gen::{device, init, mempool, rx, stats, tx, vfio};
use signal_hook::consts::SIGINT;

const RING_SIZE: u32 = 64;
const ODD_RING_SIZE: u32 = 96;
const POOL_CAPACITY: u32 = 512;
const BATCH: usize = 32;
const MAX_BATCH: usize = 128;
const DEED_AFTER: u64 = 100;
const PACKET_MAX_SIZE: usize = 2048 - 64;
const STATS_INTERVAL: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_micros(20);

/// What the application writes where it must not.
const MARK: u8 = 0xee;

type Result<T> = std::result::Result<T, String>;

struct Lab {
    deed: String,
    container: vfio::vfio_container,
    pools: [Mempool; 2],
    spare: Mempool,
    spare_packet: *mut packet,
    devices: [Device; 2],
    opened: usize,
    rx: u64,
    tx: u64,
    dropped: u64,
    /// The deed, if it is done once.
    done: bool,
    stale: *mut packet,
    /// Received, not sent yet.
    hoard: [*mut packet; MAX_BATCH],
    hoarded: usize,
}

unsafe fn packet_alloc(pool: *mut Mempool) -> *mut packet {
    if (*pool).free_count == 0 {
        return std::ptr::null_mut();
    }
    (*pool).free_count -= 1;
    *(*pool).free.offset((*pool).free_count as isize)
}

unsafe fn packet_free(packet: *mut packet) {
    let pool: *mut Mempool = (*packet).pool.cast();
    *(*pool).free.offset((*pool).free_count as isize) = packet;
    (*pool).free_count += 1;
}

unsafe fn data(packet: *mut packet) -> *mut u8 {
    (&raw mut (*packet).data).cast()
}

fn text(error: &error) -> String {
    let text = unsafe { CStr::from_ptr(error.text.as_ptr()) };
    text.to_string_lossy().into_owned()
}

/// Calls a function that returns 0, or -1 with the reason.
fn checked(call: impl FnOnce(*mut error) -> i32) -> Result<()> {
    let mut reason: error = unsafe { std::mem::zeroed() };
    match call(&raw mut reason) {
        0 => Ok(()),
        _ => Err(text(&reason)),
    }
}

/// The mistakes with packets that have been received and not sent yet. How many are left to send.
unsafe fn misuse(lab: *mut Lab, packets: *mut *mut packet, received: usize) -> usize {
    let lab = &mut *lab;
    let first = *packets;
    match lab.deed.as_str() {
        "use-after-send" => {
            // Keeps a packet that will have been sent, and goes on writing to it.
            if lab.stale.is_null() {
                lab.stale = first;
            } else {
                data(lab.stale).add(30).write_bytes(MARK, 8);
                (*lab.stale).size = 100;
            }
            return received;
        }
        // Forgets half of them: neither sent nor freed.
        "leak" => {
            lab.dropped += (received - received / 2) as u64;
            return received / 2;
        }
        _ => {}
    }
    if std::mem::replace(&mut lab.done, true) {
        return received;
    }
    match lab.deed.as_str() {
        "double-free" => {
            // In place of sending it.
            packet_free(first);
            packet_free(first);
            std::ptr::copy(packets.add(1), packets, received - 1);
            return received - 1;
        }
        "use-after-pool" => {
            mempool::mempool_destroy(&raw mut lab.spare);
            data(lab.spare_packet).write_bytes(MARK, 60);
        }
        // No mistake: memory that the device could reach, and now may not.
        "free-pool" => mempool::mempool_destroy(&raw mut lab.spare),
        // A trailer behind a packet that fills its buffer.
        "write-past-end" => data(first).add(PACKET_MAX_SIZE).write_bytes(MARK, 8),
        // A tunnel's header in front of the data.
        "write-before-start" => data(first).sub(48).write_bytes(MARK, 48),
        _ => {}
    }
    received
}

unsafe fn send_or_free(lab: *mut Lab, tx: *mut tx_queue, packets: *mut *mut packet, count: usize) {
    let sent = tx::tx_batch(tx.cast(), packets.cast(), count as u32) as usize;
    for i in sent..count {
        packet_free(*packets.add(i));
    }
    (*lab).tx += sent as u64;
    (*lab).dropped += (count - sent) as u64;
}

unsafe fn forward(lab: *mut Lab, from: *mut rx_queue, to: *mut tx_queue) -> usize {
    let mut packets = [std::ptr::null_mut::<packet>(); BATCH];
    let received = rx::rx_batch(from.cast(), packets.as_mut_ptr().cast(), BATCH as u32) as usize;
    if received == 0 {
        return 0;
    }
    (*lab).rx += received as u64;
    for packet in &packets[..received] {
        let byte = data(*packet).add(1);
        *byte = (*byte).wrapping_add(1);
    }
    let after = (*lab).rx > DEED_AFTER;
    if (*lab).deed == "large-batch" && after && !(*lab).done {
        // More packets in one call than the ring has descriptors.
        let hoard = (&raw mut (*lab).hoard).cast::<*mut packet>();
        std::ptr::copy_nonoverlapping(packets.as_ptr(), hoard.add((*lab).hoarded), received);
        (*lab).hoarded += received;
        if (*lab).hoarded > MAX_BATCH - BATCH {
            send_or_free(lab, to, hoard, (*lab).hoarded);
            (*lab).hoarded = 0;
            (*lab).done = true;
        }
        return received;
    }
    let count = if after {
        misuse(lab, packets.as_mut_ptr(), received)
    } else {
        received
    };
    send_or_free(lab, to, packets.as_mut_ptr(), count);
    received
}

/// A pointer that goes to another thread: what no driver of this kind allows.
struct Smuggled(*mut Lab);
unsafe impl Send for Smuggled {}

unsafe fn intrude(lab: Smuggled, ended: &AtomicBool) {
    let lab = lab.0;
    while !ended.load(Ordering::Relaxed) {
        if (&raw const (*lab).rx).read_volatile() > DEED_AFTER {
            let from = &raw mut (*lab).devices[0].rx[0];
            let to = &raw mut (*lab).devices[1].tx[0];
            forward(lab, from, to);
        }
    }
}

unsafe fn run(lab: *mut Lab, ended: &Arc<AtomicBool>) -> Result<()> {
    let threads = (*lab).deed == "two-threads";
    let intruder = threads.then(|| {
        let (smuggled, ended) = (Smuggled(lab), Arc::clone(ended));
        std::thread::spawn(move || unsafe { intrude(smuggled, &ended) })
    });
    let [a, b] = [0, 1].map(|i| &raw mut (*lab).devices[i]);
    let mut looked = Instant::now();
    let mut result = Ok(());
    while !ended.load(Ordering::Relaxed) && result.is_ok() {
        let received = forward(lab, &raw mut (*a).rx[0], &raw mut (*b).tx[0])
            + forward(lab, &raw mut (*b).rx[0], &raw mut (*a).tx[0]);
        if looked.elapsed() >= STATS_INTERVAL {
            looked = Instant::now();
            for device in [a, b] {
                let mut read: stats::device_stats = std::mem::zeroed();
                let call =
                    |error: *mut error| stats::stats_read(device.cast(), &mut read, error.cast());
                result = result.and(checked(call));
            }
        }
        if received == 0 && !(threads && (*lab).rx > DEED_AFTER) {
            sleep(IDLE);
        }
    }
    ended.store(true, Ordering::Relaxed);
    if let Some(intruder) = intruder {
        let _ = intruder.join();
    }
    result
}

unsafe fn start(lab: *mut Lab, addresses: &[CString]) -> Result<()> {
    let container = &raw mut (*lab).container;
    let ring_size = if (*lab).deed == "odd-ring" {
        ODD_RING_SIZE
    } else {
        RING_SIZE
    };
    let config = init::device_config {
        rx_queues: 1,
        tx_queues: 1,
        rx_ring_size: ring_size,
        tx_ring_size: ring_size,
        promiscuous: true,
    };
    for (i, address) in addresses.iter().enumerate() {
        let device = &raw mut (*lab).devices[i];
        let address: *const c_char = address.as_ptr();
        checked(|error| device::device_open(device, container.cast(), address, error.cast()))?;
        (*lab).opened += 1;
    }
    for pool in [
        &raw mut (*lab).pools[0],
        &raw mut (*lab).pools[1],
        &raw mut (*lab).spare,
    ] {
        checked(|error| mempool::mempool_create(pool, container.cast(), POOL_CAPACITY, error))?;
    }
    (*lab).spare_packet = packet_alloc(&raw mut (*lab).spare);
    for i in 0..2 {
        let device = &raw mut (*lab).devices[i];
        let pool = &raw mut (*lab).pools[i];
        checked(|error| init::device_start(device.cast(), &config, pool.cast(), error.cast()))?;
    }
    Ok(())
}

/// Looks at a pool to which all packets should have come back: how many are not there, or twice.
unsafe fn inspect(pool: &Mempool) -> (u32, u32) {
    if pool.free.is_null() {
        return (0, 0);
    }
    let count = pool.free_count.min(pool.capacity) as usize;
    let mut packets: Vec<_> = (0..count).map(|i| *pool.free.add(i)).collect();
    packets.sort_unstable();
    packets.dedup();
    let distinct = packets.len() as u32;
    (pool.capacity - distinct, pool.free_count - distinct)
}

unsafe fn report(lab: *mut Lab) {
    let (mut discarded, mut pool_empty) = (0, 0);
    for i in 0..(*lab).opened {
        let device = &raw mut (*lab).devices[i];
        discarded += (*device).rx[0].discarded;
        pool_empty += (*device).rx[0].pool_empty;
        device::device_release(device);
    }
    for i in 0..(*lab).hoarded {
        packet_free((*lab).hoard[i]);
    }
    let pools = [0, 1].map(|i| inspect(&(*lab).pools[i]));
    let missing: u32 = pools.iter().map(|(missing, _)| missing).sum();
    let twice: u32 = pools.iter().map(|(_, twice)| twice).sum();
    println!(
        "{{\"rx\":{},\"tx\":{},\"dropped\":{},\"discarded\":{discarded},\
         \"pool_empty\":{pool_empty},\"missing\":{missing},\"twice\":{twice}}}",
        (*lab).rx,
        (*lab).tx,
        (*lab).dropped,
    );
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(deed), addresses) = (arguments.next(), arguments.collect::<Vec<_>>()) else {
        eprintln!("usage: lab DEED DEVICE DEVICE");
        return ExitCode::from(2);
    };
    let addresses: Vec<_> = addresses
        .into_iter()
        .filter_map(|address| CString::new(address).ok())
        .collect();
    if addresses.len() != 2 {
        eprintln!("usage: lab DEED DEVICE DEVICE");
        return ExitCode::from(2);
    }
    let ended = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(SIGINT, Arc::clone(&ended));
    assert!(registered.is_ok(), "no signal handler");
    unsafe {
        // Zeroed, as C's static storage is; only the text needs more.
        let lab = Box::into_raw(Box::<Lab>::new_uninit()).cast::<Lab>();
        lab.write_bytes(0, 1);
        (&raw mut (*lab).deed).write(deed);
        vfio::vfio_container_init(&raw mut (*lab).container);
        let mut result = start(lab, &addresses).and_then(|()| run(lab, &ended));
        for i in 0..(*lab).opened {
            let device = &raw mut (*lab).devices[i];
            if (*device).running {
                let stopped = checked(|error| init::device_stop(device.cast(), error.cast()));
                result = result.and(stopped);
            }
        }
        report(lab);
        for pool in [
            &raw mut (*lab).pools[0],
            &raw mut (*lab).pools[1],
            &raw mut (*lab).spare,
        ] {
            mempool::mempool_destroy(pool);
        }
        for i in 0..(*lab).opened {
            device::device_close(&raw mut (*lab).devices[i]);
        }
        vfio::vfio_container_close(&raw mut (*lab).container);
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                eprintln!("lab: {reason}");
                ExitCode::FAILURE
            }
        }
    }
}
