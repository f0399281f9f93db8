//! What happened in a run.

use std::fs;

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeVal;
use serde::Serialize;

/// The counters of a server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// Seconds from the start to the end.
    pub seconds: f64,
    /// Processor time of the process in user mode, in seconds.
    pub user_seconds: f64,
    /// Processor time of the kernel for the process, in seconds.
    pub system_seconds: f64,
    /// The most memory that the process had, in KiB.
    pub peak_memory_kib: u64,
    /// Memory that sockets and connections can take at most, in bytes.
    pub connection_memory_limit: u64,
    /// Connections that clients opened.
    pub connections_accepted: u64,
    /// Connections that ended in order.
    pub connections_closed: u64,
    /// Connections that the client, an error or the end of the run cut off.
    pub connections_reset: u64,
    /// Connections on which nothing moved for too long.
    pub idle_closed: u64,
    /// Connections with a request or an answer that took too long.
    pub slow_closed: u64,
    /// Connections of a host with more than its share, which made room for another host.
    pub share_evicted: u64,
    /// Connections that were lost because the program panicked in their work.
    pub panics: u64,
    /// Connections that never became more than half open.
    pub half_open_expired: u64,
    /// Half-open connections that ended early to make room.
    pub half_open_evicted: u64,
    /// SYNs for which no socket had room.
    pub syn_dropped: u64,
    /// Frames that were dropped because a checksum of IPv4, TCP, UDP or ICMP was wrong.
    pub checksum_errors: u64,
    /// Bytes of all clients.
    pub bytes_received: u64,
    /// Bytes to all clients.
    pub bytes_sent: u64,
    /// Frames that the stack took from the driver.
    pub frames_received: u64,
    /// Frames that the device counted.
    pub port_rx_packets: u64,
    /// Frames that the device counted.
    pub port_tx_packets: u64,
    /// Interrupts of the device.
    pub interrupts: u64,
    /// Sleeps until an interrupt.
    pub sleeps: u64,
}

impl Statistics {
    /// Adds what the kernel knows of the process.
    pub fn finish(&mut self, seconds: f64) {
        self.seconds = seconds;
        if let Some((user, system)) = processor_seconds() {
            (self.user_seconds, self.system_seconds) = (user, system);
        }
        self.peak_memory_kib = peak_memory_kib().unwrap_or(0);
    }
}

/// Processor time of this process in user mode and in the kernel, in seconds.
pub(crate) fn processor_seconds() -> Option<(f64, f64)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Some((seconds(usage.user_time()), seconds(usage.system_time())))
}

/// The most memory of this process so far (proc(5), VmHWM).
fn peak_memory_kib() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
