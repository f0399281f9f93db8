//! The controller of a node, which is ours: no package has one.

use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Load, LIMIT};
use crate::path::built;
use crate::process::run;

/// What the controller prints.
#[derive(Deserialize)]
struct Report {
    requests: u64,
    lost: u64,
    wrong: u64,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
}

/// Runs rounds of a discovery and 12 reads.
///
/// # Errors
/// If the controller finds no node.
pub fn control(rounds: u64) -> Result<Load> {
    let mut command = Command::new(built("bin/apps/node-controller")?);
    command.args(["--ip", "10.0.0.1", "--rounds", &rounds.to_string()]);
    let output = run(&mut command, LIMIT)?;
    let report: Report = serde_json::from_str(&output.text)
        .with_context(|| format!("{}{}", output.text, output.error))?;
    Ok(Load {
        client: "controller".to_owned(),
        requests: report.requests,
        failed: report.lost + report.wrong,
        seconds: report.seconds,
        rate: report.requests as f64 / report.seconds,
        p50_ms: Some(report.p50_ms),
        p99_ms: Some(report.p99_ms),
        p999_ms: Some(report.p999_ms),
        cpu: output.cpu,
    })
}
