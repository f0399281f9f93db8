//! A port as a device of smoltcp. Both tokens use the packets' own buffers, without a copy.

use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use std::rc::Rc;

use crate::driver::{Port, RxBatch, TxBatch, MAX_FRAME};

/// A port of smoltcp.
pub struct Device {
    rx: RxBatch,
    tx: TxBatch,
    /// Frames that were taken from the driver.
    pub received: u64,
}

impl Device {
    /// The device of an open port.
    pub fn new(port: &Rc<Port>) -> Self {
        Self {
            rx: RxBatch::new(port),
            tx: TxBatch::new(port),
            received: 0,
        }
    }

    /// The next frame. `None` if there is none, or no room for an answer to it.
    pub fn peek(&mut self) -> Option<&[u8]> {
        if self.tx.has_room() && self.rx.fill() {
            Some(self.rx.peek())
        } else {
            None
        }
    }

    /// Drops the next frame.
    pub fn skip(&mut self) {
        self.received += 1;
        self.rx.take();
    }

    /// Sends a frame of `size` bytes that `fill` writes. It is lost if there is no room.
    pub fn put(&mut self, size: usize, fill: impl FnOnce(&mut [u8])) {
        if self.tx.has_room() {
            self.tx.put(size, fill);
        }
    }

    /// Sends what the stack has written.
    pub fn flush(&mut self) {
        self.tx.flush();
    }

    /// Whether frames wait for room in the TX ring.
    pub fn is_held_up(&self) -> bool {
        !self.tx.is_empty()
    }
}

/// A received frame.
pub struct RxToken<'a>(&'a [u8]);

/// Room for a frame to send.
pub struct TxToken<'a>(&'a mut TxBatch);

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

impl phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, size: usize, fill: F) -> R {
        self.0.put(size, fill)
    }
}

impl phy::Device for Device {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, TxToken<'_>)> {
        self.peek()?;
        self.received += 1;
        self.tx.use_queue(self.rx.queue());
        Some((RxToken(self.rx.take()), TxToken(&mut self.tx)))
    }

    fn transmit(&mut self, _: Instant) -> Option<TxToken<'_>> {
        self.tx.has_room().then_some(TxToken(&mut self.tx))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MAX_FRAME;
        capabilities
    }
}
