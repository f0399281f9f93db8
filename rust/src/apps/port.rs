//! The port of a program that uses one: a device with its pools, and the run on it.
#![forbid(unsafe_code)]

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ixgbe::driver::device::{Config, Device, OpenDevice, Stats};
use ixgbe::driver::mempool::Mempool;
use ixgbe::error::Result;
use ixgbe::tsc_read;
use ixgbe::vfio::Container;

use crate::program::{hold_signals, warn_of_ordinary_pages, CommonOptions};
use crate::rates::rates_print;

/// A program looks at the clock and the signals once every so many turns.
const TURNS_PER_LOOK: u32 = 1024;

/// The same when a turn may take two messages to a server, each 20 ms or more.
const TURNS_PER_LOOK_TRAPPED: u32 = 8;

/// A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the program.
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;
const POOL_MIN_CAPACITY: u32 = 2048;

/// An open device and its pools. A running [`Device`] borrows them.
pub struct Port {
    // Fields are dropped in this order, so that a pool is unmapped while its device is open.
    /// `pools[i]` feeds receive queue i.
    pools: Vec<Mempool>,
    device: OpenDevice,
    config: Config,
    options: CommonOptions,
}

impl Port {
    /// Opens the device at `address` for so many queues, and allocates the pools of the RX queues. Prints a
    /// warning of `program` if the memory is on ordinary pages.
    pub fn open(
        program: &str,
        container: &Rc<Container>,
        address: &str,
        rx_queues: u32,
        tx_queues: u32,
        options: &CommonOptions,
    ) -> Result<Self> {
        let device = OpenDevice::open(container, address)?;
        let pools = pools_create(container, rx_queues, options)?;
        if container.on_ordinary_pages() {
            warn_of_ordinary_pages(program);
        }
        Ok(Self {
            pools,
            device,
            config: Config {
                rx_queues,
                tx_queues,
                rx_ring_size: options.ring_size,
                tx_ring_size: options.ring_size,
                promiscuous: true,
            },
            options: options.clone(),
        })
    }

    /// Starts the device, and waits for its link.
    pub fn start(&self) -> Result<Device<'_>> {
        let mut device = self.device.start_queues(&self.config, &self.pools)?;
        device.wait_for_link(self.options.link_timeout_ms().into())?;
        Ok(device)
    }
}

/// Pools that never run empty with such options.
pub fn pools_create(
    container: &Rc<Container>,
    count: u32,
    options: &CommonOptions,
) -> Result<Vec<Mempool>> {
    let capacity = options.ring_size * POOL_PACKETS_PER_DESCRIPTOR;
    (0..count)
        .map(|_| Mempool::create(container, capacity.max(POOL_MIN_CAPACITY)))
        .collect()
}

/// How many turns there may be between two looks.
pub fn turns_per_look(device: &Device<'_>) -> u32 {
    match device.is_trapped() {
        true => TURNS_PER_LOOK_TRAPPED,
        false => TURNS_PER_LOOK,
    }
}

/// A run on a port, from its first packet on.
pub struct Run<'o> {
    device: &'o str,
    ended: Arc<AtomicBool>,
    duration: Duration,
    start: Instant,
    start_tsc: u64,
    /// When the last line was printed, and the device's counters then.
    printed: Instant,
    before: Stats,
}

impl<'o> Run<'o> {
    /// `device` is the name in the lines of each second.
    pub fn start(device: &'o str, duration: Option<Duration>) -> anyhow::Result<Self> {
        let start = Instant::now();
        Ok(Self {
            device,
            ended: hold_signals()?,
            duration: duration.unwrap_or(Duration::MAX),
            start,
            start_tsc: tsc_read(),
            printed: start,
            before: Stats::default(),
        })
    }

    /// Looks at the clock and the signals, and prints a line every second. Returns whether the run is over.
    pub fn look(&mut self, device: &mut Device<'_>) -> Result<bool> {
        let time = Instant::now();
        if time - self.start >= self.duration || self.ended.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if time - self.printed >= Duration::from_secs(1) {
            let now = device.stats_read()?;
            let seconds = (time - self.printed).as_secs_f64();
            rates_print(self.device, &self.before, &now, seconds);
            self.before = now;
            self.printed = time;
        }
        Ok(false)
    }

    /// The seconds and the TSC cycles from the start until now, for the totals.
    pub fn elapsed(&self) -> (f64, u64) {
        (
            self.start.elapsed().as_secs_f64(),
            tsc_read() - self.start_tsc,
        )
    }
}
