//! iperf3.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Load, LIMIT};
use crate::process::run;
use crate::server::ADDRESS;

/// Sends for so many seconds, or receives. Frames whose checksums the clients' kernel finds wrong count as failed.
///
/// # Errors
/// If iperf3 fails, or prints something else than its JSON.
pub fn iperf3(seconds: u64, receives: bool) -> Result<Load> {
    let mut command = Command::new("iperf3");
    command.args(["-c", ADDRESS, "-J", "-t", &seconds.to_string()]);
    if receives {
        command.arg("-R");
    }
    let before = checksum_errors()?;
    let output = run(&mut command, LIMIT)?;
    let text = || format!("{command:?} printed:\n{}{}", output.text, output.error);
    let json: Value = serde_json::from_str(&output.text).with_context(text)?;
    let received = &json["end"]["sum_received"];
    let rate = received["bits_per_second"].as_f64().with_context(text)?;
    Ok(Load {
        client: format!("iperf3 {}", if receives { "down" } else { "up" }),
        requests: received["bytes"].as_u64().unwrap_or(0),
        failed: checksum_errors()? - before,
        seconds: received["seconds"].as_f64().unwrap_or(0.0),
        rate,
        cpu: output.cpu,
        ..Load::default()
    })
}

/// What the kernel counted in this name space: frames with a wrong checksum of IPv4, TCP, UDP or ICMP.
fn checksum_errors() -> Result<u64> {
    let mut errors = 0;
    for file in [
        "/proc/thread-self/net/snmp",
        "/proc/thread-self/net/netstat",
    ] {
        let text = fs::read_to_string(file).context(file)?;
        errors += errors_in(&text).with_context(|| format!("{file} is malformed"))?;
    }
    Ok(errors)
}

/// Adds up `InCsumErrors` of all protocols. Each has a line of names and a line of values.
fn errors_in(text: &str) -> Option<u64> {
    let lines: Vec<_> = text.lines().collect();
    let mut errors = 0;
    for pair in lines.chunks(2) {
        let [names, values] = pair else {
            return None;
        };
        let fields = names.split_whitespace().zip(values.split_whitespace());
        for (_, value) in fields.filter(|(name, _)| *name == "InCsumErrors") {
            errors += value.parse::<u64>().ok()?;
        }
    }
    Some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_all_protocols_are_added() {
        let text = "Icmp: InMsgs InCsumErrors\nIcmp: 9 1\nTcp: InCsumErrors OutRsts\nTcp: 2 7\nUdp: InErrors\nUdp: 5\n";
        assert_eq!(errors_in(text), Some(3));
        assert_eq!(errors_in("Tcp: InCsumErrors\nTcp: x\n"), None);
        assert_eq!(errors_in("Tcp: InCsumErrors\n"), None);
    }

    #[test]
    fn the_kernel_has_the_counters() {
        assert!(checksum_errors().is_ok());
    }
}
