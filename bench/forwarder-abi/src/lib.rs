//! The C interface of libforwarder.so (`c/src/rooms/forwarder.h`) for the safe Rust forwarder. With it, a
//! benchmark or a test uses all three implementations in the same way. It is not part of the driver,
//! and only changes the calling convention.
//!
//! The caller must keep the contract of that header: names end in NUL, a forwarder comes from `forwarder_open` or
//! `forwarder_open_with` and is not closed, pointers to options are valid for reads, those to results for writes, and
//! `error` is valid for writes of `error_size` bytes.
#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, CStr};
use std::ptr::null_mut;

use ixgbe::driver::device::Stats;
use ixgbe::error::Result;
use ixgbe::rooms::forwarder::{Counts, Forwarder, Path, Ports, PortsOptions};
use self_cell::self_cell;

self_cell!(
    struct OwnedForwarder {
        owner: Ports,
        #[not_covariant]
        dependent: OptionalForwarder,
    }
);

/// `None` after the forwarder is stopped.
type OptionalForwarder<'p> = Option<Forwarder<'p>>;

/// `struct forwarder`.
pub struct Handle(OwnedForwarder);

/// `struct forwarder_counts`.
#[repr(C)]
pub struct ForwarderCounts {
    pub rx: u64,
    pub tx: u64,
    pub dropped: u64,
    pub rx_calls: u64,
    pub full_batches: u64,
}

impl From<Counts> for ForwarderCounts {
    fn from(read: Counts) -> Self {
        Self {
            rx: read.rx,
            tx: read.tx,
            dropped: read.dropped,
            rx_calls: read.rx_calls,
            full_batches: read.full_batches,
        }
    }
}

