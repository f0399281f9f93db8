//! An open port: batches of received frames, and frames to send.

use std::ffi::{c_char, c_int, CStr, CString};
use std::path::Path;
use std::ptr::{null_mut, NonNull};
use std::rc::Rc;
use std::slice;

use anyhow::{anyhow, Context, Result};

use super::library::{Functions, RawConfig, RawPacket, RawPort, RawStats};

/// Frames of one call of the driver.
const BATCH: usize = 32;

/// Frames that wait for room in the TX ring. The stack sends nothing more until some are gone.
const MAX_WAITING: usize = 256;

/// Room for a message of the driver.
const MESSAGE_SIZE: usize = 512;

/// The longest frame that the stack sends, without CRC.
pub const MAX_FRAME: usize = 1514;

/// What a port is opened with.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// `0000:03:00.0` (PCI) or `vfio-user:PATH` (a socket).
    pub device: String,
    /// Queue pairs, 1 to 16.
    pub queues: u32,
    /// Descriptors of every ring.
    pub ring_size: u32,
    /// The longest wait for the socket, in milliseconds.
    pub connect_timeout_ms: u32,
    /// The longest wait for the link, in milliseconds.
    pub link_timeout_ms: u32,
    /// Whether [`Port::wait`] may be called.
    pub interrupts: bool,
}

/// Totals since the port was opened. Bytes include the CRC.
pub type PortStats = RawStats;

/// An open port. It belongs to one thread.
pub struct Port {
    functions: Functions,
    port: NonNull<RawPort>,
    queues: u32,
    open: std::cell::Cell<bool>,
}

