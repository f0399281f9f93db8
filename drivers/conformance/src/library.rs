//! The forwarder as a library: the C interface of `libforwarder.so`, safe to use.
//!
//! The interface is described in `c/src/forwarder.h`.

use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::NonNull;

use anyhow::{anyhow, Result};
use libloading::os::unix;

use crate::Implementation;

/// Bytes for an error message, with its NUL.
const MESSAGE_SIZE: usize = 1024;

/// `struct forwarder_counts`: packets of both directions together, since opening.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Received.
    pub rx: u64,
    /// Handed to the other device.
    pub tx: u64,
    /// Received, but the other device's ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned as many packets as were asked for.
    pub full_batches: u64,
}

/// `struct forwarder_device_stats`: what a device has counted since opening. Bytes are with CRC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceStats {
    /// Frames received.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
}

type Open =
    unsafe extern "C" fn(*const c_char, *const c_char, u32, u32, *mut c_char, usize) -> *mut c_void;
type Limit = unsafe extern "C" fn(*mut c_void, u64);
type Turn = unsafe extern "C" fn(*mut c_void) -> u32;
type ReadCounts = unsafe extern "C" fn(*const c_void, *mut Counts);
type ReadStats =
    unsafe extern "C" fn(*mut c_void, u32, *mut DeviceStats, *mut c_char, usize) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> c_int;

/// An implementation's `libforwarder.so`, loaded.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    open: Open,
    limit: Limit,
    turn: Turn,
    read_counts: ReadCounts,
    device_stats: ReadStats,
    close: Close,
}

impl Library {
    /// Loads it, to stay: what it has registered to run at the end of a thread must still be there.
    ///
    /// # Errors
    /// If it is not built, or lacks one of the functions.
    pub fn load(implementation: Implementation) -> Result<Self> {
        let path = implementation.library()?;
        let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
        // SAFETY: this runs the library's initialisers, which are those of the C and the Rust run
        // time: it is one of this project's forwarders.
        let library = unsafe { unix::Library::open(Some(&path), flags) }?;
        // SAFETY: the functions have these types in the interface that all of the libraries share.
        // The pointers stay valid, as the library is never unloaded.
        let functions = unsafe {
            Self {
                open: *library.get::<Open>(b"forwarder_open\0")?,
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

    /// Opens two devices and starts to forward between them, with so many descriptors in each ring.
    ///
    /// # Errors
    /// The forwarder's message.
    pub fn open(
        &self,
        device_a: &str,
        device_b: &str,
        batch: u32,
        ring_size: u32,
    ) -> Result<Forwarder> {
        let (device_a, device_b) = (CString::new(device_a)?, CString::new(device_b)?);
        let mut message = Message::new();
        // SAFETY: the names end with a NUL and outlive the call, and there is as much room for a
        // message as is said.
        let handle = unsafe {
            let (text, size) = message.room();
            (self.open)(
                device_a.as_ptr(),
                device_b.as_ptr(),
                batch,
                ring_size,
                text,
                size,
            )
        };
        let handle = NonNull::new(handle).ok_or_else(|| message.into_error())?;
        Ok(Forwarder {
            functions: *self,
            handle,
        })
    }
}

/// An open forwarder. It belongs to the thread that opened it; dropping it closes it.
#[derive(Debug)]
pub struct Forwarder {
    functions: Library,
    handle: NonNull<c_void>,
}

impl Forwarder {
    /// From now on, receives so many packets more, and then no others.
    pub fn limit(&mut self, packets: u64) {
        // SAFETY: the handle is open: only `close` and `drop` close it, and they consume it.
        unsafe { (self.functions.limit)(self.handle.as_ptr(), packets) }
    }

    /// A batch from the first device to the second, and one back. Returns how many packets were
    /// received.
    pub fn turn(&mut self) -> u32 {
        // SAFETY: as in `limit`.
        unsafe { (self.functions.turn)(self.handle.as_ptr()) }
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: as in `limit`; the structure is ours and laid out as in C.
        unsafe { (self.functions.read_counts)(self.handle.as_ptr(), &mut counts) };
        counts
    }

    /// What device 0 or 1 has counted so far.
    ///
    /// # Errors
    /// The forwarder's message.
    pub fn device_stats(&mut self, device: u32) -> Result<DeviceStats> {
        let mut stats = DeviceStats::default();
        let mut message = Message::new();
        // SAFETY: as in `limit` and `counts`, and there is as much room for a message as is said.
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

    /// The `struct forwarder` itself, which this object owns. What it looks like is the
    /// implementation's affair.
    pub fn as_ptr(&mut self) -> *mut c_void {
        self.handle.as_ptr()
    }

    /// Sends what is still to be sent, and stops and closes both devices.
    ///
    /// # Errors
    /// The forwarder's message. It is closed all the same.
    pub fn close(self) -> Result<()> {
        // Closed here, and not once more when dropped.
        let this = std::mem::ManuallyDrop::new(self);
        let mut message = Message::new();
        // SAFETY: as in `limit`, and there is as much room for a message as is said.
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
        let mut message = Message::new();
        // SAFETY: as in `close`, which does not drop.
        unsafe {
            let (text, size) = message.room();
            (self.functions.close)(self.handle.as_ptr(), text, size)
        };
    }
}

/// Room for a message.
struct Message([u8; MESSAGE_SIZE]);

impl Message {
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
