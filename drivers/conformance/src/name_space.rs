//! Name spaces of network and mounts for tests: each makes its own, without root, and nothing leaves it.

use std::process::Command;

use anyhow::{ensure, Context, Result};
use nic::{NicConfig, WireTo};

use crate::Implementation;

/// Names the test that a process in a name space runs.
const INSIDE: &str = "TRIPTYCH_TEST_INSIDE";

/// Runs this test again in a name space of its own. Returns whether the caller is the one inside.
pub fn is_inside(name: &str) -> Result<bool> {
    if std::env::var_os(INSIDE).is_some_and(|inside| inside == *name) {
        return Ok(true);
    }
    let outside = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount", "true"])
        .output()
        .context("cannot run unshare (package util-linux)")?;
    if !outside.status.success() {
        let reason = String::from_utf8_lossy(&outside.stderr);
        println!(
            "not testable here: no name space of its own: {}",
            reason.trim()
        );
        return Ok(false);
    }
    let again = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount"])
        .arg(std::env::current_exe()?)
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, name)
        .output()?;
    let text = String::from_utf8_lossy(&again.stdout);
    let error = String::from_utf8_lossy(&again.stderr);
    ensure!(
        again.status.success() && text.contains("1 passed"),
        "in the name space:\n{text}{error}"
    );
    Ok(false)
}

/// The same for a test of [`crate::for_each_implementation`].
pub fn is_inside_for(implementation: Implementation, name: &str) -> Result<bool> {
    let driver = implementation.to_string().replace('-', "_");
    is_inside(&format!("{driver}::{name}"))
}

/// Gives the ports of a card the interfaces `t0` and `t1`.
pub fn with_taps(config: NicConfig) -> NicConfig {
    let mut number = 0;
    config.with_each_port(|port| {
        port.wire = Some(WireTo::Tap(format!("t{number}")));
        number += 1;
    })
}

/// Gives an interface an IPv4 address, such as `10.0.0.1/24`.
pub fn give_address(interface: &str, address: &str) -> Result<()> {
    let output = Command::new("ip")
        .args(["address", "add", address, "dev", interface])
        .output()
        .context("cannot run ip (package iproute2)")?;
    let reason = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "ip address add {address}: {reason}"
    );
    Ok(())
}
