//! The constants that trade latency, throughput and processor time of a running data plane.
//!
//! Their values were found by measuring, with the example `throughput` and the three drivers on two
//! processors. They change no result, only speed.

use std::time::Duration;

/// Most descriptors of one queue that a round handles. The other queues get their turn then.
pub(super) const ROUND_DESCRIPTORS: u32 = 256;

/// Most work that one port does in a round for sending, and as much again for receiving; the units
/// are those of `device/dma_port.rs`. A round with more work in it goes on in the next one.
pub(super) const ROUND_WORK: usize = 50_000;

/// Most descriptors of a queue that a port with a cable sends in a round. The port at the other end
/// takes these frames in the same round.
pub(super) const CABLE_DESCRIPTORS: u32 = 64;

/// Number of descriptors that the data plane waits for before it handles them. Handling each at once
/// would move the ring's cache lines between the two processors for every descriptor. Small rings
/// wait for an eighth of their length.
pub(super) const GATHER_DESCRIPTORS: u32 = 32;

/// Most rounds that the data plane waits for [`GATHER_DESCRIPTORS`].
pub(super) const GATHER_ROUNDS: u8 = 32;

/// Rounds with work between two updates of the heads and statistics in the registers. These lie in
/// the same cache lines as the tails that the driver writes. A round without work also updates them. On a busy
/// machine 256 rounds took more than a second, for which a driver waited in vain for TDH.
pub(super) const PUBLISH_ROUNDS: u32 = 16;

/// Rounds between two updates of the number of outstanding frames.
pub(super) const OUTSTANDING_ROUNDS: u32 = 4096;

/// Pause instructions after a round without work. They leave the processor core to a driver on its
/// other hardware thread.
pub(super) const PAUSES: u32 = 4;

/// Rounds without work after which a busy data plane yields the processor once.
pub(super) const YIELD_ROUNDS: u32 = 2000;

/// Longest sleep while no port receives or sends. A driver's write to a trapped register ends it.
pub(super) const IDLE_SLEEP: Duration = Duration::from_millis(1);

/// Rounds without work after which a data plane without traffic of its own sleeps: the program that
/// would send the next frame needs the processor too.
pub(super) const CALM_ROUNDS: u32 = 32;

/// Longest such sleep if every write to a tail is trapped, and so ends the sleep.
pub(super) const CALM_SLEEP_TRAP: Duration = Duration::from_millis(1);

/// Longest such sleep if drivers write tails to shared memory, where the NIC sees them only by
/// looking.
pub(super) const CALM_SLEEP_SHARED: Duration = Duration::from_micros(50);

/// Time after which a driver that has sent nothing yet has dropped the frames of its window. It gets
/// new ones then.
pub(super) const FLUSH_TIME: Duration = Duration::from_millis(100);

/// Time after which a driver with a full window that sends nothing gets one more frame.
pub(super) const TRICKLE_TIME: Duration = Duration::from_millis(1);

/// Most frames beyond a window: this part of the window.
pub(super) const TRICKLE_PART: u64 = 4;

/// Most frames on a cable. A port takes about as many frames from its cable in a round as the other
/// end sends, so only a port that is held up reaches this limit.
pub(super) const CABLE_FRAMES: usize = 16_384;
