//! The two ports, driven by the safe Rust driver, frame by frame.

use std::rc::Rc;

use ixgbe::driver::device::{Config, Device, OpenDevice, Stats};
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::error::Result;
use ixgbe::rooms::forwarder::DEFAULT_CONNECT_TIMEOUT_MS;
use ixgbe::vfio::Container;

/// Enough packets for an RX ring, a TX ring and a batch.
const POOL_CAPACITY: u32 = 2048;
/// The most frames of one call.
const MAX_BATCH: usize = 256;
/// Bytes of the CRC, which the card adds and strips.
pub(crate) const CRC_LEN: u64 = 4;

/// Registers of the card, each as its name and its offset.
macro_rules! named {
    ($($name:ident $(($index:literal))?),* $(,)?) => {
        [$((stringify!($name $(($index))?), nic::registers::$name $(($index))?)),*]
    };
}
pub(crate) use named;

/// The two open devices with their memory.
pub(crate) struct Opened {
    // Fields are dropped in this order, so that a pool is unmapped while its devices are open.
    pools: [Mempool; 2],
    devices: [OpenDevice; 2],
    container: Rc<Container>,
}

impl Opened {
    /// Opens both devices without starting them. Waits at most 5 seconds for the server of a socket.
    pub(crate) fn open([a, b]: &[String; 2]) -> Result<Self> {
        let container = Container::with_connect_timeout(DEFAULT_CONNECT_TIMEOUT_MS);
        let devices = [
            OpenDevice::open(&container, a)?,
            OpenDevice::open(&container, b)?,
        ];
        let pool = || Mempool::create(&container, POOL_CAPACITY);
        Ok(Self {
            pools: [pool()?, pool()?],
            devices,
            container,
        })
    }

    /// Whether some of the memory is not on huge pages.
    pub(crate) fn on_ordinary_pages(&self) -> bool {
        self.container.on_ordinary_pages()
    }

    /// Reads the register at `offset`. Reading clears some registers.
    pub(crate) fn register(&self, port: usize, offset: u32) -> Result<u32> {
        self.devices[port].register_read(offset)
    }
}

/// The ports, numbered 0 and 1. A port that does not run has no link, and neither sends nor receives.
pub(crate) struct Ports<'p> {
    pub(crate) opened: &'p Opened,
    running: [Option<Device<'p>>; 2],
    /// Frames and bytes of each port, as the driver took and handed them out. Bytes include the CRC.
    pub(crate) counted: [Stats; 2],
    arrived: Vec<Packet<'p>>,
    bytes: Vec<u8>,
}

impl<'p> Ports<'p> {
    pub(crate) fn new(opened: &'p Opened) -> Self {
        Self {
            opened,
            running: [None, None],
            counted: [Stats::default(); 2],
            arrived: Vec::with_capacity(MAX_BATCH),
            bytes: Vec::new(),
        }
    }

    /// Resets and starts a port, whatever state it is in. Does not wait for the link.
    pub(crate) fn start(&mut self, port: usize) -> Result<()> {
        if let Some(mut device) = self.running[port].take() {
            device.stop()?;
        }
        let (device, pool) = (&self.opened.devices[port], &self.opened.pools[port]);
        self.running[port] = Some(device.start(&Config::default(), pool)?);
        Ok(())
    }

    /// The speed of the link in Mbit/s, 0 if it is down.
    pub(crate) fn link_speed(&self, port: usize) -> Result<u32> {
        self.running[port]
            .as_ref()
            .map_or(Ok(0), Device::link_speed)
    }

    /// A packet with these bytes, `None` if all packets are in use.
    pub(crate) fn packet(&self, port: usize, bytes: &[u8]) -> Option<Packet<'p>> {
        let mut packet = self.opened.pools[port].alloc()?;
        let written = packet.set_size(bytes.len()) && packet.write_at(0, bytes);
        written.then_some(packet)
    }

    /// Sends packets from the front of `packets`, and leaves those that the ring does not take. A device that
    /// has failed takes none, and [`Ports::stats`] says why.
    pub(crate) fn send(&mut self, port: usize, packets: &mut Vec<Packet<'p>>) {
        let Some(device) = &mut self.running[port] else {
            return;
        };
        let sizes: Vec<u64> = packets
            .iter()
            .map(|it| it.size() as u64 + CRC_LEN)
            .collect();
        let sent = device.tx_batch(0, packets).unwrap_or(0);
        let counted = &mut self.counted[port];
        counted.tx_packets += sent as u64;
        counted.tx_bytes += sizes[..sent].iter().sum::<u64>();
    }

    /// Receives frames, and calls `take` with the bytes of each. Returns their number.
    pub(crate) fn receive(&mut self, port: usize, mut take: impl FnMut(&[u8])) -> usize {
        let Some(device) = &mut self.running[port] else {
            return 0;
        };
        // Packets that were received before an error still count.
        let _ = device.rx_batch(0, &mut self.arrived, MAX_BATCH);
        let count = self.arrived.len();
        for packet in self.arrived.drain(..) {
            self.bytes.resize(packet.size(), 0);
            let _ = packet.read_at(0, &mut self.bytes);
            self.counted[port].rx_packets += 1;
            self.counted[port].rx_bytes += self.bytes.len() as u64 + CRC_LEN;
            take(&self.bytes);
        }
        count
    }

    /// The card's counters of a port since its last start. Fails also if the port is dead or stalled.
    pub(crate) fn stats(&mut self, port: usize) -> Result<Stats> {
        let device = self.running[port].as_mut();
        device.map_or(Ok(Stats::default()), Device::stats_read)
    }

    /// Stops both ports. Returns the first error.
    pub(crate) fn stop(&mut self) -> Result<()> {
        let mut result = Ok(());
        for mut device in self.running.iter_mut().filter_map(Option::take) {
            result = result.and(device.stop());
        }
        result
    }
}
