//! A safe interface to the forwarder's library, `libforwarder.so`.
//!
//! `c/src/rooms/forwarder.h` describes the C interface.

use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::NonNull;

use anyhow::{anyhow, Result};
use libloading::os::unix;
use record::Implementation;

use crate::builds::forwarder_library;

/// Size of the buffer for an error message, in bytes.
const MESSAGE_SIZE: usize = 1024;

/// `struct forwarder_counts`: packets of both directions added, since the forwarder was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets received.
    pub rx: u64,
    /// Packets handed to the other device.
    pub tx: u64,
    /// Packets received and dropped because the other device's ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
}

/// `struct forwarder_device_stats`: a device's counts since it was opened. Bytes include the CRC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceStats {
    /// Frames received.
    pub rx_packets: u64,
    /// Bytes of those frames.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes of those frames.
    pub tx_bytes: u64,
}

/// Milliseconds that a forwarder waits for each link.
const LINK_TIMEOUT_MS: u32 = 30_000;

/// Milliseconds that a forwarder waits for the socket of a NIC: the NIC runs already.
const CONNECT_TIMEOUT_MS: u32 = 0;

type Open = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    u32,
    u32,
    u32,
    u32,
    u32,
    *mut c_char,
    usize,
) -> *mut c_void;
type Limit = unsafe extern "C" fn(*mut c_void, u64);
type Turn = unsafe extern "C" fn(*mut c_void) -> u32;
type QueueTurn = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type ReadQueueCounts = unsafe extern "C" fn(*const c_void, u32, *mut Counts);
type ReadQueueStats =
    unsafe extern "C" fn(*mut c_void, u32, u32, *mut DeviceStats, *mut c_char, usize) -> c_int;
type ReadCounts = unsafe extern "C" fn(*const c_void, *mut Counts);
type ReadStats =
    unsafe extern "C" fn(*mut c_void, u32, *mut DeviceStats, *mut c_char, usize) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> c_int;

/// A loaded `libforwarder.so`.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    open: Open,
    limit: Limit,
    turn: Turn,
    queue_turn: QueueTurn,
    read_queue_counts: ReadQueueCounts,
    queue_stats: ReadQueueStats,
    read_counts: ReadCounts,
    device_stats: ReadStats,
    close: Close,
}

impl Library {
    /// Loads an implementation's library and never unloads it, because the library registers functions
    /// that run at the end of a thread.
    ///
    /// # Errors
    /// If the library does not exist or lacks a function.
    pub fn load(implementation: Implementation) -> Result<Self> {
        let path = forwarder_library(implementation)?;
        let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
        // SAFETY: opening the library runs its initialisers. It is one of this project's forwarders,
        // so they are only those of the C and the Rust run time.
        let library = unsafe { unix::Library::open(Some(&path), flags) }?;
        // SAFETY: all libraries share one interface, in which the functions have these types. The
        // pointers stay valid because the library is never unloaded.
        let functions = unsafe {
            Self {
                open: *library.get::<Open>(b"forwarder_open_queues\0")?,
                queue_turn: *library.get::<QueueTurn>(b"forwarder_queue_turn\0")?,
                read_queue_counts: *library
                    .get::<ReadQueueCounts>(b"forwarder_read_queue_counts\0")?,
                queue_stats: *library.get::<ReadQueueStats>(b"forwarder_queue_stats\0")?,
                limit: *library.get::<Limit>(b"forwarder_limit\0")?,
                turn: *library.get::<Turn>(b"forwarder_turn\0")?,
                read_counts: *library.get::<ReadCounts>(b"forwarder_read_counts\0")?,
                device_stats: *library.get::<ReadStats>(b"forwarder_device_stats\0")?,
                close: *library.get::<Close>(b"forwarder_close\0")?,
            }
        };
        std::mem::forget(library);
        Ok(functions)
    }

    /// Opens two devices and starts to forward between them, with `queues` queue pairs each. Each ring has
    /// `ring_size` descriptors.
    ///
    /// # Errors
    /// Returns the forwarder's message.
    pub fn open(
        &self,
        device_a: &str,
        device_b: &str,
        batch: u32,
        ring_size: u32,
        queues: u32,
    ) -> Result<Forwarder> {
        let (device_a, device_b) = (CString::new(device_a)?, CString::new(device_b)?);
        let mut message = MessageBuffer::new();
        // SAFETY: the names end with a NUL and outlive the call, and the message has room for `size`
        // bytes.
        let handle = unsafe {
            let (text, size) = message.room();
            (self.open)(
                device_a.as_ptr(),
                device_b.as_ptr(),
                batch,
                ring_size,
                queues,
                CONNECT_TIMEOUT_MS,
                LINK_TIMEOUT_MS,
                text,
                size,
            )
        };
        let handle = NonNull::new(handle).ok_or_else(|| message.into_error())?;
        Ok(Forwarder {
            functions: *self,
            handle,
            queues,
        })
    }
}

