//! The lab's application on the transpiled driver. It follows `lab.c` function by function and is
//! as unsafe as the driver's interface.
//!
//! The transpiled modules each have a copy of each C structure, so pointers are cast between the
//! copies. `packet_alloc` and `packet_free` are inline functions of a C header and repeated here.
// SAFETY, for all blocks below: the lab lives until `main` ends, and its parts do not move. The
// actions are unsound on purpose.
#![allow(clippy::undocumented_unsafe_blocks, static_mut_refs)]

use std::ffi::{c_char, CStr, CString};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ixgbe_unsafe::gen::driver::device::{device as Device, rx_queue, tx_queue};
use ixgbe_unsafe::gen::driver::mempool::{error, mempool as Mempool, packet};
use ixgbe_unsafe::gen::driver::{device, mempool, rx, tx};
use ixgbe_unsafe::gen::rooms::{packet_ring, start as rooms_start, stats};
use ixgbe_unsafe::gen::vfio::vfio;
use signal_hook::consts::SIGINT;

const RING_SIZE: u32 = 64;
const ODD_RING_SIZE: u32 = 96;
const POOL_CAPACITY: u32 = 512;
const BATCH: usize = 32;
const MAX_BATCH: usize = 128;
const ACTION_AFTER: u64 = 100;
const PACKET_MAX_SIZE: usize = 2048 - 64;
const STATS_INTERVAL: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_micros(20);
const HOLD: Duration = Duration::from_millis(300);
const HOLDS: u32 = 10;

/// The byte that the application writes outside its packets.
const MARK: u8 = 0xee;

const ACTIONS: [&str; 16] = [
    "forward",
    "use-after-send",
    "double-free",
    "use-after-pool",
    "write-past-end",
    "two-threads",
    "write-before-start",
    "leak",
    "free-pool",
    "large-batch",
    "odd-ring",
    "index-after-send",
    "negative-index",
    "hold",
    "foreign-free",
    "pool-destroyed",
];

type Result<T> = std::result::Result<T, String>;

