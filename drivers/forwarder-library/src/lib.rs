//! A safe interface to the forwarder's library, `libforwarder.so`.
//!
//! `c/src/rooms/forwarder.h` describes the C interface.

use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;
use std::ptr::null_mut;
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

/// A loaded `libforwarder.so`. It is never unloaded, because destructors of thread-local values may run at the end
/// of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Library(&'static unix::Library);

impl Library {
    /// Loads a library. It must have the functions that open a forwarder.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let say = |error| Error(format!("cannot load {}: {error}", path.display()));
        let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
        // SAFETY: loading runs the library's initialisers. It is one of this project's forwarders, so they
        // are only those of the C and the Rust run time.
        let library = unsafe { unix::Library::open(Some(path), flags) }.map_err(say)?;
        let library = Self(Box::leak(Box::new(library)));
        // SAFETY: as for all calls of `find`, the libraries share one interface, in which the function has this type.
        unsafe { library.find::<Open>("open_with") }
            .map_err(|Error(error)| Error(format!("cannot load {}: {error}", path.display())))?;
        Ok(library)
    }

    /// Finds the function `forwarder_NAME`.
    ///
    /// # Safety
    /// The function has this type.
    unsafe fn find<T: Copy>(&self, name: &str) -> Result<T, Error> {
        let name = format!("forwarder_{name}\0");
        // SAFETY: the caller promises the type. The pointer stays valid because the library is never unloaded.
        let function = unsafe { self.0.get::<T>(name.as_bytes()) };
        function
            .map(|function| *function)
            .map_err(|error| Error(error.to_string()))
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
        let path = match setup.path {
            PacketPath::Tuned | PacketPath::Agent => format!("{}_", setup.path.name()),
            PacketPath::Default | PacketPath::Stride => String::new(),
        };
        // SAFETY: as in `load`.
        let (open, close, turn, queue_turn, read_counts, parts) = unsafe {
            (
                self.find::<Open>("open_with")?,
                self.find::<Close>("close")?,
                self.find::<Turn>(&format!("{path}turn"))?,
                self.find::<QueueTurn>(&format!("{path}queue_turn"))?,
                self.find::<ReadCounts>("read_counts")?,
                ["receive", "send", "alloc"].map(|part| self.find::<Turn>(part).ok()),
            )
        };
        let mut handle = null_mut();
        message(|text, size| {
            // SAFETY: the names end with a NUL and outlive the call, and the message has room for `size` bytes.
            handle = unsafe { open(device_a.as_ptr(), device_b.as_ptr(), &options, text, size) };
            c_int::from(handle.is_null())
        })?;
        Ok(Forwarder {
            library: *self,
            close,
            turn,
            queue_turn,
            read_counts,
            parts,
            handle,
            queues: setup.queues,
        })
    }
}

/// An open forwarder; dropping it closes it.
///
/// It is not `Send`: only the thread that opened it may use it.
#[derive(Debug)]
pub struct Forwarder {
    library: Library,
    close: Close,
    turn: Turn,
    queue_turn: QueueTurn,
    read_counts: ReadCounts,
    /// Only benchmarks of the parts need these.
    parts: [Option<Turn>; 3],
    handle: *mut c_void,
    queues: u32,
}

impl Forwarder {
    /// Forwards a batch from the first device to the second, and one back. Returns how many packets
    /// it received.
    #[inline(always)]
    pub fn turn(&mut self) -> u32 {
        // SAFETY: `handle` came from `open` of the same library, and is open: only `close` and `drop`
        // close it, and both end this object.
        unsafe { (self.turn)(self.handle) }
    }

    /// The same for queue pair `queue`. A queue that the devices do not have receives nothing.
    #[inline(always)]
    pub fn queue_turn(&mut self, queue: u32) -> u32 {
        if queue >= self.queues {
            return 0;
        }
        // SAFETY: as in `turn`, and both devices have the queue.
        unsafe { (self.queue_turn)(self.handle, queue) }
    }

