//! A safe interface to the forwarder's library, `libforwarder.so`.
//!
//! `c/src/rooms/forwarder.h` describes the C interface.

use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

use libloading::os::unix;

/// Size of the buffer for an error message, in bytes.
const MESSAGE_SIZE: usize = 1024;

/// Milliseconds that a forwarder waits for each link; a copper link may train for ten seconds.
const LINK_TIMEOUT_MS: u32 = 30_000;

/// Milliseconds that a forwarder waits for the socket of a software card: the card runs already.
const CONNECT_TIMEOUT_MS: u32 = 0;

/// The reason why a library or a forwarder failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

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

/// A part of the forwarder that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Receive a batch from each device, send it to the other: a whole turn.
    Forward,
    /// Receive a batch from each device, and free it.
    Receive,
    /// Send a batch of fresh packets to each device.
    Send,
    /// Allocate a batch of packets from each pool, and free them.
    Alloc,
}

/// How packets travel from RX to TX: `enum forwarder_path`.
#[repr(u32)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PacketPath {
    /// With a pool.
    #[default]
    Default = 0,
    /// The same, with buffers that do not alias.
    Stride = 1,
    /// By exchange of places, four at a time.
    Tuned = 2,
    /// With a buffer for each descriptor, for ever.
    Agent = 3,
}

impl PacketPath {
    /// Its name for `--path`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Stride => "stride",
            Self::Tuned => "tuned",
            Self::Agent => "agent",
        }
    }

    /// The path by its name; `None` if there is no such path.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Default, Self::Stride, Self::Tuned, Self::Agent];
        all.into_iter().find(|path| path.name() == name)
    }
}

/// How to open a forwarder.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Most packets of a receive call.
    pub batch: u32,
    /// Number of descriptors in each ring, a power of two.
    pub ring_size: u32,
    /// Queue pairs of each device, 1 to 16.
    pub queues: u32,
    /// How packets travel.
    pub path: PacketPath,
    /// Longest time for the link of each device; `None` for the default of `ixgbe-fwd`.
    pub link_timeout: Option<Duration>,
}

/// `struct forwarder_options`.
#[repr(C)]
struct Options {
    batch: u32,
    ring_size: u32,
    queues: u32,
    path: u32,
    connect_timeout_ms: u32,
    link_timeout_ms: u32,
}

type Open = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const Options,
    *mut c_char,
    usize,
) -> *mut c_void;
type Turn = unsafe extern "C" fn(*mut c_void) -> u32;
type QueueTurn = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type ReadCounts = unsafe extern "C" fn(*const c_void, *mut Counts);
type Close = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> c_int;
type Limit = unsafe extern "C" fn(*mut c_void, u64);
type ReadQueueCounts = unsafe extern "C" fn(*const c_void, u32, *mut Counts);
type ReadStats =
    unsafe extern "C" fn(*mut c_void, u32, *mut DeviceStats, *mut c_char, usize) -> c_int;
type ReadQueueStats =
    unsafe extern "C" fn(*mut c_void, u32, u32, *mut DeviceStats, *mut c_char, usize) -> c_int;

/// A loaded `libforwarder.so`.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    open: Open,
    turn: Turn,
    queue_turn: QueueTurn,
    read_counts: ReadCounts,
    close: Close,
    /// Only benchmarks of the parts need these.
    parts: [Option<Turn>; 3],
    /// Finds the functions that are not called in a hurry.
    library: &'static unix::Library,
}

