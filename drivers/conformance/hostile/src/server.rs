//! Runs a row of the hostile server against a driver, and judges the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use anyhow::Result;
use nic::{MmioMode, Nic, NicConfig, Traffic};

use crate::builds::Build;
use crate::program::{outcome, Run};
use crate::proxy::{Did, Proxy};
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
    let mut config = NicConfig::new(honest.path(), 2);
    if !row.shared {
        config = config.with_mmio(MmioMode::Trap);
    }
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
    let did = |what: fn(&Did) -> &AtomicBool| {
        let mut liars = proxies.iter().map(Proxy::did);
        liars.any(|did| what(did).load(Ordering::Relaxed))
    };
    let (lied, changed) = (did(|did| &did.lied), did(|did| &did.changed));
    // The proxies are clients of the card, so they end first.
    drop(proxies);
    drop(data_plane.stop());
    Ok(judge(row, &run, lied, changed))
}

/// Judges a run. `lied`: the moment of the lie has come. `changed`: it changed memory for good.
fn judge(row: &Row, run: &Run, lied: bool, changed: bool) -> Verdict {
    let mut broken = run.broken_promises(true);
    broken.unless(
        lied,
        "ended before the lie, so the scenario has shown nothing",
    );
    let kept = !row.refused || !changed;
    broken.unless(
        kept,
        "let the server change its memory's size, seals or pages",
    );
    let end = (row.expect, run.status.and_then(|status| status.code()));
    let in_vain = end == (Expect::Works, Some(1));
    broken.unless(!in_vain, "failed, but the lie is harmless");
    let unnoticed = end == (Expect::Fails, Some(0));
    broken.unless(!unnoticed, "has not noticed the lie");
    if !row.says.is_empty() {
        run.check_texts(row.says, &mut broken);
    }
    Verdict {
        outcome: outcome(run.status),
        elapsed: run.elapsed,
        broken: broken.0,
        detail: run.last_lines(),
        // A driver that waits for a slow machine may give up on an honest server.
        late: run.is_only_late() || !lied || in_vain,
    }
}
