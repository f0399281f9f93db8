//! Two open devices and their pools, for a forwarder.
#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::driver::device::{OpenDevice, MAX_QUEUES, MAX_RING_SIZE};
use crate::driver::mempool::{Mempool, PACKET_BUFFER_SIZE, PACKET_STRIDE_ODD};
use crate::error::{Error, Result};
use crate::tuned::batch::MAX_BATCH;
use crate::vfio::Container;

/// The paper's ring, in descriptors.
pub const DEFAULT_RING_SIZE: u32 = 512;

/// Milliseconds: long enough for a software NIC that starts at the same time.
pub const DEFAULT_CONNECT_TIMEOUT_MS: u32 = 5_000;

/// Enough packets for an RX ring, a TX ring and a batch, so that the pool never runs empty: the
/// paper's 2048, and more for rings larger than its 512.
const POOL_MIN_CAPACITY: u32 = 2048;
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;

/// All rings of a tuned lane, both ways, and its batch have a buffer for each place, for ever. The slots of the RX
/// rings have others.
const TUNED_RINGS: u32 = 6;

/// How packets travel from RX to TX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// With a pool: [`super::forwarder::Forwarder::turn`].
    #[default]
    Default,
    /// The same, with buffers that do not alias.
    Stride,
    /// By exchange of places: [`super::forwarder::Forwarder::tuned_turn`].
    Tuned,
    /// With a buffer for each descriptor: [`super::forwarder::Forwarder::agent_turn`].
    Agent,
}

/// How to open [`Ports`].
#[derive(Clone, Copy, Debug)]
pub struct PortsOptions {
    /// Descriptors of every ring: a power of two, 64 to 4096.
    pub ring_size: u32,
    /// Queue pairs of each device, 1 to [`MAX_QUEUES`].
    pub queues: u32,
    /// The path that the memory is for.
    pub path: Path,
    /// Milliseconds to wait for the servers of vfio-user sockets, all together.
    pub connect_timeout_ms: u32,
}

impl Default for PortsOptions {
    /// One queue with the paper's rings, by the default path.
    fn default() -> Self {
        Self {
            ring_size: DEFAULT_RING_SIZE,
            queues: 1,
            path: Path::Default,
            connect_timeout_ms: DEFAULT_CONNECT_TIMEOUT_MS,
        }
    }
}

/// Two open devices and their pools. A [`Forwarder`](super::forwarder::Forwarder) borrows them.
pub struct Ports {
    // Fields are dropped in this order, so that a pool is unmapped while its devices are open.
    // `pools[i][j]` feeds receive queue `j` of `devices[i]`. With the tuned path, `pools[0][j]` feeds both.
    pub(super) pools: [Vec<Mempool>; 2],
    pub(super) devices: [OpenDevice; 2],
    pub(super) container: Rc<Container>,
    pub(super) options: PortsOptions,
}

fn pool_capacity(options: &PortsOptions) -> u32 {
    // `OpenDevice::start` refuses larger rings.
    let ring_size = options.ring_size.min(MAX_RING_SIZE);
    match options.path {
        Path::Tuned => ring_size * TUNED_RINGS + MAX_BATCH as u32,
        _ => (ring_size * POOL_PACKETS_PER_DESCRIPTOR).max(POOL_MIN_CAPACITY),
    }
}

impl Ports {
    /// Opens both devices and allocates pools for rings of `ring_size` descriptors. Waits at most
    /// `connect_timeout_ms` milliseconds for the servers of vfio-user sockets, all together.
    ///
    /// # Errors
    /// If a device cannot be opened, or there is no memory.
    pub fn open(
        device_a: &str,
        device_b: &str,
        ring_size: u32,
        connect_timeout_ms: u32,
    ) -> Result<Self> {
        let options = PortsOptions {
            ring_size,
            connect_timeout_ms,
            ..PortsOptions::default()
        };
        Self::open_with(device_a, device_b, options)
    }

    /// The same with all options.
    ///
    /// # Errors
    /// As for [`Ports::open`], or if the number of queues is out of range.
    pub fn open_with(device_a: &str, device_b: &str, options: PortsOptions) -> Result<Self> {
        let queues = options.queues;
        if !(1..=MAX_QUEUES).contains(&queues) {
            return Err(Box::new(Error::Argument(format!(
                "a device has 1 to {MAX_QUEUES} queue pairs, not {queues}"
            ))));
        }
        let capacity = pool_capacity(&options);
        let container = Container::with_connect_timeout(options.connect_timeout_ms);
        let devices = [
            OpenDevice::open(&container, device_a)?,
            OpenDevice::open(&container, device_b)?,
        ];
        let stride = match options.path {
            Path::Default => PACKET_BUFFER_SIZE,
            Path::Stride | Path::Tuned | Path::Agent => PACKET_STRIDE_ODD,
        };
        let pools = || -> Result<Vec<Mempool>> {
            (0..queues)
                .map(|_| Mempool::create_strided(&container, capacity, stride))
                .collect()
        };
        let second = match options.path {
            Path::Tuned => Vec::new(),
            _ => pools()?,
        };
        Ok(Self {
            pools: [pools()?, second],
            devices,
            container,
            options,
        })
    }
}

/// The error of a turn by another path.
#[cold]
pub(crate) fn wrong_path() -> Box<Error> {
    let message = "the forwarder was opened with another path";
    Box::new(Error::Argument(message.to_owned()))
}
