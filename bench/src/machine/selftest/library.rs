//! A safe interface to `libports.so`: two ports of a driver, frame by frame.
//!
//! `c/src/apps/ports.h` describes the C interface.

use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;
use std::ptr::NonNull;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::frame::ROOM;

/// The most frames of one call.
pub const MAX_BATCH: usize = 256;
/// Size of the buffer for an error message, bytes.
const MESSAGE_SIZE: usize = 1024;

/// `struct ports_frame`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawFrame {
    data: *mut u8,
    size: u32,
}

/// `struct ports_stats`: a port's counters since its last start. Bytes include the CRC.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Frames received (QPRC).
    pub rx_packets: u64,
    /// Bytes of those frames (QBRC).
    pub rx_bytes: u64,
    /// Frames sent (GPTC).
    pub tx_packets: u64,
    /// Bytes of those frames (GOTC).
    pub tx_bytes: u64,
}

type Handle = *mut c_void;
type Open = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_char, usize) -> Handle;
type Start = unsafe extern "C" fn(Handle, u32, *mut c_char, usize) -> c_int;
type LinkSpeed = unsafe extern "C" fn(Handle, u32, *mut u32, *mut c_char, usize) -> c_int;
type Send = unsafe extern "C" fn(Handle, u32, *const RawFrame, u32) -> u32;
type Receive = unsafe extern "C" fn(Handle, u32, *mut RawFrame, u32) -> u32;
type Stats = unsafe extern "C" fn(Handle, u32, *mut PortStats, *mut c_char, usize) -> c_int;
type Register = unsafe extern "C" fn(Handle, u32, u32, *mut u32, *mut c_char, usize) -> c_int;
type OrdinaryPages = unsafe extern "C" fn(*const c_void) -> bool;
type Close = unsafe extern "C" fn(Handle, *mut c_char, usize) -> c_int;

/// The functions of a loaded library.
#[derive(Clone, Copy)]
struct Functions {
    open: Open,
    start: Start,
    link_speed: LinkSpeed,
    send: Send,
    receive: Receive,
    stats: Stats,
    register: Register,
    on_ordinary_pages: OrdinaryPages,
    close: Close,
}

impl Functions {
    /// Loads a library. It stays loaded until the process ends, because destructors of thread-local
    /// values may run at the end.
    fn load(path: &Path) -> Result<Self, String> {
        let say = |error: libloading::Error| format!("cannot load {}: {error}", path.display());
        // SAFETY: loading runs the library's initialisers. The library is one of this project's
        // drivers, whose initialisers are those of the C and Rust run time.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(say)?;
        // SAFETY: the names have these types in the C interface that every libports.so implements.
        // The pointers stay valid because the library is never unloaded.
        let functions = unsafe {
            Self {
                open: *library.get::<Open>(b"ports_open\0").map_err(say)?,
                start: *library.get::<Start>(b"ports_start\0").map_err(say)?,
                link_speed: *library.get(b"ports_link_speed\0").map_err(say)?,
                send: *library.get::<Send>(b"ports_send\0").map_err(say)?,
                receive: *library.get::<Receive>(b"ports_receive\0").map_err(say)?,
                stats: *library.get::<Stats>(b"ports_stats\0").map_err(say)?,
                register: *library.get::<Register>(b"ports_register\0").map_err(say)?,
                on_ordinary_pages: *library.get(b"ports_on_ordinary_pages\0").map_err(say)?,
                close: *library.get::<Close>(b"ports_close\0").map_err(say)?,
            }
        };
        std::mem::forget(library);
        Ok(functions)
    }
}

/// Calls a function that reports its failure in a buffer.
fn checked(call: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), String> {
    let mut message = [0u8; MESSAGE_SIZE];
    match call(message.as_mut_ptr().cast(), message.len()) {
        0 => Ok(()),
        _ => Err(message_text(&message)),
    }
}