impl Library {
    /// Loads a library and never unloads it, because destructors of thread-local values may run at the end
    /// of a thread.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let say = |error| Error(format!("cannot load {}: {error}", path.display()));
        let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
        // SAFETY: loading runs the library's initialisers. It is one of this project's forwarders, so they
        // are only those of the C and the Rust run time.
        let library = unsafe { unix::Library::open(Some(path), flags) }.map_err(say)?;
        let library: &'static unix::Library = Box::leak(Box::new(library));
        // SAFETY: all libraries share one interface, in which the functions have these types. The
        // pointers stay valid because the library is never unloaded.
        unsafe {
            let part = |name: &[u8]| library.get::<Turn>(name).ok().map(|part| *part);
            let open = library.get::<Open>(b"forwarder_open_with\0");
            let queue_turn = library.get::<QueueTurn>(b"forwarder_queue_turn\0");
            let counts = library.get::<ReadCounts>(b"forwarder_read_counts\0");
            Ok(Self {
                open: *open.map_err(say)?,
                turn: *library.get::<Turn>(b"forwarder_turn\0").map_err(say)?,
                queue_turn: *queue_turn.map_err(say)?,
                read_counts: *counts.map_err(say)?,
                close: *library.get::<Close>(b"forwarder_close\0").map_err(say)?,
                parts: [
                    part(b"forwarder_receive\0"),
                    part(b"forwarder_send\0"),
                    part(b"forwarder_alloc\0"),
                ],
                library,
            })
        }
    }

    /// Opens two devices and starts to forward between them.
    pub fn open(&self, devices: [&str; 2], setup: Setup) -> Result<Forwarder, Error> {
        let text = |device: &str| {
            CString::new(device).map_err(|_| Error(format!("{device:?} contains a zero byte")))
        };
        let [device_a, device_b] = devices;
        let (device_a, device_b) = (text(device_a)?, text(device_b)?);
        let link_timeout_ms = setup.link_timeout.map_or(LINK_TIMEOUT_MS, |time| {
            u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
        });
        let options = Options {
            batch: setup.batch,
            ring_size: setup.ring_size,
            queues: setup.queues,
            path: setup.path as u32,
            connect_timeout_ms: CONNECT_TIMEOUT_MS,
            link_timeout_ms,
        };
        let mut functions = *self;
        if matches!(setup.path, PacketPath::Tuned | PacketPath::Agent) {
            let name = |turn| format!("forwarder_{}_{turn}\0", setup.path.name());
            let say = |error: libloading::Error| Error(error.to_string());
            // SAFETY: as in `load`.
            unsafe {
                let turn = self.library.get::<Turn>(name("turn").as_bytes());
                functions.turn = *turn.map_err(say)?;
                let turn = self.library.get::<QueueTurn>(name("queue_turn").as_bytes());
                functions.queue_turn = *turn.map_err(say)?;
            }
        }
        let mut message = Message::new();
        // SAFETY: the names end with a NUL and outlive the call, and the message has room for `size` bytes.
        let handle = unsafe {
            let (text, size) = message.room();
            (self.open)(device_a.as_ptr(), device_b.as_ptr(), &options, text, size)
        };
        Ok(Forwarder {
            functions,
            handle: NonNull::new(handle).ok_or_else(|| message.error())?,
            queues: setup.queues,
        })
    }
}

/// An open forwarder; dropping it closes it.
///
/// It is not `Send`: only the thread that opened it may use it.
#[derive(Debug)]
pub struct Forwarder {
    functions: Library,
    handle: NonNull<c_void>,
    queues: u32,
}

impl Forwarder {
    /// Forwards a batch from the first device to the second, and one back. Returns how many packets
    /// it received.
    #[inline(always)]
    pub fn turn(&mut self) -> u32 {
        // SAFETY: `handle` came from `open` of the same library, and is open: only `close` and `drop`
        // close it, and both end this object.
        unsafe { (self.functions.turn)(self.handle.as_ptr()) }
    }

    /// The same for queue pair `queue`. A queue that the devices do not have receives nothing.
    #[inline(always)]
    pub fn queue_turn(&mut self, queue: u32) -> u32 {
        if queue >= self.queues {
            return 0;
        }
        // SAFETY: as in `turn`, and both devices have the queue.
        unsafe { (self.functions.queue_turn)(self.handle.as_ptr(), queue) }
    }

    /// Runs a part of a turn; returns the number of packets, `None` if the library cannot run the part
    /// alone.
    #[inline(always)]
    pub fn part(&mut self, part: Part) -> Option<u32> {
        let [receive, send, alloc] = self.functions.parts;
        let function = match part {
            Part::Forward => Some(self.functions.turn),
            Part::Receive => receive,
            Part::Send => send,
            Part::Alloc => alloc,
        };
        // SAFETY: as in `turn`.
        function.map(|function| unsafe { function(self.handle.as_ptr()) })
    }

    /// The number of queue pairs of each device.
    pub fn queues(&self) -> u32 {
        self.queues
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: as in `turn`; `counts` is a local variable with the layout of the C structure.
        unsafe { (self.functions.read_counts)(self.handle.as_ptr(), &mut counts) };
        counts
    }

    /// Limits the forwarder to `packets` more packets.
    pub fn limit(&mut self, packets: u64) -> Result<(), Error> {
        // SAFETY: as in `turn` and `Library::load`.
        unsafe { self.find::<Limit>(b"forwarder_limit\0")?(self.handle.as_ptr(), packets) };
        Ok(())
    }

