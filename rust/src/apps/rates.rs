//! The lines of each second: what a device received and sent.
#![forbid(unsafe_code)]

use std::io::{self, Write};

use ixgbe::driver::device::Stats;

/// The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap.
const WIRE_OVERHEAD_BYTES: u64 = 20;

/// Prints million packets per second, and Gbit/s on the wire, between two readings.
pub fn rates_print(device: &str, before: &Stats, now: &Stats, seconds: f64) {
    let rate = |packets: u64, bytes: u64| {
        let bits = (bytes + packets * WIRE_OVERHEAD_BYTES) * 8;
        format!(
            "{:.2} Mpps {:.2} Gbit/s",
            packets as f64 / seconds / 1e6,
            bits as f64 / seconds / 1e9
        )
    };
    let rx = rate(
        now.rx_packets - before.rx_packets,
        now.rx_bytes - before.rx_bytes,
    );
    let tx = rate(
        now.tx_packets - before.tx_packets,
        now.tx_bytes - before.tx_bytes,
    );
    // If the reader of the output goes away, the devices must still be stopped.
    let _ = writeln!(io::stdout(), "{device}: RX {rx}, TX {tx}");
}