/// The text before the end mark.
fn message_text(message: &[u8]) -> String {
    let text = message.split(|byte| *byte == 0).next().unwrap_or(message);
    match String::from_utf8_lossy(text).trim() {
        "" => "the driver failed and gave no reason".to_owned(),
        text => text.to_owned(),
    }
}

/// The frames of one call, in memory of their own.
pub struct Frames {
    data: Vec<[u8; ROOM]>,
    sizes: Vec<usize>,
}

impl Frames {
    /// No frames.
    pub fn new() -> Self {
        Self {
            data: vec![[0; ROOM]; MAX_BATCH],
            sizes: Vec::with_capacity(MAX_BATCH),
        }
    }

    /// Removes the first `count` frames.
    pub fn remove(&mut self, count: usize) {
        if count >= self.sizes.len() {
            self.sizes.clear();
            return;
        }
        self.sizes.drain(..count);
        self.data.rotate_left(count);
    }

    /// Adds a frame. Returns false if there is no room.
    pub fn push(&mut self, frame: &[u8]) -> bool {
        let slot = self.data.get_mut(self.sizes.len());
        let Some(room) = slot.and_then(|slot| slot.get_mut(..frame.len())) else {
            return false;
        };
        room.copy_from_slice(frame);
        self.sizes.push(frame.len());
        true
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Each frame: its bytes, at most [`ROOM`] of them, and its length.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let frames = self.data.iter().zip(&self.sizes);
        frames.map(|(data, size)| (data.get(..*size).unwrap_or(data), *size))
    }

    /// The frames for the C interface, with their lengths, or with the whole room of each slot.
    fn raw(&mut self, whole: bool) -> Vec<RawFrame> {
        let count = if whole { MAX_BATCH } else { self.sizes.len() };
        let slots = self.data.iter_mut().take(count).enumerate();
        slots
            .map(|(index, slot)| RawFrame {
                data: slot.as_mut_ptr(),
                size: match (whole, self.sizes.get(index)) {
                    (false, Some(size)) => *size as u32,
                    _ => ROOM as u32,
                },
            })
            .collect()
    }
}

/// Two open ports of a driver, numbered 0 and 1. Dropping them stops and closes them.
///
/// They are not `Send`: only the thread that opened them may use them.
pub struct Ports {
    functions: Functions,
    handle: NonNull<c_void>,
}

impl Ports {
    /// Loads a driver's library, and opens two devices without starting them.
    ///
    /// # Errors
    /// The loader's message, or the driver's.
    pub fn open(library: &Path, devices: &[String; 2]) -> Result<Self, String> {
        let functions = Functions::load(library)?;
        let text = |device: &String| {
            CString::new(device.as_bytes())
                .map_err(|_| format!("device name {device:?} contains a zero byte"))
        };
        let (a, b) = (text(&devices[0])?, text(&devices[1])?);
        let mut message = [0u8; MESSAGE_SIZE];
        // SAFETY: both names are NUL-terminated and outlive the call; `message` is writable and has
        // the given length.
        let handle = unsafe {
            (functions.open)(
                a.as_ptr(),
                b.as_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { functions, handle }),
            None => Err(message_text(&message)),
        }
    }

    /// Resets and starts a port, without waiting for its link.
    ///
    /// # Errors
    /// The driver's message.
    pub fn start(&mut self, port: u32) -> Result<(), String> {
        // SAFETY: `handle` is open until this object ends; `checked` passes a buffer and its size.
        checked(|error, size| unsafe {
            (self.functions.start)(self.handle.as_ptr(), port, error, size)
        })
    }

    /// The speed of the link in Mbit/s, 0 if it is down.
    ///
    /// # Errors
    /// The driver's message.
    pub fn link_speed(&mut self, port: u32) -> Result<u32, String> {
        let mut speed = 0;
        // SAFETY: as in `start`; `speed` is a local variable.
        checked(|error, size| unsafe {
            (self.functions.link_speed)(self.handle.as_ptr(), port, &mut speed, error, size)
        })?;
        Ok(speed)
    }

