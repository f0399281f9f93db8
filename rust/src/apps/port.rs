//! A program on one port: a device with its pools, and the run on it.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use ixgbe::driver::device::{Config, Device, OpenDevice};
use ixgbe::driver::mempool::Mempool;
use ixgbe::error::Result;
use ixgbe::tsc_read;
use ixgbe::vfio::Container;
use serde::Serialize;

use crate::program::{
    hold_signals, json_open, json_write, turns_per_look, warn_of_ordinary_pages, CommonOptions,
};
use crate::rates::Rates;

/// A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the program.
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;
const POOL_MIN_CAPACITY: u32 = 2048;

/// The options of a program on one port.
#[derive(Args, Debug)]
pub struct PortOptions {
    #[command(flatten)]
    pub common: CommonOptions,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device: String,
}

/// Opens the device, does `work` on it and its pools for sending, closes it, and writes the totals, which are
/// valid even after an error. There are `tx_pools` TX queues, each with a pool of its own. Without any,
/// there is one TX queue for what the program receives.
pub fn run_on_port<T: Default + Serialize>(
    options: &PortOptions,
    tx_pools: u32,
    work: impl for<'p> FnOnce(&mut Device<'p>, &'p [Mempool], &mut T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let PortOptions { common, device } = options;
    let json = json_open(common)?;
    let container = Container::with_connect_timeout(common.connect_timeout_ms);
    let capacity = (common.ring_size * POOL_PACKETS_PER_DESCRIPTOR).max(POOL_MIN_CAPACITY);
    let create_pool = |_| Mempool::create(&container, capacity);
    let config = Config {
        rx_queues: 1,
        tx_queues: tx_pools.max(1),
        rx_ring_size: common.ring_size,
        tx_ring_size: common.ring_size,
        ..Config::default()
    };
    // The pools are declared after the device, so that they are unmapped while it is open.
    let open = OpenDevice::open(&container, device)?;
    let rx_pool = [create_pool(0)?];
    if container.on_ordinary_pages() {
        warn_of_ordinary_pages();
    }
    let tx_pools = (0..tx_pools).map(create_pool).collect::<Result<Vec<_>>>()?;
    let mut device = open.start_queues(&config, &rx_pool)?;
    device.wait_for_link(common.link_timeout_ms.into())?;

    let mut totals = T::default();
    let ran = work(&mut device, &tx_pools, &mut totals);
    let stopped = device.stop_queues();
    json_write(json, &totals)?;
    ran?;
    Ok(stopped?)
}

/// A run on a port, from its first packet on.
pub struct Run<'o> {
    ended: Arc<AtomicBool>,
    duration: Duration,
    start: Instant,
    start_tsc: u64,
    rates: Rates<'o, 1>,
    /// The most packets of a turn.
    batch: usize,
    /// Turns between two looks.
    turns: u32,
    /// Packets until the end of the run.
    left: u64,
}

impl<'o> Run<'o> {
    /// The run ends after so many packets, if not before.
    pub fn start(
        options: &'o PortOptions,
        device: &Device<'_>,
        packets: Option<u64>,
    ) -> anyhow::Result<Self> {
        let start = Instant::now();
        Ok(Self {
            ended: hold_signals()?,
            duration: options.common.duration.unwrap_or(Duration::MAX),
            start,
            start_tsc: tsc_read(),
            rates: Rates::new([&options.device], start),
            batch: options.common.batch,
            turns: turns_per_look(device.is_trapped()),
            left: packets.unwrap_or(u64::MAX),
        })
    }

    /// Calls `turn` again and again with the number of packets that it may take. It returns how many it took.
    /// Then looks at the clock and the signals, and prints a line every second. Returns whether the run
    /// goes on.
    pub fn goes_on<'p>(
        &mut self,
        device: &mut Device<'p>,
        mut turn: impl FnMut(&mut Device<'p>, usize) -> anyhow::Result<usize>,
    ) -> anyhow::Result<bool> {
        for _ in 0..self.turns {
            let count = usize::try_from(self.left).map_or(self.batch, |left| left.min(self.batch));
            if count == 0 {
                break;
            }
            self.left -= turn(device, count)? as u64;
        }
        let time = Instant::now();
        if time - self.start >= self.duration || self.ended.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.rates.print(time, |_| device.stats_read())?;
        Ok(self.left > 0)
    }

    /// The seconds and the TSC cycles from the start until now, for the totals.
    pub fn elapsed(&self) -> (f64, u64) {
        let seconds = self.start.elapsed().as_secs_f64();
        (seconds, tsc_read() - self.start_tsc)
    }
}
