//! The lines of each second: what the devices received and sent.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::time::{Duration, Instant};

use ixgbe::driver::device::Stats;
use ixgbe::error::Result;

/// The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap.
const WIRE_OVERHEAD_BYTES: u64 = 20;

/// The shortest frame with its CRC, which some cards leave out of the bytes received.
const MIN_FRAME_BYTES: u64 = 64;

/// What the lines remember.
pub struct Rates<'o, const N: usize> {
    devices: [&'o str; N],
    /// When the last lines were printed.
    printed: Instant,
    before: [Stats; N],
}

impl<'o, const N: usize> Rates<'o, N> {
    /// `devices` are the names in the lines.
    pub fn new(devices: [&'o str; N], start: Instant) -> Self {
        Self {
            devices,
            printed: start,
            before: [Stats::default(); N],
        }
    }

    /// Prints a line for each device, if a second is over.
    pub fn print(
        &mut self,
        time: Instant,
        mut device_stats: impl FnMut(usize) -> Result<Stats>,
    ) -> Result<()> {
        let elapsed = time - self.printed;
        if elapsed < Duration::from_secs(1) {
            return Ok(());
        }
        for (i, before) in self.before.iter_mut().enumerate() {
            let now = device_stats(i)?;
            rates_print(self.devices[i], before, &now, elapsed.as_secs_f64());
            *before = now;
        }
        self.printed = time;
        Ok(())
    }
}

/// Prints million packets per second, and Gbit/s on the wire, between two readings.
fn rates_print(device: &str, before: &Stats, now: &Stats, seconds: f64) {
    let rate = |packets: u64, bytes: u64| {
        let bits = (bytes + packets * WIRE_OVERHEAD_BYTES) * 8;
        format!(
            "{:.2} Mpps {:.2} Gbit/s",
            packets as f64 / seconds / 1e6,
            bits as f64 / seconds / 1e9
        )
    };
    let rx_packets = now.rx_packets - before.rx_packets;
    let rx_bytes = now.rx_bytes - before.rx_bytes;
    let rx = rate(rx_packets, rx_bytes.max(rx_packets * MIN_FRAME_BYTES));
    let tx = rate(
        now.tx_packets - before.tx_packets,
        now.tx_bytes - before.tx_bytes,
    );
    // If the reader of the output goes away, the devices must still be stopped.
    let _ = writeln!(io::stdout(), "{device}: RX {rx}, TX {tx}");
}