struct Lab {
    action: String,
    container: vfio::vfio_container,
    pools: [Mempool; 2],
    spare: Mempool,
    spare_packet: *mut packet,
    devices: [Device; 2],
    opened: usize,
    rx: u64,
    tx: u64,
    dropped: u64,
    /// Whether an action that happens once has happened.
    done: bool,
    stale: *mut packet,
    /// Packets on their way to the second thread.
    to_second: packet_ring::packet_ring,
    /// Packets received and not sent yet.
    collected: [*mut packet; MAX_BATCH],
    collected_count: usize,
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

/// Calls a function that returns 0, or -1 and the reason.
fn checked(call: impl FnOnce(*mut error) -> i32) -> Result<()> {
    let mut reason: error = unsafe { std::mem::zeroed() };
    match call(&raw mut reason) {
        0 => Ok(()),
        _ => Err(text(&reason)),
    }
}

/// Performs an action on received packets. Returns how many are left to send.
unsafe fn act(lab: *mut Lab, packets: *mut *mut packet, received: usize) -> usize {
    let lab = &mut *lab;
    let first = *packets;
    match lab.action.as_str() {
        "use-after-send" => {
            // Keeps a packet while it is sent, and writes to it later.
            if lab.stale.is_null() {
                lab.stale = first;
            } else {
                data(lab.stale).add(30).write_bytes(MARK, 8);
                (*lab.stale).size = 100;
            }
            return received;
        }
        // Neither sends nor frees half of the packets.
        "leak" => {
            lab.dropped += (received - received / 2) as u64;
            return received / 2;
        }
        // Gives half of the packets to a second thread, which frees them.
        "foreign-free" => {
            let kept = received / 2;
            let given = packets.add(kept).cast();
            packet_ring::packet_ring_put(&raw mut lab.to_second, given, (received - kept) as u32);
            lab.dropped += (received - kept) as u64;
            return kept;
        }
        _ => {}
    }
    if std::mem::replace(&mut lab.done, true) {
        return received;
    }
    match lab.action.as_str() {
        "double-free" => {
            // Frees a packet twice and does not send it.
            packet_free(first);
            packet_free(first);
            std::ptr::copy(packets.add(1), packets, received - 1);
            return received - 1;
        }
        "use-after-pool" => {
            mempool::mempool_destroy(&raw mut lab.spare);
            data(lab.spare_packet).write_bytes(MARK, 60);
        }
        // A second thread still writes to a packet of the pool. Waits for its next write.
        "pool-destroyed" => {
            mempool::mempool_destroy(&raw mut lab.spare);
            sleep(HOLD * HOLDS);
        }
        // No mistake: the device loses its access to this memory.
        "free-pool" => mempool::mempool_destroy(&raw mut lab.spare),
        // No mistake: the device writes to the packets meanwhile.
        "hold" => sleep(HOLD),
        // Writes a trailer behind a packet that fills its buffer.
        "write-past-end" => data(first).add(PACKET_MAX_SIZE).write_bytes(MARK, 8),
        // Writes a tunnel header in front of the data.
        "write-before-start" | "negative-index" => data(first).sub(48).write_bytes(MARK, 48),
        _ => {}
    }
    received
}

/// Sends packets and frees those that do not fit into the ring. Returns how many were sent.
unsafe fn send_or_free(
    lab: *mut Lab,
    tx: *mut tx_queue,
    packets: *mut *mut packet,
    count: usize,
) -> usize {
    let sent = tx::tx_batch(tx.cast(), packets.cast(), count as u32) as usize;
    for i in sent..count {
        packet_free(*packets.add(i));
    }
    (*lab).tx += sent as u64;
    (*lab).dropped += (count - sent) as u64;
    sent
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
    let after = (*lab).rx > ACTION_AFTER;
    if (*lab).action == "large-batch" && after && !(*lab).done {
        // Sends more packets in one call than the ring has descriptors.
        let collected = (&raw mut (*lab).collected).cast::<*mut packet>();
        let free = collected.add((*lab).collected_count);
        std::ptr::copy_nonoverlapping(packets.as_ptr(), free, received);
        (*lab).collected_count += received;
        if (*lab).collected_count > MAX_BATCH - BATCH {
            send_or_free(lab, to, collected, (*lab).collected_count);
            (*lab).collected_count = 0;
            (*lab).done = true;
        }
        return received;
    }
    let count = if after {
        act(lab, packets.as_mut_ptr(), received)
    } else {
        received
    };
    let sent = send_or_free(lab, to, packets.as_mut_ptr(), count);
    if (*lab).action == "index-after-send" && after && sent > 0 {
        // Writes to a packet that still stands in the array after it was sent.
        data(packets[0]).add(30).write_bytes(MARK, 8);
    }
    received
}

/// A pointer to the lab for a second thread.
struct SharedLab(*mut Lab);
unsafe impl Send for SharedLab {}

/// Forwards on the same queues in a second thread, which the driver does not allow.
unsafe fn forward_in_second_thread(lab: SharedLab, stopped: &AtomicBool) {
    let lab = lab.0;
    while !stopped.load(Ordering::Relaxed) {
        if (&raw const (*lab).rx).read_volatile() > ACTION_AFTER {
            let from = &raw mut (*lab).devices[0].rx[0];
            let to = &raw mut (*lab).devices[1].tx[0];
            forward(lab, from, to);
        }
    }
}

/// Takes packets out of the ring to the second thread, and frees them. Returns their number.
unsafe fn take_and_free(lab: *mut Lab) -> usize {
    let mut packets = [std::ptr::null_mut::<packet>(); BATCH];
    let ring = &raw mut (*lab).to_second;
    let taken = packets.as_mut_ptr().cast();
    let count = packet_ring::packet_ring_take(ring, taken, BATCH as u32) as usize;
    for packet in &packets[..count] {
        packet_free(*packet);
    }
    count
}

/// Frees packets in a thread that does not have their pool. `packets_return` would be right.
unsafe fn free_in_second_thread(lab: SharedLab, stopped: &AtomicBool) {
    let lab = lab.0;
    while !stopped.load(Ordering::Relaxed) {
        take_and_free(lab);
    }
}

/// Writes to a packet whose pool the first thread destroys meanwhile.
unsafe fn write_in_second_thread(lab: SharedLab, stopped: &AtomicBool) {
    let lab = lab.0;
    while !stopped.load(Ordering::Relaxed) {
        data((*lab).spare_packet).write_bytes(MARK, 60);
        sleep(IDLE);
    }
}

unsafe fn run(lab: *mut Lab, stopped: &Arc<AtomicBool>) -> Result<()> {
    let shares_queues = (*lab).action == "two-threads";
    let work: Option<unsafe fn(SharedLab, &AtomicBool)> = match (*lab).action.as_str() {
        "two-threads" => Some(forward_in_second_thread),
        "foreign-free" => Some(free_in_second_thread),
        "pool-destroyed" => Some(write_in_second_thread),
        _ => None,
    };
    let second = work.map(|work| {
        let (shared, stopped) = (SharedLab(lab), Arc::clone(stopped));
        std::thread::spawn(move || unsafe { work(shared, &stopped) })
    });
    let [a, b] = [0, 1].map(|i| &raw mut (*lab).devices[i]);
    let mut stats_time = Instant::now();
    let mut result = Ok(());
    while !stopped.load(Ordering::Relaxed) && result.is_ok() {
        let received = forward(lab, &raw mut (*a).rx[0], &raw mut (*b).tx[0])
            + forward(lab, &raw mut (*b).rx[0], &raw mut (*a).tx[0]);
        if stats_time.elapsed() >= STATS_INTERVAL {
            stats_time = Instant::now();
            for device in [a, b] {
                let mut read: stats::device_stats = std::mem::zeroed();
                let call =
                    |error: *mut error| stats::stats_read(device.cast(), &mut read, error.cast());
                result = result.and(checked(call));
            }
        }
        if received == 0 && !(shares_queues && (*lab).rx > ACTION_AFTER) {
            sleep(IDLE);
        }
    }
    stopped.store(true, Ordering::Relaxed);
    if let Some(second) = second {
        let _ = second.join();
    }
    result
}

unsafe fn start(lab: *mut Lab, addresses: &[CString]) -> Result<()> {
    let container = &raw mut (*lab).container;
    let ring_size = if (*lab).action == "odd-ring" {
        ODD_RING_SIZE
    } else {
        RING_SIZE
    };
    let config = rooms_start::device_config {
        rx_queues: 1,
        tx_queues: 1,
        rx_ring_size: ring_size,
        tx_ring_size: ring_size,
        promiscuous: true,
        tx_sparse_rs: false,
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
    let ring = &raw mut (*lab).to_second;
    checked(|error| packet_ring::packet_ring_create(ring, 2 * POOL_CAPACITY, error.cast()))?;
    for i in 0..2 {
        let device = &raw mut (*lab).devices[i];
        let pool = &raw mut (*lab).pools[i];
        checked(|error| rooms_start::device_start_queues(device.cast(), &config, pool.cast(), error.cast()))?;
    }
    Ok(())
}

/// Counts the packets that did not return to their pool, and those that returned twice.
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
    for i in 0..(*lab).collected_count {
        packet_free((*lab).collected[i]);
    }
    // What the second thread has not taken.
    while take_and_free(lab) > 0 {}
    packet_ring::packet_ring_destroy(&raw mut (*lab).to_second);
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
    let action = arguments.next().unwrap_or_default();
    let addresses: Vec<_> = arguments
        .filter_map(|address| CString::new(address).ok())
        .collect();
    if addresses.len() != 2 || !ACTIONS.contains(&action.as_str()) {
        eprintln!("usage: lab ACTION DEVICE DEVICE");
        return ExitCode::from(2);
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(SIGINT, Arc::clone(&stopped));
    assert!(registered.is_ok(), "no signal handler");
    unsafe {
        // All bytes are zero, as in C's static storage. Only the text needs a constructor.
        let lab = Box::into_raw(Box::<Lab>::new_uninit()).cast::<Lab>();
        lab.write_bytes(0, 1);
        (&raw mut (*lab).action).write(action);
        vfio::vfio_container_init(&raw mut (*lab).container);
        let mut result = start(lab, &addresses).and_then(|()| run(lab, &stopped));
        for i in 0..(*lab).opened {
            let device = &raw mut (*lab).devices[i];
            if (*device).running {
                let stop = checked(|error| rooms_start::device_stop_queues(device.cast(), error.cast()));
                result = result.and(stop);
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