/// `struct forwarder_device_stats`.
#[repr(C)]
pub struct ForwarderDeviceStats {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
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

/// `struct forwarder_options`.
#[repr(C)]
pub struct ForwarderOptions {
    pub batch: u32,
    pub ring_size: u32,
    pub queues: u32,
    pub path: u32,
    pub connect_timeout_ms: u32,
    pub link_timeout_ms: u32,
}

/// `enum forwarder_path`.
const PATHS: [Path; 4] = [Path::Default, Path::Stride, Path::Tuned, Path::Agent];

fn open(device_a: &CStr, device_b: &CStr, options: &ForwarderOptions) -> Result<OwnedForwarder> {
    let (device_a, device_b) = (device_a.to_string_lossy(), device_b.to_string_lossy());
    let how = PortsOptions {
        ring_size: options.ring_size,
        queues: options.queues,
        path: PATHS
            .get(options.path as usize)
            .copied()
            .unwrap_or_default(),
        connect_timeout_ms: options.connect_timeout_ms,
    };
    OwnedForwarder::try_new(Ports::open_with(&device_a, &device_b, how)?, |ports| {
        Forwarder::start(ports, options.batch as usize, options.link_timeout_ms).map(Some)
    })
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_open(
    device_a: *const c_char,
    device_b: *const c_char,
    batch: u32,
    ring_size: u32,
    connect_timeout_ms: u32,
    link_timeout_ms: u32,
    error: *mut c_char,
    error_size: usize,
) -> *mut Handle {
    let options = ForwarderOptions {
        batch,
        ring_size,
        queues: 1,
        path: 0,
        connect_timeout_ms,
        link_timeout_ms,
    };
    // SAFETY: the caller guarantees it.
    unsafe { forwarder_open_with(device_a, device_b, &options, error, error_size) }
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_open_with(
    device_a: *const c_char,
    device_b: *const c_char,
    options: *const ForwarderOptions,
    error: *mut c_char,
    error_size: usize,
) -> *mut Handle {
    // SAFETY: the caller guarantees it.
    let (device_a, device_b) = unsafe { (CStr::from_ptr(device_a), CStr::from_ptr(device_b)) };
    // SAFETY: the caller guarantees it.
    let opened = open(device_a, device_b, unsafe { &*options });
    match opened {
        Ok(opened) => Box::into_raw(Box::new(Handle(opened))),
        Err(reason) => {
            // SAFETY: the caller guarantees it.
            unsafe { report(&reason.to_string(), error, error_size) };
            null_mut()
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_limit(this: *mut Handle, packets: u64) {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    this.0.with_dependent_mut(|_, forwarder| {
        if let Some(forwarder) = forwarder {
            forwarder.limit(packets);
        }
    });
}

/// Defines the functions that move packets. Each returns their number: 0 if a device has failed, whose reason
/// [`forwarder_device_stats`] reports.
macro_rules! steps {
    ($($name:ident($($queue:ident)?) => |$forwarder:ident| $step:expr;)*) => {$(
        #[no_mangle]
        pub unsafe extern "C" fn $name(this: *mut Handle, $($queue: u32)?) -> u32 {
            // SAFETY: the caller guarantees it.
            let this = unsafe { &mut *this };
            this.0.with_dependent_mut(|_, forwarder| match forwarder {
                Some($forwarder) => $step.map_or(0, |packets| packets as u32),
                None => 0,
            })
        }
    )*};
}

steps! {
    forwarder_turn() => |forwarder| forwarder.turn();
    forwarder_queue_turn(queue) => |forwarder| forwarder.queue_turn(queue as usize);
    forwarder_tuned_turn() => |forwarder| forwarder.tuned_queue_turn(0);
    forwarder_tuned_queue_turn(queue) => |forwarder| forwarder.tuned_queue_turn(queue as usize);
    forwarder_agent_turn() => |forwarder| forwarder.agent_queue_turn(0);
    forwarder_agent_queue_turn(queue) => |forwarder| forwarder.agent_queue_turn(queue as usize);
    forwarder_receive() => |forwarder| forwarder.receive();
    forwarder_send() => |forwarder| forwarder.send();
    forwarder_alloc() => |forwarder| Some(forwarder.alloc());
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_read_counts(this: *const Handle, counts: *mut ForwarderCounts) {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &*this };
    let read = this.0.with_dependent(|_, forwarder| {
        forwarder
            .as_ref()
            .map_or_else(Counts::default, Forwarder::read_counts)
    });
    // SAFETY: the caller guarantees it.
    unsafe { counts.write(read.into()) };
}

/// A queue that does not exist has counts of 0.
#[no_mangle]
pub unsafe extern "C" fn forwarder_read_queue_counts(
    this: *const Handle,
    queue: u32,
    counts: *mut ForwarderCounts,
) {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &*this };
    let read = this.0.with_dependent(|_, forwarder| {
        let queues = forwarder.as_ref().map(Forwarder::read_queue_counts);
        queues.and_then(|queues| queues.get(queue as usize).copied())
    });
    // SAFETY: the caller guarantees it.
    unsafe { counts.write(read.unwrap_or_default().into()) };
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_device_stats(
    this: *mut Handle,
    device: u32,
    stats: *mut ForwarderDeviceStats,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read = this
        .0
        .with_dependent_mut(|_, forwarder| Some(forwarder.as_mut()?.device_stats(device as usize)));
    // SAFETY: the caller guarantees it.
    unsafe { answer(read, stats, error, error_size) }
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_queue_stats(
    this: *mut Handle,
    device: u32,
    queue: u32,
    stats: *mut ForwarderDeviceStats,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let this = unsafe { &mut *this };
    let read = this.0.with_dependent_mut(|_, forwarder| {
        let read = forwarder.as_mut()?.queue_stats(device as usize, queue);
        Some(read.map(|read| Stats {
            rx_packets: read.rx_packets,
            rx_bytes: read.rx_bytes,
            tx_packets: read.tx_packets,
            tx_bytes: read.tx_bytes,
        }))
    });
    // SAFETY: the caller guarantees it.
    unsafe { answer(read, stats, error, error_size) }
}

/// Writes what was read, or the reason. Returns 0 or -1.
unsafe fn answer(
    read: Option<Result<Stats>>,
    stats: *mut ForwarderDeviceStats,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    let result = read.map(|read| {
        let read = read?;
        let read = ForwarderDeviceStats {
            rx_packets: read.rx_packets,
            rx_bytes: read.rx_bytes,
            tx_packets: read.tx_packets,
            tx_bytes: read.tx_bytes,
        };
        // SAFETY: the caller guarantees it.
        unsafe { stats.write(read) };
        Ok(())
    });
    // SAFETY: the caller guarantees it.
    result.map_or(-1, |result| unsafe { status(result, error, error_size) })
}

/// Returns 0, or -1 with the reason.
unsafe fn status(result: Result<()>, error: *mut c_char, size: usize) -> c_int {
    let Err(reason) = result else { return 0 };
    // SAFETY: the caller guarantees it.
    unsafe { report(&reason.to_string(), error, size) };
    -1
}

#[no_mangle]
pub unsafe extern "C" fn forwarder_close(
    this: *mut Handle,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it. The pointer is not used again.
    let mut this = unsafe { Box::from_raw(this) };
    let stopped = this
        .0
        .with_dependent_mut(|_, forwarder| forwarder.take().map_or(Ok(()), Forwarder::stop));
    // SAFETY: the caller guarantees it.
    unsafe { status(stopped, error, error_size) }
}