/// An open forwarder. It belongs to the thread that opened it, and dropping it closes it.
#[derive(Debug)]
pub struct Forwarder {
    functions: Library,
    handle: NonNull<c_void>,
    queues: u32,
}

impl Forwarder {
    /// Limits the forwarder to `packets` more packets.
    pub fn limit(&mut self, packets: u64) {
        // SAFETY: the handle is open, because only `close` and `drop` close it and both consume it.
        unsafe { (self.functions.limit)(self.handle.as_ptr(), packets) }
    }

    /// Forwards a batch from the first device to the second, and one back. Returns how many packets
    /// it received.
    pub fn turn(&mut self) -> u32 {
        // SAFETY: as in `limit`.
        unsafe { (self.functions.turn)(self.handle.as_ptr()) }
    }

    /// The same for queue pair `queue`. A queue that the devices do not have receives nothing.
    pub fn queue_turn(&mut self, queue: u32) -> u32 {
        if queue >= self.queues {
            return 0;
        }
        // SAFETY: as in `limit`, and both devices have the queue.
        unsafe { (self.functions.queue_turn)(self.handle.as_ptr(), queue) }
    }

    /// The number of queue pairs of each device.
    pub fn queues(&self) -> u32 {
        self.queues
    }

    /// The counts of queue pair `queue` so far.
    pub fn queue_counts(&self, queue: u32) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: as in `counts`.
        unsafe {
            (self.functions.read_queue_counts)(self.handle.as_ptr(), queue, &mut counts);
        }
        counts
    }

    /// What device 0 or 1 counted for a queue so far.
    ///
    /// # Errors
    /// Returns the forwarder's message.
    pub fn queue_stats(&mut self, device: u32, queue: u32) -> Result<DeviceStats> {
        let mut stats = DeviceStats::default();
        let mut message = MessageBuffer::new();
        // SAFETY: as in `device_stats`.
        let result = unsafe {
            let (text, size) = message.room();
            let handle = self.handle.as_ptr();
            (self.functions.queue_stats)(handle, device, queue, &mut stats, text, size)
        };
        match result {
            0 => Ok(stats),
            _ => Err(message.into_error()),
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: as in `limit`. The structure has C's layout and belongs to this function.
        unsafe { (self.functions.read_counts)(self.handle.as_ptr(), &mut counts) };
        counts
    }

    /// The counts of device 0 or 1 so far.
    ///
    /// # Errors
    /// Returns the forwarder's message.
    pub fn device_stats(&mut self, device: u32) -> Result<DeviceStats> {
        let mut stats = DeviceStats::default();
        let mut message = MessageBuffer::new();
        // SAFETY: as in `limit` and `counts`, and the message has room for `size` bytes.
        let result = unsafe {
            let (text, size) = message.room();
            (self.functions.device_stats)(self.handle.as_ptr(), device, &mut stats, text, size)
        };
        if result == 0 {
            Ok(stats)
        } else {
            Err(message.into_error())
        }
    }

    /// The `struct forwarder`, which this object owns. Each implementation has its own layout.
    pub fn as_ptr(&mut self) -> *mut c_void {
        self.handle.as_ptr()
    }

    /// Sends the waiting packets, then stops and closes both devices.
    ///
    /// # Errors
    /// Returns the forwarder's message. The forwarder is closed even then.
    pub fn close(self) -> Result<()> {
        // Without this, dropping the forwarder would close it again.
        let this = std::mem::ManuallyDrop::new(self);
        let mut message = MessageBuffer::new();
        // SAFETY: as in `limit`, and the message has room for `size` bytes.
        let result = unsafe {
            let (text, size) = message.room();
            (this.functions.close)(this.handle.as_ptr(), text, size)
        };
        if result == 0 {
            Ok(())
        } else {
            Err(message.into_error())
        }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let mut message = MessageBuffer::new();
        // SAFETY: as in `close`, which does not run `drop`.
        unsafe {
            let (text, size) = message.room();
            (self.functions.close)(self.handle.as_ptr(), text, size)
        };
    }
}

/// A buffer for an error message.
struct MessageBuffer([u8; MESSAGE_SIZE]);

impl MessageBuffer {
    fn new() -> Self {
        Self([0; MESSAGE_SIZE])
    }

    fn room(&mut self) -> (*mut c_char, usize) {
        (self.0.as_mut_ptr().cast(), self.0.len())
    }

    fn into_error(self) -> anyhow::Error {
        let end = self
            .0
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(self.0.len());
        anyhow!("{}", String::from_utf8_lossy(&self.0[..end]))
    }
}