    /// The counts of queue pair `queue` so far.
    pub fn queue_counts(&self, queue: u32) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        // SAFETY: as in `counts` and `Library::load`.
        unsafe {
            let read = self.find::<ReadQueueCounts>(b"forwarder_read_queue_counts\0")?;
            read(self.handle.as_ptr(), queue, &mut counts);
        }
        Ok(counts)
    }

    /// The counts of device 0 or 1 so far.
    pub fn device_stats(&mut self, device: u32) -> Result<DeviceStats, Error> {
        let (mut stats, mut message) = (DeviceStats::default(), Message::new());
        // SAFETY: as in `counts` and `Library::load`, and the message has room for `size` bytes.
        let result = unsafe {
            let (text, size) = message.room();
            let read = self.find::<ReadStats>(b"forwarder_device_stats\0")?;
            read(self.handle.as_ptr(), device, &mut stats, text, size)
        };
        message.unless(result).map(|()| stats)
    }

    /// What device 0 or 1 counted for a queue so far.
    pub fn queue_stats(&mut self, device: u32, queue: u32) -> Result<DeviceStats, Error> {
        let (mut stats, mut message) = (DeviceStats::default(), Message::new());
        // SAFETY: as in `device_stats`.
        let result = unsafe {
            let (text, size) = message.room();
            let read = self.find::<ReadQueueStats>(b"forwarder_queue_stats\0")?;
            read(self.handle.as_ptr(), device, queue, &mut stats, text, size)
        };
        message.unless(result).map(|()| stats)
    }

    /// Finds a function by its name, which ends with a zero byte.
    ///
    /// # Safety
    /// The function has this type.
    unsafe fn find<T: Copy>(&self, name: &[u8]) -> Result<T, Error> {
        // SAFETY: the caller promises the type.
        let function = unsafe { self.functions.library.get::<T>(name) };
        function
            .map(|function| *function)
            .map_err(|error| Error(error.to_string()))
    }

    /// The `struct forwarder`, which this object owns. Each implementation has its own layout.
    pub fn as_ptr(&mut self) -> *mut c_void {
        self.handle.as_ptr()
    }

    /// Sends the waiting packets, then stops and closes both devices. It is closed even if that fails.
    pub fn close(self) -> Result<(), Error> {
        std::mem::ManuallyDrop::new(self).end()
    }

    /// Closes it. It is not used afterwards.
    fn end(&mut self) -> Result<(), Error> {
        let mut message = Message::new();
        // SAFETY: as in `turn`; only `close` and `drop` call this, and each ends the object, so that the
        // handle is closed once. The message has room for `size` bytes.
        let result = unsafe {
            let (text, size) = message.room();
            (self.functions.close)(self.handle.as_ptr(), text, size)
        };
        message.unless(result)
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        // Without a caller, the message is lost.
        let _ = self.end();
    }
}

/// A buffer for an error message.
struct Message([u8; MESSAGE_SIZE]);

impl Message {
    fn new() -> Self {
        Self([0; MESSAGE_SIZE])
    }

    fn room(&mut self) -> (*mut c_char, usize) {
        (self.0.as_mut_ptr().cast(), self.0.len())
    }

    /// The error, unless the result of the call is 0.
    fn unless(self, result: c_int) -> Result<(), Error> {
        match result {
            0 => Ok(()),
            _ => Err(self.error()),
        }
    }

    /// The text before the end mark; a library that wrote none gets a text of ours.
    fn error(&self) -> Error {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or(&self.0);
        match String::from_utf8_lossy(text).trim() {
            "" => Error("the forwarder failed and gave no reason".to_owned()),
            text => Error(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_or_lacks_the_functions_is_named() {
        // The C library is loaded anyway, under this name on every glibc system.
        for (path, part) in [
            (
                "/nonexistent/libforwarder.so",
                "/nonexistent/libforwarder.so",
            ),
            ("libc.so.6", "forwarder_open"),
        ] {
            let error = Library::load(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn messages_end_at_the_mark() {
        let error = |text: &[u8]| {
            let mut message = Message::new();
            message.0[..text.len()].copy_from_slice(text);
            message.error().to_string()
        };
        assert_eq!(error(b"no link\0garbage"), "no link");
        assert!(error(b"").contains("no reason"));
        assert_eq!(error(&[b'x'; MESSAGE_SIZE]).len(), MESSAGE_SIZE);
    }
}
