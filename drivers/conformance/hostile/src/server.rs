//! Runs a row of the hostile server against a driver, and judges the run.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use anyhow::Result;
use nic::{MmioMode, Nic, NicConfig, Traffic};

use crate::builds::Build;
use crate::program::Run;
use crate::proxy::Proxy;
use crate::row::{Expect, Row};
use crate::suite::Verdict;

/// Frames a second that arrive at each port, in millions. So few load no processor.
const MPPS: f64 = 0.02;

/// Runs a driver, by one of its paths, between a lying and an honest server, or between two lying ones.
///
/// # Errors
/// If card, server or driver cannot be started: the scenario has not run then.
pub fn run(row: &Row, build: Build, path: &str) -> Result<Verdict> {
    let (honest, liars) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mode = if row.shared {
        MmioMode::Shared
    } else {
        MmioMode::Trap
    };
    let mut config = NicConfig::new(honest.path(), 2).with_mmio(mode);
    if row.traffic {
        config = config.with_each_port(|port| port.traffic = Traffic::Rate { mpps: MPPS });
    }
    let nic = Nic::new(config)?;
    let data_plane = nic.run_data_plane()?;
    let shared_row = Arc::new(row.clone());
    let mut proxies = Vec::new();
    let mut arguments = ["--duration", "0.3", "--path", path]
        .map(str::to_owned)
        .to_vec();
    if !row.defaults {
        arguments.extend(["--link-timeout", "1", "--connect-timeout", "2"].map(str::to_owned));
    }
    if row.interrupts {
        arguments.push("--interrupts".to_owned());
    }
    for port in 0..2 {
        let mut socket = nic.ports()[port].socket().to_owned();
        if row.liars.contains(&port) {
            let liar = liars.path().join(format!("port{port}.sock"));
            proxies.push(Proxy::start(&liar, &socket, Arc::clone(&shared_row))?);
            socket = liar;
        }
        arguments.push(format!("vfio-user:{}", socket.display()));
    }
    let run = Run::of(&build.program()?, arguments)?;
    let lied = proxies
        .iter()
        .any(|proxy| proxy.did().lied.load(Ordering::Relaxed));
    let changed = proxies
        .iter()
        .any(|proxy| proxy.did().changed.load(Ordering::Relaxed));
    // The proxies are clients of the card, so they end first.
    drop(proxies);
    drop(data_plane.stop());
    Ok(judge(row, &run, lied, changed))
}

/// Judges a run. `lied`: the moment of the lie has come. `changed`: it changed memory for good.
fn judge(row: &Row, run: &Run, lied: bool, changed: bool) -> Verdict {
    let mut broken = run.broken_promises(true);
    if !lied {
        broken.push("ended before the lie, so the scenario has shown nothing".to_owned());
    }
    if row.refused && changed {
        broken.push(
            "let the server change the size, the seals or the pages of its memory".to_owned(),
        );
    }
    // A driver that waits for a slow machine may give up on an honest server.
    let mut gave_up = !lied;
    let code = run.status.and_then(|status| status.code());
    match (row.expect, code) {
        (Expect::Works, Some(1)) => {
            gave_up = true;
            broken.push("failed, but the lie is harmless".to_owned());
        }
        (Expect::Fails, Some(0)) => broken.push("has not noticed the lie".to_owned()),
        _ => {}
    }
    if !row.says.is_empty() {
        broken.extend(run.unsaid(row.says));
    }
    Verdict {
        outcome: run.outcome(),
        elapsed: run.elapsed,
        broken,
        detail: run.last_lines(),
        late: run.is_only_late() || gave_up,
    }
}
