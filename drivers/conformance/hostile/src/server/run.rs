//! Runs one row of the hostile server against one driver.

use std::sync::Arc;

use anyhow::Result;
use nic::{MmioMode, Nic, NicConfig, Traffic};

use crate::builds::Build;
use crate::program::Run;
use crate::server::lie::{Expect, Liars, Row};
use crate::server::proxy::Proxy;
use crate::suite::Verdict;

/// Frames a second that arrive at each port, in millions. So few load no processor.
const MPPS: f64 = 0.02;

/// Runs a driver, by one of its paths, between a lying and an honest server, or between two lying ones.
///
/// # Errors
/// If card, server or driver cannot be started: the scenario has not run then.
pub fn run(row: &Row, build: Build, path: &str) -> Result<Verdict> {
    let folder = tempfile::tempdir()?;
    let mut config = NicConfig::new(folder.path(), 2);
    config = config.with_mmio(if row.setup.shared {
        MmioMode::Shared
    } else {
        MmioMode::Trap
    });
    if row.setup.traffic {
        config = config.with_each_port(|port| port.traffic = Traffic::Rate { mpps: MPPS });
    }
    let nic = Nic::new(config)?;
    let data_plane = nic.run_data_plane()?;
    let shared_row = Arc::new(row.clone());
    let mut proxies = Vec::new();
    let mut devices = Vec::new();
    for port in 0..2 {
        let honest = folder.path().join(format!("port{port}.sock"));
        let lies = match row.setup.liars {
            Liars::First => port == 0,
            Liars::Second => port == 1,
            Liars::Both => true,
        };
        let socket = if lies {
            let socket = folder.path().join(format!("liar{port}.sock"));
            proxies.push(Proxy::start(&socket, &honest, Arc::clone(&shared_row))?);
            socket
        } else {
            honest
        };
        devices.push(format!("vfio-user:{}", socket.display()));
    }
    let mut arguments = vec!["--duration", "0.3", "--path", path];
    if !row.setup.defaults {
        arguments.extend(["--link-timeout", "1", "--connect-timeout", "2"]);
    }
    let program = build.program()?;
    let arguments = arguments.into_iter().map(str::to_owned).chain(devices);
    let run = Run::of(&program, arguments, folder.path())?;
    let lied = proxies.iter().any(Proxy::has_lied);
    // The proxies are clients of the card, so they end first.
    drop(proxies);
    drop(data_plane.stop());
    Ok(judge(row, &run, lied))
}

/// Judges a run. `lied`: the moment of the lie has come.
fn judge(row: &Row, run: &Run, lied: bool) -> Verdict {
    let mut broken = run.broken_promises(true);
    if !lied {
        broken.push("ended before the lie, so the scenario has shown nothing".to_owned());
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
    Verdict {
        outcome: run.outcome(),
        elapsed: run.elapsed,
        broken,
        detail: last_lines(run),
        late: run.is_only_late() || gave_up,
    }
}

/// What the run says about itself: its message, or the last lines of its output.
fn last_lines(run: &Run) -> String {
    let message = run.message().map(str::to_owned);
    message.unwrap_or_else(|| {
        let lines: Vec<_> = run.stderr.lines().rev().take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    })
}