    /// Sends frames. Returns how many of them the driver took.
    pub fn send(&mut self, port: u32, frames: &mut Frames) -> usize {
        let raw = frames.raw(false);
        // SAFETY: as in `start`; each element points to a slot of `frames` that holds its size.
        unsafe {
            (self.functions.send)(self.handle.as_ptr(), port, raw.as_ptr(), raw.len() as u32)
                as usize
        }
    }

    /// Receives frames, which replace those in `frames`.
    pub fn receive(&mut self, port: u32, frames: &mut Frames) {
        let mut raw = frames.raw(true);
        let count = raw.len() as u32;
        // SAFETY: as in `start`; each element points to a slot of `frames`, which has the given room.
        let received = unsafe {
            (self.functions.receive)(self.handle.as_ptr(), port, raw.as_mut_ptr(), count)
        };
        frames.sizes.clear();
        let sizes = raw.iter().take(received as usize);
        frames.sizes.extend(sizes.map(|frame| frame.size as usize));
    }

    /// The counters of a port since its last start.
    ///
    /// # Errors
    /// The driver's message, also if the port is dead or stalled.
    pub fn stats(&mut self, port: u32) -> Result<PortStats, String> {
        let mut stats = PortStats::default();
        // SAFETY: as in `start`; `stats` is a local variable with the layout of the C structure.
        checked(|error, size| unsafe {
            (self.functions.stats)(self.handle.as_ptr(), port, &mut stats, error, size)
        })?;
        Ok(stats)
    }

    /// Reads the register at `offset`. Reading clears some registers.
    ///
    /// # Errors
    /// The driver's message.
    pub fn register(&mut self, port: u32, offset: u32) -> Result<u32, String> {
        let mut value = 0;
        // SAFETY: as in `start`; `value` is a local variable.
        checked(|error, size| unsafe {
            (self.functions.register)(self.handle.as_ptr(), port, offset, &mut value, error, size)
        })?;
        Ok(value)
    }

    /// Whether some of the driver's memory is not on huge pages.
    pub fn on_ordinary_pages(&self) -> bool {
        // SAFETY: as in `start`.
        unsafe { (self.functions.on_ordinary_pages)(self.handle.as_ptr()) }
    }

    /// Stops and closes both ports.
    ///
    /// # Errors
    /// The driver's message; the ports are closed in any case.
    pub fn close(self) -> Result<(), String> {
        let closing = std::mem::ManuallyDrop::new(self);
        // SAFETY: as in `start`; dropping is suppressed, so the handle is closed once.
        checked(|error, size| unsafe {
            (closing.functions.close)(closing.handle.as_ptr(), error, size)
        })
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        // The caller of `close` gets the error; here it is lost.
        // SAFETY: as in `start`; this object ends here.
        let _ = checked(|error, size| unsafe {
            (self.functions.close)(self.handle.as_ptr(), error, size)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let devices = ["a".to_owned(), "b".to_owned()];
        let error = Ports::open(Path::new("/nonexistent/libports.so"), &devices);
        let error = error.err().unwrap();
        assert!(error.contains("/nonexistent/libports.so"), "{error}");
    }

    #[test]
    fn frames_keep_their_bytes_and_order() {
        let mut frames = Frames::new();
        assert!(frames.push(&[1; 60]) && frames.push(&[2; 61]) && frames.push(&[3; 62]));
        assert!(!frames.push(&[0; ROOM + 1]));
        frames.remove(1);
        let sizes: Vec<_> = frames
            .iter()
            .map(|(bytes, size)| (bytes[0], size))
            .collect();
        assert_eq!(sizes, [(2, 61), (3, 62)]);
        while frames.push(&[4; 60]) {}
        assert_eq!(frames.len(), MAX_BATCH);
    }
}
