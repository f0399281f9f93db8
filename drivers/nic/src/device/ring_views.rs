//! Views of a port's first two rings: what driver and card share at one moment.

/// A ring at one moment. It belongs to queue 0 of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingView {
    /// Index of the next descriptor that the card takes: RDH or TDH.
    pub head: u32,
    /// Index of the first descriptor after those that the driver has handed over: RDT or TDT.
    pub tail: u32,
    /// Both 64-bit halves of each descriptor, the lower first. Empty until the driver has written the
    /// place of the ring to the card.
    pub descriptors: Vec<[u64; 2]>,
}

/// Both rings of a port at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingViews {
    /// The receive ring.
    pub receive: RingView,
    /// The transmit ring.
    pub transmit: RingView,
}

/// A driver's write to a watched register, and the rings just before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedWrite {
    /// Address of the register.
    pub address: u32,
    /// The value written.
    pub value: u32,
    /// The rings before the write.
    pub rings: RingViews,
}

/// The registers to watch, and the writes to them so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) addresses: Vec<u32>,
    pub(crate) writes: Vec<WatchedWrite>,
}
