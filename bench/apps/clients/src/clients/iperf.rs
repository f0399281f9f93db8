//! iperf3.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Load, LIMIT};
use crate::kernel::sum_of;
use crate::process::run;
use crate::server::ADDRESS;

/// What the server is started with: a stream needs larger buffers than requests.
pub const SERVER_ARGUMENTS: &[&str] = &["--socket-buffer", "262144"];

/// The kernel's counter in each protocol.
const WRONG_CHECKSUMS: &str = "InCsumErrors";

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
    let before = sum_of(WRONG_CHECKSUMS)?;
    let output = run(&mut command, LIMIT)?;
    let text = || format!("{command:?} printed:\n{}{}", output.text, output.error);
    let json: Value = serde_json::from_str(&output.text).with_context(text)?;
    let received = &json["end"]["sum_received"];
    let rate = received["bits_per_second"].as_f64().with_context(text)?;
    Ok(Load {
        client: format!("iperf3 {}", if receives { "down" } else { "up" }),
        requests: received["bytes"].as_u64().unwrap_or(0),
        failed: sum_of(WRONG_CHECKSUMS)? - before,
        seconds: received["seconds"].as_f64().unwrap_or(0.0),
        rate,
        cpu: output.cpu,
        ..Load::default()
    })
}
