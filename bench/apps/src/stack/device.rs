//! A port as a device of smoltcp. Both tokens use the packets' own buffers, without a copy.

use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use std::rc::Rc;

use crate::driver::{Port, RxBatch, Sort, TxBatch, MAX_FRAME};
use crate::stack::frame::{kind, Kind};

/// Batches of a turn that are sorted. Then the sockets get their turn, even in a flood.
const SORTED_BATCHES: usize = 8;

/// A port of smoltcp.
pub struct Device {
    rx: RxBatch,
    tx: TxBatch,
    /// Connections that the sockets can still accept. smoltcp would answer a SYN beyond with a reset. A
    /// dropped one comes again a second later.
    room: usize,
    /// Whether a SYN found no room in this turn, and in the turn before.
    lacked_room: [bool; 2],
    sort: Option<Box<dyn Sort>>,
    /// Batches that may still be sorted in this turn.
    batches: usize,
    /// SYNs that were dropped because there was no room.
    pub syn_dropped: u64,
    /// Frames that were dropped because a checksum was wrong.
    pub checksum_errors: u64,
    /// Frames that the stack received.
    pub received: u64,
    /// Frames that were sorted.
    pub sorted: u64,
}

impl Device {
    /// The device of an open port.
    pub fn new(port: &Rc<Port>) -> Self {
        Self {
            rx: RxBatch::new(port),
            tx: TxBatch::new(port),
            room: 0,
            lacked_room: [false; 2],
            sort: None,
            batches: 0,
            syn_dropped: 0,
            checksum_errors: 0,
            received: 0,
            sorted: 0,
        }
    }

    /// Accepts so many connections until the next call, which begins another turn.
    pub fn accept_connections(&mut self, room: usize) {
        self.room = room;
        self.lacked_room = [false, self.lacked_room[0]];
    }

    /// Whether a SYN found no room in this turn.
    pub fn lacks_room(&self) -> bool {
        self.lacked_room[0]
    }

    /// Lets `sort` decide about each frame from now on.
    pub fn sort_by(&mut self, sort: impl Sort + 'static) {
        self.sort = Some(Box::new(sort));
    }

    /// Begins a turn.
    pub fn begin_turn(&mut self) {
        self.batches = SORTED_BATCHES;
    }

    /// Sends what the stack has written.
    pub fn flush(&mut self) {
        self.tx.flush();
    }

    /// Whether frames wait for room in the TX ring.
    pub fn is_held_up(&self) -> bool {
        !self.tx.is_empty()
    }

    /// Drops frames with wrong checksums and SYNs for which no socket has room. Returns whether another frame is
    /// there for the stack.
    fn next_frame(&mut self) -> bool {
        while self.fill() {
            let dropped = match kind(self.rx.peek()) {
                Kind::Other => return true,
                Kind::Opens if self.room > 0 => {
                    self.room -= 1;
                    return true;
                }
                // The first SYN waits for the next turn, because a client that closes in this turn makes room. In a
                // flood, the turn goes on for the other frames.
                Kind::Opens if self.lacked_room == [false; 2] => {
                    self.lacked_room[0] = true;
                    return false;
                }
                Kind::Opens => {
                    self.lacked_room[0] = true;
                    &mut self.syn_dropped
                }
                Kind::Corrupt => &mut self.checksum_errors,
            };
            *dropped += 1;
            self.rx.take();
            self.received += 1;
        }
        false
    }

    /// Whether a frame for the stack is there.
    fn fill(&mut self) -> bool {
        let Some(sort) = &mut self.sort else {
            return self.rx.fill();
        };
        while self.rx.is_empty() && self.batches > 0 {
            self.batches -= 1;
            let arrived = self.rx.fill_sorted(&mut self.tx, &mut **sort);
            if arrived == 0 {
                return false;
            }
            self.sorted += arrived as u64;
        }
        !self.rx.is_empty()
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
        // A frame may have an answer. It waits until there is room for one.
        if !self.tx.has_room() || !self.next_frame() {
            return None;
        }
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