    /// Runs a part of a turn; returns the number of packets, `None` if the library cannot run the part
    /// alone.
    #[inline(always)]
    pub fn part(&mut self, part: Part) -> Option<u32> {
        let [receive, send, alloc] = self.parts;
        let function = match part {
            Part::Forward => Some(self.turn),
            Part::Receive => receive,
            Part::Send => send,
            Part::Alloc => alloc,
        };
        // SAFETY: as in `turn`.
        function.map(|function| unsafe { function(self.handle) })
    }

    /// The number of queue pairs of each device.
    pub fn queues(&self) -> u32 {
        self.queues
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: as in `turn`; `counts` is a local variable with the layout of the C structure.
        unsafe { (self.read_counts)(self.handle, &mut counts) };
        counts
    }

    /// Limits the forwarder to `packets` more packets.
    pub fn limit(&mut self, packets: u64) -> Result<(), Error> {
        // SAFETY: as in `turn` and `Library::load`.
        unsafe { self.library.find::<Limit>("limit")?(self.handle, packets) };
        Ok(())
    }

    /// The counts of queue pair `queue` so far.
    pub fn queue_counts(&self, queue: u32) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        // SAFETY: as in `counts` and `Library::load`.
        unsafe {
            self.library.find::<ReadQueueCounts>("read_queue_counts")?(
                self.handle,
                queue,
                &mut counts,
            )
        };
        Ok(counts)
    }

    /// The counts of device 0 or 1 so far.
    pub fn device_stats(&mut self, device: u32) -> Result<DeviceStats, Error> {
        let mut stats = DeviceStats::default();
        // SAFETY: as in `Library::load`.
        let read = unsafe { self.library.find::<ReadStats>("device_stats")? };
        // SAFETY: as in `counts`, and the message has room for `size` bytes.
        message(|text, size| unsafe { read(self.handle, device, &mut stats, text, size) })?;
        Ok(stats)
    }

    /// What device 0 or 1 counted for a queue so far.
    pub fn queue_stats(&mut self, device: u32, queue: u32) -> Result<DeviceStats, Error> {
        let mut stats = DeviceStats::default();
        // SAFETY: as in `Library::load`.
        let read = unsafe { self.library.find::<ReadQueueStats>("queue_stats")? };
        // SAFETY: as in `device_stats`.
        message(|text, size| unsafe { read(self.handle, device, queue, &mut stats, text, size) })?;
        Ok(stats)
    }

    /// The `struct forwarder`, which this object owns. Each implementation has its own layout.
    pub fn as_ptr(&mut self) -> *mut c_void {
        self.handle
    }

    /// Sends the waiting packets, then stops and closes both devices. It is closed even if that fails.
    pub fn close(self) -> Result<(), Error> {
        std::mem::ManuallyDrop::new(self).end()
    }

    /// Closes it. It is not used afterwards.
    fn end(&mut self) -> Result<(), Error> {
        // SAFETY: as in `turn`; only `close` and `drop` call this, and each ends the object, so that the
        // handle is closed once. The message has room for `size` bytes.
        message(|text, size| unsafe { (self.close)(self.handle, text, size) })
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        // Without a caller, the message is lost.
        let _ = self.end();
    }
}

/// Calls a function that succeeds with 0, with a buffer for its error message and the buffer's size.
fn message(call: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), Error> {
    let mut bytes = [0_u8; MESSAGE_SIZE];
    if call(bytes.as_mut_ptr().cast(), bytes.len()) == 0 {
        return Ok(());
    }
    // The text before the end mark; a library that wrote none gets a text of ours.
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or(&bytes);
    Err(Error(match String::from_utf8_lossy(text).trim() {
        "" => "the forwarder failed and gave no reason".to_owned(),
        text => text.to_owned(),
    }))
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
        let error = |said: &[u8]| {
            let failed = message(|text, size| {
                assert!(said.len() <= size);
                // SAFETY: the buffer has room for `size` bytes.
                unsafe { text.copy_from_nonoverlapping(said.as_ptr().cast(), said.len()) };
                -1
            });
            failed.unwrap_err().to_string()
        };
        assert_eq!(error(b"no link\0garbage"), "no link");
        assert!(error(b"").contains("no reason"));
        assert_eq!(error(&[b'x'; MESSAGE_SIZE]).len(), MESSAGE_SIZE);
        assert!(message(|_, _| 0).is_ok());
    }
}