/// Calls a function of the driver that writes its reason to a buffer.
fn call(run: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<()> {
    let mut message = [0; MESSAGE_SIZE];
    match run(message.as_mut_ptr().cast(), message.len()) {
        0 => Ok(()),
        _ => Err(anyhow!(text(&message))),
    }
}

fn text(message: &[u8]) -> String {
    CStr::from_bytes_until_nul(message)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

impl Port {
    /// Opens and starts a port with the driver in a library, and waits for its link.
    ///
    /// # Errors
    /// If the library cannot be loaded, or with the driver's reason.
    pub fn open(library: &Path, config: &PortConfig) -> Result<Rc<Self>> {
        let functions = Functions::load(library)?;
        let device = CString::new(config.device.as_str()).context("the device has a NUL")?;
        let raw = RawConfig {
            device: device.as_ptr(),
            queues: config.queues,
            ring_size: config.ring_size,
            connect_timeout_ms: config.connect_timeout_ms,
            link_timeout_ms: config.link_timeout_ms,
            interrupts: config.interrupts.into(),
        };
        let mut message = [0_u8; MESSAGE_SIZE];
        // SAFETY: all pointers are valid during the call.
        let port = unsafe { (functions.open)(&raw, message.as_mut_ptr().cast(), message.len()) };
        let port = NonNull::new(port).ok_or_else(|| anyhow!(text(&message)))?;
        Ok(Rc::new(Self {
            functions,
            port,
            queues: config.queues,
            open: std::cell::Cell::new(true),
        }))
    }

    /// The port's own address.
    ///
    /// # Errors
    /// The driver's reason.
    pub fn mac(&self) -> Result<[u8; 6]> {
        let mut mac = [0; 6];
        // SAFETY: the port is open, and all pointers are valid during the call.
        call(|error, size| unsafe {
            (self.functions.mac)(self.port.as_ptr(), &mut mac, error, size)
        })?;
        Ok(mac)
    }

    /// Sleeps until a frame arrives, for at most so many milliseconds and at most 0.1 s.
    ///
    /// # Errors
    /// The driver's reason.
    pub fn wait(&self, timeout_ms: u32) -> Result<()> {
        // SAFETY: the port is open, and all pointers are valid during the call.
        call(|error, size| unsafe {
            (self.functions.wait)(self.port.as_ptr(), timeout_ms, error, size)
        })
    }

    /// Reads the totals, and notices a dead device.
    ///
    /// # Errors
    /// The driver's reason.
    pub fn stats(&self) -> Result<PortStats> {
        let mut stats = PortStats::default();
        // SAFETY: the port is open, and all pointers are valid during the call.
        call(|error, size| unsafe {
            (self.functions.stats)(self.port.as_ptr(), &mut stats, error, size)
        })?;
        Ok(stats)
    }

    /// Stops the device in order. Batches that still exist must not be used afterwards, and do nothing.
    ///
    /// # Errors
    /// The driver's reason. The port is closed all the same.
    pub fn close(&self) -> Result<()> {
        if !self.open.replace(false) {
            return Ok(());
        }
        // SAFETY: the port is open, and no other call follows.
        call(|error, size| unsafe { (self.functions.close)(self.port.as_ptr(), error, size) })
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

const NO_PACKET: RawPacket = RawPacket {
    data: null_mut(),
    size: 0,
    slot: 0,
    owner: null_mut(),
};

/// The frames that were received last. The driver lends them, and gets them back in batches.
pub struct RxBatch {
    port: Rc<Port>,
    packets: [RawPacket; BATCH],
    count: usize,
    next: usize,
    /// The queue of these frames.
    queue: u32,
}

impl RxBatch {
    /// An empty batch.
    pub fn new(port: &Rc<Port>) -> Self {
        Self {
            port: Rc::clone(port),
            packets: [NO_PACKET; BATCH],
            count: 0,
            next: 0,
            queue: 0,
        }
    }

    /// Whether there is a frame. Receives a batch if all frames of the last one are used.
    pub fn fill(&mut self) -> bool {
        if self.next < self.count {
            return true;
        }
        self.free();
        if !self.port.open.get() {
            return false;
        }
        for _ in 0..self.port.queues {
            self.queue = (self.queue + 1) % self.port.queues;
            // SAFETY: the port is open, and there is room for so many packets.
            let received = unsafe {
                (self.port.functions.receive)(
                    self.port.port.as_ptr(),
                    self.queue,
                    self.packets.as_mut_ptr(),
                    BATCH as u32,
                )
            };
            if received > 0 {
                self.count = received as usize;
                return true;
            }
        }
        false
    }

    /// The next frame, if [`RxBatch::fill`] said that there is one.
    pub fn take(&mut self) -> &[u8] {
        if self.next >= self.count {
            return &[];
        }
        let packet = &self.packets[self.next];
        self.next += 1;
        // SAFETY: the driver lent so many bytes. They stay ours until `free`, which needs `&mut self`.
        unsafe { slice::from_raw_parts(packet.data, packet.size as usize) }
    }

    /// The frame that `take` would return.
    pub fn peek(&self) -> &[u8] {
        if self.next >= self.count {
            return &[];
        }
        let packet = &self.packets[self.next];
        // SAFETY: as in `take`.
        unsafe { slice::from_raw_parts(packet.data, packet.size as usize) }
    }

    /// Gives back all frames.
    fn free(&mut self) {
        if self.count > 0 && self.port.open.get() {
            // SAFETY: the port is open, and the frames are borrowed no more.
            unsafe {
                (self.port.functions.free)(
                    self.port.port.as_ptr(),
                    self.packets.as_ptr(),
                    self.count as u32,
                );
            }
        }
        self.count = 0;
        self.next = 0;
    }

    /// The queue of the frame that was taken last.
    pub fn queue(&self) -> u32 {
        self.queue
    }
}

impl Drop for RxBatch {
    fn drop(&mut self) {
        self.free();
    }
}

/// The frames that wait to be sent on a queue.
pub struct TxBatch {
    port: Rc<Port>,
    packets: Vec<RawPacket>,
    /// The packet for the next frame.
    spare: Option<RawPacket>,
    queue: u32,
    /// Frames for which there was no packet and no room.
    pub refused: u64,
}

impl TxBatch {
    /// An empty batch for queue 0.
    pub fn new(port: &Rc<Port>) -> Self {
        Self {
            port: Rc::clone(port),
            packets: Vec::with_capacity(MAX_WAITING),
            spare: None,
            queue: 0,
            refused: 0,
        }
    }

    /// Sends on this queue from now on.
    pub fn use_queue(&mut self, queue: u32) {
        if queue != self.queue {
            self.flush();
            self.queue = queue;
        }
    }

    /// Whether there is room for a frame. If not, the caller tries again after the next [`TxBatch::flush`].
    pub fn has_room(&mut self) -> bool {
        if self.packets.len() >= MAX_WAITING {
            self.flush();
        }
        if self.packets.len() >= MAX_WAITING || !self.port.open.get() {
            self.refused += 1;
            return false;
        }
        if self.spare.is_none() {
            let mut packet = NO_PACKET;
            // SAFETY: the port is open, and the packet is valid during the call.
            let taken =
                unsafe { (self.port.functions.alloc)(self.port.port.as_ptr(), &mut packet) };
            self.spare = taken.then_some(packet);
        }
        self.refused += u64::from(self.spare.is_none());
        self.spare.is_some()
    }

    /// Fills a frame of `size` bytes, which waits until [`TxBatch::flush`]. A frame that is too long, or for
    /// which there is no room, goes nowhere.
    pub fn put<R>(&mut self, size: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        let Some(packet) = self.spare.filter(|packet| size <= packet.size as usize) else {
            self.refused += 1;
            return fill(&mut vec![0; size]);
        };
        // SAFETY: the driver lent `packet.size` bytes, which are ours alone.
        let result = fill(unsafe { slice::from_raw_parts_mut(packet.data, size) });
        // Only now, so that a panic of `fill` does not lose the packet.
        self.spare = None;
        self.packets.push(RawPacket {
            size: size as u32,
            ..packet
        });
        if self.packets.len() >= BATCH {
            self.flush();
        }
        result
    }

    /// Sends what waits, as far as the TX ring has room.
    pub fn flush(&mut self) {
        if self.packets.is_empty() || !self.port.open.get() {
            return;
        }
        // SAFETY: the port is open, and the packets are valid during the call.
        let sent = unsafe {
            (self.port.functions.send)(
                self.port.port.as_ptr(),
                self.queue,
                self.packets.as_ptr(),
                self.packets.len() as u32,
            )
        };
        self.packets.drain(..sent as usize);
    }

    /// Whether frames wait for room in the TX ring.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}

impl Drop for TxBatch {
    fn drop(&mut self) {
        let packets: Vec<_> = self.packets.drain(..).chain(self.spare.take()).collect();
        if !packets.is_empty() && self.port.open.get() {
            // SAFETY: the port is open, and these packets are ours.
            unsafe {
                (self.port.functions.free)(
                    self.port.port.as_ptr(),
                    packets.as_ptr(),
                    packets.len() as u32,
                );
            }
        }
    }
}
